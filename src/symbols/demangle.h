/* demangle.h - C++ names as people write them. */
#ifndef VENTURI_SYMBOLS_DEMANGLE_H
#define VENTURI_SYMBOLS_DEMANGLE_H

#include <stdbool.h>
#include <stddef.h>

/* False if it is no C++ name, or if there is no C++ runtime on this machine. */
bool vti_demangle(const char *name, char *to, size_t room);

#endif
