/* functions.c - the table of functions, and who called whom where another profiler knew nothing else. */
#include "page/job.h"

#define NS 1e9

static int write_row(struct vti_page_job *job, const struct vti_profile_row *row)
{
    const struct vti_function *function = &job->study->functions.calls->functions[row->function];
    const struct vti_profile_numbers *numbers = &row->numbers;
    struct vti_page *page = job->page;

    return vti_page_row(page, (union vti_page_value[]){{vti_page_text(page, function->name)},
                                                       {vti_page_text(page, function->function)},
                                                       {vti_page_text(page, row->file)},
                                                       {vti_page_text(page, function->language)},
                                                       {row->line},
                                                       {function->twin},
                                                       {numbers->calls},
                                                       {numbers->primitive},
                                                       {row->resumes},
                                                       {row->samples},
                                                       {.d = numbers->self_s * NS},
                                                       {.d = numbers->total_s * NS},
                                                       {.d = row->suspended_s * NS},
                                                       {.d = row->shortest_s * NS},
                                                       {.d = row->longest_s * NS},
                                                       {.d = row->p50_s * NS},
                                                       {.d = row->p90_s * NS},
                                                       {.d = row->p99_s * NS},
                                                       {.d = numbers->total_sampled_s * NS}});
}

int vti_page_add_functions(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {
        {"name", VTI_PAGE_TEXT},     {"function", VTI_PAGE_TEXT},
        {"file", VTI_PAGE_TEXT},     {"language", VTI_PAGE_TEXT},
        {"line", VTI_PAGE_UINT},     {"twin", VTI_PAGE_UINT},
        {"calls", VTI_PAGE_UINT},    {"primitive", VTI_PAGE_UINT},
        {"resumes", VTI_PAGE_UINT},  {"samples", VTI_PAGE_UINT},
        {"self", VTI_PAGE_F64},      {"total", VTI_PAGE_F64},
        {"suspended", VTI_PAGE_F64}, {"min", VTI_PAGE_F64},
        {"max", VTI_PAGE_F64},       {"p50", VTI_PAGE_F64},
        {"p90", VTI_PAGE_F64},       {"p99", VTI_PAGE_F64},
        {"estimated", VTI_PAGE_F64}, {NULL, 0}};
    const struct vti_profile *profile = &job->study->functions;
    int code = vti_page_begin(job->page, "functions", columns);

    for (size_t i = 0; i < profile->row_count && !code; i++)
        code = write_row(job, &profile->rows[i]);
    return code ? code : vti_page_end(job->page);
}

/* A tree of calls says more than pairs do: they are for profiles that have none. */
int vti_page_add_pairs(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {{"caller", VTI_PAGE_UINT},
                                                     {"callee", VTI_PAGE_UINT},
                                                     {"calls", VTI_PAGE_UINT},
                                                     {"primitive", VTI_PAGE_UINT},
                                                     {"self", VTI_PAGE_F64},
                                                     {"total", VTI_PAGE_F64},
                                                     {NULL, 0}};
    const struct vti_profile *profile = &job->study->functions;
    int code = vti_page_begin(job->page, "pairs", columns);

    for (size_t i = 0; i < profile->arc_count && !job->study->calls.call_count && !code; i++) {
        const struct vti_profile_arc *arc = &profile->arcs[i];

        code = vti_page_row(job->page, (union vti_page_value[]){{arc->caller},
                                                                {arc->callee},
                                                                {arc->numbers.calls},
                                                                {arc->numbers.primitive},
                                                                {.d = arc->numbers.self_s * NS},
                                                                {.d = arc->numbers.total_s * NS}});
    }
    return code ? code : vti_page_end(job->page);
}
