/* tasks_workers.c - the workers of task graphs as a table: what each did with its time. */
#include "base/error.h"
#include "cli/prose.h"
#include "cli/render.h"
#include "cli/tasks.h"

#include <stdio.h>
#include <stdlib.h>

#define MEDIUM 64 /* columns of the terminal from which on there is room for reasons */
#define LABEL_LEAST 12

enum column { RUN, TASKS, COMPUTE, SHARE, MOVING, WAITING, NO_WORK, SCHEDULER, DEAD, IDLE, LABEL };

static const struct vti_column all_columns[] = {
    [RUN] = {"Run", VTI_RIGHT},         [TASKS] = {"Tasks", VTI_RIGHT},
    [COMPUTE] = {"Compute", VTI_RIGHT}, [SHARE] = {"Share", VTI_RIGHT},
    [MOVING] = {"Moving", VTI_RIGHT},   [WAITING] = {"Waiting", VTI_RIGHT},
    [NO_WORK] = {"No work", VTI_RIGHT}, [SCHEDULER] = {"Scheduler", VTI_RIGHT},
    [DEAD] = {"Dead", VTI_RIGHT},       [IDLE] = {"Idle", VTI_RIGHT},
    [LABEL] = {"Worker", VTI_LEFT},
};

/* What there is nothing of has no column. */
static unsigned choose_columns(const struct vti_tasks_view *view, const uint32_t *rows,
                               uint32_t count, enum column *shown)
{
    bool is_narrow = vti_prose_width() < MEDIUM;
    bool is_there[LABEL + 1] = {[TASKS] = true, [COMPUTE] = true, [SHARE] = true, [LABEL] = true};
    unsigned found = 0;

    is_there[RUN] = view->run == VTI_NO_TASK && view->tasks.run_count > 1;
    is_there[WAITING] = is_there[NO_WORK] = is_there[SCHEDULER] = !is_narrow;
    is_there[IDLE] = is_narrow;
    for (uint32_t i = 0; i < count && !is_narrow; i++) {
        is_there[MOVING] |= view->times.workers[rows[i]].moving_ns > 0;
        is_there[DEAD] |= view->times.workers[rows[i]].idle_ns[VTI_IDLE_GONE] > 0;
    }
    for (enum column i = RUN; i <= LABEL; i++)
        if (is_there[i])
            shown[found++] = i;
    return found;
}

static void add_cell(struct vti_table *table, const struct vti_tasks_view *view, uint32_t at,
                     enum column column)
{
    const struct vti_worker_times *times = &view->times.workers[at];
    const int64_t ns[] = {[COMPUTE] = times->compute_ns,
                          [MOVING] = times->moving_ns,
                          [WAITING] = times->idle_ns[VTI_IDLE_DEPENDENCIES],
                          [NO_WORK] = times->idle_ns[VTI_IDLE_FINISHED],
                          [SCHEDULER] = times->idle_ns[VTI_IDLE_SCHEDULER],
                          [DEAD] = times->idle_ns[VTI_IDLE_GONE],
                          [IDLE] = vti_worker_times_idle(times)};

    if (column == RUN)
        vti_table_count(table, (uint64_t)view->tasks.workers[at].run + 1);
    else if (column == TASKS)
        vti_table_count(table, times->tasks);
    else if (column == SHARE)
        vti_tasks_add_share(table, times->compute_ns, vti_worker_times_all(times));
    else if (column == LABEL)
        vti_table_text(table, view->tasks.workers[at].label);
    else
        vti_table_time(table, (double)ns[column]);
}

static int print_rows(const struct vti_tasks_view *view, const uint32_t *rows, uint32_t count)
{
    enum column shown[LABEL + 1];
    struct vti_column columns[LABEL + 1];
    unsigned found = choose_columns(view, rows, count, shown);
    struct vti_table *table;
    int code;

    for (unsigned i = 0; i < found; i++)
        columns[i] = all_columns[shown[i]];
    code = vti_table_create(&table, columns, found);
    if (code)
        return code;
    vti_table_keep_last(table, LABEL_LEAST);
    for (uint32_t i = 0; i < count && i < view->limit; i++)
        for (unsigned j = 0; j < found; j++)
            add_cell(table, view, rows[i], shown[j]);
    putchar('\n');
    code = vti_table_print(table, stdout);
    vti_table_free(table);
    if (!code && count > view->limit)
        printf("... and %zu more, -n 0 shows all\n", count - view->limit);
    return code;
}

int vti_tasks_print_workers(const struct vti_tasks_view *view)
{
    uint32_t *rows = calloc((size_t)view->tasks.worker_count + 1, sizeof *rows);
    uint32_t count;
    int code = 0;

    if (!rows)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    count = vti_tasks_sort_workers(view, rows);
    if (count)
        code = print_rows(view, rows, count);
    else
        puts("\nNobody said which workers there were.");
    free(rows);
    return code;
}
