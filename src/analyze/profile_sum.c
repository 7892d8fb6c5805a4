/*
 * profile_sum.c - rows of one profile go into another: those that share file, line and name are added up.
 */
#include "analyze/profile_impl.h"
#include "base/bytes.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>

void vti_profile_add_numbers(struct vti_profile_numbers *to, const struct vti_profile_numbers *from)
{
    to->calls = vti_add_capped(to->calls, from->calls);
    to->primitive = vti_add_capped(to->primitive, from->primitive);
    to->self_s += from->self_s;
    to->total_s += from->total_s;
    to->self_sampled_s += from->self_sampled_s;
    to->total_sampled_s += from->total_sampled_s;
}

/* Percentiles of two rows together are not known. */
static void add_row(struct vti_profile_row *to, const struct vti_profile_row *from)
{
    vti_profile_add_numbers(&to->numbers, &from->numbers);
    to->is_caller_only &= from->is_caller_only;
    to->resumes = vti_add_capped(to->resumes, from->resumes);
    to->samples = vti_add_capped(to->samples, from->samples);
    to->suspended_s += from->suspended_s;
    to->shortest_s = fmin(to->shortest_s, from->shortest_s);
    to->longest_s = fmax(to->longest_s, from->longest_s);
    to->p50_s = to->p90_s = to->p99_s = NAN;
}

int64_t vti_profile_take_row(struct vti_profile *to, const struct vti_profile *from,
                             const struct vti_profile_row *row, const char *file)
{
    int is_new;
    int64_t at = vti_profile_row(to, file, row->line, row->name, &is_new);
    struct vti_profile_row *place;
    int64_t function;

    if (at < 0)
        return at;
    place = &to->rows[at];
    if (!is_new) {
        add_row(place, row);
        return at;
    }
    function = vti_calls_function(to->calls, &from->calls->functions[row->function]);
    if (function < 0)
        return function;
    *place = (struct vti_profile_row){.file = place->file,
                                      .name = place->name,
                                      .line = place->line,
                                      .function = (uint32_t)function,
                                      .is_caller_only = row->is_caller_only,
                                      .numbers = row->numbers,
                                      .resumes = row->resumes,
                                      .samples = row->samples,
                                      .suspended_s = row->suspended_s,
                                      .shortest_s = row->shortest_s,
                                      .longest_s = row->longest_s,
                                      .p50_s = row->p50_s,
                                      .p90_s = row->p90_s,
                                      .p99_s = row->p99_s};
    return at;
}

static int take_arcs(struct vti_profile *to, const struct vti_profile *from,
                     const uint32_t *renumbered)
{
    for (size_t i = 0; i < from->arc_count; i++) {
        const struct vti_profile_arc *arc = &from->arcs[i];
        int64_t at = vti_profile_arc(to, renumbered[arc->caller], renumbered[arc->callee]);

        if (at < 0)
            return (int)at;
        vti_profile_add_numbers(&to->arcs[at].numbers, &arc->numbers);
        to->arcs[at].is_count_only |= arc->is_count_only;
    }
    return 0;
}

static int take_all(struct vti_profile *to, const struct vti_profile *from)
{
    uint32_t *renumbered = calloc(from->row_count + 1, sizeof *renumbered);
    int code = renumbered ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");

    for (size_t i = 0; !code && i < from->row_count; i++) {
        const struct vti_profile_row *row = &from->rows[i];
        int64_t at = vti_profile_take_row(to, from, row, row->file);

        code = at < 0 ? (int)at : 0;
        renumbered[i] = (uint32_t)at;
    }
    if (!code)
        code = take_arcs(to, from, renumbered);
    free(renumbered);
    return code;
}

int vti_profile_sum(struct vti_profile *sum, const struct vti_profile *one,
                    const struct vti_profile *other)
{
    int code = vti_profile_begin(sum);

    if (!code)
        code = take_all(sum, one);
    if (!code)
        code = take_all(sum, other);
    if (!code)
        code = vti_profile_order(sum);
    if (code) {
        vti_profile_fini(sum);
        return code;
    }
    sum->out_of_range = one->out_of_range + other->out_of_range;
    sum->calls->cost_ns = one->calls->cost_ns;
    sum->calls->cost_call_ns = one->calls->cost_call_ns;
    sum->calls->lost_calls = one->calls->lost_calls;
    sum->calls->has_unseen = one->calls->has_unseen;
    sum->calls->is_estimated = one->calls->is_estimated;
    sum->calls->sample_ns = one->calls->sample_ns;
    return 0;
}
