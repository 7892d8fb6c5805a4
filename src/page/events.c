/*
 * events.c - values of counters, marks and errors, one row each.
 *
 * Where there are more values than asked for, the smallest and the largest of each stretch of time are kept; of marks and errors the first.
 */
#include "analyze/values.h"
#include "base/error.h"
#include "base/number.h"
#include "model/span_walk.h"
#include "page/job.h"

#include <stdlib.h>
#include <string.h>

#define ERRORS_MOST 100000

/* ---- counters -------------------------------------------------------------------------------- */

struct value {
    int64_t time_ns;
    double value;
};

/* One counter of one thread, while values are left out. */
struct series {
    int64_t stretch;
    struct value least, most;
};

struct counters {
    struct vti_page_job *job;
    int64_t stretch_ns; /* 0: all values are kept */
    uint64_t met, rows;
    struct vti_map *known; /* owned; site and track */
    struct series *series; /* owned */
    size_t capacity;
};

static int write_value(struct counters *counters, const uint32_t key[2], struct value value)
{
    int64_t track = vti_page_track(counters->job, key[1]);

    counters->rows++;
    return vti_page_row(
        counters->job->page,
        (union vti_page_value[]){
            {(uint64_t)(track + 1)}, {key[0]}, {vti_page_time(value.time_ns)}, {.d = value.value}});
}

/* The smallest and the largest of a stretch, in the order in which they came. */
static int write_series(struct counters *counters, const uint32_t key[2], struct series *series)
{
    bool is_rising = series->least.time_ns <= series->most.time_ns;
    struct value first = is_rising ? series->least : series->most;
    struct value second = is_rising ? series->most : series->least;
    int code = write_value(counters, key, first);

    if (!code && second.time_ns != first.time_ns)
        code = write_value(counters, key, second);
    return code;
}

static int keep_extremes(struct counters *counters, const uint32_t key[2], struct value value)
{
    struct series *series;
    int64_t stretch = value.time_ns / counters->stretch_ns;
    int is_new = 0;
    int code = 0;
    int64_t at;

    if (vti_grow(&counters->series, vti_map_count(counters->known), &counters->capacity,
                 sizeof *counters->series))
        return VTI_E_NOMEM;
    at = vti_map_add(counters->known, key, 2 * sizeof *key, &is_new);
    if (at < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    series = &counters->series[at];
    if (!is_new && series->stretch == stretch) {
        series->least = value.value < series->least.value ? value : series->least;
        series->most = value.value > series->most.value ? value : series->most;
        return 0;
    }
    if (!is_new)
        code = write_series(counters, key, series);
    *series = (struct series){.stretch = stretch, .least = value, .most = value};
    return code;
}

static int take_counter(struct counters *counters, const struct vt_event *event)
{
    int64_t site = vti_page_site(counters->job, event->site);
    struct value value = {event->time_ns, vti_value_number(&event->value)};
    uint32_t key[2] = {(uint32_t)site, event->track};

    if (site < 0)
        return (int)site;
    counters->met++;
    return counters->stretch_ns ? keep_extremes(counters, key, value)
                                : write_value(counters, key, value);
}

static int finish_counters(struct counters *counters)
{
    int code = 0;
    char text[VTI_NUMBER_BYTES];

    for (uint32_t i = 0; i < vti_map_count(counters->known) && !code; i++) {
        size_t len;
        const char *key = vti_map_key(counters->known, i, &len);
        uint32_t copy[2];

        memcpy(copy, key, sizeof copy);
        code = write_series(counters, copy, &counters->series[i]);
    }
    if (counters->met > counters->rows)
        vti_page_note(
            counters->job->page, "folded",
            "Of %llu values of counters %llu are kept: the smallest and the largest of every "
            "%s. venturi report --events all keeps every one.",
            (unsigned long long)counters->met, (unsigned long long)counters->rows,
            vti_text_duration(text, (double)counters->stretch_ns));
    return code;
}

/* Two rows for each stretch of each series. */
static void choose_stretch(struct counters *counters)
{
    const struct vti_study *study = counters->job->study;
    uint64_t values = 0;
    double series = (double)study->overview.counter_count * study->info.track_count;
    double stretches = (double)counters->job->options->events / (2 * series);

    for (size_t i = 0; i < study->overview.counter_count; i++)
        values += study->overview.counters[i].count;
    if (values > counters->job->options->events)
        counters->stretch_ns = 1 +
                               (int64_t)((double)study->wall_ns / (stretches > 1 ? stretches : 1));
}

static int walk_events(struct vti_page_job *job, enum vt_event_kind kind,
                       int (*each)(void *arg, const struct vt_event *event), void *arg)
{
    struct vt_event event;
    vt_cursor *cursor;
    int got = 0;
    int code = vt_cursor_open(&cursor, job->recording, NULL);

    if (code)
        return code;
    while (!code && (got = vt_cursor_next(cursor, &event)) > 0)
        if (event.kind == kind)
            code = each(arg, &event);
    vt_cursor_close(cursor);
    return code ? code : got;
}

static int each_counter(void *arg, const struct vt_event *event)
{
    return take_counter(arg, event);
}

int vti_page_add_counters(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {{"track", VTI_PAGE_REF},
                                                     {"site", VTI_PAGE_UINT},
                                                     {"time", VTI_PAGE_DELTA},
                                                     {"value", VTI_PAGE_F64},
                                                     {NULL, 0}};
    struct counters counters = {.job = job};
    int code;

    if (!job->study->overview.counter_count)
        return 0;
    choose_stretch(&counters);
    code = vti_map_create(&counters.known);
    if (!code)
        code = vti_page_begin(job->page, "counters", columns);
    if (!code)
        code = walk_events(job, VT_EVENT_COUNTER, each_counter, &counters);
    if (!code)
        code = finish_counters(&counters);
    if (!code)
        code = vti_page_end(job->page);
    vti_map_free(counters.known);
    free(counters.series);
    return code;
}

/* ---- marks ----------------------------------------------------------------------------------- */

struct marks {
    struct vti_page_job *job;
    uint64_t met;
};

static int each_mark(void *arg, const struct vt_event *event)
{
    struct marks *marks = arg;
    int64_t track = vti_page_track(marks->job, event->track);
    int64_t site = vti_page_site(marks->job, event->site);

    if (site < 0)
        return (int)site;
    if (marks->met++ >= marks->job->options->events)
        return 0;
    return vti_page_row(marks->job->page,
                        (union vti_page_value[]){{track < 0 ? 0 : (uint64_t)track},
                                                 {(uint64_t)site},
                                                 {vti_page_time(event->time_ns)}});
}

/* What the page has not got of `met` events. */
static void say_first(struct vti_page_job *job, uint64_t met, uint64_t most, const char *what)
{
    if (met > most)
        vti_page_note(job->page, "folded", "Of %llu %s the first %llu are in this page.",
                      (unsigned long long)met, what, (unsigned long long)most);
}

int vti_page_add_marks(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {
        {"track", VTI_PAGE_UINT}, {"site", VTI_PAGE_UINT}, {"time", VTI_PAGE_DELTA}, {NULL, 0}};
    struct marks marks = {.job = job};
    int code;

    if (!job->study->overview.mark_count)
        return 0;
    code = vti_page_begin(job->page, "marks", columns);
    if (!code)
        code = walk_events(job, VT_EVENT_MARK, each_mark, &marks);
    if (!code)
        code = vti_page_end(job->page);
    say_first(job, marks.met, job->options->events, "marks");
    return code;
}

/* ---- errors ---------------------------------------------------------------------------------- */

static int write_error(struct vti_page_job *job, const struct vt_span *span)
{
    const struct vt_text *type = &span->error_type;
    const struct vt_text *message = &span->error_message;
    int64_t track = vti_page_track(job, span->track);
    int64_t site = vti_page_site(job, span->site);

    if (site < 0)
        return (int)site;
    return vti_page_row(
        job->page,
        (union vti_page_value[]){
            {track < 0 ? 0 : (uint64_t)track},
            {(uint64_t)site},
            {vti_page_time(span->end_ns)},
            {vti_page_bytes(job->page, type->data ? type->data : "", type->len)},
            {vti_page_bytes(job->page, message->data ? message->data : "", message->len)}});
}

static bool has_errors(const struct vti_study *study)
{
    for (size_t i = 0; i < study->stats.site_count; i++)
        if (study->stats.sites[i].errors)
            return true;
    return false;
}

int vti_page_add_errors(struct vti_page_job *job)
{
    static const struct vti_page_column columns[] = {
        {"track", VTI_PAGE_UINT}, {"site", VTI_PAGE_UINT},    {"time", VTI_PAGE_DELTA},
        {"type", VTI_PAGE_TEXT},  {"message", VTI_PAGE_TEXT}, {NULL, 0}};
    struct vti_span_walk *walk;
    struct vt_span span;
    uint64_t met = 0;
    int got = 0;
    int code;

    if (!has_errors(job->study))
        return 0;
    code = vti_span_walk_open(&walk, job->recording, NULL);
    if (code)
        return code;
    code = vti_page_begin(job->page, "errors", columns);
    while (!code && (got = vti_span_walk_next(walk, &span)) > 0)
        if (span.has_error && met++ < ERRORS_MOST)
            code = write_error(job, &span);
    vti_span_walk_close(walk);
    if (!code)
        code = got < 0 ? got : vti_page_end(job->page);
    say_first(job, met, ERRORS_MOST, "errors");
    return code;
}
