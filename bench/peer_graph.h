/* peer_graph.h - another runtime of tasks: three shapes of empty tasks on 2 threads, from handing in the first to the end of the last. */
#ifndef VENTURI_BENCH_PEER_GRAPH_H
#define VENTURI_BENCH_PEER_GRAPH_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

extern const char *const peer_name;

void peer_open(void);
void peer_ep(uint32_t count);
void peer_chain(uint32_t count);
void peer_tree(uint32_t count); /* half of them are leaves */
void peer_close(void);

#ifdef __cplusplus
}
#endif
#endif
