/* units.h - which compilation unit an address belongs to. */
#ifndef VENTURI_SYMBOLS_UNITS_H
#define VENTURI_SYMBOLS_UNITS_H

#include "symbols/module.h"

#include <elfutils/libdw.h>

/* False if no debug info speaks of the address. `bias` is what libdwfl has added to the unit's own addresses. */
bool vti_units_find(struct vti_symbols_module *of, GElf_Addr address, Dwarf_Die *unit,
                    Dwarf_Addr *bias);

void vti_units_free(struct vti_symbols_module *of);

#endif
