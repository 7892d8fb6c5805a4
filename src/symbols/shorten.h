/* shorten.h - C++ names as a table shows them. */
#ifndef VENTURI_SYMBOLS_SHORTEN_H
#define VENTURI_SYMBOLS_SHORTEN_H

#include <stddef.h>

/* Of "void shop::Till<double>::take(double) const" only "shop::Till<double>::take": without the type that it returns
 * and its parameters, and with what template arguments have by default left out. `to` is empty if nothing is left. */
void vti_shorten(const char *demangled, char *to, size_t room);

#endif
