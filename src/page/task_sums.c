/* task_sums.c - runs of task graphs, their workers and the names of their tasks on a page: the figures of `venturi tasks`. */
#include "page/tasks_impl.h"

#include <math.h>

/* As docs/page.md has it. */
enum { OPEN = 1 };

static double known(uint64_t value, uint64_t count)
{
    return count ? (double)value : NAN;
}

/* ---- runs, workers, names -------------------------------------------------------------------- */

static int write_run(const struct vti_task_writer *writer, uint32_t at)
{
    const struct vti_study *study = writer->job->study;
    const struct vti_task_run *run = &writer->tasks->runs[at];
    const struct vti_run_times *times = &study->task_times.runs[at];
    const struct vti_task_path *path = &study->task_paths.runs[at];
    struct vti_page *page = writer->job->page;
    int64_t begin_ns;

    if (__builtin_sub_overflow(times->begin_ns, study->info.start_realtime_ns, &begin_ns))
        begin_ns = 0;
    return vti_page_row(page, (union vti_page_value[]){
                                  {(uint64_t)(vti_page_process(writer->job, run->process) + 1)},
                                  {run->number},
                                  {run->parent == VTI_NO_TASK ? 0 : (uint64_t)run->parent + 1},
                                  {vti_page_text(page, run->scheduler)},
                                  {vti_page_text(page, run->error)},
                                  {vti_page_time(begin_ns)},
                                  {vti_page_time(times->end_ns - times->begin_ns)},
                                  {run->planned},
                                  {run->lost},
                                  {times->tasks},
                                  {vti_task_states_failed(times->states)},
                                  {times->retries},
                                  {times->at_once},
                                  {times->dead_workers},
                                  {writer->firsts[at]},
                                  {writer->firsts[at + 1] - writer->firsts[at]},
                                  {run->end_ns > 0 ? 0 : OPEN},
                                  {(uint64_t)writer->units[at]},
                                  {(uint64_t)writer->freed[at]},
                                  {path->count},
                                  {.d = (double)path->length_ns},
                                  {.d = (double)times->task_ns},
                                  {.d = (double)times->wait_ns}});
}

int vti_task_write_runs(const struct vti_task_writer *writer)
{
    static const struct vti_page_column columns[] = {
        {"process", VTI_PAGE_REF},     {"number", VTI_PAGE_UINT},     {"parent", VTI_PAGE_REF},
        {"scheduler", VTI_PAGE_TEXT},  {"error", VTI_PAGE_TEXT},      {"begin", VTI_PAGE_UINT},
        {"duration", VTI_PAGE_UINT},   {"planned", VTI_PAGE_UINT},    {"lost", VTI_PAGE_UINT},
        {"tasks", VTI_PAGE_UINT},      {"failed", VTI_PAGE_UINT},     {"retries", VTI_PAGE_UINT},
        {"workers", VTI_PAGE_UINT},    {"dead", VTI_PAGE_UINT},       {"first", VTI_PAGE_UINT},
        {"rows", VTI_PAGE_UINT},       {"flags", VTI_PAGE_UINT},      {"unit", VTI_PAGE_UINT},
        {"freed_unit", VTI_PAGE_UINT}, {"path_tasks", VTI_PAGE_UINT}, {"path", VTI_PAGE_F64},
        {"task_time", VTI_PAGE_F64},   {"wait", VTI_PAGE_F64},        {0}};
    int code = vti_page_begin(writer->job->page, "task_runs", columns);

    for (uint32_t i = 0; i < writer->tasks->run_count && !code; i++)
        code = write_run(writer, i);
    return code ? code : vti_page_end(writer->job->page);
}

int vti_task_write_workers(const struct vti_task_writer *writer)
{
    static const struct vti_page_column columns[] = {
        {"run", VTI_PAGE_UINT},         {"number", VTI_PAGE_UINT},
        {"label", VTI_PAGE_TEXT},       {"pid", VTI_PAGE_UINT},
        {"tid", VTI_PAGE_UINT},         {"tasks", VTI_PAGE_UINT},
        {"failed", VTI_PAGE_UINT},      {"compute", VTI_PAGE_F64},
        {"moving", VTI_PAGE_F64},       {"dependencies", VTI_PAGE_F64},
        {"nothing_left", VTI_PAGE_F64}, {"scheduler", VTI_PAGE_F64},
        {"gone", VTI_PAGE_F64},         {0}};
    struct vti_page *page = writer->job->page;
    int code = vti_page_begin(page, "task_workers", columns);

    for (uint32_t i = 0; i < writer->tasks->worker_count && !code; i++) {
        const struct vti_task_worker *worker = &writer->tasks->workers[i];
        const struct vti_worker_times *times = &writer->job->study->task_times.workers[i];

        code = vti_page_row(
            page, (union vti_page_value[]){{worker->run},
                                           {worker->number},
                                           {vti_page_text(page, worker->label)},
                                           {worker->pid},
                                           {worker->tid},
                                           {times->tasks},
                                           {times->failed},
                                           {.d = (double)times->compute_ns},
                                           {.d = (double)times->moving_ns},
                                           {.d = (double)times->idle_ns[VTI_IDLE_DEPENDENCIES]},
                                           {.d = (double)times->idle_ns[VTI_IDLE_FINISHED]},
                                           {.d = (double)times->idle_ns[VTI_IDLE_SCHEDULER]},
                                           {.d = (double)times->idle_ns[VTI_IDLE_GONE]}});
    }
    return code ? code : vti_page_end(page);
}

static int write_name(const struct vti_task_writer *writer, uint32_t at)
{
    const struct vti_task_group *group = &writer->groups.items[at];
    double ran = (double)group->ran;

    return vti_page_row(
        writer->job->page,
        (union vti_page_value[]){{vti_page_text(writer->job->page, group->name)},
                                 {group->action},
                                 {group->count},
                                 {vti_task_states_failed(group->states)},
                                 {group->retries},
                                 {.d = (double)group->total_ns},
                                 {.d = group->ran ? (double)group->min_ns : NAN},
                                 {.d = group->ran ? (double)group->total_ns / ran : NAN},
                                 {.d = group->ran ? (double)group->p50_ns : NAN},
                                 {.d = group->ran ? (double)group->p90_ns : NAN},
                                 {.d = group->ran ? (double)group->p99_ns : NAN},
                                 {.d = group->ran ? (double)group->max_ns : NAN},
                                 {.d = (double)group->wait_ns},
                                 {.d = known(group->cpu_ns, group->cpu_count)},
                                 {.d = known(group->bytes, group->bytes_count)},
                                 {writer->in_paths[at]},
                                 {.d = (double)writer->on_path[at]}});
}

int vti_task_write_names(const struct vti_task_writer *writer)
{
    static const struct vti_page_column columns[] = {
        {"name", VTI_PAGE_TEXT},       {"action", VTI_PAGE_UINT},  {"count", VTI_PAGE_UINT},
        {"failed", VTI_PAGE_UINT},     {"retries", VTI_PAGE_UINT}, {"total", VTI_PAGE_F64},
        {"min", VTI_PAGE_F64},         {"avg", VTI_PAGE_F64},      {"p50", VTI_PAGE_F64},
        {"p90", VTI_PAGE_F64},         {"p99", VTI_PAGE_F64},      {"max", VTI_PAGE_F64},
        {"wait", VTI_PAGE_F64},        {"cpu", VTI_PAGE_F64},      {"bytes", VTI_PAGE_F64},
        {"path_tasks", VTI_PAGE_UINT}, {"path", VTI_PAGE_F64},     {0}};
    int code = vti_page_begin(writer->job->page, "task_names", columns);

    for (uint32_t i = 0; i < writer->groups.count && !code; i++)
        code = write_name(writer, i);
    return code ? code : vti_page_end(writer->job->page);
}
