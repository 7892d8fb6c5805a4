/* mixed.c - trace points in functions, and functions in trace points, some of them inlined and left by jumps. */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <venturi/venturi.h>

#define KEEP __attribute__((noinline))

static jmp_buf back;

static inline int within(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}

KEEP static void leave(void)
{
    VT_SPAN("left");
    longjmp(back, 1);
}

KEEP static int step(int x)
{
    VT_SPAN("step");
    return within(x) + within(x + 1);
}

KEEP static void around(volatile int rounds)
{
    VT_SPAN("around");
    for (volatile int i = 0; i < rounds; i++) {
        if (!setjmp(back))
            leave();
        within(i);
        step(i);
    }
}

int main(int argc, char **argv)
{
    around(argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100);
    puts("{}");
    return 0;
}
