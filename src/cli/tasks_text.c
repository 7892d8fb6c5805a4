/* tasks_text.c - the runs of task graphs in sentences, and a table of their tasks that fits the terminal. */
#include "base/bytes.h"
#include "base/error.h"
#include "cli/prose.h"
#include "cli/render.h"
#include "cli/tasks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS_SHOWN 10
#define WIDE 118  /* columns of the terminal from which on all figures fit … */
#define MEDIUM 64 /* … and from which on some do */
#define NAME_LEAST 12
#define COLUMNS 16
#define SHARE_LEAST 0.001 /* of the workers' time, to be worth a word */

/* ---- runs ------------------------------------------------------------------------------------ */

static double share_of(int64_t part, int64_t all)
{
    return all > 0 ? (double)part / (double)all : 0;
}

static void add_share(struct vti_sentence *sentence, const char *what, int64_t part, int64_t all)
{
    char share[VTI_NUMBER_BYTES];

    if (share_of(part, all) >= SHARE_LEAST)
        vti_sentence_add(sentence, "%s %s", what, vti_text_share(share, share_of(part, all)));
}

/* "idle 70 % (dependencies 65 %, scheduler 5.0 %)", which may break at its commas. */
static void add_idle(struct vti_sentence *sentence, const struct vti_worker_times *sums)
{
    static const char *const reasons[VTI_IDLE_REASONS] = {
        [VTI_IDLE_DEPENDENCIES] = "dependencies",
        [VTI_IDLE_FINISHED] = "nothing left",
        [VTI_IDLE_SCHEDULER] = "scheduler",
        [VTI_IDLE_GONE] = "dead",
    };
    int64_t all = vti_worker_times_all(sums);
    char before[VTI_NUMBER_BYTES + 16], share[VTI_NUMBER_BYTES];
    unsigned left = 0;

    for (unsigned i = 0; i < VTI_IDLE_REASONS; i++)
        left += share_of(sums->idle_ns[i], all) >= SHARE_LEAST;
    snprintf(before, sizeof before, "idle %s (",
             vti_text_share(share, share_of(vti_worker_times_idle(sums), all)));
    for (unsigned i = 0; i < VTI_IDLE_REASONS; i++) {
        if (share_of(sums->idle_ns[i], all) < SHARE_LEAST)
            continue;
        vti_sentence_add(sentence, "%s%s %s%s", before, reasons[i],
                         vti_text_share(share, share_of(sums->idle_ns[i], all)), --left ? "" : ")");
        before[0] = 0;
    }
}

static void add_workers(struct vti_sentence *sentence, const struct vti_worker_times *sums)
{
    int64_t all = vti_worker_times_all(sums);

    add_share(sentence, "workers computing", sums->compute_ns, all);
    add_share(sentence, "moving data", sums->moving_ns, all);
    add_idle(sentence, sums);
}

static void add_states(struct vti_sentence *sentence, const struct vti_run_times *times)
{
    for (uint8_t i = 2; i < VTI_TASK_STATES; i++) /* after done: what did not go well */
        if (times->states[i])
            vti_sentence_add(sentence, "%llu %s", (unsigned long long)times->states[i],
                             vti_task_state_text(i));
    if (times->retries)
        vti_sentence_add(sentence, "%llu tried again", (unsigned long long)times->retries);
}

/* Two digits: more would say what the next run will not. */
static void add_parallelism(struct vti_sentence *sentence, double at_once)
{
    if (at_once <= 0)
        return;
    if (at_once < 0.01)
        vti_sentence_add(sentence, "less than 0.01 at once");
    else
        vti_sentence_add(sentence, at_once < 9.95 ? "%.2g at once" : "%.0f at once", at_once);
}

/* Errors are sentences of their own, and may be long. */
static int print_error(const char *error, size_t indent)
{
    struct vti_buf safe = {0}, out = {0};
    int code;

    vti_text_safe(&safe, error, strlen(error));
    vti_buf_printf(&out, "%*s", (int)indent, "");
    vti_prose_wrap(&out, (const char *)safe.data, safe.len, vti_prose_width(), indent);
    code = safe.failed || out.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
    if (!code)
        printf("%.*s\n", (int)out.len, (const char *)out.data);
    vti_buf_fini(&safe);
    vti_buf_fini(&out);
    return code;
}

static int print_run(const struct vti_tasks_view *view, uint32_t at)
{
    const struct vti_task_run *run = &view->tasks.runs[at];
    const struct vti_run_times *times = &view->times.runs[at];
    struct vti_sentence sentence;
    struct vti_buf text = {0};
    char label[32], number[VTI_NUMBER_BYTES];
    int code;

    snprintf(label, sizeof label, "run %u: ", (unsigned)at + 1);
    vti_sentence_start(&sentence, label);
    sentence.width = vti_prose_width(); /* it has too many parts for one line of a file, too */
    vti_sentence_add(&sentence, "%s", *run->scheduler ? run->scheduler : "unknown scheduler");
    if (run->parent != VTI_NO_TASK)
        vti_sentence_add(&sentence, "within run %u", (unsigned)run->parent + 1);
    vti_prose_plural(&text, times->tasks, "task");
    if (run->planned > times->tasks)
        vti_buf_printf(&text, " of %llu", (unsigned long long)run->planned);
    vti_buf_add_text(&text, ", ");
    vti_prose_plural(&text, times->at_once, "worker");
    if (run->worker_count > times->at_once)
        vti_buf_printf(&text, " (%u replaced)", (unsigned)(run->worker_count - times->at_once));
    vti_sentence_add(&sentence, "%.*s", (int)text.len, (const char *)text.data);
    vti_buf_fini(&text);
    vti_sentence_add(&sentence, "%s",
                     vti_text_duration(number, (double)(times->end_ns - times->begin_ns)));
    add_parallelism(&sentence, vti_run_times_parallelism(times));
    add_workers(&sentence, &times->sums);
    add_states(&sentence, times);
    if (run->lost)
        vti_sentence_add(&sentence, "records of %llu lost", (unsigned long long)run->lost);
    if (run->end_ns <= 0)
        vti_sentence_add(&sentence, "not seen to end");
    code = vti_sentence_print(&sentence);
    return code || !*run->error ? code : print_error(run->error, strlen(label));
}

int vti_tasks_print_runs(const struct vti_tasks_view *view)
{
    uint32_t *rows = calloc((size_t)view->tasks.run_count + 1, sizeof *rows);
    uint32_t count;
    int code = 0;

    if (!rows)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    count = vti_tasks_sort_runs(view, RUNS_SHOWN, rows);
    for (uint32_t i = 0; i < count && i < RUNS_SHOWN && !code; i++)
        code = print_run(view, rows[i]);
    if (!count)
        printf("%u run%s without tasks\n", (unsigned)view->tasks.run_count,
               view->tasks.run_count == 1 ? "" : "s");
    if (count > RUNS_SHOWN && !code)
        printf("%u of %u runs: what failed, then the longest; --run N shows another\n", RUNS_SHOWN,
               (unsigned)count);
    free(rows);
    return code;
}

/* ---- names ----------------------------------------------------------------------------------- */

enum figure {
    COUNT,
    TOTAL,
    SHARE,
    AVG,
    P50,
    P90,
    P99,
    MAX,
    WAIT,
    CPU,
    BYTES,
    FAILED,
    RETRIES,
    NAME
};

struct layout {
    enum figure figures[COLUMNS];
    struct vti_column columns[COLUMNS];
    unsigned count;
};

static void add_column(struct layout *layout, enum figure figure, const char *title)
{
    layout->figures[layout->count] = figure;
    layout->columns[layout->count++] = (struct vti_column){title,
                                                           figure == NAME ? VTI_LEFT : VTI_RIGHT};
}

/* What there is nothing of has no column. */
static struct layout lay_out(const struct vti_tasks_view *view, const uint32_t *rows,
                             uint32_t count, const char *title)
{
    size_t width = vti_prose_width();
    bool is_wide = width >= WIDE, is_medium = width >= MEDIUM;
    bool has_cpu = false, has_bytes = false, has_failed = false, has_retries = false;
    struct layout layout = {0};

    for (uint32_t i = 0; i < count; i++) {
        const struct vti_task_group *group = &view->groups.items[rows[i]];

        has_cpu |= group->cpu_count != 0;
        has_bytes |= group->bytes_count != 0;
        has_failed |= vti_task_states_failed(group->states) != 0;
        has_retries |= group->retries != 0;
    }
    if (is_medium)
        add_column(&layout, COUNT, "Count");
    add_column(&layout, TOTAL, "Total");
    add_column(&layout, SHARE, "Share");
    if (is_wide)
        add_column(&layout, AVG, "Avg");
    if (is_medium) {
        add_column(&layout, P50, "p50");
        add_column(&layout, P90, "p90");
        add_column(&layout, P99, "p99");
        add_column(&layout, MAX, "Max");
    }
    if (is_wide)
        add_column(&layout, WAIT, "Wait");
    if (is_wide && has_cpu)
        add_column(&layout, CPU, "CPU");
    if (is_wide && has_bytes)
        add_column(&layout, BYTES, "Bytes");
    if (is_medium && has_failed)
        add_column(&layout, FAILED, "Failed");
    if (is_wide && has_retries)
        add_column(&layout, RETRIES, "Retries");
    add_column(&layout, NAME, title);
    return layout;
}

static void add_time(struct vti_table *table, double ns)
{
    if (isnan(ns))
        vti_table_text(table, "-");
    else
        vti_table_time(table, ns);
}

void vti_tasks_add_share(struct vti_table *table, int64_t part, int64_t all)
{
    double share = all > 0 ? (double)part / (double)all : 0;

    if (share > 0 && share < 0.005)
        vti_table_text(table, "<1%");
    else
        vti_table_printf(table, "%.0f%%", fmin(share, 1) * 100);
}

static void add_bytes(struct vti_table *table, const struct vti_task_group *group)
{
    char text[VTI_NUMBER_BYTES];

    vti_table_text(table, group->bytes_count ? vti_text_bytes(text, group->bytes) : "-");
}

static void add_figure(struct vti_table *table, const struct vti_task_group *group,
                       enum figure figure, int64_t all_ns)
{
    double ran = group->ran ? (double)group->ran : NAN;
    double unless = group->ran ? 0 : NAN; /* percentiles of nothing are not known */

    switch (figure) {
    case COUNT:
        vti_table_count(table, group->count);
        break;
    case SHARE:
        vti_tasks_add_share(table, group->total_ns, all_ns);
        break;
    case BYTES:
        add_bytes(table, group);
        break;
    case FAILED:
        vti_table_count(table, vti_task_states_failed(group->states));
        break;
    case RETRIES:
        vti_table_count(table, group->retries);
        break;
    case NAME:
        vti_table_text(table, *group->name ? group->name : vti_task_action_text(group->action));
        break;
    case CPU:
        add_time(table, group->cpu_count ? (double)group->cpu_ns : NAN);
        break;
    default:
        add_time(table, figure == TOTAL  ? (double)group->total_ns
                        : figure == AVG  ? (double)group->total_ns / ran
                        : figure == WAIT ? (double)group->wait_ns / ran
                        : figure == P50  ? (double)group->p50_ns + unless
                        : figure == P90  ? (double)group->p90_ns + unless
                        : figure == P99  ? (double)group->p99_ns + unless
                                         : (double)group->max_ns + unless);
    }
}

static int print_groups(const struct vti_tasks_view *view, const uint32_t *rows, uint32_t count,
                        const char *title)
{
    struct layout layout = lay_out(view, rows, count, title);
    struct vti_table *table;
    int64_t all_ns = 0;
    int code = vti_table_create(&table, layout.columns, layout.count);

    if (code)
        return code;
    vti_table_keep_last(table, NAME_LEAST);
    for (uint32_t i = 0; i < count; i++)
        all_ns = vti_ns_add(all_ns, view->groups.items[rows[i]].total_ns);
    for (uint32_t i = 0; i < count && i < view->limit; i++)
        for (unsigned j = 0; j < layout.count; j++)
            add_figure(table, &view->groups.items[rows[i]], layout.figures[j], all_ns);
    putchar('\n');
    code = vti_table_print(table, stdout);
    vti_table_free(table);
    if (!code && count > view->limit)
        printf("... and %zu more, -n 0 shows all\n", count - view->limit);
    return code;
}

/* A task's time has those of the tasks within it: of one sum they are no parts. */
static uint32_t keep_level(const struct vti_tasks_view *view, uint8_t level, uint32_t *rows,
                           uint32_t count)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < count; i++)
        if (view->groups.items[rows[i]].level == level)
            rows[kept++] = rows[i];
    return kept;
}

int vti_tasks_print_names(const struct vti_tasks_view *view)
{
    uint32_t *rows = calloc((size_t)view->groups.count + 1, sizeof *rows);
    uint32_t count;
    int code = 0;

    if (!rows)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint8_t level = 0; level < VTI_TASK_LEVELS && !code; level++) {
        count = keep_level(view, level, rows, vti_tasks_sort_names(view, true, rows));
        if (count)
            code = print_groups(view, rows, count, level ? "Task within tasks" : "Task");
    }
    count = vti_tasks_sort_names(view, false, rows);
    if (count && !code)
        code = print_groups(view, rows, count, "Beside tasks");
    free(rows);
    return code;
}
