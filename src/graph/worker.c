/*
 * worker.c - what a worker process does: takes slots from its lane, calls their functions, leaves what came of them. It may be killed at
 * any instruction, so the state of a slot is written last. Runs in a forked child or in a program that calls vt_worker_main(); must
 * never return into the code that forked it.
 */
#include "graph/worker.h"

#include "base/error.h"
#include "graph/fence.h"
#include "graph/process_shared.h"

#include <errno.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SPINS 400             /* looks at an empty ring before going to sleep */
#define TELL_COUNT 64         /* the caller is woken after so many tasks, */
#define TELL_PER_SECOND 20000 /* or so often, or when nothing is left to do */

/* The caller shall look, but not for each small task. */
static void tell(struct vti_worker *worker, uint64_t now)
{
    uint64_t one = 1;

    if (++worker->untold < TELL_COUNT && now - worker->told_at < worker->tell_ticks &&
        !vti_ring_is_empty(&worker->lane->down))
        return;
    worker->untold = 0;
    worker->told_at = now;
    vti_fence(); /* against the caller's: asleep, then looks once more */
    if (atomic_load_explicit(&worker->header->is_caller_asleep, memory_order_relaxed) &&
        atomic_exchange(&worker->header->is_caller_asleep, 0) &&
        write(worker->caller, &one, sizeof one) < 0)
        return; /* its counter is full: it is awake */
}

static int is_closing(const struct vti_worker *worker)
{
    return atomic_load_explicit(&worker->header->is_closing, memory_order_acquire) != 0;
}

/* 0: there will be nothing any more. */
static int wait_for_more(struct vti_worker *worker)
{
    struct pollfd control = {.fd = worker->control, .events = POLLIN};
    struct vti_lane *lane = worker->lane;
    char bytes[64];

    for (int i = 0; i < SPINS; i++) {
        if (!vti_ring_is_empty(&lane->down))
            return 1;
#if defined __x86_64__
        __builtin_ia32_pause();
#endif
    }
    for (;;) {
        ssize_t count;

        /* Each time anew: who wakes us takes the mark away, and may have done so for what we had seen already. */
        atomic_store(&lane->is_asleep, 1);
        vti_fence();
        if (!vti_ring_is_empty(&lane->down) || is_closing(worker))
            break;
        vti_given_take(&lane->given, &worker->space);
        if (poll(&control, 1, -1) < 0 && errno != EINTR)
            return 0;
        count = recv(worker->control, bytes, sizeof bytes, MSG_DONTWAIT);
        if (count == 0 || (count < 0 && errno != EAGAIN && errno != EINTR))
            return 0; /* the caller is gone */
    }
    atomic_store(&lane->is_asleep, 0);
    vti_cpu_begin(&worker->cpu, worker->header->is_cpu_time, worker->header->ticks_per_second);
    return !is_closing(worker);
}

static void run_slot(struct vti_worker *worker, uint32_t number)
{
    struct vti_slot *slot = &worker->lane->slots[number];
    uint32_t expected = VTI_SLOT_QUEUED, state = VTI_SLOT_NOT_BEGUN;
    vt_function *function = NULL;
    int is_ready;

    if (!atomic_compare_exchange_strong(&slot->state, &expected, VTI_SLOT_RUNNING))
        return; /* taken back */
    is_ready = !__atomic_load_n(&worker->header->is_cancelled, __ATOMIC_RELAXED)
                   ? vti_worker_args(worker, slot, &function)
                   : 0;
    if (is_ready > 0)
        state = vti_worker_call(worker, slot, function);
    else if (is_ready < 0)
        state = VTI_SLOT_FAILED;
    atomic_store_explicit(&slot->state, state, memory_order_release);
}

static void loop(struct vti_worker *worker)
{
    for (;;) {
        uint32_t number = vti_ring_pull(&worker->lane->down);

        if (number < VTI_LANE_SLOTS) {
            run_slot(worker, number);
            vti_given_take(&worker->lane->given, &worker->space);
            vti_ring_push(&worker->lane->up, number);
            tell(worker, worker->lane->slots[number].end);
        } else if (!wait_for_more(worker)) {
            return;
        }
    }
}

int vti_worker_loop(struct vti_header *header, uint32_t lane, int control, int caller)
{
    struct vti_worker worker = {.header = header, .control = control, .caller = caller};
    struct vti_segments segments;

    worker.lane = vti_shared_lane(header, lane);
    vti_shared_segments(header, &segments);
    if (vti_space_init(&worker.space, &segments, lane + 1) != 0)
        return 1;
    worker.tell_ticks = header->ticks_per_second / TELL_PER_SECOND;
    vti_cpu_begin(&worker.cpu, header->is_cpu_time, header->ticks_per_second);
    atomic_store(&worker.lane->is_begun, 1);
    loop(&worker);
    vti_space_fini(&worker.space);
    vti_worker_forget(&worker);
    return 0;
}
