/*
 * go.c - a run from its beginning to its end: checked, culled, ordered, executed by a scheduler, recorded, cleaned up.
 *
 * Whatever goes wrong, callbacks that heard of the start hear of the finish, every task that is needed gets a state, and values that
 * nobody wanted are destroyed before vt_run_go() returns.
 */
#include "base/error.h"
#include "graph/callbacks.h"
#include "graph/failure.h"
#include "graph/futex.h"
#include "graph/gang.h"
#include "graph/order.h"
#include "graph/pages.h"
#include "graph/record.h"
#include "graph/schedulers.h"
#include "graph/state.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define GRACE_MS 200

#define LONGEST_TIMEOUT 1e9 /* seconds */

double vti_run_timeout(const vt_run *run, uint32_t task)
{
    const struct vti_special *special = vti_graph_special(run->graph, task);
    double seconds = special != NULL && special->timeout >= 0 ? special->timeout
                                                              : run->options.timeout;

    /* As ticks it must not be more than a number can hold. */
    return seconds > 0 ? (seconds < LONGEST_TIMEOUT ? seconds : LONGEST_TIMEOUT) : 0;
}

unsigned vti_run_retries(const vt_run *run, uint32_t task)
{
    const struct vti_special *special = vti_graph_special(run->graph, task);
    int64_t retries = run->options.retries;

    if (special != NULL && special->retries >= 0)
        retries = special->retries;
    return retries < UINT16_MAX ? (unsigned)retries : UINT16_MAX - 1;
}

void vti_run_wait(vt_run *run, uint32_t event, int timeout_ms)
{
    const struct vt_run_options *options = &run->options;

    if (options->before_wait != NULL)
        options->before_wait(options->thread_user);
    vti_futex_wait(&run->event, event, timeout_ms);
    if (options->after_wait != NULL)
        options->after_wait(options->thread_user);
}

void vti_run_came_back(vt_run *run)
{
    __atomic_sub_fetch(&run->abandoned, 1, __ATOMIC_RELEASE);
    vti_futex_tell(&run->event);
}

void vti_run_pin_needs(vt_run *run, uint32_t task)
{
    const struct vti_plan *plan = run->plan;
    uint32_t k;

    run->has_pins = true;
    for (k = plan->first_need[task]; k < plan->first_need[task + 1]; k++)
        __atomic_add_fetch(&run->items[plan->needs[k]].uses, 1, __ATOMIC_RELAXED);
}

/* What was abandoned may just be about to notice: then its values are gone too when the run is over. */
static void wait_for_abandoned(vt_run *run)
{
    uint64_t end = vt_task_clock() + run->ticks_per_second / 1000 * GRACE_MS;

    for (;;) {
        uint32_t event = __atomic_load_n(&run->event, __ATOMIC_ACQUIRE);

        if (__atomic_load_n(&run->abandoned, __ATOMIC_ACQUIRE) == 0 || vt_task_clock() >= end)
            return;
        vti_run_wait(run, event, GRACE_MS / 10);
    }
}

static int no_memory(vt_run *run)
{
    vti_failure_say(run, VT_NO_TASK, "no memory to run a graph of %u nodes", run->graph->count);
    return VTI_E_NOMEM;
}

/* The graph's plan, or its error as the run's. */
static int get_plan(vt_run *run)
{
    vt_graph *graph = run->graph;
    int code = vti_graph_plan(graph);

    vti_graph_lock(graph);
    if (code == 0) {
        run->plan = graph->plan;
        __atomic_add_fetch(&graph->plan->holders, 1, __ATOMIC_RELAXED);
    } else {
        vti_failure_say(run, VT_NO_TASK, "%s", vt_graph_error(graph));
    }
    vti_graph_unlock(graph);
    return code;
}

static unsigned workers_for(const vt_run *run)
{
    unsigned workers = run->options.workers;
    cpu_set_t cpus;

    if (run->options.scheduler == VT_SYNC)
        return 1;
    if (workers == 0 && sched_getaffinity(0, sizeof cpus, &cpus) == 0)
        workers = (unsigned)CPU_COUNT(&cpus);
    return workers == 0 ? 1 : workers > VTI_MAX_WORKERS ? VTI_MAX_WORKERS : workers;
}

/* Room for all that is kept for each node. */
static int divide_pages(vt_run *run, size_t count)
{
    run->page_bytes = count * (sizeof *run->items + sizeof *run->times + 3 * sizeof *run->order);
    run->pages = vti_pages_new(run->page_bytes);
    if (run->pages == NULL)
        return -1;
    run->items = run->pages;
    run->times = (struct vti_times *)(run->items + count);
    run->order = (uint32_t *)(run->times + count);
    run->ready_room = run->order + count;
    run->scratch = run->ready_room + count;
    return 0;
}

/* What is needed, in its order. */
static int prepare(vt_run *run)
{
    size_t count = run->plan->count;
    struct timespec now;
    int64_t at;

    clock_gettime(CLOCK_REALTIME, &now);
    at = (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
    run->ticks_per_second = vt_task_clock_at(at) - vt_task_clock_at(at - 1000000000);
    run->worker_room = workers_for(run) +
                       (run->options.scheduler == VT_SYNC ? 0 : VTI_MAX_REPLACED);
    run->workers = calloc(run->worker_room, sizeof *run->workers);
    if (run->workers == NULL || divide_pages(run, count + 1) != 0 || vti_order(run) != 0)
        return no_memory(run);
    return 0;
}

static const char *const names[] = {"sync", "threads", "processes", "starpu"};

/* By one thread at a time, with callbacks. */
static int execute_centrally(vt_run *run, unsigned workers)
{
    const struct vti_executor_ops *ops = vti_executor_of(run->options.scheduler);
    int code;

    if (vti_state_open(run) != 0)
        return no_memory(run);
    code = vti_callbacks_start_state(run);
    if (code != 0)
        vti_failure_callback(run, VT_NO_TASK, code);
    else if (run->options.scheduler == VT_SYNC)
        vti_sync_go(run);
    else if (ops != NULL)
        vti_central_go(run, ops, workers);
    else
        vti_failure_say(run, VT_NO_TASK, "this library was built without the scheduler '%s'",
                        names[run->options.scheduler]);
    return code;
}

static int execute(vt_run *run)
{
    unsigned workers = workers_for(run);
    int code = 0;

    if ((unsigned)run->options.scheduler > VT_STARPU) {
        vti_failure_say(run, VT_NO_TASK, "there is no scheduler %d", (int)run->options.scheduler);
        return VTI_E_USAGE;
    }
    vti_record_begin(run, names[run->options.scheduler], workers);
    run->begin = vt_task_clock();
    if (run->options.scheduler == VT_THREADS && run->callbacks->count == 0 &&
        !run->graph->has_priorities)
        vti_steal_go(run, workers);
    else
        code = execute_centrally(run, workers);
    wait_for_abandoned(run);
    return code;
}

static bool is_needed_task(const vt_run *run, uint32_t node)
{
    return run->items[node].phase != 0 && run->graph->nodes[node].type == VTI_NODE_TASK;
}

/* Every task is done, and so nobody holds a value that was not wanted: nothing has to be looked for. */
static bool is_whole(const vt_run *run)
{
    uint64_t done, total;

    vt_run_progress(run, &done, &total);
    return done == total && !run->failure.is_set && !run->has_pins;
}

/* Tasks that were never begun, or never ended. They stay in their phases: that is what callbacks see of it at the finish. */
static void give_up(vt_run *run)
{
    uint32_t i;

    for (i = 0; i < run->plan->count; i++) {
        struct vti_item *item = &run->items[i];

        if (!is_needed_task(run, i) || item->state != 0)
            continue;
        item->state = item->phase == VT_PHASE_RUNNING ? VT_TASK_LOST : VT_TASK_CANCELLED;
        run->left++;
    }
}

/* Values that nobody wants; they stay if what was abandoned may use them. */
static void clean_up(vt_run *run)
{
    bool is_in_use = __atomic_load_n(&run->abandoned, __ATOMIC_ACQUIRE) != 0;
    uint64_t now = vt_task_clock();
    uint32_t i;

    for (i = 0; i < run->plan->count; i++) {
        struct vti_item *item = &run->items[i];

        if (!is_needed_task(run, i))
            continue;
        if (item->state != VT_TASK_DONE) {
            item->phase = VT_PHASE_FAILED;
        } else if (item->value.destroy != NULL && !item->is_wanted && !is_in_use) {
            vti_value_release(run, i, now);
            item->phase = VT_PHASE_RELEASED;
        }
    }
}

/* Every wanted one is there, or the run has failed. */
static int outcome(vt_run *run)
{
    if (run->left > 0 && !run->failure.is_set)
        vti_failure_say(run, VT_NO_TASK, "the run was cancelled: %u of %u tasks are not done",
                        run->left, run->total);
    return run->failure.is_set ? -1 : 0;
}

int vt_run_go(vt_run *run)
{
    bool has_rest;
    int code;

    if (run->has_gone) {
        vti_failure_say(run, VT_NO_TASK, "a run can only be run once");
        return vti_fail(VTI_E_USAGE, "a run can only be run once");
    }
    run->has_gone = true;
    run->callbacks = vti_callbacks_for(run);
    if (run->callbacks == NULL)
        return no_memory(run);
    code = vti_callbacks_start(run);
    if (code != 0)
        vti_failure_callback(run, VT_NO_TASK, code);
    if (code == 0 && !run->failure.is_set && (code = get_plan(run)) == 0 &&
        (code = prepare(run)) == 0)
        code = execute(run);
    has_rest = !is_whole(run);
    if (has_rest && run->total > 0)
        give_up(run);
    code = outcome(run);
    if (code == 0 && (code = vti_callbacks_last(run)) != 0)
        vti_failure_callback(run, VT_NO_TASK, code);
    vti_failure_close(run);
    vti_record_end(run);
    vti_callbacks_finish(run, code != 0);
    if (has_rest && run->total > 0)
        clean_up(run);
    return code == 0 ? 0 : -1;
}

void vt_run_progress(const vt_run *run, uint64_t *done, uint64_t *total)
{
    const struct vti_gang *gang = __atomic_load_n(&run->gang, __ATOMIC_ACQUIRE);

    *done = gang != NULL ? vti_gang_done(gang) : __atomic_load_n(&run->done, __ATOMIC_RELAXED);
    *total = __atomic_load_n(&run->total, __ATOMIC_RELAXED);
}
