/* rank_render.c - a ranking as the script's table, as a wide one, as CSV, as JSON. */
#include "cli/rank_render.h"

#include "base/csv.h"
#include "base/error.h"
#include "base/json.h"
#include "cli/render.h"

#include <math.h>
#include <stddef.h>
#include <unistd.h>

#define SECONDS_MOST 1e9 /* beyond that, as a power of ten */

static size_t row_count(const struct vti_rank *rank, const struct vti_rank_view *view)
{
    size_t count = vti_rank_count(rank);

    return view->limit && view->limit < count ? view->limit : count;
}

/* Python writes nan without the sign that C may give it. */
static double plain(double value)
{
    return isnan(value) ? NAN : value;
}

/* The script's own layout. A recording knows its times better than to the millisecond. */
static void add_script_table(struct vti_buf *out, const struct vti_rank *rank,
                             const struct vti_rank_view *view)
{
    int decimals = vti_rank_is_recording(rank) && !view->is_compat ? 6 : 3;

    vti_buf_add_text(out, "Total time | Max time | Avg time | Occurrences | Trace name\n");
    for (int i = 0; i < 91; i++)
        vti_buf_add_u8(out, '-');
    vti_buf_add_u8(out, '\n');
    for (size_t i = 0; i < row_count(rank, view); i++) {
        struct vti_rank_row row;

        vti_rank_row(rank, i, &row);
        vti_buf_printf(out, "%-12.*f %-10.*f %-10.*f %-13llu ", decimals, plain(row.total),
                       decimals, plain(row.max), decimals, plain(row.avg),
                       (unsigned long long)row.count);
        if (view->is_compat && (view->is_file || !isatty(STDOUT_FILENO)))
            vti_buf_add(out, row.name, row.len);
        else
            vti_text_safe(out, row.name, row.len);
        vti_buf_add_u8(out, '\n');
    }
}

/* One column of the wide table, the CSV and the JSON: a time in seconds or a count of a row. */
struct field {
    const char *title;
    const char *key;
    size_t at;
    bool is_count, is_wide, is_recorded; /* recorded: a log does not tell it */
};

#define AT(member) offsetof(struct vti_rank_row, member)
static const struct field fields[] = {
    {"Total", "total_s", AT(total), false, false, false},
    {"Self", "self_s", AT(self), false, true, false},
    {"Avg", "avg_s", AT(avg), false, false, false},
    {"Min", "min_s", AT(min), false, true, false},
    {"p50", "p50_s", AT(p50), false, true, false},
    {"p99", "p99_s", AT(p99), false, true, false},
    {"Max", "max_s", AT(max), false, false, false},
    {"Count", "count", AT(count), true, false, false},
    {"Open", "unfinished", AT(unfinished), true, true, false},
    {"Errors", "errors", AT(errors), true, true, true},
};
#undef AT
#define FIELD_COUNT (sizeof fields / sizeof *fields)

static bool is_shown(const struct field *field, const struct vti_rank *rank,
                     const struct vti_rank_view *view)
{
    return (view->is_wide || !field->is_wide) &&
           (vti_rank_is_recording(rank) || !field->is_recorded);
}

static double time_of(const struct field *field, const struct vti_rank_row *row)
{
    return *(const double *)((const char *)row + field->at);
}

static uint64_t count_of(const struct field *field, const struct vti_rank_row *row)
{
    return *(const uint64_t *)((const char *)row + field->at);
}

static void add_time(struct vti_table *table, double seconds)
{
    if (!isfinite(seconds))
        vti_table_text(table, "-");
    else if (fabs(seconds) < SECONDS_MOST)
        vti_table_time(table, seconds * 1e9);
    else
        vti_table_printf(table, "%.3gs", seconds);
}

static int add_wide_table(struct vti_buf *out, const struct vti_rank *rank,
                          const struct vti_rank_view *view)
{
    struct vti_column columns[FIELD_COUNT + 1];
    unsigned width = view->is_file ? 0 : vti_terminal_width(stdout);
    unsigned count = 0;
    struct vti_table *table;
    int code;

    for (unsigned f = 0; f < FIELD_COUNT; f++)
        if (is_shown(&fields[f], rank, view))
            columns[count++] = (struct vti_column){fields[f].title, VTI_RIGHT};
    columns[count++] = (struct vti_column){"Name", VTI_LEFT};
    code = vti_table_create(&table, columns, count);
    if (code)
        return code;
    for (size_t i = 0; i < row_count(rank, view); i++) {
        struct vti_rank_row row;

        vti_rank_row(rank, i, &row);
        for (unsigned f = 0; f < FIELD_COUNT; f++) {
            if (!is_shown(&fields[f], rank, view))
                continue;
            if (fields[f].is_count)
                vti_table_count(table, count_of(&fields[f], &row));
            else
                add_time(table, row.count ? time_of(&fields[f], &row) : NAN);
        }
        vti_table_bytes(table, row.len ? row.name : "(no name)", row.len ? row.len : 9);
    }
    code = vti_table_render(table, out, width);
    vti_table_free(table);
    return code;
}

/* On a terminal it is made harmless, in a file every byte stays. */
static void add_csv_name(struct vti_buf *out, const struct vti_rank_row *row, bool is_terminal)
{
    struct vti_buf name = {0};

    if (!is_terminal) {
        vti_csv_text(out, row->name, row->len);
        return;
    }
    vti_text_safe(&name, row->name, row->len);
    out->failed |= name.failed;
    vti_csv_text(out, name.data ? (const char *)name.data : "", name.len);
    vti_buf_fini(&name);
}

static void add_csv(struct vti_buf *out, const struct vti_rank *rank,
                    const struct vti_rank_view *view)
{
    bool is_terminal = !view->is_file && isatty(STDOUT_FILENO);

    vti_buf_add_text(out, "name");
    for (unsigned f = 0; f < FIELD_COUNT; f++)
        if (is_shown(&fields[f], rank, view))
            vti_buf_printf(out, ",%s", fields[f].key);
    vti_buf_add_u8(out, '\n');
    for (size_t i = 0; i < row_count(rank, view); i++) {
        struct vti_rank_row row;

        vti_rank_row(rank, i, &row);
        add_csv_name(out, &row, is_terminal);
        for (unsigned f = 0; f < FIELD_COUNT; f++) {
            if (!is_shown(&fields[f], rank, view))
                continue;
            if (fields[f].is_count) {
                vti_buf_printf(out, ",%llu", (unsigned long long)count_of(&fields[f], &row));
            } else {
                vti_buf_add_u8(out, ',');
                vti_csv_double(out, time_of(&fields[f], &row));
            }
        }
        vti_buf_add_u8(out, '\n');
    }
}

static void add_json_source(struct vti_json *json, const struct vti_rank *rank)
{
    struct vti_rank_lines lines;
    struct vti_rank_trust trust;

    vti_rank_lines(rank, &lines);
    vti_rank_trust(rank, &trust);
    vti_json_add_string(json, "source", vti_rank_is_recording(rank) ? "recording" : "log");
    if (vti_rank_is_recording(rank)) {
        vti_json_add_uint(json, "lost_events", trust.lost_events);
        vti_json_add_uint(json, "overwritten_events", trust.overwritten_events);
        vti_json_add_uint(json, "damaged_ranges", trust.damage_count);
        return;
    }
    vti_json_key(json, "lines");
    vti_json_object(json);
    vti_json_add_uint(json, "read", lines.read);
    vti_json_add_uint(json, "starts", lines.starts);
    vti_json_add_uint(json, "stops", lines.stops);
    vti_json_add_uint(json, "negative", lines.negative);
    vti_json_add_uint(json, "unusable", lines.unusable);
    vti_json_object_end(json);
}

static void add_json(struct vti_buf *out, const struct vti_rank *rank,
                     const struct vti_rank_view *view)
{
    struct vti_json json;

    vti_json_init(&json, out);
    vti_json_object(&json);
    vti_json_add_string(&json, "file", view->file);
    add_json_source(&json, rank);
    vti_json_key(&json, "names");
    vti_json_array(&json);
    for (size_t i = 0; i < row_count(rank, view); i++) {
        struct vti_rank_row row;

        vti_rank_row(rank, i, &row);
        vti_json_object(&json);
        vti_json_key(&json, "name");
        vti_json_bytes(&json, row.name, row.len);
        for (unsigned f = 0; f < FIELD_COUNT; f++) {
            if (!is_shown(&fields[f], rank, view))
                continue;
            vti_json_key(&json, fields[f].key);
            if (fields[f].is_count)
                vti_json_uint(&json, count_of(&fields[f], &row));
            else
                vti_json_double(&json, time_of(&fields[f], &row));
        }
        vti_json_object_end(&json);
    }
    vti_json_array_end(&json);
    vti_json_object_end(&json);
    vti_buf_add_u8(out, '\n');
}

int vti_rank_render(struct vti_buf *out, const struct vti_rank *rank,
                    const struct vti_rank_view *view)
{
    int code = 0;

    if (view->is_json)
        add_json(out, rank, view);
    else if (view->is_csv)
        add_csv(out, rank, view);
    else if (view->is_wide)
        code = add_wide_table(out, rank, view);
    else
        add_script_table(out, rank, view);
    return code ? code : out->failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}
