/*
 * starpu.c - libventuri-starpu: StarPU's CPU workers behind the table of starpu.h. StarPU is one for a process: runs share it, if they
 * want as many workers. Knows nothing of graphs.
 */
#include "graph/starpu.h"

#include <pthread.h>
#include <starpu.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <venturi/span.h>

VT_API const struct vti_starpu *vt_starpu(void);

struct call {
    void (*function)(unsigned worker, void *with);
    void *with;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned users, worker_count;
static bool is_elsewhere; /* its workers are those of the process that this one was forked from */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

static void in_child(void)
{
    is_elsewhere = users > 0;
    pthread_mutex_unlock(&lock);
}

__attribute__((constructor)) static void survive_forks(void)
{
    pthread_atfork(before_fork, after_fork, in_child);
}

static void run_one(void *buffers[], void *arg)
{
    struct call call = *(struct call *)arg;

    (void)buffers;
    call.function((unsigned)starpu_worker_get_id_check(), call.with);
}

static struct starpu_codelet codelet = {.cpu_funcs = {run_one},
                                        .nbuffers = 0,
                                        .name = "venturi-graph"};

/* Only processors: tasks are functions in C. */
static int begin(unsigned workers, char *why, size_t room)
{
    struct starpu_conf conf;
    int result;

    setenv("STARPU_SILENT", "1", 0);
    starpu_conf_init(&conf);
    conf.ncpus = (int)workers;
    conf.ncuda = conf.nopencl = conf.nmic = conf.nmpi_ms = 0;
    conf.catch_signals = 0;
    result = starpu_init(&conf);
    if (result != 0) {
        snprintf(why, room, "StarPU does not start: %s", strerror(-result));
        return -1;
    }
    worker_count = starpu_cpu_worker_get_count();
    return 0;
}

static int start(unsigned workers, char *why, size_t room)
{
    int result = 0;

    pthread_mutex_lock(&lock);
    if (is_elsewhere) {
        snprintf(why, room, "StarPU was in use when this process was forked: it is not in here");
        result = -1;
    } else if (users && worker_count > workers) {
        snprintf(why, room, "StarPU is in use with %u workers: it cannot have %u", worker_count,
                 workers);
        result = -1;
    } else if (!users) {
        result = begin(workers, why, room);
    }
    users += result == 0;
    pthread_mutex_unlock(&lock);
    return result == 0 ? (int)worker_count : result;
}

static void stop(void)
{
    pthread_mutex_lock(&lock);
    if (--users == 0)
        starpu_shutdown();
    pthread_mutex_unlock(&lock);
}

static void run_each(void *arg)
{
    run_one(NULL, arg);
}

static void each(void (*function)(unsigned worker, void *with), void *with)
{
    struct call call = {function, with};

    starpu_execute_on_each_worker(run_each, &call, STARPU_CPU);
}

static int submit(void (*function)(unsigned worker, void *with), void *with)
{
    struct starpu_task *task = starpu_task_create();
    struct call *call = malloc(sizeof *call);

    if (task == NULL || call == NULL) {
        if (task != NULL)
            starpu_task_destroy(task);
        free(call);
        return -1;
    }
    *call = (struct call){function, with};
    task->cl = &codelet;
    task->cl_arg = call;
    task->cl_arg_size = sizeof *call;
    task->cl_arg_free = 1;
    task->synchronous = 0;
    task->destroy = 1;
    if (starpu_task_submit(task) == 0)
        return 0;
    task->destroy = 0;
    starpu_task_destroy(task);
    return -1;
}

const struct vti_starpu *vt_starpu(void)
{
    static const struct vti_starpu table = {VTI_STARPU_VERSION, start, stop, each, submit};

    return &table;
}
