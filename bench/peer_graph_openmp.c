/* peer_graph_openmp.c - tasks of OpenMP: one thread makes them, both run them; dependencies by address. */
#include "peer_graph.h"

#include <omp.h>
#include <stdlib.h>

const char *const peer_name = "openmp";
static char *cells; /* one for each task: what depends on what is said by their addresses */

__attribute__((noinline)) static void nothing(char *cell)
{
    __asm__ volatile("" : : "r"(cell) : "memory");
}

void peer_open(void)
{
    omp_set_num_threads(2);
    cells = malloc(1u << 24);
    if (cells == NULL)
        abort();
}

void peer_close(void)
{
    free(cells);
}

void peer_ep(uint32_t count)
{
#pragma omp parallel
#pragma omp single
    for (uint32_t i = 0; i < count; i++) {
#pragma omp task firstprivate(i)
        nothing(cells + i);
    }
}

void peer_chain(uint32_t count)
{
#pragma omp parallel
#pragma omp single
    for (uint32_t i = 0; i < count; i++) {
#pragma omp task depend(inout : cells[0])
        nothing(cells);
    }
}

void peer_tree(uint32_t count)
{
#pragma omp parallel
#pragma omp single
    {
        uint32_t from = 0, to = count / 2;

        for (uint32_t i = 0; i < to; i++) {
#pragma omp task depend(out : cells[i]) firstprivate(i)
            nothing(cells + i);
        }
        while (to - from > 1) {
            uint32_t end = to;

            for (uint32_t i = from; i < to; i += 2, end++) {
                uint32_t other = i + 1 < to ? i + 1 : i;

#pragma omp task depend(in : cells[i], cells[other]) depend(out : cells[end]) firstprivate(end)
                nothing(cells + end);
            }
            from = to;
            to = end;
        }
    }
}
