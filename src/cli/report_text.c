/* report_text.c - the summary of a recording as tables that fit into 80 columns. */
#include "analyze/values.h"
#include "base/error.h"
#include "base/hash.h"
#include "cli/reading.h"
#include "cli/render.h"
#include "cli/report.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME_LEAST 12  /* columns that a name needs beside the figures: counts of ten digits fit */
#define OTHERS_MOST 20 /* rows of counters, marks and errors; --json has all */

/* ---- text ------------------------------------------------------------------------------------ */

static void add_plural(struct vti_buf *out, uint64_t count, const char *what)
{
    vti_buf_printf(out, "%llu %s%s", (unsigned long long)count, what,
                   count == 1                      ? ""
                   : what[strlen(what) - 1] == 's' ? "es"
                                                   : "s");
}

/* Parts joined by commas, broken between them at the width of the terminal. */
struct sentence {
    struct vti_buf out;
    size_t column;
    size_t width; /* 0: one line */
    size_t indent;
};

static void add_part(struct sentence *sentence, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add_part(struct sentence *sentence, const char *format, ...)
{
    struct vti_buf safe = {0};
    char text[1024];
    va_list args;
    size_t wide;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    vti_text_safe(&safe, text, strlen(text));
    wide = vti_text_width((const char *)safe.data, safe.len);
    if (sentence->column > sentence->indent) {
        if (sentence->width && sentence->column + wide + 3 > sentence->width) {
            vti_buf_printf(&sentence->out, ",\n%*s", (int)sentence->indent, "");
            sentence->column = sentence->indent;
        } else {
            vti_buf_add_text(&sentence->out, ", ");
            sentence->column += 2;
        }
    }
    vti_buf_add(&sentence->out, safe.data, safe.len);
    sentence->column += wide;
    vti_buf_fini(&safe);
}

static void start_sentence(struct sentence *sentence, const char *label)
{
    *sentence = (struct sentence){.width = vti_terminal_width(stdout)};
    vti_buf_printf(&sentence->out, "%s", label);
    sentence->column = sentence->indent = strlen(label);
}

static int print_sentence(struct sentence *sentence)
{
    int code = sentence->out.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;

    vti_buf_add_u8(&sentence->out, '\n');
    if (!code)
        fwrite(sentence->out.data, 1, sentence->out.len, stdout);
    vti_buf_fini(&sentence->out);
    return code;
}

static int print_headline(const struct vti_report *report)
{
    const struct vt_recording_info *info = &report->info;
    struct vt_process_info process = {.name = ""};
    struct sentence sentence;
    struct vti_buf text = {0};
    char when[VTI_WHEN_BYTES];
    char number[VTI_NUMBER_BYTES];
    int64_t begin_ns;
    int64_t end_ns;

    vti_recording_extent(report->recording, &begin_ns, &end_ns);
    vt_recording_process(report->recording, 0, &process);
    start_sentence(&sentence, "");
    add_part(&sentence, "%s", *process.name ? process.name : info->path);
    add_part(&sentence, "%s", vti_text_when(when, info->start_realtime_ns));
    add_part(&sentence, "%s", vti_text_duration(number, (double)(end_ns - begin_ns)));
    add_plural(&text, info->process_count, "process");
    vti_buf_add_text(&text, ", ");
    add_plural(&text, info->track_count, "thread");
    vti_buf_add_text(&text, ", ");
    add_plural(&text, report->stats.span_count, "span");
    add_part(&sentence, "%.*s", (int)text.len, (const char *)text.data);
    vti_buf_fini(&text);
    return print_sentence(&sentence);
}

/* ---- spans ----------------------------------------------------------------------------------- */

static bool is_distorted(const struct vti_report *report, const struct vt_site_stats *stats)
{
    return vti_ids_find(&report->distorted, stats->site) >= 0;
}

/* The name, and its place if others share it. */
static void add_name(struct vti_table *table, const struct vti_report *report,
                     const struct vt_site_stats *stats, bool is_shared)
{
    struct vti_buf text = {0};
    struct vt_site_info site;

    vt_recording_site_by_id(report->recording, stats->site, &site);
    vti_buf_add_text(&text, *site.name ? site.name : "(no name)");
    if (is_shared && *site.file)
        vti_buf_printf(&text, " %s:%u", site.file, site.line);
    vti_table_bytes(table, (const char *)text.data, text.len);
    vti_buf_fini(&text);
}

/* How often each name occurs among the sites: by index of the name in the map. */
static int count_names(const struct vti_report *report, struct vti_map **names, uint32_t **counts)
{
    int code = vti_map_create(names);

    *counts = calloc(report->stats.site_count + 1, sizeof **counts);
    if (!code && !*counts)
        code = VTI_E_NOMEM;
    for (size_t i = 0; i < report->stats.site_count && !code; i++) {
        struct vt_site_info site;
        int is_new;
        int64_t at;

        vt_recording_site_by_id(report->recording, report->stats.sites[i].site, &site);
        at = vti_map_add(*names, site.name, strlen(site.name), &is_new);
        if (at < 0)
            code = VTI_E_NOMEM;
        else
            (*counts)[at]++;
    }
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

static int fill_spans(const struct vti_report *report, struct vti_table *table)
{
    struct vti_map *names = NULL;
    uint32_t *counts = NULL;
    int code = count_names(report, &names, &counts);

    for (size_t i = 0; i < report->stats.site_count && i < report->limit && !code; i++) {
        const struct vt_site_stats *stats = &report->stats.sites[i];
        struct vt_site_info site;
        int64_t at;

        vt_recording_site_by_id(report->recording, stats->site, &site);
        at = vti_map_find(names, site.name, strlen(site.name));
        vti_table_printf(table, "%s%llu", is_distorted(report, stats) ? "~" : "",
                         (unsigned long long)stats->count);
        vti_table_time(table, (double)stats->total_ns);
        vti_table_time(table, (double)stats->self_ns);
        vti_table_time(table, (double)stats->min_ns);
        vti_table_time(table, (double)stats->avg_ns);
        vti_table_time(table, (double)stats->max_ns);
        vti_table_time(table, (double)stats->p50_ns);
        vti_table_time(table, (double)stats->p99_ns);
        add_name(table, report, stats, at >= 0 && counts[at] > 1);
    }
    vti_map_free(names);
    free(counts);
    return code;
}

static void explain_sign(const struct vti_report *report)
{
    for (size_t i = 0; i < report->stats.site_count && i < report->limit; i++)
        if (is_distorted(report, &report->stats.sites[i])) {
            puts("~ events around these spans are missing: counts and times may be off");
            return;
        }
}

static int print_spans(const struct vti_report *report)
{
    static const struct vti_column columns[] = {
        {"Count", VTI_RIGHT}, {"Total", VTI_RIGHT}, {"Self", VTI_RIGHT},
        {"Min", VTI_RIGHT},   {"Avg", VTI_RIGHT},   {"Max", VTI_RIGHT},
        {"p50", VTI_RIGHT},   {"p99", VTI_RIGHT},   {"Span", VTI_LEFT},
    };
    struct vti_table *table;
    int code;

    if (!report->stats.site_count) {
        if (!report->functions.row_count)
            puts("\nNo spans were recorded. Does the program use trace points?");
        return 0;
    }
    putchar('\n');
    code = vti_table_create(&table, columns, 9);
    if (code)
        return code;
    vti_table_keep_last(table, NAME_LEAST);
    code = fill_spans(report, table);
    if (!code)
        code = vti_table_print(table, stdout);
    vti_table_free(table);
    if (!code)
        explain_sign(report);
    if (!code && report->stats.site_count > report->limit)
        printf("... and %zu more, -n 0 shows all\n", report->stats.site_count - report->limit);
    return code;
}

/* ---- counters, marks, errors
 * ------------------------------------------------------------------ */

static void add_number(struct vti_table *table, double value)
{
    char text[32] = "-"; /* for what is no finite number */
    double size = value < 0 ? -value : value;

    if (size < 1e15 && (size >= 1000 || value == (double)(int64_t)value))
        snprintf(text, sizeof text, "%.0f", value);
    else if (isfinite(value))
        snprintf(text, sizeof text, "%.4g", value);
    vti_table_text(table, text);
}

static void add_site_name(struct vti_table *table, const struct vti_report *report, uint32_t id)
{
    struct vt_site_info site;

    vt_recording_site_by_id(report->recording, id, &site);
    vti_table_text(table, *site.name ? site.name : "(no name)");
}

static int print_table(struct vti_table *table, size_t rows)
{
    int code;

    putchar('\n');
    code = vti_table_print(table, stdout);
    if (!code && rows > OTHERS_MOST)
        printf("... and %zu more, see --json\n", rows - OTHERS_MOST);
    vti_table_free(table);
    return code;
}

static int print_counters(const struct vti_report *report)
{
    static const struct vti_column columns[] = {
        {"Count", VTI_RIGHT}, {"Min", VTI_RIGHT}, {"Avg", VTI_RIGHT},    {"Max", VTI_RIGHT},
        {"Last", VTI_RIGHT},  {"Unit", VTI_LEFT}, {"Counter", VTI_LEFT},
    };
    struct vti_table *table;
    int code;

    if (!report->overview.counter_count)
        return 0;
    code = vti_table_create(&table, columns, 7);
    for (size_t i = 0; !code && i < report->overview.counter_count && i < OTHERS_MOST; i++) {
        const struct vti_counter_stats *counter = &report->overview.counters[i];
        struct vt_site_info site;

        vt_recording_site_by_id(report->recording, counter->site, &site);
        vti_table_count(table, counter->count);
        add_number(table, counter->min);
        add_number(table, counter->sum / (double)counter->count);
        add_number(table, counter->max);
        add_number(table, counter->last);
        vti_table_text(table, site.unit);
        add_site_name(table, report, counter->site);
    }
    return code ? code : print_table(table, report->overview.counter_count);
}

static int print_marks(const struct vti_report *report)
{
    static const struct vti_column columns[] = {
        {"Count", VTI_RIGHT}, {"First", VTI_RIGHT}, {"Last", VTI_RIGHT}, {"Mark", VTI_LEFT}};
    struct vti_table *table;
    int code;

    if (!report->overview.mark_count)
        return 0;
    code = vti_table_create(&table, columns, 4);
    for (size_t i = 0; !code && i < report->overview.mark_count && i < OTHERS_MOST; i++) {
        const struct vti_mark_stats *mark = &report->overview.marks[i];

        vti_table_count(table, mark->count);
        vti_table_time(table, (double)mark->first_ns);
        vti_table_time(table, (double)mark->last_ns);
        add_site_name(table, report, mark->site);
    }
    return code ? code : print_table(table, report->overview.mark_count);
}

static int print_errors(const struct vti_report *report)
{
    static const struct vti_column columns[] = {
        {"Count", VTI_RIGHT}, {"Failed span", VTI_LEFT}, {"Error", VTI_LEFT}};
    struct vti_table *table;
    int code;

    if (!report->overview.error_count)
        return 0;
    code = vti_table_create(&table, columns, 3);
    for (size_t i = 0; !code && i < report->overview.error_count && i < OTHERS_MOST; i++) {
        const struct vti_error_stats *error = &report->overview.errors[i];

        vti_table_count(table, error->count);
        add_site_name(table, report, error->site);
        vti_table_printf(table, "%s%s%s", error->type, *error->type && *error->message ? ": " : "",
                         error->message);
    }
    return code ? code : print_table(table, report->overview.error_count);
}

/* ---- trust ----------------------------------------------------------------------------------- */

static void add_losses(const struct vti_report *report, struct sentence *sentence)
{
    const struct vti_losses *losses = &report->overview.losses;
    const char *reason = NULL;
    struct vti_buf text = {0};

    for (size_t i = 0; i < losses->count && !reason; i++)
        if (!losses->items[i].is_wanted && !losses->items[i].is_process)
            reason = losses->items[i].reason;
    add_plural(&text, losses->lost_events, "event");
    if (losses->lost_events || reason)
        add_part(sentence, "%.*s lost (%s)", (int)text.len, (const char *)text.data,
                 reason ? reason : "reason unknown");
    else if (!report->info.damage_count && !losses->missing_processes)
        add_part(sentence, "nothing lost");
    if (losses->missing_processes)
        add_part(sentence, VTI_MISSING_PROCESSES, (unsigned long long)losses->missing_processes);
    if (losses->overwritten_events)
        add_part(sentence, VTI_KEPT_THE_END, (unsigned long long)losses->overwritten_events);
    vti_buf_clear(&text);
    add_plural(&text, losses->sliced_events, "event");
    if (losses->sliced_events)
        add_part(sentence, "sliced: %.*s before and after cut away", (int)text.len,
                 (const char *)text.data);
    vti_buf_fini(&text);
}

/* Spans whose figures are not the whole story. */
static void add_unusual(const struct vti_report *report, struct sentence *sentence)
{
    uint64_t unfinished = 0;
    uint64_t failed = 0;

    for (size_t i = 0; i < report->stats.site_count; i++) {
        unfinished += report->stats.sites[i].unfinished;
        failed += report->stats.sites[i].errors;
    }
    if (failed)
        add_part(sentence, "%llu failed", (unsigned long long)failed);
    if (unfinished)
        add_part(sentence, "%llu unfinished", (unsigned long long)unfinished);
}

static bool has_known_cost(const vt_recording *recording)
{
    struct vt_process_info process;

    for (uint32_t i = 0; vt_recording_process(recording, i, &process); i++)
        if (process.pair_ns > 0)
            return true;
    return false;
}

static int print_trust(const struct vti_report *report)
{
    const struct vt_recording_info *info = &report->info;
    struct sentence sentence;
    char number[VTI_NUMBER_BYTES];
    char rate[VTI_RATE_BYTES];

    putchar('\n');
    start_sentence(&sentence, "trust: ");
    add_losses(report, &sentence);
    add_unusual(report, &sentence);
    if (info->damage_count)
        add_part(&sentence, "%u range%s of the file damaged", info->damage_count,
                 info->damage_count == 1 ? "" : "s");
    if (!info->is_closed)
        add_part(&sentence, "recording not closed");
    if (has_known_cost(report->recording))
        add_part(&sentence, "own cost %s (%.2g %%) %s",
                 vti_text_duration(number, (double)report->overhead_ns),
                 report->overhead_share * 100, report->is_raw ? "left in" : "subtracted");
    else
        add_part(&sentence, "own cost not known");
    if (!strcmp(info->clock, "monotonic"))
        add_part(&sentence, "monotonic clock");
    else if (*info->clock)
        add_part(&sentence, "clock %s %s", info->clock, vti_text_rate(rate, info->ticks_per_ns));
    else
        add_part(&sentence, "clock unknown");
    return print_sentence(&sentence);
}

int vti_report_print(const struct vti_report *report)
{
    static int (*const parts[])(const struct vti_report *) = {
        print_headline, print_spans, vti_report_print_functions, print_counters, print_marks,
        print_errors,   print_trust};
    int code = 0;

    for (size_t i = 0; i < sizeof parts / sizeof *parts && !code; i++)
        code = parts[i](report);
    return code;
}
