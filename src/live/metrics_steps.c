/* metrics_steps.c - steps: messages, failures, execution time, phases, lag. */
#include "live/metrics_impl.h"

#include "base/error.h"

#include <math.h>

#define STEPS_MOST 1025 /* more than the state has */

enum { PHASES = 3 };

static const char *const phase_names[PHASES] = {"pre", "post", "produce"};

/* Of phases: how often, then how long. */
enum {
    MESSAGES,
    FAILED,
    DOCUMENTS,
    PROCESSES,
    LARGEST,
    LAG,
    LAST,
    PHASE_COUNT,
    PHASE_SECONDS = PHASE_COUNT + PHASES
};

static void add_step(struct vti_sum *sum, const struct vti_live_step *step)
{
    const struct vti_live_phase *phases[PHASES] = {&step->pre, &step->post, &step->produce};
    double *numbers = sum->numbers;

    numbers[MESSAGES] += (double)step->messages;
    numbers[FAILED] += (double)step->failed;
    numbers[DOCUMENTS] += (double)step->metrics;
    numbers[PROCESSES] += step->processes;
    numbers[LARGEST] = fmax(numbers[LARGEST], step->largest_batch);
    numbers[LAG] = step->last_lag_ns == INT64_MIN ? NAN : (double)step->last_lag_ns / 1e9;
    numbers[LAST] = fmax(numbers[LAST], vti_metrics_unix(step->last_unix_ns));
    for (size_t i = 0; i < PHASES; i++) {
        numbers[PHASE_COUNT + i] += (double)phases[i]->count;
        numbers[PHASE_SECONDS + i] += (double)phases[i]->sum_ns / 1e9;
    }
    vti_sum_add_times(sum, &step->execute);
}

static void write_phases(struct vti_metrics_out *metrics, const struct vti_sums *sums)
{
    bool has_family = false;

    for (size_t i = 0; i < sums->count; i++) {
        const struct vti_sum *sum = sums->list[i];
        struct vti_label labels[VTI_SUM_LABELS + 1];

        for (size_t at = 0; at < sum->label_count; at++)
            labels[at] = sum->labels[at];
        for (size_t phase = 0; phase < PHASES; phase++) {
            if (sum->numbers[PHASE_COUNT + phase] == 0)
                continue;
            if (!has_family)
                vti_exposition_family(metrics, VTI_METRIC_SUMMARY, "venturi_step_phase_seconds",
                                      "seconds", "Time around the execution of a step.");
            has_family = true;
            labels[sum->label_count] = (struct vti_label){"phase", phase_names[phase]};
            vti_exposition_summary(metrics, labels, sum->label_count + 1,
                                   sum->numbers[PHASE_SECONDS + phase],
                                   (uint64_t)sum->numbers[PHASE_COUNT + phase]);
        }
    }
}

static void write_lags(struct vti_metrics_out *metrics, const struct vti_sums *sums)
{
    bool has_family = false;

    for (size_t i = 0; i < sums->count; i++) {
        const struct vti_sum *sum = sums->list[i];

        if (isnan(sum->numbers[LAG]))
            continue;
        if (!has_family)
            vti_exposition_family(metrics, VTI_METRIC_GAUGE, "venturi_step_lag_seconds", "seconds",
                                  "How long the last message had been under way when it came in.");
        has_family = true;
        vti_exposition_sample(metrics, sum->labels, sum->label_count, sum->numbers[LAG]);
    }
}

static void write_steps(struct vti_metrics_out *metrics, const struct vti_sums *sums)
{
    vti_sums_write_times(metrics, sums, "venturi_step_execution_seconds",
                         "How long a step took for a message or batch.");
    vti_sums_write(metrics, sums, VTI_METRIC_COUNTER, "venturi_step_messages", NULL,
                   "Messages that a step has dealt with, failed ones among them.", MESSAGES);
    vti_sums_write(metrics, sums, VTI_METRIC_COUNTER, "venturi_step_failures", NULL,
                   "Messages that a step failed at, all those of a batch that failed.", FAILED);
    vti_sums_write(metrics, sums, VTI_METRIC_COUNTER, "venturi_step_documents", NULL,
                   "Documents that a step sent by itself.", DOCUMENTS);
    write_phases(metrics, sums);
    write_lags(metrics, sums);
    vti_sums_write(metrics, sums, VTI_METRIC_GAUGE, "venturi_step_processes", NULL,
                   "Processes that a step has run in so far.", PROCESSES);
    vti_sums_write(metrics, sums, VTI_METRIC_GAUGE, "venturi_step_largest_batch", NULL,
                   "Messages of the largest batch.", LARGEST);
    vti_sums_write(metrics, sums, VTI_METRIC_GAUGE, "venturi_step_last_timestamp_seconds",
                   "seconds", "When a step was last done with a message.", LAST);
}

int vti_metrics_steps(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    struct vti_sums sums = {.most = STEPS_MOST};
    size_t count;
    const struct vti_live_step *steps = vti_live_steps(live, &count);

    for (size_t i = 0; i < count; i++) {
        struct vti_label labels[] = {
            {"step", steps[i].source}, {"prefix", steps[i].prefix}, {"survey", steps[i].survey}};
        struct vti_sum *sum = vti_sums_at(&sums, labels, 3);

        if (!sum) {
            vti_sums_fini(&sums);
            return vti_fail(VTI_E_NOMEM, "metrics: out of memory");
        }
        add_step(sum, &steps[i]);
    }
    write_steps(metrics, &sums);
    vti_sums_fini(&sums);
    return 0;
}
