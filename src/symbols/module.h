/* module.h - a module's file with its debug info, wherever that is. */
#ifndef VENTURI_SYMBOLS_MODULE_H
#define VENTURI_SYMBOLS_MODULE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct vti_unit_ranges;

struct vti_symbols_module {
    struct vti_symbols_module *next;
    char *path;     /* owned */
    char *build_id; /* owned, as recorded */
    Dwfl *dwfl;     /* owned; NULL: no file that fits */
    Dwfl_Module *module;
    GElf_Addr bias;                 /* what libdwfl adds to the addresses in the file */
    struct vti_unit_ranges *ranges; /* owned, of units.c; NULL: not needed so far */
    const char *missing;            /* what is to be said about it; NULL: nothing */
    bool is_seen;                   /* its functions show up: it is worth being said */
};

/* The module of a query, opened when it is asked for the first time; NULL: out of memory. */
struct vti_symbols_module *vti_symbols_open(struct vti_symbols_module **list, const char *path,
                                            const char *build_id);

/* On stderr, a line for each module: what is missing there. */
void vti_symbols_say(const struct vti_symbols_module *list);

void vti_symbols_free(struct vti_symbols_module *list);

#endif
