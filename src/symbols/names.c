/*
 * names.c - all functions that the debug info of a module names, by name and by line.
 */
#include "symbols/names.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MOST (1u << 22)

struct entry {
    char *linked; /* owned, as the file */
    char *file;
    int line;
};

struct vti_symbols_names {
    struct entry *by_name; /* owned */
    struct entry *by_line; /* owned: the same in another order */
    size_t count, room;
    const struct vti_symbols_module *of;
    Dwarf_Die *unit; /* the one that is being read, … */
    Dwarf_Addr bias; /* … and where it is */
};

static int in_name_order(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->linked, ((const struct entry *)b)->linked);
}

static int in_line_order(const void *a, const void *b)
{
    const struct entry *left = a;
    const struct entry *right = b;
    int differ = strcmp(left->file, right->file);

    if (!differ)
        differ = (left->line > right->line) - (left->line < right->line);
    return differ ? differ : strcmp(right->linked, left->linked); /* "_Z…" is the last one */
}

static int add_function(Dwarf_Die *function, void *to)
{
    struct vti_symbols_names *names = to;
    struct vti_symbols_function place = {.file = ""};
    struct entry entry = {0};

    if (dwarf_decl_line(function, &entry.line) ||
        !vti_symbols_linked_name(names->of, names->bias, function, place.name, sizeof place.name))
        return DWARF_CB_OK;
    vti_symbols_set_file(&place, names->unit, vti_symbols_decl_file(names->unit, function));
    if (names->count == names->room) {
        size_t room = names->room ? 2 * names->room : 256;
        struct entry *grown = room <= FUNCTIONS_MOST ? realloc(names->by_name, room * sizeof *grown)
                                                     : NULL;

        if (!grown)
            return DWARF_CB_ABORT;
        names->by_name = grown;
        names->room = room;
    }
    entry.linked = strdup(place.name);
    entry.file = strdup(place.file);
    if (!entry.linked || !entry.file) {
        free(entry.linked);
        free(entry.file);
        return DWARF_CB_ABORT;
    }
    names->by_name[names->count++] = entry;
    return DWARF_CB_OK;
}

struct vti_symbols_names *vti_symbols_names_open(const struct vti_symbols_module *of)
{
    struct vti_symbols_names *names = calloc(1, sizeof *names);
    Dwarf_Die *unit = NULL;

    if (!names)
        return NULL;
    names->of = of;
    while (of->module && (unit = dwfl_module_nextcu(of->module, unit, &names->bias)) != NULL) {
        names->unit = unit;
        dwarf_getfuncs(unit, add_function, names, 0);
    }
    if (names->count)
        names->by_line = malloc(names->count * sizeof *names->by_line);
    if (!names->by_line) {
        names->count = 0;
        return names;
    }
    memcpy(names->by_line, names->by_name, names->count * sizeof *names->by_line);
    qsort(names->by_name, names->count, sizeof *names->by_name, in_name_order);
    qsort(names->by_line, names->count, sizeof *names->by_line, in_line_order);
    return names;
}

void vti_symbols_names_close(struct vti_symbols_names *names)
{
    if (!names)
        return;
    for (size_t i = 0; i < names->count; i++) {
        free(names->by_name[i].linked);
        free(names->by_name[i].file);
    }
    free(names->by_name);
    free(names->by_line);
    free(names);
}

static void give(const struct entry *entry, struct vti_symbols_function *to)
{
    memset(to, 0, sizeof *to);
    snprintf(to->file, sizeof to->file, "%s", entry->file);
    to->line = entry->line;
    vti_symbols_take_name(to, entry->linked);
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool vti_symbols_by_name(const struct vti_symbols_names *names, const char *name, const char *file,
                         int line, struct vti_symbols_function *to)
{
    size_t low = 0, high = names->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (strcmp(names->by_name[middle].linked, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < names->count && !strcmp(names->by_name[low].linked, name); low++) {
        const struct entry *entry = &names->by_name[low];

        if (entry->line != line || strcmp(last_part(entry->file), last_part(file)))
            continue;
        give(entry, to);
        return true;
    }
    return false;
}

bool vti_symbols_by_line(const struct vti_symbols_names *names, const char *file, int line,
                         struct vti_symbols_function *to)
{
    size_t low = 0, high = names->count;

    while (low < high) { /* the first one behind the line */
        size_t middle = low + (high - low) / 2;
        int differ = strcmp(names->by_line[middle].file, file);

        if (differ < 0 || (!differ && names->by_line[middle].line <= line))
            low = middle + 1;
        else
            high = middle;
    }
    if (!low || strcmp(names->by_line[low - 1].file, file))
        return false;
    give(&names->by_line[low - 1], to);
    return true;
}
