/* peer_graph.c - measures another runtime of tasks as bench_graph.c measures ours: peer_graph_NAME COUNT ROUNDS, the fastest counts. */
#include "peer_graph.h"

#include "batch.h"

#include <stdio.h>
#include <time.h>

static void measure(const char *shape, void (*run)(uint32_t), uint32_t count, uint32_t rounds)
{
    const struct timespec rest = {0, 5000000};
    double best = 1e9;
    char name[64];
    uint32_t i;

    for (i = 0; i < rounds; i++) {
        uint64_t begin = bench_now_ns();
        double took;

        run(count);
        took = (double)(bench_now_ns() - begin) / count / 1e3;
        best = took < best ? took : best;
        nanosleep(&rest, NULL);
    }
    snprintf(name, sizeof name, "%s_%s", peer_name, shape);
    bench_print(name, best, best, "us");
}

int main(int argc, char **argv)
{
    uint32_t count, rounds;

    if (argc != 3) {
        fprintf(stderr, "usage: %s COUNT ROUNDS\n", argv[0]);
        return 2;
    }
    count = bench_number(argv[1]);
    rounds = bench_number(argv[2]);
    peer_open();
    measure("ep", peer_ep, count, rounds);
    measure("chain", peer_chain, count, rounds);
    measure("tree", peer_tree, count, rounds);
    peer_close();
    return 0;
}
