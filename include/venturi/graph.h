/*
 * venturi/graph.h - task graphs: keys that are computed from other keys, by one thread, several, or several processes.
 *
 *     vt_graph *graph = vt_graph_new();
 *     vt_graph_literal(graph, "x", vt_datum_int(1));
 *     vt_graph_task(graph, "y", "increment", increment, NULL, (struct vt_arg[]){VT_ARG_KEY("x")}, 1);
 *     vt_run *run = vt_run_new(graph, NULL);
 *     vt_run_want(run, "y");
 *     if (vt_run_go(run) == 0)
 *         printf("%ld\n", (long)vt_run_result(run, 0)->as.number);
 *     else
 *         fprintf(stderr, "%s\n", vt_run_error(run)->message);
 *     vt_run_free(run);
 *     vt_graph_free(graph);
 *
 * A graph may be run often, by several threads at once; while it runs it must not change. Functions return 0 or a negative code
 * and leave one line in vt_graph_error() or vt_run_error(). libventuri-graph; needs libventuri and libc. Every task is recorded if
 * somebody records (venturi run, venturi/session.h).
 */
#ifndef VENTURI_GRAPH_H
#define VENTURI_GRAPH_H

#include <venturi/task.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- values ----------------------------------------------------------------------------------- */

enum vt_datum_type {
    VT_DATUM_NONE,
    VT_DATUM_INT,
    VT_DATUM_DOUBLE,
    VT_DATUM_BYTES,
    VT_DATUM_OBJECT
};

/* What tasks take and give. Bytes at `data` are flat: only those can go to another process. An object is a pointer that means
 * something in this process alone. `destroy` is called once, by the thread that used it last; NULL: nothing is to be done. */
struct vt_datum {
    enum vt_datum_type type;
    union {
        int64_t number;
        double real;
        void *data;
    } as;
    size_t size; /* of bytes; of an object: what it is said to occupy */
    void (*destroy)(void *data, void *with);
    void *with;
};

VT_API struct vt_datum vt_datum_int(int64_t number);
VT_API struct vt_datum vt_datum_double(double real);
VT_API struct vt_datum vt_datum_bytes(void *data, size_t size, void (*destroy)(void *, void *),
                                      void *with);
VT_API struct vt_datum vt_datum_object(void *object, size_t size, void (*destroy)(void *, void *),
                                       void *with);

/* ---- graphs ----------------------------------------------------------------------------------- */

typedef struct vt_graph vt_graph;
typedef struct vt_run vt_run;

#define VT_NO_TASK UINT32_MAX

/* What a task function sees. Arguments stay the engine's: they are valid until the function returns. */
struct vt_call {
    const struct vt_datum *const *args;
    size_t arg_count;
    void *user;             /* what the task was made with */
    struct vt_datum result; /* to be set by the function; VT_DATUM_NONE at first */
    struct vt_datum
        failure; /* more about why it failed, for a binding; only flat ones leave another process */
    uint32_t task; /* its number */
    uint32_t worker;
    uint32_t try_; /* 0: the first */
    vt_run *run;   /* NULL in another process */
    void *inner;   /* the engine's own */
};

/* 0: done; else it failed, see vt_call_fail(). */
typedef int vt_function(struct vt_call *call);

/* The line that tells why; returns -1 for `return vt_call_fail(…)`. */
VT_API int vt_call_fail(struct vt_call *call, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Whether the run is given up or this task's time is over: for tasks that take long to look at now and then. */
VT_API int vt_call_is_cancelled(const struct vt_call *call);

/* Room for a flat result of so many bytes that need not be copied to be seen by others (in shared memory if the task is in
 * another process); it is the result from then on, and who puts another in its place destroys it first. NULL: no memory. */
VT_API void *vt_call_bytes(struct vt_call *call, size_t size);

enum vt_arg_type { VT_ARG_IS_VALUE, VT_ARG_IS_KEY, VT_ARG_IS_TASK };

struct vt_arg {
    enum vt_arg_type type;
    const char *key;
    uint32_t task;
    struct vt_datum value; /* owned by the graph from then on */
};
/* To initialize a struct vt_arg, or an array of them. */
#define VT_ARG_KEY(name)                                                                           \
    {                                                                                              \
        VT_ARG_IS_KEY, name, 0,                                                                    \
        {                                                                                          \
            VT_DATUM_NONE, {0}, 0, NULL, NULL                                                      \
        }                                                                                          \
    }
#define VT_ARG_TASK(number)                                                                        \
    {                                                                                              \
        VT_ARG_IS_TASK, NULL, (uint32_t)(number),                                                  \
        {                                                                                          \
            VT_DATUM_NONE, {0}, 0, NULL, NULL                                                      \
        }                                                                                          \
    }
#define VT_ARG_INT(number)                                                                         \
    {                                                                                              \
        VT_ARG_IS_VALUE, NULL, 0,                                                                  \
        {                                                                                          \
            VT_DATUM_INT, {(int64_t)(number)}, 0, NULL, NULL                                       \
        }                                                                                          \
    }

VT_API vt_graph *vt_graph_new(void); /* NULL: no memory */
VT_API void vt_graph_free(vt_graph *graph);

/* Each adds a node and returns its number, from 0 in the order of adding; VT_NO_TASK: see vt_graph_error(). `key` NULL: it is known
 * by its number alone. Keys that are named may be added later. Texts are copied. `name` is what tasks of a kind have in common. Values that
 * are given are the graph's from then on, and destroyed at once if it fails. */
VT_API uint32_t vt_graph_task(vt_graph *graph, const char *key, const char *name,
                              vt_function *function, void *user, const struct vt_arg *args,
                              size_t arg_count);
VT_API uint32_t vt_graph_literal(vt_graph *graph, const char *key, struct vt_datum value);
VT_API uint32_t vt_graph_alias(vt_graph *graph, const char *key, const char *target);

/* The same for those who have the numbers: all arguments are earlier or later nodes. The quickest way. */
VT_API uint32_t vt_graph_call(vt_graph *graph, const char *name, vt_function *function, void *user,
                              const uint32_t *tasks, size_t count);

/* `user` of its calls is a copy of these bytes, wherever it runs: in another process too. */
VT_API int vt_graph_user_bytes(vt_graph *graph, uint32_t task, const void *data, size_t size);
/* Of a task that was added. Priority: higher ones are begun first among those that are ready (0); tries after the first (of the run);
 * seconds that one try may take (of the run; 0: any). */
VT_API void vt_graph_priority(vt_graph *graph, uint32_t task, int32_t priority);
VT_API void vt_graph_retries(vt_graph *graph, uint32_t task, unsigned retries);
VT_API void vt_graph_timeout(vt_graph *graph, uint32_t task, double seconds);

VT_API uint32_t vt_graph_find(const vt_graph *graph,
                              const char *key); /* VT_NO_TASK: there is none */
VT_API uint32_t vt_graph_count(const vt_graph *graph);
/* "#17" if it has none: valid until this thread has asked for some more. A key or name of its own: until something is added. */
VT_API const char *vt_graph_key(const vt_graph *graph, uint32_t task);
VT_API const char *vt_graph_name(const vt_graph *graph, uint32_t task);

/* Every key is there and nothing depends on itself; done by each run too. A cycle is named in full: "a -> b -> a". */
VT_API int vt_graph_check(vt_graph *graph);
VT_API const char *vt_graph_error(const vt_graph *graph);

/* Functions by name, for what crosses processes and machines. Registered once and for all; also found: any function of a library
 * that is named "path/libX.so:function". NULL: unknown. */
VT_API int vt_function_register(const char *name, vt_function *function);
VT_API vt_function *vt_function_find(const char *name);

/* ---- callbacks -------------------------------------------------------------------------------- */

/* What a callback may look at; live. Only valid during a callback. */
typedef struct vt_state vt_state;

/* Any may be NULL. They are called by the thread that called vt_run_go(), one at a time, in the order of registration; a negative
 * return gives the run up. `task` is VT_NO_TASK in the seed's last calls of start_task and end_task. */
struct vt_callbacks {
    int (*start)(vt_run *run, void *user);
    int (*start_state)(vt_run *run, vt_state *state, void *user);
    int (*pretask)(vt_run *run, uint32_t task, vt_state *state, void *user);
    int (*posttask)(vt_run *run, uint32_t task, const struct vt_datum *result, vt_state *state,
                    uint32_t worker, void *user);
    int (*error)(vt_run *run, uint32_t task, const char *message, vt_state *state, uint32_t worker,
                 void *user);
    void (*finish)(vt_run *run, vt_state *state, int failed, void *user);
    int (*start_task)(vt_run *run, uint32_t task, vt_state *state, void *user);
    int (*end_task)(vt_run *run, uint32_t task, vt_state *state, uint32_t worker, void *user);
    void *user;
};

/* For all runs from now on, those inside of tasks included; the struct must stay. Registering twice calls once. */
VT_API int vt_callbacks_register(const struct vt_callbacks *callbacks);
VT_API void vt_callbacks_unregister(const struct vt_callbacks *callbacks);

enum vt_task_phase {
    VT_PHASE_WAITING = 1,
    VT_PHASE_READY,
    VT_PHASE_RUNNING,
    VT_PHASE_FINISHED, /* its result is there */
    VT_PHASE_RELEASED, /* it was, and nobody needs it any more */
    VT_PHASE_FAILED    /* or will never be begun */
};

/* Counts are at hand, the rest is looked up. Nodes that the run does not need have phase 0. */
VT_API uint64_t vt_state_count(const vt_state *state, enum vt_task_phase phase);
VT_API enum vt_task_phase vt_state_phase(const vt_state *state, uint32_t task);
VT_API uint32_t vt_state_ready(const vt_state *state,
                               uint32_t place); /* from the one that is next; VT_NO_TASK: no more */
VT_API const struct vt_datum *vt_state_value(const vt_state *state,
                                             uint32_t task); /* NULL: not there */
VT_API size_t vt_state_dependencies(const vt_state *state, uint32_t task, const uint32_t **tasks);
VT_API size_t vt_state_dependents(const vt_state *state, uint32_t task, const uint32_t **tasks);

/* ---- runs ------------------------------------------------------------------------------------- */

enum vt_scheduler { VT_SYNC, VT_THREADS, VT_PROCESSES, VT_STARPU };

struct vt_run_options {
    size_t size; /* sizeof this struct, so that it can grow; without it vt_run_go() fails */
    enum vt_scheduler scheduler;
    unsigned workers; /* 0: as many as CPUs that may be used */
    int keep_going; /* after a failure go on with what does not depend on it; else nothing new is begun */
    unsigned retries; /* tries after the first */
    double timeout;   /* seconds that one try may take; 0: any */
    int cpu_time; /* read it for each task: 1.2 us each; else it is interpolated, and marked so */
    int progress; /* 1: a bar on stderr if that is a terminal */
    const struct vt_callbacks *const *callbacks;
    size_t callback_count;
    size_t
        shared_bytes; /* for values between processes; 0: 256 MiB, of which only what is used is taken */
    /* What a thread of ours has to do before its first task and after its last, and before and after it waits: a binding of a
     * language that has a lock. Any may be NULL. */
    void (*thread_begin)(void *user);
    void (*thread_end)(void *user);
    void (*before_wait)(void *user);
    void (*after_wait)(void *user);
    void *thread_user;
    const char *const *
        worker_command; /* processes: what is started instead of forked, argv; it calls vt_worker_main() */
    int is_unrecorded; /* 1: not in a recording, whoever records: somebody else tells of it */
};

/* A worker that was started by `worker_command`: takes tasks from the descriptor that the environment names until there are no
 * more. Functions are found by name. Returns what the process should exit with. */
VT_API int vt_worker_main(void);

/* NULL options: sync, and defaults. NULL: no memory. */
VT_API vt_run *vt_run_new(vt_graph *graph, const struct vt_run_options *options);
VT_API void vt_run_free(vt_run *run); /* destroys the results too */

/* What is wanted, in the order of the results; nothing wanted: all that nothing depends on. Negative: no such key; vt_run_go()
 * computes nothing then, and fails too. */
VT_API int vt_run_want(vt_run *run, const char *key);
VT_API int vt_run_want_task(vt_run *run, uint32_t task);

/* Computes it; 0, or negative if anything that was wanted could not be had. Only once for each run. */
VT_API int vt_run_go(vt_run *run);

/* From any thread or signal handler: nothing new is begun, tasks that look are told. vt_run_go() returns when those that run have ended. */
VT_API void vt_run_cancel(vt_run *run);

/* The same, and vt_run_go() does not wait: tasks that run on threads are left to themselves, like those whose time is over. Only if the
 * run has a time limit, which may be a long one. */
VT_API void vt_run_abandon(vt_run *run);

/* Of the wanted ones; NULL: it could not be had. Stays until vt_run_free(). */
VT_API const struct vt_datum *vt_run_result(const vt_run *run, size_t place);
VT_API struct vt_datum vt_run_take(vt_run *run, size_t place); /* the caller's from then on */

/* The first thing that went wrong. Texts are the run's. */
struct vt_run_failure {
    const char *message;          /* one line with all of this */
    const char *reason;           /* what the task itself said */
    const struct vt_datum *value; /* and what it left in `failure` of its call */
    uint32_t task;                /* or VT_NO_TASK */
    const char *key;
    uint32_t worker;
    unsigned tries;
    const uint32_t *skipped; /* all tasks that were not begun because they depend on a failed one */
    size_t skipped_count;
};
VT_API const struct vt_run_failure *vt_run_error(const vt_run *run); /* NULL: nothing did */

/* From any thread while it runs: tasks that are over, and all. */
VT_API void vt_run_progress(const vt_run *run, uint64_t *done, uint64_t *total);

/* What is known of a task when the run is over; times are those of vt_task_clock(). 0 if the run did not need it. `is_estimated`: the CPU time
 * is a share of what its thread used. Dependencies and texts are the run's, the key is that of vt_graph_key(). */
VT_API int vt_run_task(const vt_run *run, uint32_t task, struct vt_task *known, int *is_estimated);
VT_API void vt_run_worker(const vt_run *run, uint32_t worker, uint64_t *pid, uint64_t *tid);
VT_API uint32_t vt_run_number(const vt_run *run); /* in the recording, 0: none */

/* For a binding: what vt_run_new() and vt_run_want() were told. */
VT_API vt_graph *vt_run_graph(const vt_run *run);
VT_API void *vt_run_user(const vt_run *run);
VT_API void vt_run_set_user(vt_run *run, void *user);

#ifdef __cplusplus
}
#endif
#endif
