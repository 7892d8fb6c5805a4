/* answer.c - how venturi-symbols says what it has found. */
#include "symbols/answer.h"

#include <stdio.h>

static void print_text(const char *text)
{
    for (; *text; text++)
        putchar((unsigned char)*text < ' ' ? '?' : *text);
    putchar('\t');
}

void vti_answer_print_number(unsigned long long number, char end)
{
    printf("%llu%c", number, end);
}

static void print(const struct vti_symbols_function *function, char end)
{
    print_text(function->name);
    print_text(function->plain);
    print_text(function->file);
    vti_answer_print_number(function->line > 0 ? (unsigned long long)function->line : 0, end);
}

void vti_answer_print_part(const struct vti_symbols_function *function)
{
    print(function, '\t');
}

void vti_answer_print(const struct vti_symbols_function *function)
{
    print(function, '\n');
}
