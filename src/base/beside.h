/* beside.h - files that were built or installed together with the running program. */
#ifndef VENTURI_BASE_BESIDE_H
#define VENTURI_BASE_BESIDE_H

#include <stdbool.h>
#include <stddef.h>

/* The first of `places` that exists, seen from the folder of the running program; patterns as in a shell. The
 * absolute path, without links, goes into `to`. */
bool vti_beside_find(const char *const *places, size_t count, char *to, size_t room);

#endif
