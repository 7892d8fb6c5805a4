/*
 * otlp_metrics.c - what steps have done as metrics of OTLP: messages, failures, and the time that messages took as a histogram.
 *
 * Sums are cumulative, as Prometheus wants them, from when this program began to send. What a batch adds counts when the receiver has it: one that is sent again
 * is not counted twice.
 */
#include "base/error.h"
#include "store/otlp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SERIES_MOST 10000u /* steps and processes; what comes then counts with nobody */

/* Seconds, upper bounds: from a tenth of a millisecond to minutes. */
static const double bounds[] = {0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01,
                                0.025,  0.05,    0.1,    0.25,  0.5,    1,     2.5,
                                5,      10,      25,     50,    100};
#define BOUNDS (sizeof bounds / sizeof *bounds)

struct figures {
    uint64_t documents, failed, messages;
    uint64_t buckets[BOUNDS + 1];
    double sum, min, max; /* seconds */
    double lag;           /* of the newest; NaN: not known */
    uint64_t last_ns;
};

struct series {
    char *source, *prefix, *survey, *host; /* owned */
    uint32_t pid;
    uint64_t start_ns;
    struct figures done, now; /* acknowledged; with what is under way */
};

struct vti_otlp_sums {
    struct vti_map *names; /* owned: source, host and process to index */
    struct series *series; /* owned */
    size_t room;
    struct vti_buf key; /* scratch */
};

int vti_otlp_sums_create(struct vti_otlp_sums **sums)
{
    *sums = calloc(1, sizeof **sums);
    if (!*sums || vti_map_create(&(*sums)->names)) {
        vti_otlp_sums_free(*sums);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    return 0;
}

void vti_otlp_sums_free(struct vti_otlp_sums *sums)
{
    uint32_t count = sums && sums->names ? vti_map_count(sums->names) : 0;

    if (!sums)
        return;
    for (uint32_t i = 0; i < count && i < sums->room; i++) {
        free(sums->series[i].source);
        free(sums->series[i].prefix);
        free(sums->series[i].survey);
        free(sums->series[i].host);
    }
    free(sums->series);
    vti_map_free(sums->names);
    vti_buf_fini(&sums->key);
    free(sums);
}

/* ---- counting -------------------------------------------------------------------------------- */

static char *copy_of(const char *text)
{
    return strdup(text ? text : "");
}

static int make_room(struct vti_otlp_sums *sums, size_t at)
{
    size_t room = sums->room ? sums->room * 2 : 16;
    void *series;

    if (at < sums->room)
        return 0;
    series = reallocarray(sums->series, room, sizeof *sums->series);
    if (!series)
        return VTI_E_NOMEM;
    sums->series = series;
    memset(sums->series + sums->room, 0, (room - sums->room) * sizeof *sums->series);
    sums->room = room;
    return 0;
}

/* NULL without memory, or if there are too many. */
static struct series *series_of(struct vti_otlp_sums *sums, const struct vti_step_detail *step)
{
    struct series *series;
    int is_new;
    int64_t at;

    vti_buf_clear(&sums->key);
    vti_buf_add_string(&sums->key, step->source);
    vti_buf_add_string(&sums->key, step->prefix);
    vti_buf_add_string(&sums->key, step->survey);
    vti_buf_add_string(&sums->key, step->host);
    vti_buf_add_u32(&sums->key, step->pid);
    if (sums->key.failed || make_room(sums, vti_map_count(sums->names)))
        return NULL;
    at = vti_map_count(sums->names) < SERIES_MOST
             ? vti_map_add(sums->names, sums->key.data, sums->key.len, &is_new)
             : vti_map_find(sums->names, sums->key.data, sums->key.len);
    if (at < 0)
        return NULL;
    series = &sums->series[at];
    if (!series->source) {
        *series = (struct series){.source = copy_of(step->source),
                                  .prefix = copy_of(step->prefix),
                                  .survey = copy_of(step->survey),
                                  .host = copy_of(step->host),
                                  .pid = step->pid,
                                  .start_ns = (uint64_t)step->received_ns,
                                  .done = {.lag = NAN},
                                  .now = {.lag = NAN}};
    }
    return series->source && series->prefix && series->survey && series->host ? series : NULL;
}

static void count_step(struct series *series, const struct vti_step_detail *step)
{
    double seconds = (double)step->execute_ns / 1e9;
    struct figures *now = &series->now;
    size_t bucket = 0;

    while (bucket < BOUNDS && seconds > bounds[bucket])
        bucket++;
    now->buckets[bucket]++;
    now->min = now->documents == 0 || seconds < now->min ? seconds : now->min;
    now->max = now->documents == 0 || seconds > now->max ? seconds : now->max;
    now->sum += seconds;
    now->documents++;
    now->messages += step->messages;
    now->failed += step->is_failed ? step->messages : 0;
    if (step->lag_ns != VTI_STEP_LAG_UNKNOWN)
        now->lag = (double)step->lag_ns / 1e9;
    if ((uint64_t)step->received_ns < series->start_ns)
        series->start_ns = (uint64_t)step->received_ns;
    if ((uint64_t)step->sent_ns > now->last_ns)
        now->last_ns = (uint64_t)step->sent_ns;
}

void vti_otlp_commit(struct vti_otlp_sums *sums)
{
    for (uint32_t i = 0; i < vti_map_count(sums->names); i++)
        sums->series[i].done = sums->series[i].now;
}

void vti_otlp_forget(struct vti_otlp_sums *sums)
{
    for (uint32_t i = 0; i < vti_map_count(sums->names); i++)
        sums->series[i].now = sums->series[i].done;
}

/* ---- writing --------------------------------------------------------------------------------- */

#define TEXT(wire, number, name, text) vti_wire_text((wire), (number), (name), (text), strlen(text))
#define ATTR(wire, number, key, text)                                                              \
    vti_wire_attr_text((wire), (number), (key), sizeof(key) - 1, (text), strlen(text))
enum { CUMULATIVE = 2 };

static void add_labels(struct vti_wire *wire, unsigned field, const struct series *series)
{
    vti_wire_list(wire, "attributes");
    ATTR(wire, field, "source", series->source);
    if (*series->survey)
        ATTR(wire, field, "survey", series->survey);
    vti_wire_list_end(wire);
}

static size_t begin_metric(struct vti_wire *wire, const char *name, const char *unit,
                           const char *about)
{
    size_t begin = vti_wire_item(wire, 2);

    TEXT(wire, 1, "name", name);
    TEXT(wire, 2, "description", about);
    TEXT(wire, 3, "unit", unit);
    return begin;
}

static void add_times(struct vti_wire *wire, const struct series *series)
{
    vti_wire_u64(wire, 2, "startTimeUnixNano", series->start_ns);
    vti_wire_u64(wire, 3, "timeUnixNano", series->now.last_ns);
}

static void add_sum(struct vti_wire *wire, const struct series *series, const char *name,
                    const char *unit, const char *about, uint64_t value)
{
    size_t metric = begin_metric(wire, name, unit, about);
    size_t sum = vti_wire_message(wire, 7, "sum");
    size_t point;

    vti_wire_list(wire, "dataPoints");
    point = vti_wire_item(wire, 1);
    add_times(wire, series);
    vti_wire_u64(wire, 6, "asInt", value); /* sfixed64: the same bytes */
    add_labels(wire, 7, series);
    vti_wire_end(wire, point);
    vti_wire_list_end(wire);
    vti_wire_enum(wire, 2, "aggregationTemporality", CUMULATIVE);
    vti_wire_bool(wire, 3, "isMonotonic", true);
    vti_wire_end(wire, sum);
    vti_wire_end(wire, metric);
}

static void add_histogram(struct vti_wire *wire, const struct series *series)
{
    size_t metric = begin_metric(wire, "venturi.step.execution_time", "s",
                                 "time that a step took for a message or a batch");
    size_t histogram = vti_wire_message(wire, 9, "histogram");
    size_t point;

    vti_wire_list(wire, "dataPoints");
    point = vti_wire_item(wire, 1);
    add_times(wire, series);
    vti_wire_u64(wire, 4, "count", series->now.documents);
    vti_wire_double(wire, 5, "sum", series->now.sum);
    vti_wire_u64s(wire, 6, "bucketCounts", series->now.buckets, BOUNDS + 1);
    vti_wire_doubles(wire, 7, "explicitBounds", bounds, BOUNDS);
    add_labels(wire, 9, series);
    vti_wire_double(wire, 11, "min", series->now.min);
    vti_wire_double(wire, 12, "max", series->now.max);
    vti_wire_end(wire, point);
    vti_wire_list_end(wire);
    vti_wire_enum(wire, 2, "aggregationTemporality", CUMULATIVE);
    vti_wire_end(wire, histogram);
    vti_wire_end(wire, metric);
}

static void add_lag(struct vti_wire *wire, const struct series *series)
{
    size_t metric, gauge, point;

    if (isnan(series->now.lag))
        return;
    metric = begin_metric(wire, "venturi.step.queue_time", "s",
                          "how long the newest message had waited");
    gauge = vti_wire_message(wire, 5, "gauge");
    vti_wire_list(wire, "dataPoints");
    point = vti_wire_item(wire, 1);
    vti_wire_u64(wire, 3, "timeUnixNano", series->now.last_ns);
    vti_wire_double(wire, 4, "asDouble", series->now.lag);
    add_labels(wire, 7, series);
    vti_wire_end(wire, point);
    vti_wire_list_end(wire);
    vti_wire_end(wire, gauge);
    vti_wire_end(wire, metric);
}

static void add_series(struct vti_wire *wire, const struct series *series)
{
    size_t resource = vti_wire_item(wire, 1);
    size_t part = vti_wire_message(wire, 1, "resource");

    vti_wire_list(wire, "attributes");
    ATTR(wire, 1, "service.name", series->source);
    if (*series->prefix)
        ATTR(wire, 1, "service.namespace", series->prefix);
    if (*series->host)
        ATTR(wire, 1, "host.name", series->host);
    vti_wire_attr_int(wire, 1, "process.pid", 11, series->pid);
    vti_wire_list_end(wire);
    vti_wire_end(wire, part);
    vti_wire_list(wire, "scopeMetrics");
    part = vti_wire_item(wire, 2);
    {
        size_t scope = vti_wire_message(wire, 1, "scope");

        TEXT(wire, 1, "name", VTI_OTLP_SCOPE);
        TEXT(wire, 2, "version", VENTURI_VERSION);
        vti_wire_end(wire, scope);
    }
    vti_wire_list(wire, "metrics");
    add_sum(wire, series, "venturi.step.messages", "{message}", "messages that a step dealt with",
            series->now.messages);
    add_sum(wire, series, "venturi.step.failures", "{message}",
            "messages that a step failed at, all those of a batch that failed", series->now.failed);
    add_histogram(wire, series);
    add_lag(wire, series);
    vti_wire_list_end(wire);
    vti_wire_end(wire, part);
    vti_wire_list_end(wire);
    vti_wire_end(wire, resource);
}

int vti_otlp_metrics(struct vti_otlp_sums *sums, struct vti_buf *out, bool is_json,
                     const struct vti_batch *batch, const size_t *at, size_t count)
{
    struct vti_wire wire;

    for (size_t i = 0; i < count; i++) {
        const struct vti_step_detail *step = vti_batch_detail(batch, &batch->documents[at[i]]);
        struct series *series = step && !step->is_metrics ? series_of(sums, step) : NULL;

        if (series)
            count_step(series, step);
    }
    vti_wire_init(&wire, out, is_json);
    vti_wire_list(&wire, "resourceMetrics");
    for (uint32_t i = 0; i < vti_map_count(sums->names); i++)
        if (sums->series[i].source &&
            sums->series[i].now.documents != sums->series[i].done.documents)
            add_series(&wire, &sums->series[i]);
    vti_wire_list_end(&wire);
    vti_wire_fini(&wire);
    return out->failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}
