/*
 * starpu_executor.c - the executor of StarPU (executor.h): it gives ready tasks to StarPU's workers, and takes what they leave from a stack
 * that they push on. StarPU can neither end a task nor give one back: what needs that is refused.
 */
#include "base/error.h"
#include "graph/caller.h"
#include "graph/graph.h"
#include "graph/starpu.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#define IN_FLIGHT 64u /* tasks for each worker */

struct starpu_executor;

struct job {
    struct starpu_executor *all;
    struct job *next;
    struct vti_job job;
    struct vti_done done;
};

struct starpu_executor {
    struct vti_executor executor;
    const struct vti_starpu *starpu;
    bool is_started;
    struct vti_caller *callers; /* of each worker; owned */
    pid_t *threads;             /* owned */
    unsigned workers, in_flight;
    int event;
    _Atomic(struct job *) over; /* pushed by workers */
    _Atomic uint32_t is_asleep; /* we wait for the event */
    struct job *first;          /* taken from `over`, to be collected next */
    _Atomic unsigned
        done_pushes; /* that workers are through with: none touches this struct any more */
    unsigned pushes;
};

static struct starpu_executor *starpu(struct vti_executor *executor)
{
    return (struct starpu_executor *)executor;
}

/* The library is loaded once and for all. NULL: vti_fail(). */
static const struct vti_starpu *load(void)
{
    void *handle = dlopen(VTI_STARPU_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    void *symbol = handle ? dlsym(handle, VTI_STARPU_ENTRY) : NULL;
    const struct vti_starpu *(*entry)(void) = NULL;
    const struct vti_starpu *table;

    memcpy(&entry, &symbol, sizeof entry);
    table = entry ? entry() : NULL;
    if (table != NULL && table->version == VTI_STARPU_VERSION)
        return table;
    vti_fail(VTI_E_NOT_FOUND, "%s",
             handle ? VTI_STARPU_LIBRARY " is of another version" : dlerror());
    return NULL;
}

static void begin_worker(unsigned worker, void *with)
{
    struct starpu_executor *all = with;

    if (worker >= all->workers)
        return;
    all->threads[worker] = (pid_t)syscall(SYS_gettid);
    vti_caller_open(&all->callers[worker], all->executor.run, worker);
}

/* Wakes the central loop, if it sleeps. */
static void wake(struct vti_executor *executor)
{
    uint64_t one = 1;
    int kept = errno;

    if (write(starpu(executor)->event, &one, sizeof one) < 0)
        errno = kept; /* full: it will be read */
}

static void run_job(unsigned worker, void *with)
{
    struct job *job = with;
    struct starpu_executor *all = job->all;
    struct job *next;

    if (worker >= all->workers ||
        __atomic_load_n(&all->executor.run->is_cancelled, __ATOMIC_RELAXED) != 0)
        job->done = (struct vti_done){
            .task = job->job.task, .worker = worker, .state = VT_TASK_CANCELLED};
    else
        vti_caller_make(&all->callers[worker], job->job.task, job->job.try_, &job->done);
    next = atomic_load(&all->over);
    do
        job->next = next;
    while (!atomic_compare_exchange_weak(&all->over, &next, job));
    if (atomic_exchange(&all->is_asleep, 0))
        wake(&all->executor);
    atomic_fetch_add(&all->done_pushes, 1);
}

static void close_all(struct vti_executor *executor)
{
    struct starpu_executor *all = starpu(executor);

    /* All were collected, but the last worker may not be quite through. */
    while (atomic_load(&all->done_pushes) != all->pushes)
        usleep(10);
    for (unsigned i = 0; all->is_started && i < all->workers; i++)
        vti_caller_close(&all->callers[i]);
    if (all->is_started)
        all->starpu->stop();
    if (all->event >= 0)
        close(all->event);
    free(all->callers);
    free(all->threads);
    free(all);
}

static int refuse(const vt_run *run)
{
    if (run->options.timeout > 0 || run->graph->has_timeouts)
        return vti_fail(VTI_E_USAGE,
                        "StarPU cannot end a task whose time is over: use threads or processes");
    if (run->options.thread_begin != NULL || run->options.thread_end != NULL)
        return vti_fail(VTI_E_USAGE, "StarPU's threads cannot be told to begin and end something");
    return 0;
}

static int prepare(struct starpu_executor *all)
{
    char why[200] = "";
    int count, result = 0;

    all->starpu = load();
    if (all->starpu == NULL)
        return VTI_E_NOT_FOUND;
    all->callers = calloc(all->workers, sizeof *all->callers);
    all->threads = calloc(all->workers, sizeof *all->threads);
    all->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (all->callers == NULL || all->threads == NULL || all->event < 0)
        return vti_fail(VTI_E_NOMEM, "no memory for %u workers", all->workers);
    count = all->starpu->start(all->workers, why, sizeof why);
    if (count < 0)
        return vti_fail(VTI_E_SYSTEM, "%s", why);
    all->is_started = true;
    all->workers = (unsigned)count;
    all->starpu->each(begin_worker, all);
    for (unsigned i = 0; i < all->workers && result == 0; i++)
        result = vti_run_worker_is(all->executor.run, i, "", (uint64_t)getpid(),
                                   (uint64_t)all->threads[i]);
    return result;
}

static int open_all(vt_run *run, unsigned workers, struct vti_executor **executor)
{
    struct starpu_executor *all;
    int result = refuse(run);

    if (result != 0)
        return result;
    all = calloc(1, sizeof *all);
    if (all == NULL)
        return vti_fail(VTI_E_NOMEM, "no memory for %u workers", workers);
    all->executor.ops = &vti_executor_starpu;
    all->executor.run = run;
    all->workers = workers;
    all->event = -1;
    result = prepare(all);
    if (result != 0) {
        close_all(&all->executor);
        return result;
    }
    *executor = &all->executor;
    return 0;
}

static unsigned room(struct vti_executor *executor)
{
    const struct starpu_executor *all = starpu(executor);
    unsigned most = all->workers * IN_FLIGHT;

    return all->in_flight < most ? most - all->in_flight : 0;
}

static int submit(struct vti_executor *executor, const struct vti_job *jobs, size_t count)
{
    struct starpu_executor *all = starpu(executor);

    for (size_t i = 0; i < count; i++) {
        struct job *job = calloc(1, sizeof *job);

        if (job != NULL) {
            job->all = all;
            job->job = jobs[i];
        }
        if (job == NULL || all->starpu->submit(run_job, job) != 0) {
            free(job);
            return i || all->in_flight ? (int)i : vti_fail(VTI_E_NOMEM, "no memory for a task");
        }
        all->in_flight++;
        all->pushes++;
    }
    return (int)count;
}

/* What was pushed last is on top: turned round. */
static void take_over(struct starpu_executor *all)
{
    struct job *job = atomic_exchange(&all->over, NULL);

    while (job != NULL) {
        struct job *next = job->next;

        job->next = all->first;
        all->first = job;
        job = next;
    }
}

static void rest(struct starpu_executor *all, int timeout_ms)
{
    struct pollfd event = {.fd = all->event, .events = POLLIN};
    uint64_t told;

    atomic_store(&all->is_asleep, 1);
    if (atomic_load(&all->over) == NULL)
        poll(&event, 1, timeout_ms);
    atomic_store(&all->is_asleep, 0);
    if (event.revents && read(all->event, &told, sizeof told) < 0)
        return; /* somebody was quicker */
}

static int collect(struct vti_executor *executor, struct vti_done *done, size_t room,
                   int timeout_ms)
{
    struct starpu_executor *all = starpu(executor);
    size_t count = 0;

    if (all->first == NULL)
        take_over(all);
    if (all->first == NULL && timeout_ms != 0) {
        rest(all, timeout_ms);
        take_over(all);
    }
    while (all->first != NULL && count < room) {
        struct job *job = all->first;

        all->first = job->next;
        done[count++] = job->done;
        all->in_flight--;
        free(job);
    }
    return (int)count;
}

static uint64_t began(struct vti_executor *executor, uint32_t task)
{
    (void)executor;
    (void)task;
    return 0;
}

static void expire(struct vti_executor *executor, uint32_t task)
{
    (void)executor;
    (void)task;
}

const struct vti_executor_ops vti_executor_starpu = {
    .name = "starpu",
    .open = open_all,
    .room = room,
    .submit = submit,
    .collect = collect,
    .began = began,
    .expire = expire,
    .wake = wake,
    .close = close_all,
};
