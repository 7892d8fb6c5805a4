/* chain.h - the lines that an address belongs to: of the function that its code comes from, and of those that this was
 * inlined into. */
#ifndef VENTURI_SYMBOLS_CHAIN_H
#define VENTURI_SYMBOLS_CHAIN_H

#include "symbols/module.h"

/* Prints them innermost first on one line: what vti_answer_print() does and the line, for each of them. */
void vti_chain_print(struct vti_symbols_module *of, GElf_Addr offset);

#endif
