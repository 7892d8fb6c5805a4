/* tasks.h - what the files of `venturi tasks` share: what was gathered, and what of it is asked for. */
#ifndef VENTURI_CLI_TASKS_H
#define VENTURI_CLI_TASKS_H

#include "analyze/tasks_idle.h"
#include "analyze/tasks_path.h"
#include "analyze/tasks_stats.h"
#include "base/json.h"

enum vti_tasks_by { VTI_TASKS_BY_NAME, VTI_TASKS_BY_WORKER, VTI_TASKS_BY_PATH };

struct vti_tasks_view {
    struct vti_tasks tasks;
    struct vti_task_groups groups; /* of the runs that are shown */
    struct vti_task_times times;
    struct vti_task_paths paths;
    const char *file;
    int64_t zero_ns; /* begin of the recording, since 1970 */
    enum vti_tasks_by by;
    uint32_t run;     /* VTI_NO_TASK: all */
    const char *sort; /* a column; NULL: what each table is ordered by */
    size_t limit;     /* rows */
};

/* The indices of groups that compute, or of those that do not, in the order asked for; `rows` has room for all. How many. */
uint32_t vti_tasks_sort_names(const struct vti_tasks_view *view, bool computes, uint32_t *rows);

/* Of the workers of the runs that are shown. */
uint32_t vti_tasks_sort_workers(const struct vti_tasks_view *view, uint32_t *rows);

/* Of the runs that are shown and did anything, by their begin; if these are more than `most`, those that failed, then the longest.
 * `rows` has room for all. How many there are in all. */
uint32_t vti_tasks_sort_runs(const struct vti_tasks_view *view, uint32_t most, uint32_t *rows);

/* Whether a table can be sorted by it. */
bool vti_tasks_can_sort(enum vti_tasks_by by, const char *sort);

/* Whether a run is shown; and the one that took the longest of these. */
bool vti_tasks_shows(const struct vti_tasks_view *view, uint32_t run);
uint32_t vti_tasks_longest(const struct vti_tasks_view *view);

/* The shortest time that a run can take with the workers it had. */
int64_t vti_tasks_bound(const struct vti_tasks_view *view, uint32_t run);

/* How much longer half of those tasks that are not on the path could take; -1: there are none, -2: no memory. */
int64_t vti_tasks_middle_slack(const struct vti_tasks_view *view, uint32_t run);

/* A cell: "12%". */
struct vti_table;
void vti_tasks_add_share(struct vti_table *table, int64_t part, int64_t all);

/* On standard output. 0 or a negative code. */
int vti_tasks_print_runs(const struct vti_tasks_view *view);
int vti_tasks_print_names(const struct vti_tasks_view *view);
int vti_tasks_print_workers(const struct vti_tasks_view *view);
int vti_tasks_print_path(const struct vti_tasks_view *view, uint32_t run);
int vti_tasks_print_json(const struct vti_tasks_view *view);

#endif
