/*
 * executor.h - what executes tasks for the central loop (central.c): a pool of threads, processes, StarPU.
 *
 * The central loop runs in the thread that called vt_run_go() and owns all state: what is ready, values, counts, callbacks, retries,
 * failures. An executor only executes what it is given and says what came of it. All of its functions but wake() are called by that
 * one thread.
 */
#ifndef VENTURI_GRAPH_EXECUTOR_H
#define VENTURI_GRAPH_EXECUTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <venturi/graph.h>

/* One try of one task. Its arguments are those of vti_run_args() (run.h): they stay until the try is said to be over. */
struct vti_job {
    uint32_t task;
    uint32_t try_;
};

/* A try that is over. Everything it points to is the central loop's from then on. */
struct vti_done {
    uint32_t task;
    uint32_t worker;
    enum vt_task_state
        state; /* VT_TASK_DONE, _FAILED, _TIMED_OUT (after expire()), _LOST (its worker died), _CANCELLED (the run was given up before it began, or it ended because of that) */
    bool is_cpu_estimated;
    uint64_t start, end; /* of vt_task_clock(), as the worker read it */
    uint64_t cpu_ns;     /* or VT_UNKNOWN */
    struct vt_datum result;
    struct vt_datum failure;
    char *reason; /* malloc, or NULL: one line of why it failed */
};

struct vti_executor {
    const struct vti_executor_ops *ops;
    vt_run *run;
};

struct vti_executor_ops {
    const char *name; /* as it is recorded: "threads", "processes", "starpu" */

    /* Starts `workers` workers, numbered from 0, and says vti_run_worker_is() of each. 0 or a negative code with vti_fail(). */
    int (*open)(vt_run *run, unsigned workers, struct vti_executor **executor);

    /* How many jobs it would take now. */
    unsigned (*room)(struct vti_executor *executor);

    /* Takes the first so many of them and returns how many; never blocks. Negative: it can execute nothing any more (vti_fail()). */
    int (*submit)(struct vti_executor *executor, const struct vti_job *jobs, size_t count);

    /* What is over: up to `room` of them, as soon as there is one, or 0 after the time (-1: any). Negative: nothing can come any more. */
    int (*collect)(struct vti_executor *executor, struct vti_done *done, size_t room,
                   int timeout_ms);

    /* When the try of this task began to run, for its time limit: 0 if it has not or is unknown here. */
    uint64_t (*began)(struct vti_executor *executor, uint32_t task);

    /* Its time is over: makes it end, or abandons it. It is then collected, as VT_TASK_TIMED_OUT, without anybody waiting for it. */
    void (*expire)(struct vti_executor *executor, uint32_t task);

    /* From any thread or signal handler: collect() returns. May be NULL if collect() looks at the run's cancellation itself. */
    void (*wake)(struct vti_executor *executor);

    /* Ends its workers; nothing is running any more but what was abandoned. */
    void (*close)(struct vti_executor *executor);
};

extern const struct vti_executor_ops vti_executor_threads;
extern const struct vti_executor_ops vti_executor_processes;
extern const struct vti_executor_ops vti_executor_starpu;

#endif
