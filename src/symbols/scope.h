/* scope.h - the function of debug info that an address is in, and what was inlined there. */
#ifndef VENTURI_SYMBOLS_SCOPE_H
#define VENTURI_SYMBOLS_SCOPE_H

#include <elfutils/libdw.h>

#define VTI_SCOPES_MOST 128

/* From the function inwards: blocks, and functions that were inlined. */
struct vti_scopes {
    Dwarf_Die dies[VTI_SCOPES_MOST];
    unsigned count; /* 0: there is none */
};

/* `address` without bias. */
void vti_scopes_find(Dwarf_Die *unit, Dwarf_Addr address, struct vti_scopes *to);

#endif
