/* energy.c - power over time, and what the program's joules went to. */
#include "page/job.h"

#include <math.h>
#include <stdio.h>

void vti_page_add_energy_totals(struct vti_json *json, const struct vti_page_job *job)
{
    const struct vti_energy *energy = &job->study->energy;

    if (!energy->tree_count && !energy->items.is_counted)
        return;
    vti_json_key(json, "energy");
    vti_json_object(json);
    vti_energy_add_json(json, energy, &energy->footing);
    vti_json_object_end(json);
}

/* ---- power ----------------------------------------------------------------------------------- */

/* What of the interval is the program's, as the sums have it. */
static double share_of(const struct vti_energy_tree *tree,
                       const struct vti_energy_interval *interval)
{
    bool has_platform = tree->parts[VT_ENERGY_PLATFORM].has_source;
    double joules = interval->share *
                    interval->parts[has_platform ? VT_ENERGY_PLATFORM : VT_ENERGY_CPU];
    double memory = interval->resident * interval->parts[VT_ENERGY_MEMORY];

    return joules + (has_platform || isnan(memory) ? 0 : memory);
}

static int write_interval(struct vti_page_job *job, size_t tree,
                          const struct vti_energy_interval *interval)
{
    double seconds = ((double)interval->end_ns - (double)interval->begin_ns) / 1e9;
    const double *parts = interval->parts;

    if (!(seconds > 0))
        return 0;
    return vti_page_row(job->page,
                        (union vti_page_value[]){
                            {tree},
                            {vti_page_time(interval->end_ns)},
                            {.d = parts[VT_ENERGY_CPU] / seconds},
                            {.d = parts[VT_ENERGY_MEMORY] / seconds},
                            {.d = parts[VT_ENERGY_GPU] / seconds},
                            {.d = parts[VT_ENERGY_PLATFORM] / seconds},
                            {.d = share_of(&job->study->energy.trees[tree], interval) / seconds}});
}

static int write_power(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {
        {"tree", VTI_PAGE_UINT}, {"time", VTI_PAGE_DELTA},
        {"cpu", VTI_PAGE_F64},   {"memory", VTI_PAGE_F64},
        {"gpu", VTI_PAGE_F64},   {"platform", VTI_PAGE_F64},
        {"share", VTI_PAGE_F64}, {NULL, 0}};
    const struct vti_energy *energy = &job->study->energy;
    int code = vti_page_begin(job->page, "energy_power", columns);

    for (size_t i = 0; i < energy->tree_count; i++)
        for (size_t k = 0; k < energy->trees[i].interval_count && !code; k++)
            code = write_interval(job, i, &energy->trees[i].intervals[k]);
    return code ? code : vti_page_end(job->page);
}

/* ---- what it went to ------------------------------------------------------------------------- */

/* Many processes have one name: their numbers tell them apart. */
static uint64_t name_of(struct vti_page_job *job, enum vti_energy_by by,
                        const struct vti_energy_row *row, bool is_elsewhere)
{
    char name[320];

    if (by != VTI_ENERGY_BY_PROCESS || is_elsewhere)
        return vti_page_text(job->page, row->name);
    snprintf(name, sizeof name, "%.300s (%u)", row->name,
             job->study->energy.resources.processes[row->id].pid);
    return vti_page_text(job->page, name);
}

static int write_row(struct vti_page_job *job, enum vti_energy_by by,
                     const struct vti_energy_row *row, bool is_elsewhere)
{
    return vti_page_row(job->page, (union vti_page_value[]){{by},
                                                            {name_of(job, by, row, is_elsewhere)},
                                                            {vti_page_text(job->page, row->file)},
                                                            {row->line},
                                                            {.d = row->self.full},
                                                            {.d = row->self.dynamic},
                                                            {.d = row->total.full},
                                                            {.d = row->self.cpu_s},
                                                            {row->seen},
                                                            {is_elsewhere}});
}

static int write_table(struct vti_page_job *job, enum vti_energy_by by)
{
    const struct vti_energy_table *table = &job->study->energy.tables[by];
    const struct vti_energy_row rest = {
        .name = "", .file = "", .self = table->elsewhere, .total = table->elsewhere};
    int code = 0;

    for (size_t i = 0; i < table->count && !code; i++)
        code = write_row(job, by, &table->rows[i], false);
    if (!code && table->count && table->elsewhere.cpu_s > 0)
        code = write_row(job, by, &rest, true);
    return code;
}

int vti_page_add_energy(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {{"by", VTI_PAGE_UINT},
                                                     {"name", VTI_PAGE_TEXT},
                                                     {"file", VTI_PAGE_TEXT},
                                                     {"line", VTI_PAGE_UINT},
                                                     {"self", VTI_PAGE_F64},
                                                     {"dynamic", VTI_PAGE_F64},
                                                     {"total", VTI_PAGE_F64},
                                                     {"cpu_s", VTI_PAGE_F64},
                                                     {"seen", VTI_PAGE_UINT},
                                                     {"elsewhere", VTI_PAGE_UINT},
                                                     {NULL, 0}};
    int code = write_power(job);

    if (!code)
        code = vti_page_begin(job->page, "energy", columns);
    for (unsigned i = 0; i < VTI_ENERGY_BY_COUNT && !code; i++)
        code = write_table(job, (enum vti_energy_by)i);
    return code ? code : vti_page_end(job->page);
}
