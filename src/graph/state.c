/* state.c - moves tasks on: waiting, ready, running, finished, released. One thread only. */
#include "graph/state.h"

#include "graph/callbacks.h"
#include "graph/failure.h"
#include "graph/ready.h"
#include "graph/record.h"

#include <stdlib.h>

static void move_to(vt_run *run, uint32_t task, enum vt_task_phase phase)
{
    struct vti_item *item = &run->items[task];

    run->counts[item->phase]--;
    run->counts[phase]++;
    item->phase = phase & 15;
}

/* The same for one that is known to be in that phase: counts need not wait until it was read. */
static void move(vt_run *run, uint32_t task, enum vt_task_phase from, enum vt_task_phase to)
{
    run->counts[from]--;
    run->counts[to]++;
    run->items[task].phase = to & 15;
}

#define SOON 8 /* tasks ahead in the static order */

/* Most tasks are begun in the static order: what those that come soon will take is fetched while others run. */
static void expect_after(const vt_run *run, uint32_t task)
{
    const struct vti_plan *plan = run->plan;
    uint32_t place = run->items[task].order - 1; /* its own: orders are + 1 */
    uint32_t soon, sooner;

    if (run->total - place <= SOON)
        return;
    soon = run->order[place + SOON];
    __builtin_prefetch(&run->graph->nodes[soon]);
    __builtin_prefetch(&run->items[soon], 1);
    __builtin_prefetch(&run->times[soon], 1);
    __builtin_prefetch(&plan->first_need[soon]);
    __builtin_prefetch(&plan->task_needs[soon]);
    __builtin_prefetch(&plan->first_user[soon]);
    sooner = run->order[place + SOON / 2];
    if (run->graph->nodes[sooner].arg_count > 0)
        __builtin_prefetch(&plan->args[run->graph->nodes[sooner].first_arg]);
    __builtin_prefetch(&plan->needs[plan->first_need[sooner]]);
    __builtin_prefetch(&plan->users[plan->first_user[sooner]]);
}

int vti_state_open(vt_run *run)
{
    uint32_t i;

    run->ready = vti_ready_new(run);
    if (run->ready == NULL)
        return -1;
    run->counts[VT_PHASE_WAITING] = run->total;
    for (i = run->total; i-- > 0;) {
        uint32_t task = run->order[i];

        if (run->plan->task_needs[task] != 0)
            continue;
        run->items[task].ready = run->begin;
        move(run, task, VT_PHASE_WAITING, VT_PHASE_READY);
        vti_ready_push(run, &task, 1);
    }
    return 0;
}

uint32_t vti_state_begin(vt_run *run)
{
    uint32_t task;
    int code;

    if (__atomic_load_n(&run->is_cancelled, __ATOMIC_RELAXED) != 0)
        return VT_NO_TASK;
    task = vti_ready_pop(run->ready);
    if (task == VT_NO_TASK)
        return task;
    expect_after(run, task);
    move(run, task, VT_PHASE_READY, VT_PHASE_RUNNING);
    code = run->callbacks->count == 0 || run->items[task].tries > 0
               ? 0
               : vti_callbacks_before(run, task);
    if (code == 0)
        return task;
    run->items[task]
        .state = VT_TASK_CANCELLED; /* callbacks know that it is running: it stays there */
    vti_failure_callback(run, task, code);
    return VT_NO_TASK;
}

void vti_state_unbegin(vt_run *run, uint32_t task)
{
    move_to(run, task, VT_PHASE_WAITING);
}

void vti_value_release(vt_run *run, uint32_t node, uint64_t now)
{
    struct vti_item *item = &run->items[node];

    run->times[node].freed = now;
    if (item->value.destroy != NULL)
        vti_value_destroy(&item->value);
}

void vti_times_keep(vt_run *run, const struct vti_done *done)
{
    struct vti_times *times = &run->times[done->task];

    times->start = done->start;
    times->end = done->end;
    times->cpu_ns = (float)(int64_t)done->cpu_ns; /* VT_UNKNOWN is -1 */
    times->is_cpu_estimated = done->is_cpu_estimated;
    times->worker = (uint16_t)(done->worker + 1);
}

void vti_done_cancelled(vt_run *run, struct vti_done *done)
{
    if (done->start != 0)
        vti_times_keep(run, done);
    vti_value_destroy(&done->failure);
    free(done->reason);
    done->reason = NULL;
}

uint64_t vti_ready_time(const vt_run *run, uint32_t task, uint64_t now)
{
    const struct vti_plan *plan = run->plan;
    const uint32_t *needs = plan->needs + plan->first_need[task];
    uint32_t i;

    for (i = 0; plan->task_needs[task] > 1 && i < plan->task_needs[task]; i++)
        if (run->times[needs[i]].end > now)
            now = run->times[needs[i]].end;
    return now;
}

/* One dependent less for all that this task needed and that is there: of a task that was skipped, some may be made only later. Those stay
 * until the end. */
static void release_needs(vt_run *run, uint32_t task, uint64_t now)
{
    const struct vti_plan *plan = run->plan;
    uint32_t tasks_end = plan->first_need[task] + plan->task_needs[task];
    uint32_t k;

    for (k = plan->first_need[task]; k < plan->first_need[task + 1]; k++) {
        uint32_t other = plan->needs[k];

        if (run->items[other].phase != VT_PHASE_FINISHED || --run->items[other].uses != 0)
            continue;
        if (k >= tasks_end) {
            run->items[other].phase = VT_PHASE_RELEASED; /* a literal: the graph's */
            continue;
        }
        vti_value_release(run, other, now);
        move(run, other, VT_PHASE_FINISHED, VT_PHASE_RELEASED);
    }
}

static void ready_users(vt_run *run, uint32_t task, uint64_t now)
{
    const struct vti_plan *plan = run->plan;
    uint32_t *made = run->scratch;
    size_t count = 0;
    uint32_t k;

    for (k = plan->first_user[task]; k < plan->first_user[task + 1]; k++) {
        uint32_t user = plan->users[k];

        if (run->items[user].phase != VT_PHASE_WAITING || --run->items[user].missing != 0)
            continue;
        run->items[user].ready = run->options.scheduler == VT_SYNC ? now
                                                                   : vti_ready_time(run, user, now);
        move(run, user, VT_PHASE_WAITING, VT_PHASE_READY);
        made[count++] = user;
    }
    vti_ready_push(run, made, count);
}

static void finish_well(vt_run *run, struct vti_done *done)
{
    struct vti_item *item = &run->items[done->task];
    int code;

    item->value = done->result;
    item->state = VT_TASK_DONE;
    move(run, done->task, VT_PHASE_RUNNING, VT_PHASE_FINISHED);
    __atomic_store_n(&run->done, run->done + 1, __ATOMIC_RELAXED);
    if (run->number != 0)
        vti_record_put(run, done->task);
    ready_users(run, done->task, done->end);
    release_needs(run, done->task, done->end);
    if (run->callbacks->count == 0)
        return;
    code = vti_callbacks_after(run, done->task, done->worker);
    if (code != 0)
        vti_failure_callback(run, done->task, code);
}

/* What the failure of a task takes with it: its dependents, and what only those needed. If the run ends with it, all values stay for
 * callbacks to look at. */
static void skip(vt_run *run, uint32_t task, uint64_t now)
{
    size_t i = run->failure.skipped_count;

    vti_failure_skip(run, task);
    for (; i < run->failure.skipped_count; i++) {
        uint32_t user = run->failure.skipped[i];

        run->items[user].state = VT_TASK_SKIPPED;
        move_to(run, user, VT_PHASE_FAILED);
        __atomic_store_n(&run->done, run->done + 1, __ATOMIC_RELAXED);
        if (run->options.keep_going)
            release_needs(run, user, now);
    }
}

static void finish_badly(vt_run *run, struct vti_done *done)
{
    struct vti_item *item = &run->items[done->task];
    char *line;
    int code = 0;

    item->state = done->state;
    move_to(run, done->task, VT_PHASE_FAILED);
    __atomic_store_n(&run->done, run->done + 1, __ATOMIC_RELAXED);
    if (run->number != 0)
        vti_record_put(run, done->task);
    line = vti_failure_line(run, done);
    vti_failure_note(run, done);
    skip(run, done->task, done->end);
    if (run->options.keep_going)
        release_needs(run, done->task, done->end);
    if (run->callbacks->count > 0)
        code = vti_callbacks_error(run, done->task, line == NULL ? "" : line, done->worker);
    free(line);
    if (code != 0)
        vti_failure_callback(run, done->task, code);
    if (!run->options.keep_going)
        __atomic_fetch_or(&run->is_cancelled, VTI_CANCELLED_BY_FAILURE, __ATOMIC_RELAXED);
}

void vti_state_finish(vt_run *run, struct vti_done *done)
{
    struct vti_item *item = &run->items[done->task];

    if (done->state == VT_TASK_CANCELLED) {
        vti_done_cancelled(run, done);
        vti_state_unbegin(run, done->task);
        return;
    }
    item->tries += item->tries < UINT16_MAX;
    vti_times_keep(run, done);
    if (done->state == VT_TASK_DONE) {
        finish_well(run, done);
        return;
    }
    if (item->tries <= vti_run_retries(run, done->task) &&
        __atomic_load_n(&run->is_cancelled, __ATOMIC_RELAXED) == 0) {
        vti_value_destroy(&done->failure);
        free(done->reason);
        move_to(run, done->task, VT_PHASE_READY);
        vti_ready_push(run, &done->task, 1);
        return;
    }
    finish_badly(run, done);
}
