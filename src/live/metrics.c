/*
 * metrics.c - a live state as metrics: the recording itself, losses, cost; the other files have the rest.
 *
 * Made anew for each scrape from what the last refresh has summed up; nothing is kept here.
 */
#include "live/metrics.h"

#include "base/error.h"
#include "live/metrics_impl.h"

#include <math.h>

double vti_metrics_seconds(uint64_t ns)
{
    return ns == VTI_LIVE_UNKNOWN ? NAN : (double)ns / 1e9;
}

double vti_metrics_unix(int64_t unix_ns)
{
    return unix_ns <= 0 ? NAN : (double)unix_ns / 1e9;
}

static void write_one(struct vti_metrics_out *metrics, enum vti_metric_type type, const char *name,
                      const char *unit, const char *help, double value)
{
    if (isnan(value))
        return;
    vti_exposition_family(metrics, type, name, unit, help);
    vti_exposition_sample(metrics, NULL, 0, value);
}

static void write_one_u(struct vti_metrics_out *metrics, enum vti_metric_type type,
                        const char *name, const char *unit, const char *help, uint64_t value)
{
    if (value == VTI_LIVE_UNKNOWN)
        return;
    vti_exposition_family(metrics, type, name, unit, help);
    vti_exposition_count(metrics, NULL, 0, value);
}

void vti_metrics_gauge(struct vti_metrics_out *metrics, const char *name, const char *unit,
                       const char *help, double value)
{
    write_one(metrics, VTI_METRIC_GAUGE, name, unit, help, value);
}

void vti_metrics_gauge_u(struct vti_metrics_out *metrics, const char *name, const char *unit,
                         const char *help, uint64_t value)
{
    write_one_u(metrics, VTI_METRIC_GAUGE, name, unit, help, value);
}

void vti_metrics_counter(struct vti_metrics_out *metrics, const char *name, const char *unit,
                         const char *help, double value)
{
    write_one(metrics, VTI_METRIC_COUNTER, name, unit, help, value);
}

void vti_metrics_counter_u(struct vti_metrics_out *metrics, const char *name, const char *unit,
                           const char *help, uint64_t value)
{
    write_one_u(metrics, VTI_METRIC_COUNTER, name, unit, help, value);
}

static void write_recording(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    static const char *const kinds[] = {"file", "folder", "spool", "process", "dask"};
    struct vti_live_summary summary;

    vti_live_summary(live, &summary);
    vti_exposition_family(metrics, VTI_METRIC_INFO, "venturi_build", NULL,
                          "The version of the tool.");
    vti_exposition_count(metrics, &(struct vti_label){"version", VENTURI_VERSION}, 1, 1);
    vti_exposition_family(metrics, VTI_METRIC_INFO, "venturi_program", NULL,
                          "The program that is watched, and how.");
    vti_exposition_count(
        metrics, (struct vti_label[]){{"program", summary.title}, {"kind", kinds[summary.kind]}}, 2,
        1);
    vti_metrics_gauge_u(metrics, "venturi_recording_growing", NULL,
                        "Whether somebody still writes.", summary.is_growing);
    vti_metrics_gauge(metrics, "venturi_recording_caught_up_ratio", "ratio",
                      "How much of the recording is in these sums.",
                      summary.is_caught_up ? 1 : summary.caught_up);
    vti_metrics_gauge_u(metrics, "venturi_recording_size_bytes", "bytes",
                        "Size of the recordings that are open.", summary.file_bytes);
    vti_metrics_gauge(metrics, "venturi_recording_start_timestamp_seconds", "seconds",
                      "Since when spans, tasks, steps and events are counted.",
                      vti_metrics_unix(summary.since_unix_ns));
    vti_metrics_gauge(metrics, "venturi_recording_last_timestamp_seconds", "seconds",
                      "When the newest thing happened that was recorded.",
                      vti_metrics_unix(summary.last_unix_ns));
    vti_metrics_gauge_u(metrics, "venturi_recording_damaged_places", NULL,
                        "Places of the recordings that could not be used.", summary.damage);
    vti_metrics_counter_u(metrics, "venturi_events", NULL, "Events that were recorded.",
                          summary.events);
    vti_metrics_counter_u(metrics, "venturi_lost_events", NULL,
                          "Events that were not recorded: nobody knows what they were.",
                          summary.lost_events);
}

/* Added up as they came: a program that takes some back must not make the counter go back. */
static void write_items(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    struct vti_live_items items;

    vti_live_items(live, &items);
    vti_metrics_counter(metrics, "venturi_items", NULL, "Items of work that the program counted.",
                        items.most);
    vti_metrics_counter(metrics, "venturi_effective_items", NULL,
                        "Those of them that ran to the end.", items.most_effective);
}

static int write_losses(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    struct vti_sums sums = {.most = 100};
    size_t count;
    const struct vti_live_loss *losses = vti_live_losses(live, &count);
    int code = 0;

    for (size_t i = 0; i < count && code == 0; i++) {
        struct vti_label labels[] = {{"reason", losses[i].reason},
                                     {"wanted", losses[i].is_wanted ? "yes" : "no"}};
        struct vti_sum *sum = vti_sums_at(&sums, labels, 2);

        if (sum)
            sum->numbers[0] += (double)losses[i].events;
        else
            code = vti_fail(VTI_E_NOMEM, "metrics: out of memory");
    }
    if (code == 0)
        vti_sums_write(metrics, &sums, VTI_METRIC_GAUGE, "venturi_losses", NULL,
                       "What recordings that are open lack, by reason; wanted: as was asked for.",
                       0);
    vti_sums_fini(&sums);
    return code;
}

static void write_cost(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    struct vti_live_cost cost;

    vti_live_cost(live, &cost);
    vti_metrics_gauge(metrics, "venturi_overhead_ratio", "ratio",
                      "What recording adds to the program's threads, by calibration.",
                      cost.program_share);
    vti_metrics_gauge(metrics, "venturi_drainer_busy_cores", NULL,
                      "Cores that writing the recording takes.", cost.drainer_cpu);
    vti_metrics_counter(metrics, "venturi_server_cpu_seconds", "seconds",
                        "CPU time of the server that gives these metrics.",
                        vti_metrics_seconds(cost.own_cpu_ns));
    vti_metrics_gauge_u(metrics, "venturi_server_memory_bytes", "bytes", "Memory of the server.",
                        cost.own_memory_bytes);
    vti_metrics_gauge(metrics, "venturi_server_refresh_seconds", "seconds",
                      "How long the server last took for what was new.",
                      (double)cost.refresh_ns / 1e9);
}

int vti_metrics_write(const struct vti_live *live, enum vti_exposition format, struct vti_buf *out)
{
    struct vti_metrics_out metrics;
    struct vti_live_summary summary;
    int code;

    vti_live_summary(live, &summary);
    vti_exposition_begin(&metrics, format, out);
    /* What is summed up from events begins with the first recording that is left; processes and the machine count by themselves. */
    metrics.created_s = summary.since_unix_ns > 0 ? (double)summary.since_unix_ns / 1e9 : 0;
    write_recording(&metrics, live);
    write_items(&metrics, live);
    code = vti_metrics_spans(&metrics, live);
    if (code == 0)
        code = vti_metrics_tasks(&metrics, live);
    if (code == 0)
        code = vti_metrics_steps(&metrics, live);
    metrics.created_s = 0;
    vti_metrics_machine(&metrics, live);
    vti_metrics_files(&metrics, live);
    vti_metrics_energy(&metrics, live);
    if (code == 0)
        code = write_losses(&metrics, live);
    write_cost(&metrics, live);
    vti_metrics_ship(&metrics, live);
    return code < 0 ? code : vti_exposition_end(&metrics);
}
