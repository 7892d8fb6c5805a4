/* ship_spool.c - a folder of recordings as docs/spool.md has it: which there are, what gave way, who else reads them. */
#include "store/ship_impl.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json_scan.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define LOSSES_MOST (16u << 20)

/* ---- names ----------------------------------------------------------------------------------- */

static int is_recording(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);

    return entry->d_name[0] != '.' && len > 3 && !strcmp(entry->d_name + len - 3, ".vt") &&
           !strchr(entry->d_name, '\n');
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int vti_ship_names_load(struct vti_ship_names *names, const char *folder)
{
    struct dirent **entries;
    int count = scandir(folder, &entries, is_recording, by_bytes);

    memset(names, 0, sizeof *names);
    if (count < 0)
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot read the folder", folder);
    names->names = calloc((size_t)count + 1, sizeof *names->names);
    for (int i = 0; i < count; i++) {
        char *name = names->names ? strdup(entries[i]->d_name) : NULL;

        if (name)
            names->names[names->count++] = name;
        free(entries[i]);
    }
    free(entries);
    if (names->names && names->count == (size_t)count)
        return 0;
    vti_ship_names_fini(names);
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

void vti_ship_names_fini(struct vti_ship_names *names)
{
    while (names->count)
        free(names->names[--names->count]);
    free(names->names);
    names->names = NULL;
}

/* 20261116T230506.123456Z-1a2b3c4d5e6f-000001.vt; the number may be longer. */
bool vti_spool_is_name(const char *name)
{
    static const char form[] = "dddddddd\1dddddd.dddddd\2-hhhhhhhhhhhh-dddddd";

    for (const char *c = form; *c; c++, name++) {
        bool is_good = *c == 'd'   ? isdigit((unsigned char)*name)
                       : *c == 'h' ? isxdigit((unsigned char)*name)
                       : *c == 1   ? *name == 'T'
                       : *c == 2   ? *name == 'Z'
                                   : *name == *c;

        if (!is_good)
            return false;
    }
    while (isdigit((unsigned char)*name))
        name++;
    return !strcmp(name, ".vt");
}

/* ---- losses ---------------------------------------------------------------------------------- */

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

static void take_loss(const char *line, size_t len, uint64_t *steps, uint64_t *events,
                      struct vti_buf *key)
{
    struct vti_json_scan scan = {.at = line, .end = line + len};
    uint64_t line_steps = 0, line_events = 0;
    bool is_first = true;

    if (!vti_json_take(&scan, '{'))
        return;
    while (vti_json_next_key(&scan, &is_first, key)) {
        if (key->len == 5 && !memcmp(key->data, "steps", 5))
            line_steps = take_count(&scan);
        else if (key->len == 6 && !memcmp(key->data, "events", 6))
            line_events = take_count(&scan);
        else
            vti_json_skip(&scan);
    }
    if (!scan.failed) {
        *steps += line_steps;
        *events += line_events;
    }
}

void vti_spool_losses(const char *folder, uint64_t *steps, uint64_t *events)
{
    char path[PATH_MAX];
    struct vti_mapping map;
    struct vti_buf key = {0};
    int fd;

    *steps = *events = 0;
    snprintf(path, sizeof path, "%s/losses", folder);
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return;
    flock(fd, LOCK_SH);
    if (!vti_mapping_open(&map, path)) {
        const char *at = (const char *)map.data;
        const char *end = at + (map.size < LOSSES_MOST ? map.size : LOSSES_MOST);

        while (at < end) {
            const char *line_end = memchr(at, '\n', (size_t)(end - at));

            if (!line_end)
                break;
            take_loss(at, (size_t)(line_end - at), steps, events, &key);
            at = line_end + 1;
        }
        vti_mapping_close(&map);
    }
    vti_buf_fini(&key);
    close(fd);
}

/* ---- other shippers -------------------------------------------------------------------------- */

bool vti_spool_all_done(const char *folder, const char *own_state, const char *name)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool all = dir != NULL;

    while (all && (entry = readdir(dir))) {
        size_t len = strlen(entry->d_name);
        char path[PATH_MAX];
        struct vti_ship_state state;

        if (strncmp(entry->d_name, "ship-", 5) || len < 6 ||
            strcmp(entry->d_name + len - 6, ".state"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (vti_file_is_same(path, own_state))
            continue;
        if (!vti_ship_state_load(&state, path)) {
            const struct vti_ship_file *file = vti_ship_state_find(&state, name);

            all = file && file->is_done;
        }
        vti_ship_state_fini(&state);
    }
    if (dir)
        closedir(dir);
    return all;
}
