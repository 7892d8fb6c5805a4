/*
 * threads.c - the executor of threads, for runs whose callbacks or priorities need the central loop.
 *
 * As many threads as workers, one queue, one lock. A thread whose task takes too long is abandoned: its worker number goes to nobody, a
 * new thread takes its place, and when the task does end, what it made is destroyed there and the thread ends. The pool and the run stay
 * for as long.
 */
#include "base/error.h"
#include "graph/caller.h"
#include "graph/futex.h"
#include "graph/record.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define GRACE_MS                                                                                   \
    200 /* how long the end waits for what was abandoned: it may just be about to notice */

struct pool;

struct thread {
    struct pool *pool;
    struct thread *next;
    pthread_t id;
    uint32_t worker;
    bool is_busy;
    bool is_abandoned;
    uint32_t is_expired; /* atomic: what its task is told */
    struct vti_job job;
    uint64_t start;
};

struct pool {
    struct vti_executor executor;
    pthread_mutex_t lock; /* of all that follows, and of all threads' fields */
    uint32_t work;        /* atomic, futex: changes when there is work, or the end */
    uint32_t holders;     /* the executor, and each thread */
    unsigned workers, in_flight;
    uint32_t next_worker;
    bool is_closing;
    struct thread *threads; /* those that were not abandoned */
    struct vti_job *jobs;   /* ring of `workers` */
    unsigned job_first, job_count;
    struct vti_done *done; /* ring of `workers` */
    unsigned done_first, done_count;
};

static void pool_drop(struct pool *pool)
{
    vt_run *run = pool->executor.run;
    unsigned left;

    pthread_mutex_lock(&pool->lock);
    left = --pool->holders;
    pthread_mutex_unlock(&pool->lock);
    if (left > 0)
        return;
    pthread_mutex_destroy(&pool->lock);
    free(pool->jobs);
    free(pool->done);
    free(pool);
    vti_run_drop(run);
}

/* The next job; false: the pool is closed. Waits without the lock, since what a binding does around waiting may take another one. */
static bool next_job(struct thread *thread)
{
    struct pool *pool = thread->pool;
    const struct vt_run_options *options = &pool->executor.run->options;
    bool is_waiting = false;

    for (;;) {
        uint32_t work = __atomic_load_n(&pool->work, __ATOMIC_ACQUIRE);
        bool has_job;
        bool is_closing;

        pthread_mutex_lock(&pool->lock);
        has_job = pool->job_count > 0;
        is_closing = pool->is_closing;
        if (has_job) {
            thread->job = pool->jobs[pool->job_first];
            pool->job_first = (pool->job_first + 1) % pool->workers;
            pool->job_count--;
            thread->is_busy = true;
            thread->start = 0;
        }
        pthread_mutex_unlock(&pool->lock);
        if (!has_job && !is_closing) {
            if (!is_waiting && options->before_wait != NULL)
                options->before_wait(options->thread_user);
            is_waiting = true;
            vti_futex_wait(&pool->work, work, -1);
            continue;
        }
        if (is_waiting && options->after_wait != NULL)
            options->after_wait(options->thread_user);
        return has_job;
    }
}

/* Says what came of its job; false: nobody waits for that any more. */
static bool say_done(struct thread *thread, struct vti_done *done)
{
    struct pool *pool = thread->pool;
    bool is_abandoned;

    pthread_mutex_lock(&pool->lock);
    is_abandoned = thread->is_abandoned;
    if (!is_abandoned) {
        thread->is_busy = false;
        pool->done[(pool->done_first + pool->done_count++) % pool->workers] = *done;
    }
    pthread_mutex_unlock(&pool->lock);
    if (!is_abandoned) {
        vti_futex_tell(&pool->executor.run->event);
        return true;
    }
    vti_value_destroy(&done->result);
    vti_value_destroy(&done->failure);
    free(done->reason);
    return false;
}

static void work(struct thread *thread)
{
    vt_run *run = thread->pool->executor.run;
    struct vti_caller caller;
    struct vti_done done;

    vti_caller_open(&caller, run, thread->worker);
    caller.inner.is_expired = &thread->is_expired;
    while (next_job(thread)) {
        pthread_mutex_lock(&thread->pool->lock);
        thread->start = vt_task_clock();
        pthread_mutex_unlock(&thread->pool->lock);
        vti_caller_make(&caller, thread->job.task, thread->job.try_, &done);
        if (!say_done(thread, &done))
            break;
    }
    vti_caller_close(&caller);
}

static void *thread_main(void *argument)
{
    struct thread *thread = argument;
    struct pool *pool = thread->pool;
    vt_run *run = pool->executor.run;
    bool is_abandoned;

    vti_run_worker_is(run, thread->worker, "", (uint64_t)getpid(), (uint64_t)gettid());
    vti_record_enter(run->number);
    if (run->options.thread_begin != NULL)
        run->options.thread_begin(run->options.thread_user);
    work(thread);
    if (run->options.thread_end != NULL)
        run->options.thread_end(run->options.thread_user);
    pthread_mutex_lock(&pool->lock);
    is_abandoned = thread->is_abandoned;
    pthread_mutex_unlock(&pool->lock);
    if (is_abandoned) {
        free(thread);
        vti_run_came_back(run);
    }
    pool_drop(pool);
    return NULL;
}

/* One more thread, with a number of its own. */
static int thread_start(struct pool *pool)
{
    struct thread *thread = calloc(1, sizeof *thread);
    int error;

    if (thread == NULL)
        return vti_fail(VTI_E_NOMEM, "no memory for a thread");
    thread->pool = pool;
    pthread_mutex_lock(&pool->lock);
    thread->worker = pool->next_worker++;
    pool->holders++;
    error = thread->worker >= pool->executor.run->worker_room
                ? EAGAIN
                : pthread_create(&thread->id, NULL, thread_main, thread);
    if (error == 0) {
        thread->next = pool->threads;
        pool->threads = thread;
    } else {
        pool->holders--;
    }
    pthread_mutex_unlock(&pool->lock);
    if (error == 0)
        return 0;
    free(thread);
    errno = error;
    return vti_fail_errno(VTI_E_SYSTEM, "cannot start a thread");
}

static void pool_close(struct vti_executor *executor)
{
    struct pool *pool = (struct pool *)executor;
    vt_run *run = executor->run;

    pthread_mutex_lock(&pool->lock);
    pool->is_closing = true;
    pthread_mutex_unlock(&pool->lock);
    vti_futex_tell(&pool->work);
    while (pool->threads != NULL) {
        struct thread *thread = pool->threads;

        pool->threads = thread->next;
        if (run->options.before_wait != NULL)
            run->options.before_wait(run->options.thread_user);
        pthread_join(thread->id, NULL);
        if (run->options.after_wait != NULL)
            run->options.after_wait(run->options.thread_user);
        free(thread);
    }
    pool_drop(pool);
}

static int pool_open(vt_run *run, unsigned workers, struct vti_executor **executor)
{
    struct pool *pool = calloc(1, sizeof *pool);
    int code = 0;
    unsigned i;

    if (pool == NULL)
        return vti_fail(VTI_E_NOMEM, "no memory for threads");
    pool->jobs = calloc(workers, sizeof *pool->jobs);
    pool->done = calloc(workers, sizeof *pool->done);
    if (pool->jobs == NULL || pool->done == NULL) {
        free(pool->jobs);
        free(pool->done);
        free(pool);
        return vti_fail(VTI_E_NOMEM, "no memory for threads");
    }
    pthread_mutex_init(&pool->lock, NULL);
    pool->executor = (struct vti_executor){&vti_executor_threads, run};
    pool->holders = 1;
    pool->workers = workers;
    __atomic_add_fetch(&run->holders, 1, __ATOMIC_RELAXED);
    for (i = 0; i < workers && code == 0; i++)
        code = thread_start(pool);
    if (code != 0 && i < 2) { /* not even one */
        pool_close(&pool->executor);
        return code;
    }
    *executor = &pool->executor;
    return 0;
}

static unsigned pool_room(struct vti_executor *executor)
{
    struct pool *pool = (struct pool *)executor;

    return pool->workers - pool->in_flight;
}

static int pool_submit(struct vti_executor *executor, const struct vti_job *jobs, size_t count)
{
    struct pool *pool = (struct pool *)executor;
    size_t i;

    pthread_mutex_lock(&pool->lock);
    for (i = 0; i < count && pool->in_flight < pool->workers; i++) {
        pool->jobs[(pool->job_first + pool->job_count++) % pool->workers] = jobs[i];
        pool->in_flight++;
    }
    pthread_mutex_unlock(&pool->lock);
    __atomic_add_fetch(&pool->work, 1, __ATOMIC_SEQ_CST);
    vti_futex_wake(&pool->work, (int)i);
    return (int)i;
}

static int pool_collect(struct vti_executor *executor, struct vti_done *done, size_t room,
                        int timeout_ms)
{
    struct pool *pool = (struct pool *)executor;
    size_t count = 0;
    int turns;

    for (turns = 0; turns < 2 && count == 0; turns++) {
        uint32_t event = __atomic_load_n(&executor->run->event, __ATOMIC_ACQUIRE);

        pthread_mutex_lock(&pool->lock);
        for (; count < room && pool->done_count > 0; count++) {
            done[count] = pool->done[pool->done_first];
            pool->done_first = (pool->done_first + 1) % pool->workers;
            pool->done_count--;
            pool->in_flight--;
        }
        pthread_mutex_unlock(&pool->lock);
        if (count == 0 && pool->threads == NULL)
            return vti_fail(VTI_E_SYSTEM, "no thread could be started");
        if (count == 0 && turns == 0 && timeout_ms != 0)
            vti_futex_wait(&executor->run->event, event, timeout_ms);
    }
    return (int)count;
}

static struct thread **thread_of(struct pool *pool, uint32_t task)
{
    struct thread **at = &pool->threads;

    while (*at != NULL && !((*at)->is_busy && (*at)->job.task == task))
        at = &(*at)->next;
    return at;
}

static uint64_t pool_began(struct vti_executor *executor, uint32_t task)
{
    struct pool *pool = (struct pool *)executor;
    struct thread *thread;
    uint64_t start;

    pthread_mutex_lock(&pool->lock);
    thread = *thread_of(pool, task);
    start = thread == NULL ? 0 : thread->start;
    pthread_mutex_unlock(&pool->lock);
    return start;
}

static void pool_expire(struct vti_executor *executor, uint32_t task)
{
    struct pool *pool = (struct pool *)executor;
    struct thread **at, *thread;

    pthread_mutex_lock(&pool->lock);
    at = thread_of(pool, task);
    thread = *at;
    if (thread != NULL) {
        *at = thread->next;
        thread->is_abandoned = true;
        vti_run_pin_needs(executor->run, task);
        __atomic_store_n(&thread->is_expired, 1, __ATOMIC_RELAXED);
        __atomic_add_fetch(&executor->run->abandoned, 1, __ATOMIC_RELAXED);
        pool->done[(pool->done_first + pool->done_count++) % pool->workers] = (struct vti_done){
            .task = task,
            .worker = thread->worker,
            .state = VT_TASK_TIMED_OUT,
            .start = thread->start,
            .end = vt_task_clock(),
            .cpu_ns = VT_UNKNOWN};
        pthread_detach(thread->id);
    }
    pthread_mutex_unlock(&pool->lock);
    if (thread != NULL)
        thread_start(
            pool); /* if it cannot be, the others go on; the last one is missed by the central loop */
}

static void pool_wake(struct vti_executor *executor)
{
    vti_futex_tell(&executor->run->event);
}

const struct vti_executor_ops vti_executor_threads = {
    .name = "threads",
    .open = pool_open,
    .room = pool_room,
    .submit = pool_submit,
    .collect = pool_collect,
    .began = pool_began,
    .expire = pool_expire,
    .wake = pool_wake,
    .close = pool_close,
};
