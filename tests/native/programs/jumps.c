/*
 * jumps.c - longjmp over functions, in every way that could be mistaken for another: the same place
 * again, another function from the same one, out of a recursion, to a function that then returns.
 */
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>

#define KEEP __attribute__((noinline))

static jmp_buf back;

KEEP static void thrower(int depth)
{
    volatile char room[32];

    room[0] = (char)depth;
    if (depth > 0)
        thrower(depth - 1);
    longjmp(back, 1 + room[0]);
}

KEEP static void wide(void)
{
    volatile char room[3000];

    room[0] = 1;
    (void)room[0];
}

KEEP static void small(void)
{
    __asm__ volatile("" : : : "memory");
}

static inline int within(int x)
{
    small();
    return x;
}

/* The same function from the same place, each time left by a jump. */
KEEP static void again(volatile int rounds)
{
    volatile int i = 0;

    setjmp(back);
    if (i++ < rounds)
        thrower(0);
}

/* After a jump, functions with a larger and a smaller frame, and one that is inlined. */
KEEP static void after(volatile int rounds)
{
    for (volatile int i = 0; i < rounds; i++) {
        if (!setjmp(back))
            thrower(3);
        wide();
        small();
        within(i);
    }
}

/* Out of a recursion to an outer one of the same function, which goes on and returns. */
KEEP static int outer(int depth)
{
    volatile int result = depth;

    if (depth == 5) {
        if (!setjmp(back))
            result += outer(depth - 1);
        small();
        return result;
    }
    if (depth == 0)
        longjmp(back, 1);
    return outer(depth - 1) + result;
}

int main(int argc, char **argv)
{
    int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100;

    again(rounds);
    after(rounds);
    for (int i = 0; i < rounds; i++)
        outer(7);
    small();
    puts("{}");
    return 0;
}
