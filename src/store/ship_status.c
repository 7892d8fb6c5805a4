/* ship_status.c - how the shipping stands, in a small JSON file for those who show it (venturi serve, /metrics, people). */
#include "store/ship_impl.h"

#include "base/json.h"
#include "base/realtime.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define EVERY_NS INT64_C(1000000000)

static void write_counts(struct vti_json *json, const struct vti_ship *ship)
{
    const struct vti_ship_counts *state = &ship->state.counts;

    vti_json_add_uint(json, "waiting", ship->waiting);
    vti_json_add_uint(json, "waiting_files", ship->waiting_files);
    vti_json_add_uint(json, "waiting_bytes", ship->waiting_bytes);
    vti_json_add_uint(json, "shipped", state->shipped);
    vti_json_add_uint(json, "repeated", state->repeated);
    vti_json_add_uint(json, "retried", state->retried);
    vti_json_add_uint(json, "dead", state->dead);
    vti_json_add_uint(json, "lost", ship->lost);
    vti_json_add_uint(json, "unsent", ship->unsent);
    vti_json_add_uint(json, "lost_events", ship->lost_events);
    vti_json_add_uint(json, "bytes", state->bytes);
    vti_json_add_uint(json, "requests", state->requests);
}

static void write_status(struct vti_buf *out, const struct vti_ship *ship)
{
    static const char *const moods[] = {"idle", "sending", "away", "held", "ended"};
    struct vti_json json;
    char when[VTI_TIME_TEXT];

    vti_time_text(when, vti_realtime_ns() / 1000000 * 1000000);
    vti_json_init(&json, out);
    vti_json_object(&json);
    vti_json_add_string(&json, "target", ship->options->settings->shown);
    vti_json_add_string(&json, "source", ship->options->source);
    vti_json_add_int(&json, "pid", getpid());
    vti_json_add_string(&json, "state", moods[ship->mood]);
    vti_json_add_string(&json, "why", ship->why);
    vti_json_add_string(&json, "time", when);
    write_counts(&json, ship);
    vti_json_object_end(&json);
    vti_buf_add_u8(out, '\n');
}

void vti_ship_status(struct vti_ship *ship, bool is_due)
{
    struct vti_buf out = {0};
    int64_t now = vti_ship_now();
    char path[PATH_MAX + 32], part[PATH_MAX + 40];
    int fd;

    if (!*ship->base || (!is_due && now - ship->status_ns < EVERY_NS))
        return;
    ship->status_ns = now;
    vti_ship_look_around(ship);
    write_status(&out, ship);
    snprintf(path, sizeof path, "%s.status.json", ship->base);
    snprintf(part, sizeof part, "%s.new", path);
    fd = out.failed ? -1 : open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (fd >= 0) {
        bool is_whole = write(fd, out.data, out.len) == (ssize_t)out.len;

        close(fd);
        if (!is_whole || rename(part, path))
            unlink(part);
    }
    vti_buf_fini(&out);
}
