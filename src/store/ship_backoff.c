/*
 * ship_backoff.c - how long to wait between tries: anything up to a limit that doubles (full jitter), so that many shippers whose store comes back do
 * not all come back with it at once.
 */
#include "store/ship_impl.h"

#include <sys/random.h>
#include <time.h>

/* The kernel's own chance: no two processes have the same. */
static uint32_t take_chance(void)
{
    struct timespec now;
    uint32_t chance;

    if (getrandom(&chance, sizeof chance, GRND_NONBLOCK) == sizeof chance)
        return chance;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint32_t)now.tv_nsec << 2; /* of 30 bits */
}

unsigned vti_ship_backoff(unsigned try, unsigned most_ms)
{
    uint64_t limit = (uint64_t)VTI_SHIP_FIRST_MS << (try < 20 ? try : 20);

    if (limit > most_ms)
        limit = most_ms;
    return 1 + (unsigned)(limit * take_chance() >> 32);
}
