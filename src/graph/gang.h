/*
 * gang.h - threads that take work from each other: seats with a deque each, and threads that sit in them.
 *
 * A task is begun by whoever makes it ready, or else by whoever has nothing to do. A thread whose task takes too long is abandoned; a new
 * one takes its seat, and the deque with it.
 */
#ifndef VENTURI_GRAPH_GANG_H
#define VENTURI_GRAPH_GANG_H

#include "graph/caller.h"
#include "graph/deque.h"

struct vti_seat {
    struct vti_deque deque;
    uint64_t done;  /* atomic: tasks that are over; only its thread adds */
    uint32_t *made; /* room for tasks that become ready together */
    size_t made_room;
} __attribute__((aligned(64)));

struct vti_gang_thread {
    struct vti_gang *gang;
    struct vti_seat *seat;
    struct vti_gang_thread *next;
    pthread_t id;
    uint32_t holders; /* atomic: itself, and the one that watches */
    uint32_t worker;
    uint32_t first; /* the task to begin with, or VT_NO_TASK */
    uint64_t
        claim; /* atomic: the number of the try << 32 | its task + 1; 0: none, ~0: taken from it */
    uint64_t start;      /* atomic: when that began */
    uint32_t is_expired; /* atomic: what the task is told */
};

struct vti_gang {
    vt_run *run;
    struct vti_seat *seats;
    unsigned seat_count;
    const uint32_t *first; /* tasks that were ready at first, in their static order; the run's */
    uint32_t first_count;
    bool has_times;
    struct vti_gang_thread *threads; /* not abandoned; the watching thread's alone */
    uint32_t next_worker;

    uint32_t cursor __attribute__((aligned(64))); /* atomic: so many of `first` are begun */
    uint32_t sleepers;                            /* atomic */
    uint32_t work;    /* atomic, futex: changes when a sleeper should look again */
    uint32_t live;    /* atomic: threads that were not abandoned and have not ended */
    uint32_t is_over; /* atomic */
    uint64_t others;  /* atomic: tasks that are over and were counted by no seat */
};

/* NULL: no memory. */
struct vti_gang *vti_gang_new(vt_run *run, unsigned seats);
void vti_gang_free(struct vti_gang *gang);

/* Tasks that are over. */
uint64_t vti_gang_done(const struct vti_gang *gang);

/* One more thread, in that seat; it begins with `first`. 0 or a negative code. */
int vti_gang_start(struct vti_gang *gang, struct vti_seat *seat, uint32_t first);

/* Gives up one hold of it. */
void vti_gang_thread_drop(struct vti_gang_thread *thread);

/* Whether all tasks are over; if so, everybody is told. */
bool vti_gang_is_over(struct vti_gang *gang);

/* A try is over: result, dependents, record. Returns what its thread should begin next, or VT_NO_TASK. */
uint32_t vti_gang_finish(struct vti_gang *gang, struct vti_seat *seat, struct vti_done *done);

/* The same for a try that was taken from its thread. */
uint32_t vti_gang_expired(struct vti_gang *gang, struct vti_done *done);

#endif
