/* names.h - all functions that the debug info of a module names, also those that were inlined everywhere. */
#ifndef VENTURI_SYMBOLS_NAMES_H
#define VENTURI_SYMBOLS_NAMES_H

#include "symbols/function.h"

struct vti_symbols_names;

/* Of one module, with its debug info. NULL without memory; empty without debug info. */
struct vti_symbols_names *vti_symbols_names_open(const struct vti_symbols_module *of);
void vti_symbols_names_close(struct vti_symbols_names *names);

/* The function that the linker knows by `name`, at a line of a file that the compiler was told of by `file`: false if there
 * is none. */
bool vti_symbols_by_name(const struct vti_symbols_names *names, const char *name, const char *file,
                         int line, struct vti_symbols_function *to);

/* The function that a line of a file belongs to; `file` as vti_symbols_by_name() has found it. */
bool vti_symbols_by_line(const struct vti_symbols_names *names, const char *file, int line,
                         struct vti_symbols_function *to);

#endif
