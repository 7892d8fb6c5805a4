/* findings_worlds.c - functions and spans as subjects of the same shape, for the rules. */
#include "analyze/findings_impl.h"

#include "base/error.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const estimated = "estimated from samples";

static int by_self(const void *left, const void *right)
{
    const struct vti_subject *a = left;
    const struct vti_subject *b = right;

    if (a->self_ns != b->self_ns)
        return a->self_ns > b->self_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

static void add_function(struct vti_world *world, uint32_t at)
{
    const struct vti_profile_row *row = &world->profile->rows[at];
    const struct vti_function *function = &world->profile->calls->functions[row->function];
    bool is_c = !strcmp(function->language, "c");

    if (row->is_caller_only)
        return;
    world->subjects[world->count++] = (struct vti_subject){
        .what = world->what,
        .name = is_c && *function->function ? function->function : function->name,
        .file = row->line ? row->file : "",
        .line = row->line,
        .id = VT_NONE,
        .row = at,
        .count = row->numbers.calls,
        .total_ns = row->numbers.total_s * 1e9,
        .self_ns = row->numbers.self_s * 1e9,
        .p50_ns = row->p50_s * 1e9,
        .p99_ns = row->p99_s * 1e9,
        .suspended_ns = row->suspended_s * 1e9,
        .doubt = row->numbers.self_sampled_s > 0 ? estimated : ""};
}

static int make_functions(struct vti_finder *finder)
{
    struct vti_world *world = &finder->worlds[VTI_WORLD_FUNCTIONS];

    *world = (struct vti_world){.what = "function",
                                .call = "call",
                                .profile = &finder->study->functions,
                                .cost_ns = finder->study->calls.cost_call_ns};
    world->subjects = calloc(world->profile->row_count + 1, sizeof *world->subjects);
    for (uint32_t i = 0; world->subjects && i < world->profile->row_count; i++)
        add_function(world, i);
    return world->subjects ? 0 : VTI_E_NOMEM;
}

/* ---- spans ----------------------------------------------------------------------------------- */

static void add_span(struct vti_finder *finder, struct vti_world *world,
                     const struct vt_site_stats *stats)
{
    struct vt_site_info site;
    uint32_t row = vti_study_span_row(finder->study, stats->site);

    vt_recording_site_by_id(finder->study->recording, stats->site, &site);
    world->subjects[world->count++] = (struct vti_subject){
        .what = site.type == VT_SITE_FUNCTION ? "function" : "span",
        .name = site.name,
        .file = site.file,
        .line = site.line,
        .id = stats->site,
        .row = row,
        .count = stats->count,
        .errors = stats->errors,
        .total_ns = (double)stats->total_ns,
        .self_ns = (double)stats->self_ns,
        .p50_ns = (double)stats->p50_ns,
        .p99_ns = (double)stats->p99_ns,
        .is_async = row == VT_NONE,
        .doubt = vti_ids_find(&finder->study->distorted, stats->site) >= 0
                     ? "events around it are missing"
                     : ""};
}

static double span_cost(const vt_recording *recording)
{
    struct vt_process_info process;
    double most = 0;

    for (uint32_t i = 0; vt_recording_process(recording, i, &process); i++)
        most = process.pair_ns > most ? process.pair_ns : most;
    return most;
}

static int make_spans(struct vti_finder *finder)
{
    struct vti_world *world = &finder->worlds[VTI_WORLD_SPANS];
    const struct vt_stats *stats = &finder->study->stats;

    *world = (struct vti_world){.what = "span",
                                .call = "span",
                                .profile = &finder->study->spans,
                                .cost_ns = span_cost(finder->study->recording)};
    world->subjects = calloc(stats->site_count + 1, sizeof *world->subjects);
    for (size_t i = 0; world->subjects && i < stats->site_count; i++)
        add_span(finder, world, &stats->sites[i]);
    return world->subjects ? 0 : VTI_E_NOMEM;
}

int vti_worlds_make(struct vti_finder *finder)
{
    int code = make_functions(finder);

    if (!code)
        code = make_spans(finder);
    for (int w = 0; w < VTI_WORLDS && !code; w++) {
        struct vti_world *world = &finder->worlds[w];

        qsort(world->subjects, world->count, sizeof *world->subjects, by_self);
        for (size_t i = 0; i < world->count; i++)
            if (!world->subjects[i].is_async && isfinite(world->subjects[i].self_ns))
                world->self_ns += world->subjects[i].self_ns;
    }
    return code;
}

void vti_worlds_fini(struct vti_finder *finder)
{
    for (int w = 0; w < VTI_WORLDS; w++)
        free(finder->worlds[w].subjects);
}

const struct vti_subject *vti_subject_of_row(const struct vti_world *world, uint32_t row)
{
    for (size_t i = 0; i < world->count; i++)
        if (world->subjects[i].row == row)
            return &world->subjects[i];
    return NULL;
}
