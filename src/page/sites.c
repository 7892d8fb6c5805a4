/* sites.c - the places of spans, counters and marks: one row for each that some other table names. */
#include "base/error.h"
#include "page/job.h"

#include <stdlib.h>

int64_t vti_page_site(struct vti_page_job *job, uint32_t id)
{
    return vti_ids_add(&job->sites, vti_site_same(job->recording, id));
}

int64_t vti_page_track(const struct vti_page_job *job, uint32_t id)
{
    return vti_ids_find(&job->recording->facts.track_ids, id);
}

int64_t vti_page_process(const struct vti_page_job *job, uint32_t id)
{
    return id == VT_NONE ? -1 : vti_ids_find(&job->recording->facts.process_ids, id);
}

uint64_t vti_page_time(int64_t ns)
{
    return ns < 0 ? 0 : ns < VTI_PAGE_TIME_MOST ? (uint64_t)ns : VTI_PAGE_TIME_MOST - 1;
}

uint64_t vti_page_length(int64_t begin_ns, int64_t end_ns)
{
    uint64_t begin = vti_page_time(begin_ns);
    uint64_t end = vti_page_time(end_ns);

    return end > begin ? end - begin : 0;
}

/* Ids in the order of their rows; to be freed. */
static uint32_t *list_ids(const struct vti_ids *ids)
{
    uint32_t *list = calloc((size_t)ids->count + 1, sizeof *list);

    for (uint32_t i = 0; list && i < ids->slot_count; i++)
        if (ids->slots[i].index_plus_one)
            list[ids->slots[i].index_plus_one - 1] = ids->slots[i].id;
    return list;
}

int vti_page_add_sites(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {{"name", VTI_PAGE_TEXT},
                                                     {"function", VTI_PAGE_TEXT},
                                                     {"file", VTI_PAGE_TEXT},
                                                     {"unit", VTI_PAGE_TEXT},
                                                     {"line", VTI_PAGE_UINT},
                                                     {"type", VTI_PAGE_UINT},
                                                     {NULL, 0}};
    uint32_t *ids = list_ids(&job->sites);
    int code = ids ? vti_page_begin(job->page, "sites", columns)
                   : vti_fail(VTI_E_NOMEM, "out of memory");

    for (uint32_t i = 0; i < job->sites.count && !code; i++) {
        struct vt_site_info site;

        vt_recording_site_by_id(job->recording, ids[i], &site);
        code = vti_page_row(job->page,
                            (union vti_page_value[]){{vti_page_text(job->page, site.name)},
                                                     {vti_page_text(job->page, site.function)},
                                                     {vti_page_text(job->page, site.file)},
                                                     {vti_page_text(job->page, site.unit)},
                                                     {site.line},
                                                     {site.type}});
    }
    free(ids);
    return code ? code : vti_page_end(job->page);
}
