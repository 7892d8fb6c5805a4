/*
 * trees.c - paths of spans and paths of calls: trees, a caller before what it called.
 *
 * A tree may have as many places as there were calls: those that took least are left out where it is too large to be drawn.
 */
#include "analyze/calls_sites.h"
#include "analyze/profile_tree.h"
#include "base/error.h"
#include "base/number.h"
#include "page/job.h"

#include <stdlib.h>

#define ROWS_MOST 200000
#define ESTIMATED_MOST 20000

enum { IS_OPEN = 1, IS_ESTIMATED = 2 };

/* ---- too large trees ------------------------------------------------------------------------- */

static int larger_first(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;

    return *a > *b ? -1 : *a < *b;
}

/* What a place must have taken so that no more than ROWS_MOST are left; negative without memory. */
static double find_limit(const struct vti_calls *calls)
{
    double *totals = malloc(calls->call_count * sizeof *totals);
    double limit;

    if (!totals)
        return -1;
    for (size_t i = 0; i < calls->call_count; i++)
        totals[i] = calls->calls[i].total_ns;
    qsort(totals, calls->call_count, sizeof *totals, larger_first);
    limit = totals[ROWS_MOST - 1];
    free(totals);
    return limit > 0 ? limit : 0;
}

uint32_t *vti_page_tree_rows(struct vti_page_job *job, const struct vti_calls *calls,
                             const char *what)
{
    uint32_t *rows = calloc(calls->call_count + 1, sizeof *rows);
    double limit = 0;
    uint32_t count = 0;
    char text[VTI_NUMBER_BYTES];

    if (rows && calls->call_count > ROWS_MOST)
        limit = find_limit(calls);
    if (!rows || limit < 0) {
        free(rows);
        vti_fail(VTI_E_NOMEM, "out of memory");
        return NULL;
    }
    for (size_t i = 0; i < calls->call_count && count < ROWS_MOST; i++) {
        const struct vti_call *call = &calls->calls[i];

        if (call->total_ns >= limit && (call->parent >= i || rows[call->parent]))
            rows[i] = ++count;
    }
    if (count < calls->call_count)
        vti_page_note(
            job->page, "folded",
            "Of %zu %s the %u that took most are shown; the others took at most %s each and "
            "are part of the totals around them.",
            calls->call_count, what, count, vti_text_duration(text, limit));
    return rows;
}

static uint64_t parent_row(const uint32_t *rows, const struct vti_call *call, size_t at)
{
    return call->parent < at ? rows[call->parent] : 0;
}

/* ---- spans ----------------------------------------------------------------------------------- */

struct span_sites {
    struct vti_call_sites sites;
    uint64_t *ids; /* owned; by function: id of a site plus 1 */
    size_t count;
};

static int note_site(struct span_sites *sites, uint32_t id)
{
    int64_t function = vti_call_sites_find(&sites->sites, id);

    if (function < 0 || (size_t)function >= sites->count)
        return function == VTI_E_NOMEM ? VTI_E_NOMEM : 0;
    if (!sites->ids[function])
        sites->ids[function] = (uint64_t)id + 1;
    return 0;
}

/* The tree knows functions; which site is each? Those of the statistics are all, defined or not. */
static int find_sites(struct span_sites *sites, struct vti_page_job *job)
{
    const struct vt_stats *stats = &job->study->stats;
    int code = 0;

    sites->sites = (struct vti_call_sites){
        .calls = &job->study->span_calls, .recording = job->recording, .takes_spans = true};
    sites->count = job->study->span_calls.function_count;
    sites->ids = calloc(sites->count + 1, sizeof *sites->ids);
    if (!sites->ids)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < stats->site_count && !code; i++)
        code = note_site(sites, stats->sites[i].site);
    for (uint32_t i = 0; i < job->recording->facts.site_ids.count && !code; i++)
        code = note_site(sites, job->recording->facts.sites[i].id);
    return code;
}

static int write_paths(struct vti_page_job *job, const struct span_sites *sites,
                       const uint32_t *rows)
{
    static const struct vti_page_column columns[] = {{"parent", VTI_PAGE_REF},
                                                     {"site", VTI_PAGE_UINT},
                                                     {"track", VTI_PAGE_UINT},
                                                     {"count", VTI_PAGE_UINT},
                                                     {"total", VTI_PAGE_F64},
                                                     {"self", VTI_PAGE_F64},
                                                     {NULL, 0}};
    const struct vti_calls *calls = &job->study->span_calls;
    int code = vti_page_begin(job->page, "paths", columns);

    for (size_t i = 0; i < calls->call_count && !code; i++) {
        const struct vti_call *call = &calls->calls[i];
        uint64_t id = sites->ids[call->function];
        int64_t site = id ? vti_page_site(job, (uint32_t)(id - 1)) : 0;

        if (site < 0)
            return (int)site;
        if (rows[i])
            code = vti_page_row(job->page,
                                (union vti_page_value[]){{parent_row(rows, call, i)},
                                                         {(uint64_t)site},
                                                         {call->track == VT_NONE ? 0 : call->track},
                                                         {call->calls},
                                                         {.d = call->total_ns},
                                                         {.d = call->self_ns}});
    }
    return code ? code : vti_page_end(job->page);
}

int vti_page_add_paths(struct vti_page_job *job)
{
    struct span_sites sites = {.ids = NULL};
    uint32_t *rows = vti_page_tree_rows(job, &job->study->span_calls, "paths of spans");
    int code = rows ? find_sites(&sites, job) : VTI_E_NOMEM;

    if (!code)
        code = write_paths(job, &sites, rows);
    vti_call_sites_fini(&sites.sites);
    free(sites.ids);
    free(rows);
    return code;
}

/* ---- calls ----------------------------------------------------------------------------------- */

static int write_call(struct vti_page_job *job, const struct vti_call *call, uint64_t parent,
                      uint64_t function)
{
    uint64_t flags = (call->is_open ? IS_OPEN : 0) | (call->is_estimated ? IS_ESTIMATED : 0);

    return vti_page_row(job->page, (union vti_page_value[]){
                                       {parent},
                                       {function},
                                       {call->track == VT_NONE ? 0 : (uint64_t)call->track + 1},
                                       {call->calls},
                                       {call->resumes},
                                       {call->samples},
                                       {.d = call->total_ns},
                                       {.d = call->self_ns},
                                       {.d = call->suspended_ns},
                                       {flags}});
}

static int write_calls(struct vti_page_job *job, const struct vti_calls *calls,
                       const uint32_t *rows, const uint32_t *functions)
{
    static const struct vti_page_column columns[] = {{"parent", VTI_PAGE_REF},
                                                     {"function", VTI_PAGE_UINT},
                                                     {"track", VTI_PAGE_REF},
                                                     {"calls", VTI_PAGE_UINT},
                                                     {"resumes", VTI_PAGE_UINT},
                                                     {"samples", VTI_PAGE_UINT},
                                                     {"total", VTI_PAGE_F64},
                                                     {"self", VTI_PAGE_F64},
                                                     {"suspended", VTI_PAGE_F64},
                                                     {"flags", VTI_PAGE_UINT},
                                                     {NULL, 0}};
    int code = vti_page_begin(job->page, "calls", columns);

    for (size_t i = 0; i < calls->call_count && !code; i++)
        if (rows[i])
            code = write_call(job, &calls->calls[i], parent_row(rows, &calls->calls[i], i),
                              functions[calls->calls[i].function]);
    return code ? code : vti_page_end(job->page);
}

static int add_tree(struct vti_page_job *job, const struct vti_calls *calls,
                    const uint32_t *functions)
{
    uint32_t *rows = vti_page_tree_rows(job, calls, "paths of calls");
    int code = rows ? write_calls(job, calls, rows, functions) : VTI_E_NOMEM;

    free(rows);
    return code;
}

/* Another profiler's table has pairs, not paths. */
static int add_estimated(struct vti_page_job *job, const uint32_t *functions)
{
    struct vti_calls tree;
    int code = vti_profile_tree(&tree, &job->study->functions, ESTIMATED_MOST);

    if (!code && tree.call_count)
        vti_page_note(
            job->page, "estimated",
            "Paths of calls are estimates: this profile only knows who called whom, so that a "
            "function's time is shared out among what it called.%s",
            tree.call_count < ESTIMATED_MOST ? "" : " Those that took most are shown.");
    if (!code)
        code = add_tree(job, &tree, functions);
    vti_calls_fini(&tree);
    return code;
}

/* The table of functions has those that were called, in the order of the profile. */
int vti_page_add_calls(struct vti_page_job *job)
{
    const struct vti_calls *calls = &job->study->calls;
    const struct vti_profile *profile = &job->study->functions;
    bool is_estimated = !calls->call_count;
    size_t count = is_estimated ? profile->row_count : calls->function_count;
    uint32_t *functions = calloc(count + 1, sizeof *functions);
    int code;

    if (!functions)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < profile->row_count; i++)
        functions[is_estimated ? i : profile->rows[i].function] = (uint32_t)i;
    code = is_estimated ? add_estimated(job, functions) : add_tree(job, calls, functions);
    free(functions);
    return code;
}
