/* ship_losses.c - the file `losses` of a spool, as docs/spool.md has it: what gave way to the limit, by recording and in all. */
#include "store/ship_impl.h"

#include "base/file.h"
#include "base/hash.h"
#include "base/json_scan.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LOSSES_MOST (16u << 20) /* bytes that are read: it is folded at 1 MiB */

struct line {
    struct vti_spool_loss loss;
    struct vti_buf key, recording; /* scratch */
};

static uint64_t take_count(struct vti_json_scan *scan)
{
    const char *text;
    size_t len;
    uint64_t count = 0;

    if (vti_json_peek(scan) == '"' || !vti_json_scan_number(scan, &text, &len)) {
        vti_json_skip(scan);
        return 0;
    }
    for (size_t i = 0; i < len && isdigit((unsigned char)text[i]) && count < UINT64_MAX / 20; i++)
        count = count * 10 + (uint64_t)(text[i] - '0');
    return count;
}

static bool is_key(const struct line *line, const char *name)
{
    return line->key.len == strlen(name) && !memcmp(line->key.data, name, line->key.len);
}

static bool read_line(struct line *line, const char *text, size_t len)
{
    struct vti_json_scan scan = {.at = text, .end = text + len};
    bool is_first = true;

    line->loss = (struct vti_spool_loss){0};
    vti_buf_clear(&line->recording);
    if (!vti_json_take(&scan, '{'))
        return false;
    while (vti_json_next_key(&scan, &is_first, &line->key)) {
        if (is_key(line, "steps"))
            line->loss.steps = take_count(&scan);
        else if (is_key(line, "events"))
            line->loss.events = take_count(&scan);
        else if (is_key(line, "recording") && vti_json_peek(&scan) == '"')
            vti_json_scan_string(&scan, &line->recording);
        else
            vti_json_skip(&scan);
    }
    return !scan.failed;
}

/* The place of its recording; NULL: it names none, or memory is short: then it stands for itself. */
static struct vti_spool_loss *place_of(struct vti_spool_losses *losses, const struct line *line)
{
    int is_new = 0;
    int64_t at;

    if (!line->recording.len || (!losses->ids && vti_map_create(&losses->ids)))
        return NULL;
    if (vti_map_count(losses->ids) == losses->room) {
        size_t room = losses->room ? losses->room * 2 : 64;
        void *more = reallocarray(losses->by_id, room, sizeof *losses->by_id);

        if (!more)
            return NULL;
        losses->by_id = more;
        losses->room = room;
    }
    at = vti_map_add(losses->ids, line->recording.data, line->recording.len, &is_new);
    if (at >= 0 && is_new)
        losses->by_id[at] = (struct vti_spool_loss){0};
    return at < 0 ? NULL : &losses->by_id[at];
}

/* The later line of a recording takes the place of the earlier one. */
static void take_line(struct vti_spool_losses *losses, const struct line *line)
{
    struct vti_spool_loss *place = place_of(losses, line);

    if (place) {
        losses->all.steps -= place->steps;
        losses->all.events -= place->events;
        *place = line->loss;
    }
    losses->all.steps += line->loss.steps;
    losses->all.events += line->loss.events;
}

void vti_spool_losses_load(struct vti_spool_losses *losses, const char *folder)
{
    char path[PATH_MAX + 16];
    struct vti_mapping map;
    struct line line;

    memset(losses, 0, sizeof *losses);
    memset(&line, 0, sizeof line);
    snprintf(path, sizeof path, "%s/losses", folder);
    if (vti_mapping_open(&map, path))
        return;
    for (size_t at = 0, end = map.size < LOSSES_MOST ? map.size : LOSSES_MOST; at < end;) {
        const char *text = (const char *)map.data + at;
        const char *text_end = memchr(text, '\n', end - at);

        if (!text_end)
            break;
        if (read_line(&line, text, (size_t)(text_end - text)))
            take_line(losses, &line);
        at += (size_t)(text_end - text) + 1;
    }
    vti_mapping_close(&map);
    vti_buf_fini(&line.key);
    vti_buf_fini(&line.recording);
}

const struct vti_spool_loss *vti_spool_losses_find(const struct vti_spool_losses *losses,
                                                   const uint8_t id[VTI_UUID])
{
    char hex[VTI_UUID_HEX];
    int64_t at;

    vti_uuid_hex(id, hex);
    at = losses->ids ? vti_map_find(losses->ids, hex, sizeof hex - 1) : -1;
    return at < 0 ? NULL : &losses->by_id[at];
}

void vti_spool_losses_fini(struct vti_spool_losses *losses)
{
    vti_map_free(losses->ids);
    free(losses->by_id);
    memset(losses, 0, sizeof *losses);
}
