/* setjmp, recursion, functions that do not return, function pointers, constructors. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

static jmp_buf back;
static int begun;

__attribute__((constructor)) static void begin(void)
{
    for (int i = 0; i < 3; i++)
        begun++;
}

__attribute__((destructor)) static void end(void)
{
    begun--;
}

static void at_end(void)
{
    begun -= 2;
}

static int deep(int n)
{
    if (n == 0)
        longjmp(back, 4);
    return deep(n - 1) + 1;
}

static int fib(int n)
{
    if (n < 2)
        return n;
    return fib(n - 1) + fib(n - 2);
}

static int twice(int (*f)(int), int n)
{
    return f(n) + f(n + 1);
}

static void leave(int code)
{
    if (code == 3)
        exit(code);
    printf("not reached\n");
}

int main(void)
{
    volatile int rounds = 0;
    int code = setjmp(back);

    rounds++;
    if (code == 0)
        deep(5);
    if (rounds < 4)
        longjmp(back, rounds);
    printf("%d %d %d\n", rounds, twice(fib, 10), begun);
    atexit(at_end);
    leave(3);
    return 1;
}
