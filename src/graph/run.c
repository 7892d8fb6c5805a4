/* run.c - runs as their callers see them: what is wanted, what came of it. How it is computed: go.c. */
#include "graph/run.h"

#include "base/error.h"
#include "graph/callbacks.h"
#include "graph/failure.h"
#include "graph/futex.h"
#include "graph/gang.h"
#include "graph/pages.h"
#include "graph/ready.h"
#include "graph/record.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#define MOST_OPTIONS 4096 /* bytes: more is no size but chance */

/* What the program knows and this library does not must be 0; what it does not know itself is. */
static void take_options(vt_run *run, const struct vt_run_options *options)
{
    size_t size = options->size, known = sizeof run->options;
    const char *bytes = (const char *)options;

    if (size < offsetof(struct vt_run_options, workers) || size > MOST_OPTIONS) {
        vti_failure_say(run, VT_NO_TASK,
                        "the options of the run say that they have %zu bytes: `.size` must be "
                        "sizeof(struct vt_run_options)",
                        size);
        return;
    }
    memcpy(&run->options, options, size < known ? size : known);
    while (size > known && bytes[size - 1] == 0)
        size--;
    if (size > known)
        vti_failure_say(run, VT_NO_TASK,
                        "the options of the run ask for what this library does not know: it is "
                        "older than the program's venturi/graph.h");
}

vt_run *vt_run_new(vt_graph *graph, const struct vt_run_options *options)
{
    vt_run *run = calloc(1, sizeof *run);

    if (run == NULL)
        return NULL;
    pthread_mutex_init(&run->failure.lock, NULL);
    run->holders = 1;
    run->graph = graph;
    vti_graph_hold(graph);
    if (options != NULL)
        take_options(run, options);
    return run;
}

/* All values that are still there; those of literals are the graph's. */
static void destroy_values(vt_run *run)
{
    uint32_t i;

    for (i = 0; run->items != NULL && i < run->plan->count; i++)
        if (run->items[i].value.destroy != NULL)
            vti_value_destroy(&run->items[i].value);
}

void vti_run_drop(vt_run *run)
{
    if (__atomic_sub_fetch(&run->holders, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    destroy_values(run);
    vti_value_destroy(&run->failure.value);
    free((char *)run->failure.told.message);
    free((char *)run->failure.told.reason);
    free((char *)run->failure.told.key);
    free(run->failure.skipped);
    pthread_mutex_destroy(&run->failure.lock);
    vti_gang_free(run->gang);
    vti_ready_free(run->ready);
    free(run->callbacks);
    free(run->wanted);
    vti_pages_free(run->pages, run->page_bytes);
    free(run->workers);
    vti_plan_drop((struct vti_plan *)run->plan);
    vti_graph_drop(run->graph);
    free(run);
}

void vt_run_free(vt_run *run)
{
    if (run != NULL)
        vti_run_drop(run);
}

int vt_run_want_task(vt_run *run, uint32_t task)
{
    if (task >= run->graph->count) {
        vti_failure_say(run, VT_NO_TASK, "no task %u in the graph", task);
        return vti_fail(VTI_E_NOT_FOUND, "no task %u in the graph", task);
    }
    if (run->wanted_count == run->wanted_room) {
        size_t room = run->wanted_room == 0 ? 8 : run->wanted_room * 2;
        uint32_t *moved = realloc(run->wanted, room * sizeof *moved);

        if (moved == NULL) {
            vti_failure_say(run, VT_NO_TASK, "no memory for a run");
            return vti_fail(VTI_E_NOMEM, "no memory for a run");
        }
        run->wanted = moved;
        run->wanted_room = room;
    }
    run->wanted[run->wanted_count++] = task;
    return 0;
}

int vt_run_want(vt_run *run, const char *key)
{
    uint32_t task = vt_graph_find(run->graph, key);

    if (task == VT_NO_TASK) {
        vti_failure_say(run, VT_NO_TASK, "no key '%.200s' in the graph", key == NULL ? "" : key);
        return vti_fail(VTI_E_NOT_FOUND, "no key '%.200s' in the graph", key == NULL ? "" : key);
    }
    return vt_run_want_task(run, task);
}

void vt_run_cancel(vt_run *run)
{
    struct vti_executor *executor;

    __atomic_fetch_or(&run->is_cancelled, VTI_CANCELLED_BY_USER, __ATOMIC_SEQ_CST);
    /* The executor is not closed while somebody is here: vti_run_set_executor(). */
    __atomic_add_fetch(&run->cancellers, 1, __ATOMIC_SEQ_CST);
    executor = __atomic_load_n(&run->executor, __ATOMIC_SEQ_CST);
    if (executor != NULL && executor->ops->wake != NULL)
        executor->ops->wake(executor);
    vti_futex_tell(&run->event);
    __atomic_sub_fetch(&run->cancellers, 1, __ATOMIC_SEQ_CST);
}

void vti_run_set_executor(vt_run *run, struct vti_executor *executor)
{
    __atomic_store_n(&run->executor, executor, __ATOMIC_SEQ_CST);
    while (executor == NULL && __atomic_load_n(&run->cancellers, __ATOMIC_SEQ_CST) != 0)
        sched_yield();
}

void vt_run_abandon(vt_run *run)
{
    __atomic_store_n(&run->is_left, 1, __ATOMIC_SEQ_CST);
    vt_run_cancel(run);
}

/* The value of a node that was computed or was there from the beginning; NULL. */
static const struct vt_datum *value_of(const vt_run *run, uint32_t node)
{
    if (run->items == NULL || run->items[node].phase != VT_PHASE_FINISHED)
        return NULL;
    if (run->graph->nodes[node].type == VTI_NODE_LITERAL)
        return &run->graph->values[run->graph->nodes[node].first_arg];
    return &run->items[node].value;
}

const struct vt_datum *vt_run_result(const vt_run *run, size_t place)
{
    if (place >= run->wanted_count || run->items == NULL)
        return NULL;
    return value_of(run, vti_plan_target(run->plan, run->graph, run->wanted[place]));
}

struct vt_datum vt_run_take(vt_run *run, size_t place)
{
    const struct vt_datum *found = vt_run_result(run, place);
    struct vt_datum value = {0};
    struct vti_item *item;

    if (found == NULL)
        return value;
    value = *found;
    item = &run->items[vti_plan_target(run->plan, run->graph, run->wanted[place])];
    if (found == &item->value) {
        item->value.destroy = NULL;
        item->value.type = VT_DATUM_NONE;
        item->phase = VT_PHASE_RELEASED;
    } else {
        value.destroy = NULL; /* the graph's, which may be run again */
    }
    return value;
}

const struct vt_run_failure *vt_run_error(const vt_run *run)
{
    return run->failure.is_set ? &run->failure.told : NULL;
}

vt_graph *vt_run_graph(const vt_run *run)
{
    return run->graph;
}

void *vt_run_user(const vt_run *run)
{
    return run->user;
}

void vt_run_set_user(vt_run *run, void *user)
{
    run->user = user;
}

uint32_t vt_run_number(const vt_run *run)
{
    return run->number;
}

void vt_run_worker(const vt_run *run, uint32_t worker, uint64_t *pid, uint64_t *tid)
{
    struct vti_worker_id id = {0, 0};

    if (worker < __atomic_load_n(&run->worker_count, __ATOMIC_ACQUIRE))
        id = run->workers[worker];
    *pid = id.pid;
    *tid = id.tid;
}

int vt_run_task(const vt_run *run, uint32_t task, struct vt_task *known, int *is_estimated)
{
    memset(known, 0, sizeof *known);
    *is_estimated = 0;
    if (run->items == NULL || task >= run->plan->count || run->items[task].phase == 0 ||
        run->graph->nodes[task].type != VTI_NODE_TASK)
        return 0;
    vti_record_of(run, task, known);
    if (known->key_bytes == 0) {
        known->key = vt_graph_key(run->graph, task);
        known->key_bytes = strlen(known->key);
    }
    *is_estimated = run->times[task].is_cpu_estimated;
    return 1;
}
