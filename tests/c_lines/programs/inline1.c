/* Inlined functions, of this file and of a header that another object uses too. */
#include "shared.h"

#include <stdio.h>

int other(int n);

/* clang-format off */
static int small(int x) { return x + 1; }
/* clang-format on */

static int branchy(int x)
{
    if (x % 3 == 0)
        return small(x);
    return x;
}

int main(void)
{
    int sum = 0;

    for (int i = 0; i < 100; i++)
        sum += branchy(i) + shared_square(i - 50);
    for (int i = 0; i < 10; i++)
        sum += shared_always(i);
    printf("%d\n", sum + other(20));
    return 0;
}
