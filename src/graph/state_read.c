/* state_read.c - what callbacks may look at: counts, phases, values, edges. Reads only. */
#include "graph/ready.h"
#include "graph/run.h"

static const vt_run *run_of(const vt_state *state)
{
    return (const vt_run *)state;
}

static bool is_known(const vt_run *run, uint32_t task)
{
    return run->items != NULL && task < run->plan->count;
}

uint64_t vt_state_count(const vt_state *state, enum vt_task_phase phase)
{
    return (unsigned)phase < 8 ? run_of(state)->counts[phase] : 0;
}

enum vt_task_phase vt_state_phase(const vt_state *state, uint32_t task)
{
    const vt_run *run = run_of(state);

    if (!is_known(run, task))
        return 0;
    return run->items[vti_plan_target(run->plan, run->graph, task)].phase;
}

uint32_t vt_state_ready(const vt_state *state, uint32_t place)
{
    const vt_run *run = run_of(state);

    return run->ready == NULL ? VT_NO_TASK : vti_ready_at(run->ready, place);
}

const struct vt_datum *vt_state_value(const vt_state *state, uint32_t task)
{
    const vt_run *run = run_of(state);
    uint32_t node;

    if (vt_state_phase(state, task) != VT_PHASE_FINISHED)
        return NULL;
    node = vti_plan_target(run->plan, run->graph, task);
    if (run->graph->nodes[node].type == VTI_NODE_LITERAL)
        return &run->graph->values[run->graph->nodes[node].first_arg];
    return &run->items[node].value;
}

size_t vt_state_dependencies(const vt_state *state, uint32_t task, const uint32_t **tasks)
{
    const struct vti_plan *plan = run_of(state)->plan;

    if (!is_known(run_of(state), task))
        return 0;
    *tasks = plan->needs + plan->first_need[task];
    return plan->first_need[task + 1] - plan->first_need[task];
}

size_t vt_state_dependents(const vt_state *state, uint32_t task, const uint32_t **tasks)
{
    const struct vti_plan *plan = run_of(state)->plan;

    if (!is_known(run_of(state), task))
        return 0;
    *tasks = plan->users + plan->first_user[task];
    return plan->first_user[task + 1] - plan->first_user[task];
}
