/*
 * bench_graph.c - what a task of a graph costs: independent ones, a chain, a tree of pairs; all functions are empty.
 *
 *     bench_graph SCHEDULER COUNT ROUNDS [NAME]
 *
 * SCHEDULER is sync, threads, processes or starpu (2 workers). For each shape it prints the fastest of so many runs, from the beginning of
 * vt_run_go() to its end: checking, culling and ordering included. Building the graph is a figure of its own.
 */
#include "batch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <venturi/graph.h>

#define REST_US 20000 /* between runs, so that the drainer keeps up */

static int nothing(struct vt_call *call)
{
    call->result = vt_datum_int(1);
    return 0;
}

static vt_graph *independent(uint32_t count)
{
    vt_graph *graph = vt_graph_new();
    uint32_t i;

    for (i = 0; i < count; i++)
        vt_graph_call(graph, "nothing", nothing, NULL, NULL, 0);
    return graph;
}

static vt_graph *chain(uint32_t count)
{
    vt_graph *graph = vt_graph_new();
    uint32_t before = vt_graph_call(graph, "nothing", nothing, NULL, NULL, 0);
    uint32_t i;

    for (i = 1; i < count; i++)
        before = vt_graph_call(graph, "nothing", nothing, NULL, &before, 1);
    return graph;
}

/* Half of them are leaves. */
static vt_graph *tree(uint32_t count)
{
    vt_graph *graph = vt_graph_new();
    uint32_t from = 0, to = count / 2, i;

    for (i = 0; i < to; i++)
        vt_graph_call(graph, "nothing", nothing, NULL, NULL, 0);
    while (to - from > 1) {
        uint32_t end = to;

        for (i = from; i < to; i += 2, end++)
            vt_graph_call(graph, "nothing", nothing, NULL, (uint32_t[]){i, i + 1},
                          i + 1 < to ? 2 : 1);
        from = to;
        to = end;
    }
    return graph;
}

static const struct shape {
    const char *name;
    vt_graph *(*make)(uint32_t count);
} shapes[] = {{"ep", independent}, {"chain", chain}, {"tree", tree}};

static double cpu_ns(void)
{
    struct rusage used;

    getrusage(RUSAGE_SELF, &used);
    return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1e9 +
           (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1e3;
}

static void rest(void)
{
    struct timespec time = {0, REST_US * 1000};

    nanosleep(&time, NULL);
}

/* The fastest of so many runs, in microseconds a task: wall clock, CPU time, building. */
static void measure(const struct shape *shape, const char *scheduler, uint32_t count,
                    uint32_t rounds)
{
    struct vt_run_options options = {.size = sizeof options, .workers = 2};
    double best[3] = {1e9, 1e9, 1e9};
    char name[64];
    uint32_t i, k;

    options.scheduler = strcmp(scheduler, "sync") == 0      ? VT_SYNC
                        : strcmp(scheduler, "threads") == 0 ? VT_THREADS
                        : strcmp(scheduler, "starpu") == 0  ? VT_STARPU
                                                            : VT_PROCESSES;
    for (i = 0; i < rounds; i++) {
        uint64_t begin = bench_now_ns(), end;
        vt_graph *graph = shape->make(count);
        vt_run *run = vt_run_new(graph, &options);
        double figures[3];

        end = bench_now_ns();
        figures[2] = (double)(end - begin);
        figures[1] = cpu_ns();
        begin = bench_now_ns();
        if (vt_run_go(run) != 0) {
            fprintf(stderr, "%s\n", vt_run_error(run)->message);
            exit(1);
        }
        end = bench_now_ns();
        figures[0] = (double)(end - begin);
        figures[1] = cpu_ns() - figures[1];
        for (k = 0; k < 3; k++)
            if (figures[k] / count / 1e3 < best[k])
                best[k] = figures[k] / count / 1e3;
        vt_run_free(run);
        vt_graph_free(graph);
        rest();
    }
    for (k = 0; k < 3; k++) {
        static const char *const kinds[] = {"", "_cpu", "_build"};

        snprintf(name, sizeof name, "graph_%s_%s%s", scheduler, shape->name, kinds[k]);
        bench_print(name, best[k], best[k], "us");
    }
}

int main(int argc, char **argv)
{
    size_t i;

    if (argc != 4) {
        fprintf(stderr, "usage: bench_graph sync|threads|processes|starpu COUNT ROUNDS\n");
        return 2;
    }
    for (i = 0; i < sizeof shapes / sizeof shapes[0]; i++)
        measure(&shapes[i], argv[1], bench_number(argv[2]), bench_number(argv[3]));
    return 0;
}
