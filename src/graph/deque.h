/*
 * deque.h - tasks of one worker: it puts and takes at the bottom, others steal at the top (Chase and Lev, 2005).
 *
 * Only the owner may call put() and take(); anybody steal(). Old rooms are kept until the end, since a thief may be reading them.
 */
#ifndef VENTURI_GRAPH_DEQUE_H
#define VENTURI_GRAPH_DEQUE_H

#include <stddef.h>
#include <stdint.h>

struct vti_deque_room;

struct vti_deque {
    int64_t top __attribute__((aligned(64)));    /* atomic: the next to be stolen */
    int64_t bottom __attribute__((aligned(64))); /* atomic: one behind the last */
    struct vti_deque_room *room;                 /* atomic */
};

/* Negative: no memory. */
int vti_deque_open(struct vti_deque *deque);
void vti_deque_close(struct vti_deque *deque);

/* Puts them so that the last is taken first. Negative: no memory, none was put. */
int vti_deque_put(struct vti_deque *deque, const uint32_t *tasks, size_t count);

/* VT_NO_TASK: it is empty; of steal() also: somebody else was quicker. */
uint32_t vti_deque_take(struct vti_deque *deque);
uint32_t vti_deque_steal(struct vti_deque *deque);

#endif
