/* fib.c - nothing but calls. `venturi cc -O1 fib.c -o fib`, then `venturi run ./fib`: see README.md. */
#include <stdio.h>

static int fib(int n)
{
    return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

int main(void)
{
    printf("%d\n", fib(27));
    return 0;
}
