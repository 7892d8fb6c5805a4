/*
 * profile.c - from a tree of calls to the classic table, with the sums that cProfile would have made.
 *
 * A call is primitive if its function (its pair of caller and callee) is not open around it, and only
 * primitive ones add to the cumulative time. The tree is walked once and may be as deep as it likes.
 */
#include "analyze/profile_impl.h"

#include "base/bytes.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECONDS 1e-9

/* For each call its arc; for each row and arc how many of it are open. */
struct walk {
    struct vti_profile *profile;
    const struct vti_calls *calls;
    uint32_t *arc;
    uint32_t *row; /* of each function, VT_NONE: none yet */
    uint32_t *open_rows;
    uint32_t *open_arcs;
    size_t open_room;
};

static int walk_init(struct walk *walk, struct vti_profile *profile, const struct vti_calls *calls)
{
    size_t functions = calls->function_count + 1;

    *walk = (struct walk){.profile = profile, .calls = calls};
    walk->arc = malloc((calls->call_count + 1) * sizeof *walk->arc);
    walk->row = malloc(functions * sizeof *walk->row);
    walk->open_rows = calloc(functions, sizeof *walk->open_rows);
    if (!walk->arc || !walk->row || !walk->open_rows)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    memset(walk->row, 0xff, functions * sizeof *walk->row);
    return 0;
}

static void walk_fini(struct walk *walk)
{
    free(walk->arc);
    free(walk->row);
    free(walk->open_rows);
    free(walk->open_arcs);
}

static int64_t find_row(struct walk *walk, uint32_t function)
{
    if (walk->row[function] == VT_NONE) {
        int64_t row = vti_profile_function_row(walk->profile, function);

        if (row < 0)
            return row;
        walk->row[function] = (uint32_t)row;
    }
    return walk->row[function];
}

static int64_t find_arc(struct walk *walk, uint32_t caller, uint32_t callee)
{
    size_t known = walk->profile->arc_count;
    int64_t arc;

    if (vti_grow(&walk->open_arcs, known, &walk->open_room, sizeof *walk->open_arcs))
        return VTI_E_NOMEM;
    arc = vti_profile_arc(walk->profile, caller, callee);
    if (walk->profile->arc_count > known)
        walk->open_arcs[known] = 0;
    return arc;
}

static void add_numbers(struct vti_profile_numbers *to, const struct vti_call *call,
                        bool is_primitive)
{
    uint64_t calls = vti_add_capped(call->calls, call->resumes);

    to->calls = vti_add_capped(to->calls, calls);
    to->self_s += call->self_ns * SECONDS;
    to->self_sampled_s += (call->is_estimated ? call->self_ns : call->sampled_ns) * SECONDS;
    if (is_primitive) {
        to->primitive = vti_add_capped(to->primitive, calls);
        to->total_s += call->total_ns * SECONDS;
        to->total_sampled_s += call->is_estimated ? call->total_ns * SECONDS : 0;
    }
}

static void add_extremes(struct vti_profile_row *row, const struct vti_call *call)
{
    row->resumes = vti_add_capped(row->resumes, call->resumes);
    row->samples = vti_add_capped(row->samples, call->samples);
    row->suspended_s += call->suspended_ns * SECONDS;
    if (!isnan(call->shortest_ns))
        row->shortest_s = fmin(row->shortest_s,
                               call->shortest_ns * SECONDS); /* of NaN: the other */
    if (!isnan(call->longest_ns))
        row->longest_s = fmax(row->longest_s, call->longest_ns * SECONDS);
}

static int enter(uint32_t at, void *arg)
{
    struct walk *walk = arg;
    const struct vti_call *call = &walk->calls->calls[at];
    int64_t row = find_row(walk, call->function);
    struct vti_profile *profile = walk->profile;

    if (row < 0)
        return (int)row;
    add_numbers(&profile->rows[row].numbers, call, !walk->open_rows[row]++);
    add_extremes(&profile->rows[row], call);
    walk->arc[at] = VT_NONE;
    if (call->parent < at) {
        uint32_t caller = walk->row[walk->calls->calls[call->parent].function];
        int64_t arc = find_arc(walk, caller, (uint32_t)row);

        if (arc < 0)
            return (int)arc;
        walk->arc[at] = (uint32_t)arc;
        add_numbers(&profile->arcs[arc].numbers, call, !walk->open_arcs[arc]++);
    }
    return 0;
}

static int leave(uint32_t at, void *arg)
{
    struct walk *walk = arg;

    walk->open_rows[walk->row[walk->calls->calls[at].function]]--;
    if (walk->arc[at] != VT_NONE)
        walk->open_arcs[walk->arc[at]]--;
    return 0;
}

static double percentile(const struct vti_profile *profile, const struct vti_profile_row *row,
                         double share)
{
    const struct vti_durations *durations = profile->calls->durations[row->function];

    if (!durations)
        return NAN;
    return vti_durations_percentile(durations, share, row->shortest_s / SECONDS,
                                    row->longest_s / SECONDS) *
           SECONDS;
}

int vti_profile_make(struct vti_profile *profile, struct vti_calls *calls)
{
    struct walk walk;
    int code;

    memset(profile, 0, sizeof *profile);
    profile->calls = calls;
    code = walk_init(&walk, profile, calls);
    if (!code)
        code = vti_calls_walk(calls, enter, leave, &walk);
    if (!code)
        code = vti_profile_order(profile);
    walk_fini(&walk);
    if (code) {
        vti_profile_fini(profile);
        return code;
    }
    for (size_t i = 0; i < profile->row_count; i++) {
        struct vti_profile_row *row = &profile->rows[i];

        row->p50_s = percentile(profile, row, 0.50);
        row->p90_s = percentile(profile, row, 0.90);
        row->p99_s = percentile(profile, row, 0.99);
    }
    return 0;
}
