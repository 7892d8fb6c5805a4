/* rewrite.h - assembler text with calls of our hook at its line markers. */
#ifndef VENTURI_EXACT_REWRITE_H
#define VENTURI_EXACT_REWRITE_H

#include "base/buf.h"

/* Adds the new text to `out`; look at out->failed. What is not understood stays as it is. x86-64, as gcc and clang write it.
 * Functions of optimised code in which lines stand among each other are marked. */
void vti_exact_rewrite(const char *text, size_t len, bool is_optimised, struct vti_buf *out);

#endif
