/* flight.h - a flight recorder: blocks wait in memory, and give way to newer ones, until the recording is closed. */
#ifndef VENTURI_DRAIN_FLIGHT_H
#define VENTURI_DRAIN_FLIGHT_H

#include "format/write.h"

#include <stdbool.h>
#include <stdint.h>

struct vti_flight_block;

struct vti_flight {
    uint64_t ns;         /* how old they become; 0: there is no flight recorder */
    uint64_t most_bytes; /* how much they take together */
    uint64_t bytes;
    struct vti_flight_block *first, **end; /* oldest first, owned */
    struct vti_loss_fact overwritten;      /* what gave way */
};

/* `bytes` 0: as many as are reasonable. */
void vti_flight_init(struct vti_flight *flight, uint64_t ns, uint64_t bytes);
void vti_flight_fini(struct vti_flight *flight);

/* Keeps a copy of a whole block. False: no memory. */
bool vti_flight_keep(struct vti_flight *flight, const struct vti_block_header *header,
                     const struct vti_buf *block);

/* Those that are too old give way. */
void vti_flight_age(struct vti_flight *flight, uint64_t now_ns);

/* Writes all, and what gave way. The first error of the writer's. */
int vti_flight_write(struct vti_flight *flight, struct vti_writer *writer);

#endif
