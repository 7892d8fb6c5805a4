/* gang.c - the threads of work stealing: where each finds its next task, and how it sleeps when there is none. */
#include "graph/gang.h"

#include "base/error.h"
#include "graph/futex.h"
#include "graph/record.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define BATCH 64  /* at most so many of the first tasks are taken at a time */
#define LOOKS 200 /* rounds over all deques before sleeping */

struct vti_gang *vti_gang_new(vt_run *run, unsigned seats)
{
    struct vti_gang *gang = aligned_alloc(64, sizeof *gang);
    unsigned i;

    if (gang == NULL)
        return NULL;
    *gang = (struct vti_gang){.run = run, .first = run->order};
    gang->has_times = run->options.timeout > 0 || run->graph->has_timeouts;
    gang->seats = aligned_alloc(64, seats * sizeof *gang->seats);
    for (i = 0; gang->seats != NULL && i < seats; i++, gang->seat_count++) {
        gang->seats[i] = (struct vti_seat){0};
        if (vti_deque_open(&gang->seats[i].deque) != 0)
            break;
    }
    if (gang->seat_count == seats)
        return gang;
    vti_gang_free(gang);
    return NULL;
}

void vti_gang_free(struct vti_gang *gang)
{
    unsigned i;

    if (gang == NULL)
        return;
    for (i = 0; i < gang->seat_count; i++) {
        vti_deque_close(&gang->seats[i].deque);
        free(gang->seats[i].made);
    }
    free(gang->seats);
    free(gang);
}

uint64_t vti_gang_done(const struct vti_gang *gang)
{
    uint64_t done = __atomic_load_n(&gang->others, __ATOMIC_ACQUIRE);
    unsigned i;

    for (i = 0; i < gang->seat_count; i++)
        done += __atomic_load_n(&gang->seats[i].done, __ATOMIC_ACQUIRE);
    return done;
}

/* What others did before they slept is seen: whoever adds to `sleepers` last sees what all before have counted. */
bool vti_gang_is_over(struct vti_gang *gang)
{
    __atomic_fetch_add(&gang->sleepers, 0, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&gang->is_over, __ATOMIC_ACQUIRE))
        return true;
    if (vti_gang_done(gang) < gang->run->total)
        return false;
    __atomic_store_n(&gang->is_over, 1, __ATOMIC_SEQ_CST);
    vti_futex_tell(&gang->work);
    return true;
}

static bool is_cancelled(const struct vti_gang *gang)
{
    return __atomic_load_n(&gang->run->is_cancelled, __ATOMIC_RELAXED) != 0;
}

/* Some of the tasks that were ready at first: one to begin, the others where they can be stolen. Fewer when few are left. */
static uint32_t take_first(struct vti_gang *gang, struct vti_seat *seat)
{
    uint32_t begun = __atomic_load_n(&gang->cursor, __ATOMIC_SEQ_CST);
    uint32_t batch[BATCH];
    uint32_t count, i;

    if (begun >= gang->first_count)
        return VT_NO_TASK;
    count = (gang->first_count - begun) / (gang->seat_count * 8) + 1;
    if (count > BATCH)
        count = BATCH;
    begun = __atomic_fetch_add(&gang->cursor, count, __ATOMIC_SEQ_CST);
    if (begun >= gang->first_count)
        return VT_NO_TASK;
    if (count > gang->first_count - begun)
        count = gang->first_count - begun;
    for (i = 1; i < count; i++)
        batch[count - 1 - i] = gang->first[begun + i];
    if (count > 1)
        vti_deque_put(&seat->deque, batch, count - 1); /* there is room: it was empty */
    return gang->first[begun];
}

static uint32_t steal(struct vti_gang *gang, const struct vti_seat *seat)
{
    unsigned own = (unsigned)(seat - gang->seats);
    unsigned i;

    for (i = 1; i < gang->seat_count; i++) {
        uint32_t task = vti_deque_steal(&gang->seats[(own + i) % gang->seat_count].deque);

        if (task != VT_NO_TASK)
            return task;
    }
    return VT_NO_TASK;
}

static void pause_cpu(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
}

/* Waits until there is something to begin; VT_NO_TASK: all is over, or the run is given up. */
static uint32_t wait_for_task(struct vti_gang *gang, struct vti_seat *seat)
{
    uint32_t task = VT_NO_TASK;
    unsigned i;

    for (;;) {
        uint32_t work;

        for (i = 0; i < LOOKS && task == VT_NO_TASK; i++) {
            task = steal(gang, seat);
            pause_cpu();
        }
        if (task != VT_NO_TASK)
            return task;
        __atomic_add_fetch(&gang->sleepers, 1, __ATOMIC_SEQ_CST);
        work = __atomic_load_n(&gang->work, __ATOMIC_SEQ_CST);
        if (!vti_gang_is_over(gang) && !is_cancelled(gang) &&
            (task = steal(gang, seat)) == VT_NO_TASK)
            vti_futex_wait(&gang->work, work, -1);
        __atomic_sub_fetch(&gang->sleepers, 1, __ATOMIC_SEQ_CST);
        if (task != VT_NO_TASK || is_cancelled(gang) ||
            __atomic_load_n(&gang->is_over, __ATOMIC_ACQUIRE))
            return task;
    }
}

static uint32_t find_task(struct vti_gang_thread *thread, struct vti_caller *caller)
{
    struct vti_gang *gang = thread->gang;
    const struct vt_run_options *options = &gang->run->options;
    uint32_t task = vti_deque_take(&thread->seat->deque);

    if (task == VT_NO_TASK)
        task = take_first(gang, thread->seat);
    if (task == VT_NO_TASK)
        task = steal(gang, thread->seat);
    if (task != VT_NO_TASK)
        return task;
    if (options->before_wait != NULL)
        options->before_wait(options->thread_user);
    task = wait_for_task(gang, thread->seat);
    if (options->after_wait != NULL)
        options->after_wait(options->thread_user);
    vti_cpu_begin(&caller->cpu, caller->cpu.is_exact, gang->run->ticks_per_second);
    return task;
}

/* Calls the task; false: it took too long, and somebody else has seen to what follows. */
static bool call(struct vti_gang_thread *thread, struct vti_caller *caller, uint32_t task,
                 uint64_t number, struct vti_done *done)
{
    uint64_t claim = number << 32 | (task + 1);
    uint32_t try_ = thread->gang->run->items[task].tries;

    if (!thread->gang->has_times) {
        vti_caller_make(caller, task, try_, done);
        return true;
    }
    __atomic_store_n(&thread->start, vt_task_clock(), __ATOMIC_RELAXED);
    __atomic_store_n(&thread->claim, claim, __ATOMIC_RELEASE);
    vti_caller_make(caller, task, try_, done);
    if (__atomic_compare_exchange_n(&thread->claim, &claim, 0, 0, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return true;
    vti_value_destroy(&done->result);
    vti_value_destroy(&done->failure);
    free(done->reason);
    return false;
}

/* False: the thread was abandoned. */
static bool work(struct vti_gang_thread *thread)
{
    struct vti_gang *gang = thread->gang;
    uint32_t task = thread->first;
    uint64_t number = 0;
    struct vti_caller caller;
    struct vti_done done;
    bool is_ours = true;

    vti_caller_open(&caller, gang->run, thread->worker);
    caller.inner.is_expired = &thread->is_expired;
    while (is_ours && !is_cancelled(gang)) {
        if (task == VT_NO_TASK)
            task = find_task(thread, &caller);
        if (task == VT_NO_TASK)
            break;
        is_ours = call(thread, &caller, task, ++number, &done);
        if (is_ours)
            task = vti_gang_finish(gang, thread->seat, &done);
    }
    vti_caller_close(&caller);
    return is_ours;
}

static void *thread_main(void *argument)
{
    struct vti_gang_thread *thread = argument;
    struct vti_gang *gang = thread->gang;
    vt_run *run = gang->run;
    bool is_ours;

    vti_run_worker_is(run, thread->worker, "", (uint64_t)getpid(), (uint64_t)gettid());
    vti_record_enter(run->number);
    if (run->options.thread_begin != NULL)
        run->options.thread_begin(run->options.thread_user);
    is_ours = work(thread);
    if (run->options.thread_end != NULL)
        run->options.thread_end(run->options.thread_user);
    vti_gang_thread_drop(thread);
    if (is_ours) {
        vti_futex_tell(&gang->work);
        __atomic_sub_fetch(&gang->live, 1, __ATOMIC_RELEASE);
        vti_futex_tell(&run->event);
    } else {
        vti_run_came_back(run);
    }
    vti_run_drop(run);
    return NULL;
}

void vti_gang_thread_drop(struct vti_gang_thread *thread)
{
    if (__atomic_sub_fetch(&thread->holders, 1, __ATOMIC_ACQ_REL) == 0)
        free(thread);
}

int vti_gang_start(struct vti_gang *gang, struct vti_seat *seat, uint32_t first)
{
    struct vti_gang_thread *thread = calloc(1, sizeof *thread);
    int error;

    if (thread == NULL)
        return vti_fail(VTI_E_NOMEM, "no memory for a thread");
    thread->holders = 2;
    thread->gang = gang;
    thread->seat = seat;
    thread->first = first;
    thread->worker = gang->next_worker++;
    __atomic_add_fetch(&gang->live, 1, __ATOMIC_RELAXED);
    __atomic_add_fetch(&gang->run->holders, 1, __ATOMIC_RELAXED);
    error = thread->worker >= gang->run->worker_room
                ? EAGAIN
                : pthread_create(&thread->id, NULL, thread_main, thread);
    if (error == 0) {
        thread->next = gang->threads;
        gang->threads = thread;
        return 0;
    }
    __atomic_sub_fetch(&gang->live, 1, __ATOMIC_RELAXED);
    __atomic_sub_fetch(&gang->run->holders, 1, __ATOMIC_RELAXED);
    free(thread);
    errno = error;
    return vti_fail_errno(VTI_E_SYSTEM, "cannot start a thread");
}
