/* pages.c - large pieces of memory. Small ones are calloc()'s. */
#include "graph/pages.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE ((size_t)2 << 20)
#define LARGE ((size_t)1 << 20) /* from here on it is mapped */

#define SHORT (HUGE / 4) /* an end that small pages hold sooner than a huge one is cleared */

static size_t rounded(size_t bytes)
{
    return (bytes + HUGE - 1) & ~(HUGE - 1);
}

void *vti_pages_new(size_t bytes)
{
    size_t whole = rounded(bytes);
    uint8_t *all, *begin;

    if (bytes < LARGE)
        return calloc(1, bytes);
    if (bytes > SIZE_MAX / 2)
        return NULL;
    all = mmap(NULL, whole + HUGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED)
        return NULL;
    begin = (uint8_t *)rounded((uintptr_t)all);
    if (begin > all)
        munmap(all, (size_t)(begin - all));
    if (begin < all + HUGE)
        munmap(begin + whole, (size_t)(all + HUGE - begin));
    madvise(begin, rounded(bytes - SHORT), MADV_HUGEPAGE); /* only a wish */
    return begin;
}

void vti_pages_free(void *memory, size_t bytes)
{
    if (bytes < LARGE)
        free(memory);
    else if (memory != NULL)
        munmap(memory, rounded(bytes));
}
