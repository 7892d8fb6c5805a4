/* function.h - the function that an address of a module is in. */
#ifndef VENTURI_SYMBOLS_FUNCTION_H
#define VENTURI_SYMBOLS_FUNCTION_H

#include "symbols/module.h"

#define VTI_SYMBOLS_TEXT 4096 /* as long as a path may be */

struct vti_symbols_function {
    char name[VTI_SYMBOLS_TEXT];  /* as people know it: demangled, with its class; "": unknown */
    char plain[VTI_SYMBOLS_TEXT]; /* as a table shows it: without types and parameters */
    char file[VTI_SYMBOLS_TEXT];  /* absolute where that is known; "": unknown */
    int line;
};

void vti_symbols_find(struct vti_symbols_module *of, GElf_Addr offset,
                      struct vti_symbols_function *to);

/* Its two names, by the one that the linker knows. */
void vti_symbols_take_name(struct vti_symbols_function *to, const char *symbol);

/* The name that the linker knows, from debug info, else that of its code: gcc does not say it of C++ functions that are
 * known to one file only. Where there is neither, as its source calls it; false if there is nothing. */
bool vti_symbols_linked_name(const struct vti_symbols_module *of, Dwarf_Addr bias,
                             Dwarf_Die *function, char *to, size_t room);

/* The file of a function, from its debug info; libdw's text, NULL if there is none. */
const char *vti_symbols_decl_file(Dwarf_Die *unit, Dwarf_Die *function);
void vti_symbols_set_file(struct vti_symbols_function *to, Dwarf_Die *unit, const char *file);

/* `file` as seen from `folder`, with as few turns as possible. */
void vti_symbols_join(char *to, size_t room, const char *folder, const char *file);

#endif
