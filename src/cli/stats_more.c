/* stats_more.c - the table of functions with columns that pstats has not, and as JSON. */
#include "base/error.h"
#include "base/json.h"
#include "cli/render.h"
#include "cli/stats.h"

#include <math.h>

#define NARROW 100

static void add_seconds(struct vti_table *table, double seconds)
{
    if (isnan(seconds))
        vti_table_text(table, "-");
    else
        vti_table_time(table, seconds * 1e9);
}

/* With the mark of an estimate, and how far it may be off where that is all there is. */
static void add_time(struct vti_table *table, const struct vti_calls *calls, double seconds,
                     double sampled_s, bool has_error)
{
    char time[VTI_NUMBER_BYTES], error[VTI_NUMBER_BYTES];
    char text[2 * VTI_NUMBER_BYTES + 8];

    if (!(sampled_s > 0)) {
        add_seconds(table, seconds);
        return;
    }
    vti_text_duration(time, seconds * 1e9);
    vti_text_duration(error, vti_calls_error(calls, sampled_s * 1e9));
    snprintf(text, sizeof text, "~%s%s%s", time, has_error ? " \u00b1" : "",
             has_error ? error : "");
    vti_table_text(table, text);
}

int vti_stats_wide(struct vti_buf *out, const struct vti_stats_list *list, unsigned width)
{
    static const struct vti_column columns[] = {
        {"Calls", VTI_RIGHT}, {"Primitive", VTI_RIGHT}, {"Resumes", VTI_RIGHT}, {"Self", VTI_RIGHT},
        {"Total", VTI_RIGHT}, {"Suspended", VTI_RIGHT}, {"Min", VTI_RIGHT},     {"P50", VTI_RIGHT},
        {"P99", VTI_RIGHT},   {"Max", VTI_RIGHT},       {"Function", VTI_LEFT},
    };
    struct vti_column shown[sizeof columns / sizeof *columns];
    bool is_narrow = width && width < NARROW; /* then without "Primitive" */
    unsigned count = 0;
    struct vti_table *table;
    int code;

    for (unsigned i = 0; i < sizeof columns / sizeof *columns; i++)
        if (i != 1 || !is_narrow)
            shown[count++] = columns[i];
    code = vti_table_create(&table, shown, count);

    if (code)
        return code;
    for (size_t i = 0; i < list->count; i++) {
        const struct vti_profile_row *row = &list->profile->rows[list->rows[i]];

        vti_table_count(table, row->numbers.calls);
        if (!is_narrow)
            vti_table_count(table, row->numbers.primitive);
        vti_table_count(table, row->resumes);
        add_time(table, list->profile->calls, row->numbers.self_s, row->numbers.self_sampled_s,
                 !row->numbers.calls);
        add_time(table, list->profile->calls, row->numbers.total_s, row->numbers.total_sampled_s,
                 !row->numbers.calls);
        add_seconds(table, row->suspended_s);
        add_seconds(table, row->shortest_s);
        add_seconds(table, row->p50_s);
        add_seconds(table, row->p99_s);
        add_seconds(table, row->longest_s);
        vti_table_text(table, list->labels[list->rows[i]]);
    }
    code = vti_table_render(table, out, width);
    vti_table_free(table);
    return code;
}

static void add_number(struct vti_json *json, const char *key, double value)
{
    vti_json_key(json, key);
    vti_json_double(json, value);
}

static void add_count(struct vti_json *json, const char *key, uint64_t value)
{
    vti_json_key(json, key);
    vti_json_uint(json, value);
}

static void add_string(struct vti_json *json, const char *key, const char *value)
{
    vti_json_key(json, key);
    vti_json_string(json, value);
}

static void add_numbers(struct vti_json *json, const struct vti_profile_numbers *numbers,
                        bool has_times)
{
    add_count(json, "ncalls", numbers->calls);
    add_count(json, "pcalls", numbers->primitive);
    add_number(json, "tottime", has_times ? numbers->self_s : NAN);
    add_number(json, "cumtime", has_times ? numbers->total_s : NAN);
}

/* How far estimates may be off; nothing where all is exact. */
static void add_errors(struct vti_json *json, const struct vti_calls *calls,
                       const struct vti_profile_row *row)
{
    const struct vti_profile_numbers *numbers = &row->numbers;

    if (!(numbers->self_sampled_s > 0 || numbers->total_sampled_s > 0))
        return;
    add_count(json, "samples", row->samples);
    add_number(json, "tottime_error", vti_calls_error(calls, numbers->self_sampled_s * 1e9) / 1e9);
    add_number(json, "cumtime_error", vti_calls_error(calls, numbers->total_sampled_s * 1e9) / 1e9);
}

static void add_place(struct vti_json *json, const struct vti_profile_row *row)
{
    add_string(json, "file", row->file);
    add_count(json, "line", row->line);
    add_string(json, "name", row->name);
}

static void add_row(struct vti_json *json, const struct vti_profile *profile,
                    const struct vti_profile_row *row)
{
    const struct vti_function *function = &profile->calls->functions[row->function];

    vti_json_object(json);
    add_place(json, row);
    add_string(json, "qualified_name", function->name);
    add_string(json, "language", function->language);
    add_numbers(json, &row->numbers, true);
    add_errors(json, profile->calls, row);
    add_count(json, "resumes", row->resumes);
    add_number(json, "suspended", row->suspended_s);
    add_number(json, "min", row->shortest_s);
    add_number(json, "p50", row->p50_s);
    add_number(json, "p90", row->p90_s);
    add_number(json, "p99", row->p99_s);
    add_number(json, "max", row->longest_s);
    vti_json_key(json, "callers");
    vti_json_array(json);
    for (size_t i = 0; i < row->caller_count; i++) {
        const struct vti_profile_arc *arc = &profile->arcs[row->first_caller + i];

        vti_json_object(json);
        add_place(json, &profile->rows[arc->caller]);
        add_numbers(json, &arc->numbers, !arc->is_count_only);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
    vti_json_object_end(json);
}

void vti_stats_json(struct vti_buf *out, const struct vti_stats_list *list,
                    const struct vti_stats_sums *sums, const char *file)
{
    struct vti_json json;

    vti_json_init(&json, out);
    vti_json_object(&json);
    add_count(&json, "version", 1);
    vti_json_key(&json, "path");
    vti_json_string(&json, file);
    add_count(&json, "total_calls", sums->calls);
    add_count(&json, "primitive_calls", sums->primitive);
    add_number(&json, "total_time", sums->self_s);
    add_number(&json, "own_cost", sums->cost_s);
    add_count(&json, "lost_calls", sums->lost_calls);
    vti_json_add_bool(&json, "lost_calls_at_least", sums->has_unseen);
    vti_json_key(&json, "functions");
    vti_json_array(&json);
    for (size_t i = 0; i < list->count; i++)
        add_row(&json, list->profile, &list->profile->rows[list->rows[i]]);
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    vti_buf_add_u8(out, '\n');
}
