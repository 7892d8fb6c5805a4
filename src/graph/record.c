/* record.c - a run in the recording: its workers, each task once, its end. Waits for room only at the end, and not for ever. */
#include "graph/record.h"

#include "base/error.h"

#include <string.h>

#define PATIENCE_MS 2000 /* without any progress of whoever takes it away */

/* The run whose task this thread is in: the parent of runs that it begins. */
static _Thread_local uint32_t current;

uint32_t vti_record_enter(uint32_t number)
{
    uint32_t before = current;

    current = number;
    return before;
}

void vti_record_begin(vt_run *run, const char *scheduler, unsigned workers)
{
    run->parent = current;
    run->number = 0;
    if (!run->options.is_unrecorded)
        run->number = vt_task_run(scheduler, run->total, workers, run->parent);
    if (run->number != 0 && vti_graph_sites(run->graph) != 0)
        run->number = 0;
}

int vti_run_worker_is(vt_run *run, uint32_t worker, const char *label, uint64_t pid, uint64_t tid)
{
    unsigned count = __atomic_load_n(&run->worker_count, __ATOMIC_RELAXED);

    if (worker >= run->worker_room)
        return vti_fail(VTI_E_LIMIT, "more than %u workers", run->worker_room);
    run->workers[worker] = (struct vti_worker_id){pid, tid};
    while (worker >= count && !__atomic_compare_exchange_n(&run->worker_count, &count, worker + 1,
                                                           0, __ATOMIC_RELEASE, __ATOMIC_RELAXED)) {
    }
    if (run->number != 0)
        vt_task_worker(run->number, worker, label, pid, tid);
    return 0;
}

void vti_record_of(const vt_run *run, uint32_t task, struct vt_task *known)
{
    const struct vti_node *node = &run->graph->nodes[task];
    const struct vti_item *item = &run->items[task];
    const struct vti_times *times = &run->times[task];

    known->name = run->graph->sites == NULL ? NULL : run->graph->sites[node->name];
    known->key = node->key == VTI_NO_TEXT ? "" : vti_texts_get(&run->graph->keys, node->key);
    known->key_bytes = node->key == VTI_NO_TEXT ? 0 : strlen(known->key);
    known->run = run->number;
    known->number = task;
    known->worker = times->worker == 0 ? VT_NO_WORKER : times->worker - 1u;
    known->retries = item->tries > 0 ? item->tries - 1 : 0;
    known->state = item->state;
    known->action = VT_ACTION_COMPUTE;
    known->ready = item->ready;
    known->start = times->start;
    known->end = times->end;
    known->cpu_ns = times->worker == 0 ? VT_UNKNOWN
                                       : (uint64_t)(int64_t)times->cpu_ns; /* VT_UNKNOWN is -1 */
    known->bytes = item->value.size == 0 ? VT_UNKNOWN : item->value.size;
    known->freed = times->freed;
    known->dependencies = run->plan->needs + run->plan->first_need[task];
    known->dependency_count = run->plan->task_needs[task];
}

void vti_record_put(vt_run *run, uint32_t task)
{
    struct vt_task known;

    vti_record_of(run, task, &known);
    if (run->times[task].is_cpu_estimated && known.cpu_ns != VT_UNKNOWN)
        known.cpu_ns |= VT_CPU_ESTIMATED;
    run->times[task].is_put = vt_task_put(&known) != 0;
    if (!run->times[task].is_put)
        __atomic_store_n(&run->has_unput, 1, __ATOMIC_RELAXED);
}

/* Says it again until there is room; 0: there is no hope. */
static int put_patiently(vt_run *run, uint32_t task)
{
    for (;;) {
        vti_record_put(run, task);
        if (run->times[task].is_put)
            return 1;
        if (!vt_task_wait(PATIENCE_MS))
            return 0;
    }
}

/* All that could not be put, and what was never begun; returns how many are lost. */
static uint64_t put_rest(vt_run *run)
{
    uint64_t lost = 0;
    int has_hope = 1;
    uint32_t i;

    for (i = 0; i < run->plan->count; i++) {
        const struct vti_item *item = &run->items[i];

        if (item->phase == 0 || run->times[i].is_put || item->state == 0 ||
            run->graph->nodes[i].type != VTI_NODE_TASK)
            continue;
        has_hope = has_hope && put_patiently(run, i);
        lost += !has_hope;
    }
    return lost;
}

void vti_record_end(vt_run *run)
{
    uint64_t lost = 0;

    if (run->number == 0)
        return;
    if (run->failure.is_set || __atomic_load_n(&run->has_unput, __ATOMIC_RELAXED) != 0)
        lost = put_rest(run);
    vt_task_run_end(run->number, run->failure.is_set ? run->failure.told.message : "", lost);
}
