/*
 * profile_tree.c - paths of calls where a profiler only knew who called whom.
 *
 * The place that took most is followed first, so that a limit leaves out what matters least, and a graph with as many paths as it
 * likes takes no more time than the limit allows.
 */
#include "analyze/profile_tree.h"

#include "base/error.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDING 1e-6 /* of times in files: less than that is nothing */

/* A place that may still get callees. */
struct open {
    double total_ns;
    uint32_t call;
};

struct maker {
    struct vti_calls *tree;
    const struct vti_profile *profile;
    size_t most;
    size_t *firsts; /* arcs by caller; owned, as all arrays here */
    uint32_t *order;
    struct open *heap; /* the largest first */
    size_t count, capacity;
};

/* ---- the largest first ----------------------------------------------------------------------- */

/* Of equals the older one, so that equal profiles make equal trees. */
static bool is_before(const struct open *a, const struct open *b)
{
    return a->total_ns != b->total_ns ? a->total_ns > b->total_ns : a->call < b->call;
}

static int push(struct maker *maker, struct open open)
{
    size_t at = maker->count;

    if (vti_grow(&maker->heap, maker->count, &maker->capacity, sizeof *maker->heap))
        return VTI_E_NOMEM;
    maker->count++;
    while (at && is_before(&open, &maker->heap[(at - 1) / 2])) {
        maker->heap[at] = maker->heap[(at - 1) / 2];
        at = (at - 1) / 2;
    }
    maker->heap[at] = open;
    return 0;
}

static struct open pop(struct maker *maker)
{
    struct open top = maker->heap[0];
    struct open last = maker->heap[--maker->count];
    size_t at = 0;
    size_t child;

    while ((child = 2 * at + 1) < maker->count) {
        if (child + 1 < maker->count && is_before(&maker->heap[child + 1], &maker->heap[child]))
            child++;
        if (is_before(&last, &maker->heap[child]))
            break;
        maker->heap[at] = maker->heap[child];
        at = child;
    }
    maker->heap[at] = last;
    return top;
}

/* ---- places ---------------------------------------------------------------------------------- */

static int add_place(struct maker *maker, uint32_t parent, uint32_t row, double total_ns,
                     double calls)
{
    struct vti_call call = {.parent = parent,
                            .function = row,
                            .track = VT_NONE,
                            .is_estimated = true,
                            .calls = calls < 1e18 ? (uint64_t)(calls + 0.5) : UINT64_MAX,
                            .total_ns = total_ns,
                            .shortest_ns = NAN,
                            .longest_ns = NAN};
    int64_t at = vti_calls_add(maker->tree, &call);

    if (at < 0)
        return (int)at;
    return push(maker, (struct open){total_ns, (uint32_t)at});
}

static bool is_on_path(const struct maker *maker, uint32_t call, uint32_t row)
{
    for (; call != VT_NONE; call = maker->tree->calls[call].parent)
        if (maker->tree->calls[call].function == row)
            return true;
    return false;
}

static int follow(struct maker *maker, uint32_t at)
{
    const struct vti_profile *profile = maker->profile;
    const struct vti_call *call = &maker->tree->calls[at];
    uint32_t row = call->function;
    double all_ns = profile->rows[row].numbers.total_s * 1e9;
    double share = all_ns > 0 ? fmin(call->total_ns / all_ns, 1) : 0;
    int code = 0;

    for (size_t i = maker->firsts[row]; i < maker->firsts[row + 1] && !code; i++) {
        const struct vti_profile_arc *arc = &profile->arcs[maker->order[i]];
        double total_ns = arc->numbers.total_s * 1e9 * share;

        if (maker->tree->call_count < maker->most && total_ns > 0 &&
            !is_on_path(maker, at, arc->callee))
            code = add_place(maker, at, arc->callee, total_ns, (double)arc->numbers.calls * share);
    }
    return code;
}

/* What a function did that no other is known to have called, times and calls. */
static struct vti_profile_numbers uncalled(const struct vti_profile *profile, uint32_t at)
{
    const struct vti_profile_row *row = &profile->rows[at];
    struct vti_profile_numbers left = row->numbers;

    for (size_t i = 0; i < row->caller_count; i++) {
        const struct vti_profile_arc *arc = &profile->arcs[row->first_caller + i];

        if (arc->caller == at || profile->rows[arc->caller].is_caller_only)
            continue;
        left.total_s -= arc->is_count_only ? left.total_s : arc->numbers.total_s;
        left.calls -= arc->numbers.calls < left.calls ? arc->numbers.calls : left.calls;
    }
    if (left.total_s < ROUNDING * row->numbers.total_s)
        left.total_s = 0;
    return left;
}

/* Where nothing is left of any function, everything is part of a circle: it begins with what took most. */
static int add_roots(struct maker *maker)
{
    const struct vti_profile *profile = maker->profile;
    uint32_t longest = 0;
    int code = 0;

    for (uint32_t i = 0; i < profile->row_count && !code; i++) {
        struct vti_profile_numbers left = uncalled(profile, i);

        if (maker->tree->call_count < maker->most && left.total_s > 0)
            code = add_place(maker, VT_NONE, i, left.total_s * 1e9, (double)left.calls);
        if (profile->rows[i].numbers.total_s > profile->rows[longest].numbers.total_s)
            longest = i;
    }
    if (!code && !maker->tree->call_count && profile->row_count)
        code = add_place(maker, VT_NONE, longest, profile->rows[longest].numbers.total_s * 1e9,
                         (double)profile->rows[longest].numbers.calls);
    return code;
}

/* Rows may share what tells functions apart: the number of the row makes them different. */
static int add_functions(struct maker *maker)
{
    const struct vti_profile *profile = maker->profile;

    for (size_t i = 0; i < profile->row_count; i++) {
        struct vti_function function = profile->calls->functions[profile->rows[i].function];
        int64_t at;

        function.twin = (uint32_t)i;
        at = vti_calls_function(maker->tree, &function);
        if (at < 0)
            return (int)at;
    }
    return 0;
}

int vti_profile_tree(struct vti_calls *tree, const struct vti_profile *profile, size_t most)
{
    struct maker maker = {.tree = tree, .profile = profile, .most = most};
    int code = vti_profile_callees(profile, &maker.firsts, &maker.order);

    vti_calls_init(tree);
    if (!code)
        code = add_functions(&maker);
    if (!code)
        code = add_roots(&maker);
    while (!code && maker.count && tree->call_count < most)
        code = follow(&maker, pop(&maker).call);
    if (!code)
        vti_calls_finish(tree);
    free(maker.heap);
    free(maker.order);
    free(maker.firsts);
    return code;
}
