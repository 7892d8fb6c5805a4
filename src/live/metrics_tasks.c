/* metrics_tasks.c - tasks by name and state, and the workers that do them. */
#include "live/metrics_impl.h"

#include "base/error.h"

#include <math.h>

#define NAMES_MOST                                                                                 \
    1025 /* more than the state has: they have come in order of time there, which changes */
#define WORKERS_MOST 256

/* States of ended tasks by enum vt_task_state, then what they are now. */
static const char *const ended_states[VTI_LIVE_TASK_STATES] = {
    "unknown", "done", "failed", "skipped", "cancelled", "timed_out", "lost"};
static const char *const current_states[] = {"waiting", "ready", "running"};

enum { WAITING = VTI_LIVE_TASK_STATES, READY, RUNNING, RETRIED, BYTES };

static void add_current(struct vti_sum *sum, unsigned number, uint64_t count)
{
    sum->numbers[number] += count == VTI_LIVE_UNKNOWN ? NAN : (double)count;
}

static int collect(struct vti_sums *sums, const struct vti_live_task_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const struct vti_live_task_group *group = &groups[i];
        struct vti_sum *sum = vti_sums_at(sums, &(struct vti_label){"task", group->name}, 1);

        if (!sum)
            return vti_fail(VTI_E_NOMEM, "metrics: out of memory");
        for (size_t state = 0; state < VTI_LIVE_TASK_STATES; state++)
            sum->numbers[state] += (double)group->states[state];
        add_current(sum, WAITING, group->waiting);
        add_current(sum, READY, group->ready);
        add_current(sum, RUNNING, group->running);
        sum->numbers[RETRIED] += (double)group->retried;
        sum->numbers[BYTES] += (double)group->bytes;
        vti_sum_add_times(sum, &group->times);
    }
    return 0;
}

/* A family with one more label, the state. */
static void write_states(struct vti_metrics_out *metrics, const struct vti_sums *sums,
                         unsigned first, const char *const *states, size_t state_count)
{
    for (size_t i = 0; i < sums->count; i++) {
        struct vti_label labels[2] = {sums->list[i]->labels[0], {"state", NULL}};

        for (size_t state = 0; state < state_count; state++) {
            double value = sums->list[i]->numbers[first + state];

            labels[1].value = states[state];
            if (!isnan(value))
                vti_exposition_sample(metrics, labels, 2, value);
        }
    }
}

static bool has_current(const struct vti_sums *sums)
{
    for (size_t i = 0; i < sums->count; i++) {
        for (unsigned number = WAITING; number <= RUNNING; number++) {
            if (!isnan(sums->list[i]->numbers[number]))
                return true;
        }
    }
    return false;
}

static void write_tasks(struct vti_metrics_out *metrics, const struct vti_sums *sums)
{
    vti_sums_write_times(metrics, sums, "venturi_task_duration_seconds",
                         "How long tasks took that have ended.");
    if (sums->count) {
        vti_exposition_family(metrics, VTI_METRIC_COUNTER, "venturi_tasks_ended", NULL,
                              "Tasks that have ended, by how they did.");
        write_states(metrics, sums, 0, ended_states, VTI_LIVE_TASK_STATES);
    }
    vti_sums_write(metrics, sums, VTI_METRIC_COUNTER, "venturi_task_retries", NULL,
                   "Tries of tasks that failed and were followed by another.", RETRIED);
    vti_sums_write(metrics, sums, VTI_METRIC_COUNTER, "venturi_task_result_bytes", "bytes",
                   "Size of results, as far as it is known.", BYTES);
    if (has_current(sums)) {
        vti_exposition_family(metrics, VTI_METRIC_GAUGE, "venturi_tasks_current", NULL,
                              "Tasks that have not ended, by what they are doing.");
        write_states(metrics, sums, WAITING, current_states, 3);
    }
}

enum { TASKS, BUSY, MEMORY, LIMIT };

static void write_known(struct vti_metrics_out *metrics, const struct vti_sums *sums,
                        const char *name, const char *unit, const char *help, unsigned number)
{
    bool has_family = false;

    for (size_t i = 0; i < sums->count; i++) {
        const struct vti_sum *sum = sums->list[i];

        if (isnan(sum->numbers[number]))
            continue;
        if (!has_family)
            vti_exposition_family(metrics, VTI_METRIC_GAUGE, name, unit, help);
        has_family = true;
        vti_exposition_sample(metrics, sum->labels, sum->label_count, sum->numbers[number]);
    }
}

/* Those that are there now; gauges only, for workers come and go. */
static int write_workers(struct vti_metrics_out *metrics, const struct vti_live_worker *workers,
                         size_t count)
{
    struct vti_sums sums = {.most = WORKERS_MOST};
    uint64_t running = 0;

    for (size_t i = 0; i < count; i++) {
        const struct vti_live_worker *worker = &workers[i];
        struct vti_label labels[2] = {{"worker", worker->label}, {"host", worker->host}};
        struct vti_sum *sum;

        if (!worker->is_running)
            continue;
        running++;
        sum = vti_sums_at(&sums, labels, 2);
        if (!sum) {
            vti_sums_fini(&sums);
            return vti_fail(VTI_E_NOMEM, "metrics: out of memory");
        }
        add_current(sum, TASKS, worker->running);
        sum->numbers[BUSY] += worker->busy;
        add_current(sum, MEMORY, worker->memory_bytes);
        add_current(sum, LIMIT, worker->memory_limit_bytes);
    }
    vti_metrics_gauge_u(metrics, "venturi_workers", NULL, "Workers that are there now.", running);
    write_known(metrics, &sums, "venturi_worker_busy_ratio", "ratio",
                "Share of the last second in which a worker computed; of each slot, 1 is busy.",
                BUSY);
    write_known(metrics, &sums, "venturi_worker_tasks", NULL, "Tasks that a worker does now.",
                TASKS);
    write_known(metrics, &sums, "venturi_worker_memory_bytes", "bytes", "Memory of a worker.",
                MEMORY);
    write_known(metrics, &sums, "venturi_worker_memory_limit_bytes", "bytes",
                "Memory that a worker may use.", LIMIT);
    vti_sums_fini(&sums);
    return 0;
}

int vti_metrics_tasks(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    struct vti_sums sums = {.most = NAMES_MOST};
    size_t group_count, worker_count, run_count;
    const struct vti_live_task_group *groups = vti_live_task_groups(live, &group_count);
    const struct vti_live_worker *workers = vti_live_workers(live, &worker_count);
    int code = collect(&sums, groups, group_count);

    (void)vti_live_task_runs(live, &run_count);
    if (code == 0)
        write_tasks(metrics, &sums);
    vti_sums_fini(&sums);
    if (code == 0 && (group_count || worker_count || run_count))
        code = write_workers(metrics, workers, worker_count);
    return code;
}
