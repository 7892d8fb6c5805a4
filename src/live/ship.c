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

#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <limits.h>
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

/* Whether it is one that runs: a number may be somebody else's by now, and one that nobody has waited for is none. */
static bool is_shipper(uint64_t pid)
{
    static const char name[] = "(venturi-ship) ";
    char path[64];
    char line[256] = "";
    const char *state;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%llu/stat", (unsigned long long)pid);
    file = fopen(path, "re");
    if (file && !fgets(line, sizeof line, file))
        line[0] = 0;
    if (file)
        fclose(file);
    state = strstr(line, name);
    return state && !strchr("ZX", state[sizeof name - 1]);
}

/* Several are named together: the sums are of all of them. */
static void add_store(struct vti_live *live, const char *store)
{
    struct vti_buf both = {0};

    if (!*live->ship.store || !*store) {
        live->ship.store = *store ? store : live->ship.store;
        return;
    }
    vti_buf_printf(&both, "%s, %s", live->ship.store, store);
    if (!both.failed)
        live->ship.store = vti_names_add(&live->names, (const char *)both.data, both.len);
    vti_buf_fini(&both);
}

/* What lies there, whoever has got it already: that is what the limit counts. */
static uint64_t spool_bytes(const char *path)
{
    DIR *folder = opendir(path);
    struct dirent *at;
    struct stat about;
    uint64_t bytes = 0;

    if (!folder)
        return VTI_LIVE_UNKNOWN;
    while ((at = readdir(folder))) {
        size_t len = strlen(at->d_name);

        if (len > 3 && at->d_name[0] != '.' && !strcmp(at->d_name + len - 3, ".vt") &&
            !fstatat(dirfd(folder), at->d_name, &about, AT_SYMLINK_NOFOLLOW) &&
            S_ISREG(about.st_mode))
            bytes += (uint64_t)about.st_size;
    }
    closedir(folder);
    return bytes;
}

static void take_status(struct vti_live *live, const char *data, size_t size)
{
    struct vti_json_scan scan = {.at = data, .end = data + size};
    struct vti_live_ship *ship = &live->ship;
    struct {
        const char *key;
        uint64_t *sum;
    } numbers[] = {{"waiting", &ship->waiting}, {"shipped", &ship->shipped},
                   {"retried", &ship->retried}, {"dead", &ship->dead},
                   {"lost", &ship->lost},       {"spool_limit_bytes", &ship->spool_limit_bytes}};
    struct vti_buf key = {0};
    const char *store = "";
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
            take_text(live, &scan, &store);
        else if (!strcmp(name, "why"))
            take_text(live, &scan, &ship->error);
        else
            vti_json_skip(&scan);
    }
    vti_buf_fini(&key);
    ship->is_known |= !scan.failed;
    ship->is_running |= is_shipper(pid);
    add_store(live, store);
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
                                        .spool_bytes = spool_bytes(live->path),
                                        .spool_limit_bytes = VTI_LIVE_UNKNOWN};
    if ((size_t)snprintf(pattern, sizeof pattern, "%s/ship*.status.json", live->path) >=
            sizeof pattern ||
        glob(pattern, 0, NULL, &found))
        return;
    for (size_t i = 0; i < found.gl_pathc && i < 64; i++)
        take_file(live, found.gl_pathv[i]);
    globfree(&found);
}
