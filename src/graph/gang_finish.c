/*
 * gang_finish.c - what follows when a task is over, by several threads at once.
 *
 * A value is written before `missing` of a dependent goes down and read after it was seen at zero; it is destroyed by whoever brings
 * `uses` to zero. Who sees a count at one is the last: nobody else will touch it, so it need not be an atomic step.
 */
#include "graph/failure.h"
#include "graph/futex.h"
#include "graph/gang.h"
#include "graph/ready.h"
#include "graph/record.h"
#include "graph/state.h"

#include <stdlib.h>
#include <string.h>

static bool is_last(uint32_t *count)
{
    return __atomic_load_n(count, __ATOMIC_ACQUIRE) == 1 ||
           __atomic_sub_fetch(count, 1, __ATOMIC_ACQ_REL) == 0;
}

/* One dependent less for all that this task needed and that is there: of a task that was skipped, some may be made only now. Those stay
 * until the end. */
static void release_needs(vt_run *run, uint32_t task, uint64_t now)
{
    const struct vti_plan *plan = run->plan;
    uint32_t end = plan->first_need[task] + plan->task_needs[task];
    uint32_t k;

    for (k = plan->first_need[task]; k < end; k++) {
        struct vti_item *item = &run->items[plan->needs[k]];

        if (__atomic_load_n(&item->state, __ATOMIC_ACQUIRE) != VT_TASK_DONE ||
            !is_last(&item->uses))
            continue;
        vti_value_release(run, plan->needs[k], now);
        item->phase = VT_PHASE_RELEASED;
    }
}

static bool has_room(struct vti_seat *seat, size_t count)
{
    uint32_t *moved;

    if (count <= seat->made_room)
        return true;
    moved = realloc(seat->made, count * sizeof *moved);
    if (moved == NULL)
        return false;
    seat->made = moved;
    seat->made_room = count;
    return true;
}

/* Somebody who sleeps could do some of this. */
static void wake(struct vti_gang *gang)
{
    if (__atomic_load_n(&gang->sleepers, __ATOMIC_SEQ_CST) == 0)
        return;
    __atomic_add_fetch(&gang->work, 1, __ATOMIC_SEQ_CST);
    vti_futex_wake(&gang->work, 1);
}

/* Dependents that this one was the last to wait for: the first of them is begun next, the others can be stolen. */
static uint32_t ready_users(struct vti_gang *gang, struct vti_seat *seat, uint32_t task,
                            uint64_t now)
{
    vt_run *run = gang->run;
    const struct vti_plan *plan = run->plan;
    uint32_t first = plan->first_user[task], end = plan->first_user[task + 1];
    size_t count = 0;
    uint32_t k;

    if (first == end)
        return VT_NO_TASK;
    if (!has_room(seat, end - first))
        goto memory;
    for (k = first; k < end; k++) {
        uint32_t user = plan->users[k];

        if (!is_last(&run->items[user]
                          .missing)) /* never of one that the run does not need: that has 0 */
            continue;
        run->items[user].ready = vti_ready_time(run, user, now);
        seat->made[count++] = user;
    }
    if (count == 0)
        return VT_NO_TASK;
    if (count > 1) {
        vti_ready_sort(run, seat->made, count);
        if (vti_deque_put(&seat->deque, seat->made, count - 1) != 0)
            goto memory;
        wake(gang);
    }
    return seat->made[count - 1];
memory:
    vti_failure_say(run, VT_NO_TASK, "no memory to run %u tasks", run->total);
    return VT_NO_TASK;
}

/* All that depends on a failed task is over too; returns how many. Nothing is destroyed under the lock: that may wait for a lock of its
 * own. */
static size_t skip(vt_run *run, uint32_t task, uint64_t now)
{
    struct vti_failure *failure = &run->failure;
    size_t begin, end, i;

    pthread_mutex_lock(&failure->lock);
    begin = failure->skipped_count;
    vti_failure_skip(run, task);
    end = failure->skipped_count;
    pthread_mutex_unlock(&failure->lock);
    for (i = begin; i < end; i++) {
        uint32_t user;

        pthread_mutex_lock(&failure->lock); /* others may be adding, and the array moves */
        user = failure->skipped[i];
        pthread_mutex_unlock(&failure->lock);
        release_needs(run, user, now);
    }
    return end - begin;
}

/* The task failed for good. Returns how many are over with it. */
static uint64_t fail(vt_run *run, struct vti_done *done)
{
    struct vti_item *item = &run->items[done->task];
    size_t skipped;

    __atomic_store_n(&item->state, (uint8_t)done->state, __ATOMIC_RELAXED);
    item->phase = VT_PHASE_FAILED;
    if (run->number != 0)
        vti_record_put(run, done->task);
    vti_failure_note(run, done);
    skipped = skip(run, done->task, done->end);
    release_needs(run, done->task, done->end);
    if (!run->options.keep_going)
        __atomic_fetch_or(&run->is_cancelled, VTI_CANCELLED_BY_FAILURE, __ATOMIC_RELAXED);
    return skipped + 1;
}

/* Whether it is to be tried again. */
static bool is_again(vt_run *run, struct vti_done *done)
{
    struct vti_item *item = &run->items[done->task];

    item->tries += item->tries < UINT16_MAX;
    vti_times_keep(run, done);
    if (done->state == VT_TASK_DONE || item->tries > vti_run_retries(run, done->task) ||
        __atomic_load_n(&run->is_cancelled, __ATOMIC_RELAXED) != 0)
        return false;
    vti_value_destroy(&done->failure);
    free(done->reason);
    return true;
}

static void count(struct vti_seat *seat)
{
    __atomic_store_n(&seat->done, seat->done + 1, __ATOMIC_RELAXED);
}

uint32_t vti_gang_finish(struct vti_gang *gang, struct vti_seat *seat, struct vti_done *done)
{
    vt_run *run = gang->run;
    struct vti_item *item = &run->items[done->task];
    uint32_t next;

    if (done->state == VT_TASK_CANCELLED) {
        vti_done_cancelled(run, done);
        return VT_NO_TASK;
    }
    if (is_again(run, done))
        return done->task;
    if (done->state != VT_TASK_DONE) {
        __atomic_add_fetch(&gang->others, fail(run, done) - 1, __ATOMIC_SEQ_CST);
        count(seat);
        return VT_NO_TASK;
    }
    item->value = done->result;
    item->phase = VT_PHASE_FINISHED;
    __atomic_store_n(&item->state, VT_TASK_DONE, __ATOMIC_RELEASE);
    if (run->number != 0)
        vti_record_put(run, done->task);
    next = ready_users(gang, seat, done->task, done->end);
    release_needs(run, done->task, done->end);
    count(seat);
    return next;
}

uint32_t vti_gang_expired(struct vti_gang *gang, struct vti_done *done)
{
    vti_run_pin_needs(gang->run, done->task);
    if (is_again(gang->run, done))
        return done->task;
    __atomic_add_fetch(&gang->others, fail(gang->run, done), __ATOMIC_SEQ_CST);
    return VT_NO_TASK;
}
