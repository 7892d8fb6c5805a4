/* cmd_tasks.c - venturi tasks: the task graphs that were computed while a program was recorded. */
#include "cli/tasks.h"

#include "analyze/overview.h"
#include "base/bytes.h"
#include "base/error.h"
#include "cli/cmd.h"
#include "cli/reading.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LIMIT 20

enum { OPT_PATH, OPT_BY, OPT_RUN, OPT_SORT, OPT_LIMIT, OPT_JSON };

static const struct vti_option options[] = {
    [OPT_PATH] = {0, "critical-path", NULL, "the chain of tasks that takes the longest"},
    [OPT_BY] = {0, "by", "name|worker", "tasks by name, or what each worker did"},
    [OPT_RUN] = {0, "run", "N", "one run only"},
    [OPT_SORT] = {'s', "sort", "COLUMN", "the largest first: total (as without), count, …"},
    [OPT_LIMIT] = {'n', "limit", "N", "show N rows (20, in JSON all); 0: all"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    {0},
};

extern const struct vti_command vti_cmd_tasks;

struct request {
    const char *file, *by, *run, *sort, *limit;
    bool is_path, is_json;
    struct vti_tasks_view view;
};

/* ---- arguments ------------------------------------------------------------------------------- */

static int check_options(struct request *request)
{
    struct vti_tasks_view *view = &request->view;
    char *end;

    view->by = request->is_path                                ? VTI_TASKS_BY_PATH
               : request->by && !strcmp(request->by, "worker") ? VTI_TASKS_BY_WORKER
                                                               : VTI_TASKS_BY_NAME;
    view->run = VTI_NO_TASK;
    view->sort = request->sort;
    view->file = request->file;
    view->limit = request->is_json ? SIZE_MAX : LIMIT;
    if (request->is_path && request->by)
        return vti_cmd_fail("tasks", "one of --critical-path and --by");
    if (request->is_path && request->sort)
        return vti_cmd_fail("tasks", "--sort: a path stands in the order of its tasks");
    if (request->sort && !strcmp(request->sort, "idle") && view->by == VTI_TASKS_BY_NAME)
        return vti_cmd_fail("tasks", "--sort: 'idle' is a column of --by worker");
    if (request->sort && !vti_tasks_can_sort(view->by, request->sort))
        return vti_cmd_fail("tasks", "--sort: '%s' is none of %s", request->sort,
                            view->by == VTI_TASKS_BY_WORKER
                                ? "total|count|idle|failed|name"
                                : "total|count|avg|p50|p90|p99|max|wait|cpu|bytes|failed|retries|"
                                  "name");
    if (request->run) {
        unsigned long run = strtoul(request->run, &end, 10);

        if (*end || !isdigit((unsigned char)*request->run) || !run || run >= VTI_NO_TASK)
            return vti_cmd_fail("tasks", "--run: '%s' is not the number of a run", request->run);
        view->run = (uint32_t)run - 1;
    }
    return request->limit ? vti_args_limit("tasks", request->limit, 0, &view->limit) : 0;
}

static int take_arguments(struct request *request, int argc, char **argv)
{
    const struct vti_place places[] = {
        [OPT_PATH] = {.is_set = &request->is_path}, [OPT_BY] = {.text = &request->by},
        [OPT_RUN] = {.text = &request->run},        [OPT_SORT] = {.text = &request->sort},
        [OPT_LIMIT] = {.text = &request->limit},    [OPT_JSON] = {.is_set = &request->is_json},
    };
    int code = vti_args_collect(&vti_cmd_tasks, argc, argv, places, &request->file, 1, "one FILE");

    if (!code)
        code = vti_reading_check("tasks", request->file);
    if (!code)
        code = check_options(request);
    if (!request->view.limit)
        request->view.limit = SIZE_MAX;
    return code;
}

/* ---- showing --------------------------------------------------------------------------------- */

static int print(const struct request *request)
{
    const struct vti_tasks_view *view = &request->view;
    int code;

    if (request->is_json)
        return vti_tasks_print_json(view);
    code = vti_tasks_print_runs(view);
    if (code)
        return code;
    if (view->by == VTI_TASKS_BY_WORKER)
        return vti_tasks_print_workers(view);
    if (view->by == VTI_TASKS_BY_PATH)
        return vti_tasks_print_path(view, vti_tasks_longest(view));
    return vti_tasks_print_names(view);
}

/* Beside those that runs tell of themselves, which stand with them. */
static void warn_of_losses(const struct vti_tasks_view *view, const vt_recording *recording)
{
    struct vti_losses losses;
    uint64_t told = 0;

    if (vti_losses_query(recording, &losses))
        return;
    for (uint32_t i = 0; i < view->tasks.run_count; i++)
        told = vti_add_capped(told, view->tasks.runs[i].lost);
    if (losses.lost_events > told)
        vti_cmd_warn("tasks", "%s: %llu tasks or events were lost (venturi info says why)",
                     view->file, (unsigned long long)(losses.lost_events - told));
    vti_losses_free(&losses);
}

/* What the reader must know about the recording. */
static void warn(const struct vti_tasks_view *view, const vt_recording *recording)
{
    uint64_t circular = 0;

    for (uint32_t i = 0; i < view->tasks.run_count; i++)
        if (vti_tasks_shows(view, i))
            circular += view->paths.runs[i].circular;
    if (circular)
        vti_cmd_warn("tasks",
                     "%s: %llu dependenc%s in a circle, which no scheduler can have run: left out",
                     view->file, (unsigned long long)circular,
                     circular == 1 ? "y closes a chain" : "ies close chains");
    if (view->tasks.missing_edges)
        vti_cmd_warn("tasks", "%s: %llu dependenc%s on tasks that were not recorded", view->file,
                     (unsigned long long)view->tasks.missing_edges,
                     view->tasks.missing_edges == 1 ? "y is" : "ies are");
    warn_of_losses(view, recording);
    vti_reading_warn_of_open("tasks", recording, "tasks");
}

static int show(vt_recording *recording, void *arg)
{
    struct request *request = arg;
    struct vti_tasks_view *view = &request->view;
    struct vt_recording_info info;
    int code = vti_tasks_load(recording, &view->tasks);

    vt_recording_info(recording, &info);
    view->zero_ns = info.start_realtime_ns;
    if (!code && !view->tasks.run_count) {
        vti_tasks_free(&view->tasks);
        return vti_reading_lacks("tasks", recording, "tasks",
                                 " (venturi report shows what there is)");
    }
    if (!code && request->run && view->run >= view->tasks.run_count) {
        uint32_t count = view->tasks.run_count;

        vti_tasks_free(&view->tasks);
        return vti_cmd_fail("tasks", "--run: there is no run %s, only %u", request->run, count);
    }
    if (!code)
        code = vti_task_times_make(&view->times, &view->tasks);
    if (!code)
        code = vti_task_paths_make(&view->paths, &view->tasks);
    if (!code)
        code = view->run == VTI_NO_TASK
                   ? vti_task_groups_make_levels(&view->groups, &view->tasks)
                   : vti_task_groups_make(&view->groups, &view->tasks, view->run);
    if (!code)
        code = print(request);
    if (!code) {
        fflush(stdout); /* before what goes to stderr */
        warn(view, recording);
    }
    vti_task_groups_fini(&view->groups);
    vti_task_paths_fini(&view->paths);
    vti_task_times_fini(&view->times);
    vti_tasks_free(&view->tasks);
    return code ? vti_cmd_error("tasks", code) : VTI_EXIT_OK;
}

static int run(int argc, char **argv)
{
    struct request request = {0};
    int code = take_arguments(&request, argc, argv);

    return code ? code : vti_reading_do("tasks", request.file, show, &request);
}

const struct vti_command vti_cmd_tasks = {
    .name = "tasks",
    .summary = "task graphs: tasks by name, what workers did, the critical path",
    .usage = "[options] FILE",
    .about = "Shows the task graphs that ran while FILE was recorded, whatever ran them:\n"
             "venturi-graph, dask or dask.distributed. Columns to sort by are total, count,\n"
             "avg, p50, p90, p99, max, wait, cpu, bytes, failed, retries and name; of\n"
             "workers total, count, idle, failed and name.",
    .options = options,
    .run = run,
};
