/* resources.c - CPU, memory and I/O as they were read from outside: trees of processes, their processes, readings of both. */
#include "page/job.h"

#include <math.h>
#include <stdlib.h>

/* ---- the directory --------------------------------------------------------------------------- */

static double known_sum(uint64_t sum, uint32_t known, enum vti_resource which)
{
    return known >> which & 1 ? (double)sum : NAN;
}

void vti_page_add_resource_totals(struct vti_json *json, const struct vti_page_job *job)
{
    const struct vti_resources *resources = &job->study->resources;
    struct vti_resource_tree sum = {.known = UINT32_MAX};

    if (!resources->tree_count)
        return;
    for (size_t i = 0; i < resources->tree_count; i++) {
        const struct vti_resource_tree *tree = &resources->trees[i];

        sum.cpu_s += tree->cpu_s;
        sum.peak_bytes += tree->peak_bytes;
        sum.read_bytes += tree->read_bytes;
        sum.written_bytes += tree->written_bytes;
        sum.process_count += tree->process_count;
        sum.known &= tree->known;
    }
    vti_json_key(json, "resources");
    vti_json_object(json);
    vti_json_add_double(json, "cpu_s", sum.known >> VTI_RESOURCE_CPU_NS & 1 ? sum.cpu_s : NAN);
    vti_json_add_double(json, "peak_memory", sum.peak_bytes ? (double)sum.peak_bytes : NAN);
    vti_json_add_double(json, "read",
                        known_sum(sum.read_bytes, sum.known, VTI_RESOURCE_READ_BYTES));
    vti_json_add_double(json, "written",
                        known_sum(sum.written_bytes, sum.known, VTI_RESOURCE_WRITTEN_BYTES));
    vti_json_add_uint(json, "processes", sum.process_count);
    vti_json_object_end(json);
}

/* ---- trees and processes --------------------------------------------------------------------- */

static double share_of(double share)
{
    return share < 0 ? NAN : share;
}

static int write_tree(struct vti_page_job *job, const struct vti_resource_tree *tree)
{
    int64_t at = vti_ids_find(&job->recording->facts.host_ids, tree->host);
    const char *host = at < 0 ? "" : job->recording->facts.hosts[at].name;
    bool has_cpu = tree->known >> VTI_RESOURCE_CPU_NS & 1;
    bool has_user = tree->known >> VTI_RESOURCE_USER_NS & 1;
    uint32_t known = tree->known;

    return vti_page_row(
        job->page,
        (union vti_page_value[]){
            {vti_page_text(job->page, host)},
            {tree->cpu_count},
            {.d = has_cpu ? tree->cpu_s : NAN},
            {.d = has_user ? tree->user_s : NAN},
            {.d = has_cpu ? tree->cores : NAN},
            {.d = share_of(tree->machine_busy)},
            {.d = share_of(tree->others_busy)},
            {.d = tree->peak_bytes ? (double)tree->peak_bytes : NAN},
            {.d = known_sum(tree->read_bytes, known, VTI_RESOURCE_READ_BYTES)},
            {.d = known_sum(tree->written_bytes, known, VTI_RESOURCE_WRITTEN_BYTES)},
            {.d = known_sum(tree->disk_read_bytes, known, VTI_RESOURCE_DISK_READ_BYTES)},
            {.d = known_sum(tree->disk_written_bytes, known, VTI_RESOURCE_DISK_WRITTEN_BYTES)},
            {.d = (double)tree->begin_ns},
            {.d = (double)tree->end_ns},
            {tree->process_count}});
}

static int write_trees(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {
        {"host", VTI_PAGE_TEXT},       {"cpus", VTI_PAGE_UINT},
        {"cpu_s", VTI_PAGE_F64},       {"user_s", VTI_PAGE_F64},
        {"cores", VTI_PAGE_F64},       {"machine_busy", VTI_PAGE_F64},
        {"others_busy", VTI_PAGE_F64}, {"peak", VTI_PAGE_F64},
        {"read", VTI_PAGE_F64},        {"written", VTI_PAGE_F64},
        {"disk_read", VTI_PAGE_F64},   {"disk_written", VTI_PAGE_F64},
        {"begin", VTI_PAGE_F64},       {"end", VTI_PAGE_F64},
        {"processes", VTI_PAGE_UINT},  {NULL, 0}};
    int code = vti_page_begin(job->page, "resource_trees", columns);

    for (size_t i = 0; i < job->study->resources.tree_count && !code; i++)
        code = write_tree(job, &job->study->resources.trees[i]);
    return code ? code : vti_page_end(job->page);
}

static int write_process(struct vti_page_job *job, const struct vti_resource_process *process)
{
    bool has_cpu = process->last.known >> VTI_RESOURCE_CPU_NS & 1;
    int64_t recorded = vti_page_process(job, process->process);

    return vti_page_row(job->page,
                        (union vti_page_value[]){
                            {process->tree},
                            {process->pid},
                            {process->parent == VT_NONE ? 0 : (uint64_t)process->parent + 1},
                            {(uint64_t)(recorded + 1)},
                            {vti_page_text(job->page, process->name)},
                            {vti_page_text(job->page, process->command)},
                            {.d = (double)process->start_ns},
                            {.d = process->end_ns == INT64_MAX ? NAN : (double)process->end_ns},
                            {.d = process->peak_bytes ? (double)process->peak_bytes : NAN},
                            {.d = has_cpu ? (double)process->cpu_ns / 1e9 : NAN}});
}

static int write_processes(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {{"tree", VTI_PAGE_UINT},
                                                     {"pid", VTI_PAGE_UINT},
                                                     {"parent", VTI_PAGE_REF},
                                                     {"process", VTI_PAGE_REF},
                                                     {"name", VTI_PAGE_TEXT},
                                                     {"command", VTI_PAGE_TEXT},
                                                     {"start", VTI_PAGE_F64},
                                                     {"end", VTI_PAGE_F64},
                                                     {"peak", VTI_PAGE_F64},
                                                     {"cpu_s", VTI_PAGE_F64},
                                                     {NULL, 0}};
    int code = vti_page_begin(job->page, "resource_processes", columns);

    for (size_t i = 0; i < job->study->resources.process_count && !code; i++)
        code = write_process(job, &job->study->resources.processes[i]);
    return code ? code : vti_page_end(job->page);
}

/* ---- readings -------------------------------------------------------------------------------- */

static union vti_page_value known_value(const struct vti_resource_point *point,
                                        enum vti_resource which)
{
    bool is_known = point->known >> which & 1;

    return (union vti_page_value){.d = is_known ? (double)point->values[which] : NAN};
}

/* `of` is the row of a process plus 1; 0: the tree. */
static int write_series(struct vti_page_job *job, uint64_t tree, uint64_t of,
                        const struct vti_resource_series *series)
{
    int code = 0;

    for (size_t i = 0; i < series->count && !code; i++) {
        const struct vti_resource_point *point = &series->points[i];

        code = vti_page_row(
            job->page, (union vti_page_value[]){{tree},
                                                {of},
                                                {vti_page_time(point->time_ns)},
                                                known_value(point, VTI_RESOURCE_CPU_NS),
                                                known_value(point, VTI_RESOURCE_USER_NS),
                                                known_value(point, VTI_RESOURCE_MEMORY_BYTES),
                                                known_value(point, VTI_RESOURCE_THREADS),
                                                known_value(point, VTI_RESOURCE_READ_BYTES),
                                                known_value(point, VTI_RESOURCE_WRITTEN_BYTES),
                                                known_value(point, VTI_RESOURCE_DISK_READ_BYTES),
                                                known_value(point, VTI_RESOURCE_DISK_WRITTEN_BYTES),
                                                known_value(point, VTI_RESOURCE_MACHINE_NS),
                                                known_value(point, VTI_RESOURCE_AVAILABLE_BYTES)});
    }
    return code;
}

static int write_readings(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {
        {"tree", VTI_PAGE_UINT},        {"of", VTI_PAGE_REF},
        {"time", VTI_PAGE_DELTA},       {"cpu", VTI_PAGE_F64},
        {"user", VTI_PAGE_F64},         {"memory", VTI_PAGE_F64},
        {"threads", VTI_PAGE_F64},      {"read", VTI_PAGE_F64},
        {"written", VTI_PAGE_F64},      {"disk_read", VTI_PAGE_F64},
        {"disk_written", VTI_PAGE_F64}, {"machine", VTI_PAGE_F64},
        {"available", VTI_PAGE_F64},    {NULL, 0}};
    const struct vti_resources *resources = &job->study->resources;
    int code = vti_page_begin(job->page, "resources", columns);

    for (size_t i = 0; i < resources->tree_count && !code; i++)
        code = write_series(job, i, 0, &resources->trees[i].series);
    for (size_t i = 0; i < resources->process_count && !code; i++)
        code = write_series(job, resources->processes[i].tree, i + 1,
                            &resources->processes[i].series);
    return code ? code : vti_page_end(job->page);
}

static int by_value(const void *left, const void *right)
{
    const double *a = left;
    const double *b = right;

    return *a < *b ? -1 : *a > *b;
}

/* Readings a second: from the middle one of all times between two, as there are more at the start and the end. */
static double rate_of(const struct vti_resource_series *series)
{
    size_t count = series->count > 1 ? series->count - 1 : 0;
    double *gaps = calloc(count + 1, sizeof *gaps);
    double rate = 0;

    for (size_t i = 0; gaps && i < count; i++)
        gaps[i] = (double)(series->points[i + 1].time_ns - series->points[i].time_ns);
    if (gaps && count) {
        qsort(gaps, count, sizeof *gaps, by_value);
        rate = gaps[count / 2] > 0 ? 1e9 / gaps[count / 2] : 0;
    }
    free(gaps);
    return rate < 1 ? round(rate * 10) / 10 : round(rate);
}

int vti_page_add_resources(struct vti_page_job *job)
{
    const struct vti_resources *resources = &job->study->resources;
    int code = write_trees(job);

    job->resources_hz = resources->tree_count ? rate_of(&resources->trees[0].series) : 0;
    if (!code)
        code = write_processes(job);
    return code ? code : write_readings(job);
}
