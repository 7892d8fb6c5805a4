/* module.h - a module's file with its debug info, wherever that is. */
#ifndef VENTURI_SYMBOLS_MODULE_H
#define VENTURI_SYMBOLS_MODULE_H

#include <elfutils/libdwfl.h>
#include <stdbool.h>

struct vti_symbols_module {
    struct vti_symbols_module *next;
    char *path;     /* owned */
    char *build_id; /* owned, as recorded */
    Dwfl *dwfl;     /* owned; NULL: no file that fits */
    Dwfl_Module *module;
    GElf_Addr bias; /* what libdwfl adds to the addresses in the file */
};

/* The module of a query, opened when it is asked for the first time; NULL: out of memory. What is missing
 * is said on stderr. */
struct vti_symbols_module *vti_symbols_open(struct vti_symbols_module **list, const char *path,
                                            const char *build_id);

void vti_symbols_free(struct vti_symbols_module *list);

#endif
