/*
 * run.h - one computation of a graph: what is kept for each node and for the whole.
 *
 * Who may write what: without work stealing only the thread in vt_run_go(); with it (steal.c) the fields marked "atomic" are shared by
 * the workers, a value belongs to the worker that makes it until `missing` of a dependent tells others, and a record to the worker that
 * ran the task.
 */
#ifndef VENTURI_GRAPH_RUN_H
#define VENTURI_GRAPH_RUN_H

#include "graph/executor.h"
#include "graph/graph.h"

#include <pthread.h>

/* For each node of the graph; 64 bytes, a line of the cache. Nodes that the run does not need have phase 0. */
struct vti_item {
    struct vt_datum value; /* `size` stays when the value is gone */
    uint32_t missing;      /* dependencies that are not there yet; atomic */
    uint32_t uses;         /* dependents that are not over yet, and one if it is wanted; atomic */
    uint32_t order;        /* the place in the static order: lower ones first */
    uint16_t tries;        /* that are over */
    uint8_t phase : 4;     /* enum vt_task_phase */
    uint8_t is_wanted : 1; /* its value stays */
    uint8_t state;         /* enum vt_task_state when it is over, else 0 */
    uint64_t ready;        /* when the last of what it needs was there; of vt_task_clock() */
};

/* What is known of the last try of a task; 32 bytes. Times are those of vt_task_clock(). */
struct vti_times {
    uint64_t start, end, freed;
    float cpu_ns;    /* -1: unknown */
    uint16_t worker; /* + 1; 0: it was never begun */
    uint8_t is_cpu_estimated;
    uint8_t is_put; /* it is in the recording */
};

#define VTI_MAX_WORKERS 4096  /* at a time */
#define VTI_MAX_REPLACED 4096 /* workers that others took the place of */

struct vti_worker_id {
    uint64_t pid, tid;
};

/* What went wrong first, and all that did not run because of it. */
struct vti_failure {
    pthread_mutex_t lock;
    bool is_set;
    struct vt_run_failure told; /* texts are owned */
    struct vt_datum value;      /* `told.value` points here */
    uint32_t *skipped;
    size_t skipped_count, skipped_room;
    size_t others; /* tasks that failed later */
};

struct vti_ready;         /* ready.h: what is ready */
struct vti_callback_list; /* callbacks.h */
struct vti_gang;          /* gang.h: threads that take work from each other */

#define VTI_CANCELLED_BY_USER 1u    /* vt_run_cancel() */
#define VTI_CANCELLED_BY_FAILURE 2u /* of a task, a callback or a scheduler */

struct vt_run {
    vt_graph *graph;
    const struct vti_plan *plan;
    struct vt_run_options options;
    void *user;
    uint32_t *wanted; /* as told, aliases too */
    size_t wanted_count, wanted_room;
    bool has_gone; /* vt_run_go() was called */

    struct vti_item *items;  /* by node */
    struct vti_times *times; /* by node */
    uint32_t total;          /* tasks that are needed */
    uint32_t left;           /* of those: never begun, and not because of a failure */
    uint64_t counts[8];      /* by enum vt_task_phase; not with work stealing */
    struct vti_ready *ready;
    uint32_t *order;      /* tasks that are needed, in their static order */
    uint32_t *ready_room; /* a number for each node */
    uint32_t *scratch;    /* the same */
    void *pages;          /* where all of these lie but `ready` */
    size_t page_bytes;

    uint32_t
        is_cancelled; /* atomic, also set by signal handlers: 1 by vt_run_cancel(), 2 by a failure or a callback */
    uint32_t is_left; /* atomic: vt_run_abandon(): the time of all tasks is over */
    uint64_t done;    /* atomic: tasks that are over */
    uint64_t ticks_per_second;
    uint32_t number; /* in the recording, 0: none */
    uint32_t parent;

    uint64_t begin; /* of vt_task_clock() */

    unsigned worker_count; /* one more when one is replaced */
    struct vti_worker_id *workers;
    unsigned worker_room;
    struct vti_executor *executor; /* of the central loop; atomic */
    uint32_t cancellers;           /* atomic: how many are in vt_run_cancel() */
    uint32_t event;                /* atomic, futex: changes when there is something to look at */
    struct vti_gang *gang;         /* of work stealing; atomic */
    uint32_t abandoned;            /* atomic: threads whose task took too long and has not ended */
    bool has_pins;                 /* vti_run_pin_needs() was called */
    uint32_t has_unput;            /* atomic: a task found no room in the recording */
    struct vti_callback_list *callbacks;
    struct vti_failure failure;
    uint32_t holders; /* atomic: the caller's, and one for each thread that was abandoned */
};

/* Gives up one hold of a run; the last frees it. */
void vti_run_drop(vt_run *run);

/* The arguments of a call: pointers to the values, in the room given (arg_count of the node). They stay until the task is over. */
void vti_run_args(const vt_run *run, uint32_t task, const struct vt_datum **args);

/* The executor that vt_run_cancel() wakes; NULL: it is about to be closed, and nobody is using it when this returns. */
void vti_run_set_executor(vt_run *run, struct vti_executor *executor);

/* A worker is a process and thread; numbers are dense from 0. Recorded if the run is. Any thread. Negative: there are too many. */
int vti_run_worker_is(vt_run *run, uint32_t worker, const char *label, uint64_t pid, uint64_t tid);

/* The thread in vt_run_go() waits until the run's event is no longer this, or so many milliseconds (-1: any). */
void vti_run_wait(vt_run *run, uint32_t event, int timeout_ms);

/* What a task needs stays until the run is over and nothing of it is running any more: its thread is abandoned and goes on using it. */
void vti_run_pin_needs(vt_run *run, uint32_t task);

/* The task of a thread that was abandoned has ended; gives up nothing. */
void vti_run_came_back(vt_run *run);

/* What a task may take, 0: any time, and how often it may be tried again. */
double vti_run_timeout(const vt_run *run, uint32_t task);
unsigned vti_run_retries(const vt_run *run, uint32_t task);

/* ---- calls ------------------------------------------------------------------------------------ */

/* `inner` of a vt_call. */
struct vti_call {
    char *reason; /* malloc; of vt_call_fail(), or NULL */
    void *(*make_bytes)(struct vti_call *call, size_t size,
                        struct vt_datum *value); /* NULL: malloc */
    void *with;
    const uint32_t *is_cancelled; /* atomic; not 0: given up. May be NULL */
    const uint32_t *is_expired;   /* the same for this try alone */
    uint64_t time;                /* that it may take, in ticks of vt_task_clock(); 0: any */
    uint64_t start;               /* when it began; set by vti_call_make() */
    bool is_told;                 /* it has seen that the run is given up */
    struct vti_cpu *cpu;          /* of the thread; NULL: its CPU time is not looked at */
};

/* CPU time of a thread: read at each call, or now and then; calls between get their share by the time they took. */
struct vti_cpu {
    bool is_exact;
    uint64_t ticks; /* when it was read last */
    uint64_t used;  /* what it was then, in nanoseconds */
    double share;   /* nanoseconds of CPU time in a tick, since the reading before */
    uint64_t every; /* ticks between readings */
};

/* By the thread whose time it is, at first and after it has waited. `ticks_per_second` is the run's. */
void vti_cpu_begin(struct vti_cpu *cpu, bool is_exact, uint64_t ticks_per_second);

/* Calls the function once and fills state, times, CPU time, result, failure and reason of `done`. `call` has args, user, task, worker,
 * try_, run, inner; the result is destroyed here if the function failed. In any thread, or process. */
void vti_call_make(vt_function *function, struct vt_call *call, struct vti_done *done);

/* Destroys a value, once; its size stays. */
void vti_value_destroy(struct vt_datum *value);

#endif
