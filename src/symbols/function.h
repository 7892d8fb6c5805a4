/* function.h - the function that an address of a module is in. */
#ifndef VENTURI_SYMBOLS_FUNCTION_H
#define VENTURI_SYMBOLS_FUNCTION_H

#include "symbols/module.h"

#define VTI_SYMBOLS_TEXT 1024

struct vti_symbols_function {
    char name[VTI_SYMBOLS_TEXT];  /* as people know it: demangled, with its class; "": unknown */
    char plain[VTI_SYMBOLS_TEXT]; /* as its source calls it */
    char file[VTI_SYMBOLS_TEXT];  /* absolute where that is known; "": unknown */
    int line;
};

void vti_symbols_find(const struct vti_symbols_module *of, GElf_Addr offset,
                      struct vti_symbols_function *to);

#endif
