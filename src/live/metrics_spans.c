/*
 * metrics_spans.c - spans by name.
 *
 * Reads the table of the state and not the list that is shown, because the table is in the order in which spans first appeared: whoever
 * gives a thousand different names to spans has as many series, and never other ones.
 */
#include "live/metrics_impl.h"

#include "base/error.h"
#include "live/state.h"

#define NAMES_MOST 1000

enum { ERRORS, RUNNING, SELF };

static int collect(struct vti_sums *sums, const struct vti_live *live)
{
    for (size_t i = 0; i < live->group_count; i++) {
        const struct vti_live_group *group = &live->groups[i];
        struct vti_label label = {"span", group->name && *group->name ? group->name : "(no name)"};
        struct vti_sum *sum = vti_sums_at(sums, &label, 1);

        if (!sum)
            return vti_fail(VTI_E_NOMEM, "metrics: out of memory");
        sum->numbers[ERRORS] += (double)group->errors;
        sum->numbers[RUNNING] += (double)group->running;
        sum->numbers[SELF] += (double)group->self_ns / 1e9;
        vti_sum_add_times(sum, &group->times.shown);
        vti_sum_add_exemplars(sum, group->exemplars);
    }
    return 0;
}

int vti_metrics_spans(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    struct vti_sums sums = {.most = NAMES_MOST};
    int code = collect(&sums, live);

    if (code == 0) {
        vti_sums_write_times(metrics, &sums, "venturi_span_duration_seconds",
                             "How long spans took that have ended.");
        vti_sums_write(metrics, &sums, VTI_METRIC_COUNTER, "venturi_span_errors", NULL,
                       "Spans that ended with an error.", ERRORS);
        vti_sums_write(metrics, &sums, VTI_METRIC_COUNTER, "venturi_span_self_seconds", "seconds",
                       "Time in spans, without the spans inside of them.", SELF);
        vti_sums_write(metrics, &sums, VTI_METRIC_GAUGE, "venturi_spans_open", NULL,
                       "Spans that are open now.", RUNNING);
    }
    vti_sums_fini(&sums);
    return code;
}
