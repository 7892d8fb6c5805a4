/* ratio.c - two functions of the same caller, one with three times the work of the other. */
#include "busy.h"

#include <stdlib.h>

APART static void three(void)
{
    BUSY(3000000);
}

APART static void one(void)
{
    BUSY(1000000);
}

APART static void work(int rounds)
{
    for (int i = 0; i < rounds; i++) {
        three();
        one();
    }
    sink++;
}

int main(int argc, char **argv)
{
    work(argc > 1 ? (int)strtol(argv[1], NULL, 10) : 200);
    say_cpu();
    return 0;
}
