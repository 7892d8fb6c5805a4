/* profile_strip.c - a profile without the folders of its files, just as pstats' strip_dirs() makes it. */
#include "analyze/profile_impl.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *base_name(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static void add_numbers(struct vti_profile_numbers *to, const struct vti_profile_numbers *from)
{
    to->calls += from->calls;
    to->primitive += from->primitive;
    to->self_s += from->self_s;
    to->total_s += from->total_s;
    to->self_sampled_s += from->self_sampled_s;
    to->total_sampled_s += from->total_sampled_s;
}

/* Percentiles of two rows together are not known. */
static void add_row(struct vti_profile_row *to, const struct vti_profile_row *from)
{
    add_numbers(&to->numbers, &from->numbers);
    to->is_caller_only &= from->is_caller_only;
    to->resumes += from->resumes;
    to->samples += from->samples;
    to->suspended_s += from->suspended_s;
    to->shortest_s = fmin(to->shortest_s, from->shortest_s);
    to->longest_s = fmax(to->longest_s, from->longest_s);
    to->p50_s = to->p90_s = to->p99_s = NAN;
}

static int64_t take_row(struct vti_profile *to, const struct vti_profile *from,
                        const struct vti_profile_row *row)
{
    int is_new;
    int64_t at = vti_profile_row(to, base_name(row->file), row->line, row->name, &is_new);
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

/* The arcs of one old row. `last` says for each new row which arc of this one it is the caller of. */
static int take_arcs(struct vti_profile *to, const struct vti_profile *from,
                     const struct vti_profile_row *row, const uint32_t *renumbered, size_t *last)
{
    const struct vti_profile_arc *arcs = &from->arcs[row->first_caller];
    uint32_t callee = renumbered[row - from->rows];

    for (size_t i = 0; i < row->caller_count; i++)
        last[renumbered[arcs[i].caller]] = i;
    for (size_t i = 0; i < row->caller_count; i++) {
        uint32_t caller = renumbered[arcs[i].caller];
        int64_t at;

        if (last[caller] == SIZE_MAX)
            continue;
        at = vti_profile_arc(to, caller, callee);
        if (at < 0)
            return (int)at;
        add_numbers(&to->arcs[at].numbers, &arcs[last[caller]].numbers);
        to->arcs[at].is_count_only = arcs[last[caller]].is_count_only;
        last[caller] = SIZE_MAX;
    }
    return 0;
}

int vti_profile_strip(struct vti_profile *profile)
{
    size_t count = profile->row_count + 1;
    uint32_t *renumbered = calloc(count, sizeof *renumbered);
    size_t *last = malloc(count * sizeof *last);
    struct vti_profile stripped;
    int code = vti_profile_begin(&stripped);

    if (!renumbered || !last)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; !code && i < profile->row_count; i++) {
        int64_t at = take_row(&stripped, profile, &profile->rows[i]);

        code = at < 0 ? (int)at : 0;
        renumbered[i] = (uint32_t)at;
        last[i] = SIZE_MAX;
    }
    for (size_t i = 0; !code && i < profile->row_count; i++)
        code = take_arcs(&stripped, profile, &profile->rows[i], renumbered, last);
    if (!code)
        code = vti_profile_order(&stripped);
    free(renumbered);
    free(last);
    if (code) {
        vti_profile_fini(&stripped);
        return code;
    }
    stripped.calls->sample_ns = profile->calls->sample_ns;
    vti_profile_fini(profile);
    *profile = stripped;
    return 0;
}
