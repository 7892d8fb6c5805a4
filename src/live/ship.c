/*
 * ship.c - what shippers that follow a spool say of themselves.
 *
 * They write FOLDER/ship-….status.json about once a second. It is a file like any other: bounded, and what does not parse counts for
 * nothing.
 */
#include "live/ship.h"

#include "base/file.h"
#include "base/json_scan.h"
#include "live/state.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SECOND_NS 1000000000
#define STATUS_BYTES 65536

static void take_number(struct vti_json_scan *scan, uint64_t *sum)
{
    const char *text;
    char copy[32];
    size_t len;

    if (vti_json_peek(scan) == '"' || !vti_json_scan_number(scan, &text, &len) ||
        len >= sizeof copy) {
        if (!scan->failed)
            vti_json_skip(scan);
        return;
    }
    memcpy(copy, text, len);
    copy[len] = 0;
    *sum = (*sum == VTI_LIVE_UNKNOWN ? 0 : *sum) + strtoull(copy, NULL, 10);
}

static void take_text(struct vti_live *live, struct vti_json_scan *scan, const char **to)
{
    struct vti_buf text = {0};

    if (vti_json_peek(scan) != '"')
        vti_json_skip(scan);
    else if (vti_json_scan_string(scan, &text))
        *to = vti_names_add(&live->names, (const char *)text.data, text.len);
    vti_buf_fini(&text);
}

static void take_status(struct vti_live *live, const char *data, size_t size)
{
    struct vti_json_scan scan = {.at = data, .end = data + size};
    struct vti_live_ship *ship = &live->ship;
    struct {
        const char *key;
        uint64_t *sum;
    } numbers[] = {{"waiting", &ship->waiting},
                   {"shipped", &ship->shipped},
                   {"retried", &ship->retried},
                   {"dead", &ship->dead},
                   {"lost", &ship->lost},
                   {"waiting_bytes", &ship->spool_bytes},
                   {"spool_limit_bytes", &ship->spool_limit_bytes}};
    struct vti_buf key = {0};
    uint64_t pid = 0;
    bool is_first = true;

    if (!vti_json_take(&scan, '{'))
        return;
    while (vti_json_next_key(&scan, &is_first, &key)) {
        const char *name = (const char *)key.data;
        bool is_taken = false;

        for (size_t i = 0; i < sizeof numbers / sizeof *numbers && !is_taken; i++)
            if (!strcmp(name, numbers[i].key)) {
                take_number(&scan, numbers[i].sum);
                is_taken = true;
            }
        if (is_taken)
            continue;
        if (!strcmp(name, "pid"))
            take_number(&scan, &pid);
        else if (!strcmp(name, "target"))
            take_text(live, &scan, &ship->store);
        else if (!strcmp(name, "why"))
            take_text(live, &scan, &ship->error);
        else
            vti_json_skip(&scan);
    }
    vti_buf_fini(&key);
    ship->is_known |= !scan.failed;
    if (pid > 0 && pid <= INT32_MAX && (!kill((pid_t)pid, 0) || errno == EPERM))
        ship->is_running = true;
}

static void take_file(struct vti_live *live, const char *path)
{
    struct vti_mapping map;
    struct stat about;

    if (stat(path, &about) || !S_ISREG(about.st_mode) || about.st_size > STATUS_BYTES ||
        vti_mapping_open(&map, path))
        return;
    if (map.size)
        take_status(live, (const char *)map.data, map.size);
    vti_mapping_close(&map);
}

void vti_live_read_ship(struct vti_live *live)
{
    char pattern[PATH_MAX];
    glob_t found = {0};

    if (live->ship_ns && live->now_ns - live->ship_ns < SECOND_NS)
        return;
    live->ship_ns = live->now_ns;
    live->ship = (struct vti_live_ship){.store = "",
                                        .error = "",
                                        .spool_bytes = VTI_LIVE_UNKNOWN,
                                        .spool_limit_bytes = VTI_LIVE_UNKNOWN};
    if ((size_t)snprintf(pattern, sizeof pattern, "%s/ship*.status.json", live->path) >=
            sizeof pattern ||
        glob(pattern, GLOB_NOSORT, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc && i < 64; i++)
        take_file(live, found.gl_pathv[i]);
    globfree(&found);
}
