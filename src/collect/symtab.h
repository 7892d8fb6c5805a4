/* symtab.h - the name of a function from the symbol table of its module's file. */
#ifndef VENTURI_COLLECT_SYMTAB_H
#define VENTURI_COLLECT_SYMTAB_H

#include "collect/module.h"

#include <stddef.h>

#define VTI_SYMBOL_BYTES 512

/* The symbol of the function that begins at an address, as the linker knows it (C++: mangled). False if
 * the file cannot be read or has no such symbol. No malloc. */
bool vti_symtab_name(const struct vti_module *module, uintptr_t address, char *name, size_t room);

#endif
