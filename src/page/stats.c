/* stats.c - numbers of spans by place: count, times, percentiles; those of all spans. */
#include "page/job.h"

static const struct vti_page_column columns[] = {
    {"site", VTI_PAGE_UINT}, {"count", VTI_PAGE_UINT}, {"errors", VTI_PAGE_UINT},
    {"total", VTI_PAGE_F64}, {"self", VTI_PAGE_F64},   {"min", VTI_PAGE_F64},
    {"avg", VTI_PAGE_F64},   {"p50", VTI_PAGE_F64},    {"p90", VTI_PAGE_F64},
    {"p99", VTI_PAGE_F64},   {"max", VTI_PAGE_F64},    {NULL, 0}};

int vti_page_add_span_stats(struct vti_page_job *job)
{
    const struct vt_stats *stats = &job->study->stats;
    int code = vti_page_begin(job->page, "span_stats", columns);

    for (size_t i = 0; i < stats->site_count && !code; i++) {
        const struct vt_site_stats *site = &stats->sites[i];
        int64_t row = vti_page_site(job, site->site);

        if (row < 0)
            return (int)row;
        code = vti_page_row(job->page, (union vti_page_value[]){{(uint64_t)row},
                                                                {site->count},
                                                                {site->errors},
                                                                {.d = (double)site->total_ns},
                                                                {.d = (double)site->self_ns},
                                                                {.d = (double)site->min_ns},
                                                                {.d = (double)site->avg_ns},
                                                                {.d = (double)site->p50_ns},
                                                                {.d = (double)site->p90_ns},
                                                                {.d = (double)site->p99_ns},
                                                                {.d = (double)site->max_ns}});
    }
    return code ? code : vti_page_end(job->page);
}
