/*
 * order.c - depth first from what is wanted to all that it needs: what is not met is not needed, and what a task needs comes right before
 * it in the static order.
 *
 * Of the things that a task needs, the one that takes most results at a time comes first (Sethi and Ullman, 1970): what is left of it is one
 * result while the others are made. The plan holds them so (plan.c); here is only the walk. Without recursion: the stack grows from the end
 * of the array whose beginning is the order so far, since no task is in both.
 */
#include "graph/order.h"

/* A node is met for the first time. `order` of a task is where its walk stands (+ 1), and then its place (+ 1). */
static void meet(vt_run *run, uint32_t node)
{
    struct vti_item *item = &run->items[node];

    item->order = 1;
    item->phase = VT_PHASE_WAITING;
    item->missing = run->plan->task_needs[node];
}

/* Literals are there from the beginning. */
static void use_literals(vt_run *run, uint32_t task)
{
    const struct vti_plan *plan = run->plan;
    uint32_t k;

    for (k = plan->first_need[task] + plan->task_needs[task]; k < plan->first_need[task + 1]; k++) {
        run->items[plan->needs[k]].uses++;
        run->items[plan->needs[k]].phase = VT_PHASE_FINISHED;
    }
}

/* From one wanted task to all that nobody needed before. */
static uint32_t walk(vt_run *run, uint32_t from, uint32_t count)
{
    const struct vti_plan *plan = run->plan;
    struct vti_item *items = run->items;
    uint32_t *tasks = run->order;
    uint32_t top = plan->count;

    tasks[--top] = from;
    meet(run, from);
    while (top < plan->count) {
        uint32_t task = tasks[top];
        const uint32_t *needs = plan->needs + plan->first_need[task];
        uint32_t need_count = plan->task_needs[task];
        uint32_t next = items[task].order - 1;

        for (; next < need_count; next++) {
            items[needs[next]].uses++;
            if (items[needs[next]].order == 0)
                break;
        }
        if (next < need_count) {
            items[task].order = next + 2;
            tasks[--top] = needs[next];
            meet(run, needs[next]);
            continue;
        }
        use_literals(run, task);
        top++;
        tasks[count++] = task;
        items[task].order = count;
    }
    return count;
}

static int want_ends(vt_run *run)
{
    const struct vti_plan *plan = run->plan;
    uint32_t i;

    for (i = 0; i < plan->count; i++)
        if (plan->first_user[i] == plan->first_user[i + 1] &&
            run->graph->nodes[i].type != VTI_NODE_ALIAS && vt_run_want_task(run, i) != 0)
            return -1;
    return 0;
}

int vti_order(vt_run *run)
{
    uint32_t total = 0;
    size_t i;

    if (run->wanted_count == 0 && want_ends(run) != 0)
        return -1;
    for (i = 0; i < run->wanted_count; i++) {
        uint32_t node = vti_plan_target(run->plan, run->graph, run->wanted[i]);
        struct vti_item *item = &run->items[node];

        if (!item->is_wanted)
            item->uses++;
        item->is_wanted = 1;
        if (run->graph->nodes[node].type == VTI_NODE_LITERAL)
            item->phase = VT_PHASE_FINISHED;
        else if (item->order == 0)
            total = walk(run, node, total);
    }
    __atomic_store_n(&run->total, total, __ATOMIC_RELAXED); /* vt_run_progress() may be looking */
    return 0;
}
