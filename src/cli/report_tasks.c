/* report_tasks.c - the task graphs of a recording in its summary: a sentence or two about each run. */
#include "cli/report.h"
#include "cli/tasks.h"

#include <stdio.h>

int vti_report_print_tasks(const struct vti_report *report)
{
    /* Borrowed: the study frees what is in it. */
    const struct vti_tasks_view view = {.tasks = report->study.tasks,
                                        .times = report->study.task_times,
                                        .paths = report->study.task_paths,
                                        .run = VTI_NO_TASK};

    if (!view.tasks.run_count)
        return 0;
    puts("\nTasks (`venturi tasks` shows more)");
    return vti_tasks_print_runs(&view);
}

void vti_report_json_tasks(struct vti_json *json, const struct vti_report *report)
{
    const struct vti_tasks *tasks = &report->study.tasks;
    uint64_t count = 0;

    for (uint32_t i = 0; i < tasks->run_count; i++)
        count += report->study.task_times.runs[i].tasks;
    vti_json_key(json, "tasks");
    vti_json_object(json);
    vti_json_add_uint(json, "runs", tasks->run_count);
    vti_json_add_uint(json, "tasks", count);
    vti_json_add_uint(json, "workers", tasks->worker_count);
    vti_json_object_end(json);
}
