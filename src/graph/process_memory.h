/*
 * process_memory.h - the caller's side of the shared memory: it stays as long as a value in it does, which may be longer than the run.
 */
#ifndef VENTURI_GRAPH_PROCESS_MEMORY_H
#define VENTURI_GRAPH_PROCESS_MEMORY_H

#include "graph/process_shared.h"

#include <pthread.h>
#include <stdbool.h>

struct vti_memory {
    struct vti_header *header; /* the mapping */
    uint64_t bytes;
    int fd;
    struct vti_segments segments;
    struct vti_space space; /* what the caller gives out itself */
    uint32_t *live;         /* for each segment: values that begin in it */
    uint32_t *span;         /* and how many segments the last of them has; owned both */
    pthread_mutex_t lock;   /* values are destroyed by any thread */
    uint64_t values;
    bool is_closed;
};

/* NULL: see vti_fail(). `bytes` is what is for values; the rest is added. */
struct vti_memory *vti_memory_open(unsigned lanes, size_t bytes);

/* No worker is left; the memory goes with the last value. */
void vti_memory_close(struct vti_memory *memory);

/* A result that a worker left, as a value that belongs to the caller. -1: it is not what a worker could have left. */
int vti_memory_value(struct vti_memory *memory, const struct vti_flat *flat,
                     struct vt_datum *value);

/* A text that a worker left, malloc; its block is given back. NULL: none. */
char *vti_memory_text(struct vti_memory *memory, const struct vti_flat *flat);

/* Whether it is in the shared memory, and where: a value that need not be copied. */
bool vti_memory_has(const struct vti_memory *memory, const void *data, size_t size,
                    uint64_t *offset);

/* So much is in use that nothing should be begun only to keep workers busy. */
bool vti_memory_is_tight(const struct vti_memory *memory);

/* The worker of a lane is dead: its segments are free, but for those that hold values. */
void vti_memory_bury(struct vti_memory *memory, uint32_t lane);

#endif
