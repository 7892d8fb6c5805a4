/* glob.h - patterns with * and ?, as the filters take them. */
#ifndef VENTURI_COLLECT_GLOB_H
#define VENTURI_COLLECT_GLOB_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the pattern of `len` bytes fits the whole text. * also fits slashes. No memory, linear but for
 * going back to the last *. */
bool vti_glob_fits(const char *pattern, size_t len, const char *text);

#endif
