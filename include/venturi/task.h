/*
 * venturi/task.h - tasks that some scheduler ran: what a scheduler, or whoever watches one, says of them.
 *
 * A run is one computation of a graph; its tasks are numbered from 0, and dependencies are such numbers. venturi/graph.h
 * says all of this by itself; this header is for those who have a scheduler of their own. Nothing here can fail or block
 * but vt_task_wait() and, for moments and only where buffers are full, what is said of runs and workers; without a recording
 * nothing is recorded. Not for signal handlers. A task that is put again has the later meaning.
 */
#ifndef VENTURI_TASK_H
#define VENTURI_TASK_H

#include <venturi/span.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef VT_API
#define VT_API __attribute__((visibility("default")))
#endif

#define VT_UNKNOWN UINT64_MAX /* of bytes and CPU time */
#define VT_CPU_ESTIMATED                                                                           \
    ((uint64_t)1 << 63) /* beside a CPU time: its share of what its worker used, not measured */
#define VT_NO_WORKER UINT32_MAX

enum vt_task_state {
    VT_TASK_DONE = 1,
    VT_TASK_FAILED,
    VT_TASK_SKIPPED,   /* something that it depends on failed */
    VT_TASK_CANCELLED, /* it had not begun when the run was given up */
    VT_TASK_TIMED_OUT,
    VT_TASK_LOST /* its worker died */
};

/* What a worker did for a task: the task itself, or what has to be done around it. */
enum vt_task_action {
    VT_ACTION_COMPUTE,
    VT_ACTION_TRANSFER,
    VT_ACTION_DISK_READ,
    VT_ACTION_DISK_WRITE,
    VT_ACTION_DESERIALIZE
};

/* A task that is over, or one thing that was done for it. Times are those of vt_task_clock(), 0: unknown. */
struct vt_task {
    struct vt_site *name; /* what tasks of its kind have in common; its function */
    const char *key;      /* "": none but its number */
    size_t key_bytes;
    uint32_t run;     /* of vt_task_run() */
    uint32_t number;  /* in its run */
    uint32_t worker;  /* in its run, from 0; or VT_NO_WORKER */
    uint16_t retries; /* earlier tries */
    uint8_t state;    /* enum vt_task_state */
    uint8_t action;   /* enum vt_task_action */
    uint64_t ready, start, end;
    uint64_t cpu_ns; /* of its thread, with VT_CPU_ESTIMATED if so; or VT_UNKNOWN */
    uint64_t bytes;  /* of its result, or VT_UNKNOWN */
    uint64_t freed;  /* when its result was given up; 0: not yet, or unknown */
    const uint32_t *dependencies;
    size_t dependency_count;
};

/* A run begins. `scheduler` says what runs it ("sync", "threads", "dask.distributed", …), `parent` is the run of the task that
 * started it or 0. Returns its number, 0 if nobody records. */
VT_API uint32_t vt_task_run(const char *scheduler, uint64_t tasks, uint32_t workers,
                            uint32_t parent);

/* A worker of a run: "" or a label, process and thread as the system knows them (0: unknown). */
VT_API void vt_task_worker(uint32_t run, uint32_t worker, const char *label, uint64_t pid,
                           uint64_t tid);

/* Records it. 0: there is no room now, say it again later or it is lost; 1: done, or nobody records. */
VT_API int vt_task_put(const struct vt_task *task);

/* What a run ended with: "" or an error's one line. What could not be put by now is lost, and counted: so many. */
VT_API void vt_task_run_end(uint32_t run, const char *error, uint64_t lost);

/* The same for a run that is told of when it is over: when it began and when it ended, by vt_task_clock(). */
VT_API uint32_t vt_task_run_at(uint64_t begin, const char *scheduler, uint64_t tasks,
                               uint32_t workers, uint32_t parent);
VT_API void vt_task_run_end_at(uint64_t end, uint32_t run, const char *error, uint64_t lost);

/* Waits until there is room again for the calling thread, no longer than so many milliseconds; 0: there is still none, there is no
 * hope. */
VT_API int vt_task_wait(unsigned ms);

/* The clock that tasks are timed by: now; and what it was when the realtime clock showed so many nanoseconds since 1970, and the
 * other way round. Both need no recording. */
VT_API uint64_t vt_task_clock(void);
VT_API uint64_t vt_task_clock_at(int64_t realtime_ns);
VT_API int64_t vt_task_realtime(uint64_t clock);
VT_API double vt_task_tick_ns(void); /* how long one of its ticks is */

#ifdef __cplusplus
}
#endif
#endif
