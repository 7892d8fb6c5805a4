/* ship_replay.c - dead letters are sent again; the file that they stand in stays as it is. */
#include "store/ship_impl.h"

#include "base/error.h"
#include "base/file.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define LINE_MOST (4u << 20)

/* The last one, if it is of a kind that the store does not take. */
static void pass_over(struct vti_ship *ship)
{
    struct vti_batch *batch = &ship->batch;

    if (!batch->count ||
        batch->documents[batch->count - 1].kind & ship->options->type->kinds & ship->options->kinds)
        return;
    batch->count--;
    ship->result->now.unsent++;
}

/* Fills a batch from `*at` on; 0 or a negative code. */
static int fill(struct vti_ship *ship, const struct vti_mapping *map, size_t *at,
                struct vti_map *names, uint64_t *bad)
{
    const char *text = (const char *)map->data;

    vti_batch_clear(&ship->batch);
    while (*at < map->size && ship->batch.count < ship->options->limits.documents &&
           ship->batch.text.len < ship->options->limits.bytes) {
        const char *line = text + *at;
        const char *end = memchr(line, '\n', map->size - *at);
        size_t len = end ? (size_t)(end - line) : map->size - *at;
        int code = len ? vti_dead_read(&ship->batch, line, len < LINE_MOST ? len : 0, names) : 0;

        if (code < 0)
            return code;
        *bad += code == 1;
        if (!code && len)
            pass_over(ship);
        *at += len + (end != NULL);
    }
    return 0;
}

static int send_all(struct vti_ship *ship, const struct vti_mapping *map, struct vti_map *names)
{
    char line[PATH_MAX + 100];
    uint64_t bad = 0;
    size_t at = 0;
    int code = 0;

    while (at < map->size && !code) {
        code = fill(ship, map, &at, names, &bad);
        if (!code && ship->batch.count)
            code = vti_ship_deliver(ship);
    }
    ship->result->has_rest = code == 1;
    ship->result->bad_lines = bad;
    if (bad) {
        snprintf(line, sizeof line, "%s: %llu line%s no dead letter%s and not sent",
                 ship->options->source, (unsigned long long)bad, bad == 1 ? " is" : "s are",
                 bad == 1 ? "" : "s");
        ship->options->say(line);
    }
    return code < 0 ? code : 0;
}

int vti_ship_replay(const struct vti_ship_options *options, const char *path,
                    struct vti_ship_result *result)
{
    struct vti_ship ship = {.options = options, .result = result};
    struct vti_map *names = NULL;
    struct vti_mapping map = {0};
    int code;

    memset(result, 0, sizeof *result);
    if (snprintf(ship.dead_path, sizeof ship.dead_path, "%s.dead", path) >=
        (int)sizeof ship.dead_path)
        return vti_fail(VTI_E_USAGE, "%.100s…: the path is too long", path);
    code = vti_mapping_open(&map, path);
    if (code)
        return code;
    ship.progress_ns = vti_ship_now();
    ship.has_repeat = true;
    code = vti_map_create(&names) ? vti_fail(VTI_E_NOMEM, "out of memory")
                                  : options->type->open(&ship.store, options->settings);
    if (!code)
        code = send_all(&ship, &map, names);
    if (result->now.dead)
        snprintf(result->dead_path, sizeof result->dead_path, "%.1000s", ship.dead_path);
    if (ship.store)
        options->type->close(ship.store);
    result->all = result->now;
    vti_batch_fini(&ship.batch);
    vti_map_free(names);
    vti_mapping_close(&map);
    return code;
}
