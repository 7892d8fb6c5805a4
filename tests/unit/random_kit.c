/* random_kit.c - numbers that are the same in every run (xorshift). */
#include "random_kit.h"

static uint64_t random_state = 88172645463325252u;

void random_seed(uint64_t seed)
{
    random_state = seed;
}

uint64_t random_u64(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

uint32_t below(uint32_t limit)
{
    return (uint32_t)((random_u64() >> 32) * limit >> 32);
}
