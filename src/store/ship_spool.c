/* ship_spool.c - a folder of recordings as docs/spool.md has it: which there are, who else reads them. */
#include "store/ship_impl.h"

#include "base/error.h"
#include "base/file.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

/* ---- other shippers -------------------------------------------------------------------------- */

/* A state that cannot be read says nothing: that store gets all again, so it needs the file. */
static bool is_done_there(const char *state_path, const char *name, int *code)
{
    struct vti_ship_state state;
    bool is_done = false;

    *code = vti_ship_state_load(&state, state_path);
    if (!*code) {
        const struct vti_ship_file *file = vti_ship_state_find(&state, name);

        is_done = file && file->is_done;
    }
    vti_ship_state_fini(&state);
    return is_done;
}

bool vti_spool_all_done(const char *folder, const char *own_state, const char *name, int *code)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool all = dir != NULL;

    *code = 0;
    while (all && (entry = readdir(dir))) {
        size_t len = strlen(entry->d_name);
        char path[PATH_MAX + NAME_MAX];

        if (strncmp(entry->d_name, "ship-", 5) || len < 6 ||
            strcmp(entry->d_name + len - 6, ".state"))
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        all = vti_file_is_same(path, own_state) || is_done_there(path, name, code);
    }
    if (dir)
        closedir(dir);
    return all;
}
