/* ring.h - where a thread's records go: from block to block, or, with no block free, into the count. */
#ifndef VENTURI_CORE_RING_H
#define VENTURI_CORE_RING_H

#include "core/thread.h"

/* Points the cursor of a registered thread at its slot's own records. */
void vti_ring_start(struct vti_thread *self);

/* Makes `count` records fit between cursor and limit. Slow path only. False: they do not, and events can
 * only be counted, until the function that a signal handler interrupts goes on. */
bool vti_ring_room(struct vti_thread *self, unsigned count);

/* The same for what is better not recorded than counted as lost: true if `count` records fit, and then they are not only counted. Never
 * waits. */
bool vti_ring_try(struct vti_thread *self, unsigned count);

/* Whether that would be in vain, as far as can be told at no cost and outside of the slow path. */
bool vti_ring_is_out(const struct vti_thread *self);

/* Gives back records that the fast path took and did not use. If a signal handler has taken some behind
 * them they become filling: payload of nothing, that readers pass over. */
void vti_ring_return(struct vti_thread *self, struct vti_record *record, unsigned count);

/* Writes one record and its payload, published with `ticks`. Slow path only. */
void vti_ring_put(struct vti_thread *self, uint64_t ticks, uint32_t id, uint32_t kind,
                  uint32_t flags, uint32_t type, const void *payload, size_t payload_bytes);

/* Adds what lies in the scratch area to the tally. */
void vti_ring_settle(struct vti_thread *self);

/* The thread ends: notes how far its last block was filled. */
void vti_ring_leave(struct vti_thread *self);

#endif
