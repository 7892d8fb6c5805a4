/*
 * plan.c - from nodes and arguments as they were added to edges both ways: what runs follow.
 *
 * Keys become numbers, aliases what they stand for, duplicates go. Linear in time, no recursion, a few large arrays. What is wrong is
 * found here and told by check.c.
 */
#include "base/error.h"
#include "graph/graph.h"
#include "graph/pages.h"

#include <stdlib.h>
#include <string.h>

void vti_plan_drop(struct vti_plan *plan)
{
    if (plan == NULL || __atomic_sub_fetch(&plan->holders, 1, __ATOMIC_ACQ_REL) != 0)
        return;
    if (plan->owns_args)
        free(plan->args);
    free(plan->sorted);
    vti_pages_free(plan->pages, plan->page_bytes);
    free(plan);
}

/* Every argument becomes the number of a node, or stays a value. */
static int resolve_keys(vt_graph *graph)
{
    size_t i;

    for (i = 0; i < graph->arg_count; i++) {
        uint32_t arg = graph->args[i];
        uint32_t node;

        if ((arg & VTI_ARG_TYPE) == VTI_ARG_VALUE || arg < graph->count) /* a task */
            continue;
        node = vti_graph_named(graph, arg);
        if (node >= graph->count)
            return vti_graph_say_missing(graph);
        graph->args[i] = VTI_ARG_TASK | node;
    }
    return 0;
}

/* Each alias is made to stand for its last target: each link is followed once, then shortened. */
static int resolve_aliases(vt_graph *graph, struct vti_plan *plan)
{
    uint32_t i;

    for (i = 0; i < graph->count; i++) {
        uint32_t end = i, steps = 0, at = i, next;

        while (graph->nodes[end].type == VTI_NODE_ALIAS) {
            end = plan->args[graph->nodes[end].first_arg] & VTI_ARG_NUMBER;
            if (++steps > graph->count)
                return vti_graph_say_cycle(graph);
        }
        for (; graph->nodes[at].type == VTI_NODE_ALIAS; at = next) {
            next = plan->args[graph->nodes[at].first_arg] & VTI_ARG_NUMBER;
            plan->args[graph->nodes[at].first_arg] = VTI_ARG_TASK | end;
        }
    }
    return 0;
}

/* A copy of the arguments in which tasks name tasks or values; only where there are other things to be named. */
static int resolve_others(vt_graph *graph, struct vti_plan *plan)
{
    size_t i;
    int code;

    plan->args = malloc((graph->arg_count + 1) * sizeof *plan->args);
    plan->owns_args = true;
    if (plan->args == NULL)
        return vti_graph_fail(graph, VTI_E_NOMEM, "no memory for the plan of a graph");
    if (graph->arg_count > 0)
        memcpy(plan->args, graph->args, graph->arg_count * sizeof *plan->args);
    code = resolve_aliases(graph, plan);
    if (code != 0)
        return code;
    for (i = 0; i < graph->arg_count; i++) {
        uint32_t node = plan->args[i] & VTI_ARG_NUMBER;

        if ((plan->args[i] & VTI_ARG_TYPE) != VTI_ARG_VALUE &&
            graph->nodes[node].type == VTI_NODE_ALIAS)
            plan->args[i] = plan->args[graph->nodes[node].first_arg];
    }
    return 0;
}

/* Whether a task has met this node among its arguments. A few are compared one by one, many are marked in `marks`. */
static bool is_met(uint32_t *marks, const uint32_t *met, uint32_t count, uint32_t node,
                   uint32_t task)
{
    uint32_t i;

    if (marks != NULL) {
        bool is = marks[node] == task + 1;

        marks[node] = task + 1;
        return is;
    }
    for (i = 0; i < count; i++)
        if (met[i] == node)
            return true;
    return false;
}

/* Puts what one task needs at `to`, tasks first, and returns how many that are. */
static uint32_t needs_of(const vt_graph *graph, struct vti_plan *plan, uint32_t task, uint32_t *to,
                         uint32_t *marks)
{
    const struct vti_node *node = &graph->nodes[task];
    uint32_t count = 0, tasks = 0, k;

    for (k = 0; k < node->arg_count; k++) {
        uint32_t *arg = &plan->args[node->first_arg + k];
        uint32_t other = *arg & VTI_ARG_NUMBER;
        bool is_literal;

        if ((*arg & VTI_ARG_TYPE) == VTI_ARG_VALUE)
            continue;
        is_literal = graph->has_others && graph->nodes[other].type == VTI_NODE_LITERAL;
        if (is_literal)
            *arg = VTI_ARG_VALUE | graph->nodes[other].first_arg;
        if (is_met(marks, to, count, other, task))
            continue;
        to[count] = other;
        if (!is_literal) {
            to[count] = to[tasks];
            to[tasks++] = other;
        }
        count++;
    }
    plan->task_needs[task] = tasks;
    return count;
}

#define FEW_ARGS 8

static int find_needs(vt_graph *graph, struct vti_plan *plan, bool *is_sorted)
{
    uint32_t *marks = NULL;
    uint32_t count = 0, i, k;

    *is_sorted = true;
    for (i = 0; i < graph->count; i++) {
        const struct vti_node *node = &graph->nodes[i];
        uint32_t found = 0;

        plan->first_need[i] = count;
        if (node->type != VTI_NODE_TASK)
            continue;
        if (node->arg_count > FEW_ARGS && marks == NULL) {
            marks = calloc(graph->count, sizeof *marks);
            if (marks == NULL)
                return -1;
        }
        found = needs_of(graph, plan, i, plan->needs + count,
                         node->arg_count > FEW_ARGS ? marks : NULL);
        for (k = 0; k < found; k++)
            *is_sorted &= plan->needs[count + k] < i;
        count += found;
    }
    plan->first_need[i] = count;
    free(marks);
    return 0;
}

/* The same edges the other way round; each node's in the order of the nodes. */
static void find_users(struct vti_plan *plan)
{
    uint32_t *first = plan->first_user;
    uint32_t edges = plan->first_need[plan->count];
    uint32_t i, k, sum = 0;

    for (i = 0; i < edges; i++)
        first[plan->needs[i]]++;
    for (i = 0; i < plan->count; i++) {
        sum += first[i];
        first[i] = sum;
    }
    first[plan->count] = sum;
    for (i = plan->count; i-- > 0;)
        for (k = plan->first_need[i + 1]; k-- > plan->first_need[i];)
            plan->users[--first[plan->needs[k]]] = i;
}

/* All nodes so that each comes after what it needs; fewer than all: the rest is in a cycle or behind one. */
static uint32_t sort(const struct vti_plan *plan, uint32_t *sorted, uint32_t *missing)
{
    uint32_t count = 0, at, i, k;

    for (i = 0; i < plan->count; i++) {
        missing[i] = plan->first_need[i + 1] - plan->first_need[i];
        if (missing[i] == 0)
            sorted[count++] = i;
    }
    for (at = 0; at < count; at++) {
        uint32_t node = sorted[at];

        for (k = plan->first_user[node]; k < plan->first_user[node + 1]; k++)
            if (--missing[plan->users[k]] == 0)
                sorted[count++] = plan->users[k];
    }
    return count;
}

static int compare_weights(const void *a, const void *b, void *with)
{
    const uint32_t *weights = with;
    uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

    if (weights[one] != weights[other])
        return weights[one] < weights[other] ? 1 : -1;
    return (one > other) - (one < other);
}

/* How many results have to be there at a time to make that of a node, as if nothing were shared: the greatest first. */
static uint32_t weigh(uint32_t *needs, uint32_t count, const uint32_t *weights)
{
    uint32_t weight = 1, i, k;

    if (count > FEW_ARGS) {
        qsort_r(needs, count, sizeof *needs, compare_weights, (void *)weights);
    } else {
        for (i = 1; i < count; i++) {
            uint32_t need = needs[i];

            for (k = i; k > 0 && weights[needs[k - 1]] < weights[need]; k--)
                needs[k] = needs[k - 1];
            needs[k] = need;
        }
    }
    for (i = 0; i < count; i++)
        if (weights[needs[i]] + i > weight)
            weight = weights[needs[i]] + i;
    return weight < UINT32_MAX / 4 ? weight : UINT32_MAX / 4;
}

/* Sorts what each node needs so that the static order (order.c) is a plain walk. */
static void weigh_all(const struct vti_plan *plan, uint32_t *weights)
{
    uint32_t i;

    for (i = 0; i < plan->count; i++) {
        uint32_t node = plan->sorted == NULL ? i : plan->sorted[i];

        weights[node] = weigh(plan->needs + plan->first_need[node], plan->task_needs[node],
                              weights);
    }
}

static int sort_plan(vt_graph *graph, struct vti_plan *plan)
{
    uint32_t *missing = malloc(graph->count * sizeof *missing);
    int code = 0;

    plan->sorted = malloc(graph->count * sizeof *plan->sorted);
    if (missing == NULL || plan->sorted == NULL)
        code = vti_graph_fail(graph, VTI_E_NOMEM, "no memory for the plan of a graph");
    else if (sort(plan, plan->sorted, missing) < graph->count)
        code = vti_graph_say_cycle(graph);
    free(missing);
    return code;
}

/* Room for all edges both ways; NULL: no memory, else room for a number of each node. */
static uint32_t *divide_pages(struct vti_plan *plan, size_t nodes, size_t args)
{
    plan->page_bytes = (4 * nodes + 2 * args) * sizeof *plan->pages;
    plan->pages = vti_pages_new(plan->page_bytes);
    if (plan->pages == NULL)
        return NULL;
    plan->first_need = plan->pages;
    plan->task_needs = plan->first_need + nodes;
    plan->first_user = plan->task_needs + nodes;
    plan->needs = plan->first_user + nodes;
    plan->users = plan->needs + args;
    return plan->users + args;
}

static int fill_plan(vt_graph *graph, struct vti_plan *plan)
{
    uint32_t *weights;
    bool is_sorted;
    int code = resolve_keys(graph);

    if (code != 0)
        return code;
    plan->count = graph->count;
    plan->args = graph->args;
    if (graph->has_others && (code = resolve_others(graph, plan)) != 0)
        return code;
    weights = divide_pages(plan, (size_t)graph->count + 1, graph->arg_count + 1);
    if (weights == NULL || find_needs(graph, plan, &is_sorted) != 0)
        return vti_graph_fail(graph, VTI_E_NOMEM, "no memory for the plan of a graph");
    find_users(plan);
    if (!is_sorted && (code = sort_plan(graph, plan)) != 0)
        return code;
    weigh_all(plan, weights);
    return 0;
}

int vti_graph_plan(vt_graph *graph)
{
    struct vti_plan *plan;
    int code = 0;

    vti_graph_lock(graph);
    if (graph->plan != NULL)
        goto out;
    plan = calloc(1, sizeof *plan);
    if (plan == NULL) {
        code = vti_graph_fail(graph, VTI_E_NOMEM, "no memory for the plan of a graph");
        goto out;
    }
    plan->holders = 1;
    code = fill_plan(graph, plan);
    if (code == 0)
        graph->plan = plan;
    else
        vti_plan_drop(plan);
out:
    vti_graph_unlock(graph);
    return code;
}
