/* answer.h - how venturi-symbols says what it has found: fields with tabs between them, and nothing in them that could be
 * taken for one. */
#ifndef VENTURI_SYMBOLS_ANSWER_H
#define VENTURI_SYMBOLS_ANSWER_H

#include "symbols/function.h"

/* Name, plain name, file, line; a tab behind each of them, … */
void vti_answer_print_part(const struct vti_symbols_function *function);
void vti_answer_print_number(unsigned long long number, char end);

/* … or behind the last one the end of the line. */
void vti_answer_print(const struct vti_symbols_function *function);

#endif
