/* deep.c - recursion: one function that calls itself, and two that call each other. */
#include "busy.h"

APART static uint64_t down(unsigned left)
{
    if (!left) {
        BUSY(100000000);
        return sink;
    }
    return down(left - 1) + left;
}

APART static uint64_t pong(unsigned left);

APART static uint64_t ping(unsigned left)
{
    return pong(left) + left;
}

APART static uint64_t pong(unsigned left)
{
    if (!left) {
        BUSY(100000000);
        return sink;
    }
    return ping(left - 1) + left;
}

int main(void)
{
    sink = down(5000);
    sink = ping(5000);
    return 0;
}
