/* report_functions.c - the functions of a recording in its summary, as a table and as JSON. */
#include "base/error.h"
#include "cli/render.h"
#include "cli/report.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct order {
    const struct vti_profile *profile;
    const char *key;
    double (*value)(const struct vti_profile_row *row); /* NULL: by name */
};

/* "Step.execute"; parameters of C++ do not fit. */
static const char *shown_name(const struct vti_profile *profile, const struct vti_profile_row *row)
{
    const struct vti_function *function = &profile->calls->functions[row->function];
    const char *name = strcmp(function->language, "c") ? function->name : function->function;

    return *name ? name : row->name;
}

static double total_of(const struct vti_profile_row *row)
{
    return row->numbers.total_s;
}

static double self_of(const struct vti_profile_row *row)
{
    return row->numbers.self_s;
}

static double count_of(const struct vti_profile_row *row)
{
    return (double)row->numbers.calls;
}

static double average_of(const struct vti_profile_row *row)
{
    return row->numbers.calls ? row->numbers.total_s / (double)row->numbers.calls : NAN;
}

static double min_of(const struct vti_profile_row *row)
{
    return row->shortest_s;
}

static double max_of(const struct vti_profile_row *row)
{
    return row->longest_s;
}

static double p50_of(const struct vti_profile_row *row)
{
    return row->p50_s;
}

static double p99_of(const struct vti_profile_row *row)
{
    return row->p99_s;
}

static int compare(const void *left, const void *right, void *arg)
{
    const struct vti_profile_row *const *a = left;
    const struct vti_profile_row *const *b = right;
    const struct order *order = arg;
    double one = order->value ? order->value(*a) : 0;
    double other = order->value ? order->value(*b) : 0;
    int names = order->value
                    ? 0
                    : strcmp(shown_name(order->profile, *a), shown_name(order->profile, *b));

    if (isnan(one) || isnan(other)) /* what is not known comes last */
        names = isnan(one) - isnan(other);
    else if (one != other)
        names = one > other ? -1 : 1;
    return names ? names : (*a > *b) - (*a < *b);
}

/* Functions have no errors: by what they took themselves then, as if nothing was asked for. */
static struct order find_order(const struct vti_profile *profile, const char *key)
{
    static const struct order orders[] = {{NULL, "total", total_of}, {NULL, "count", count_of},
                                          {NULL, "min", min_of},     {NULL, "avg", average_of},
                                          {NULL, "max", max_of},     {NULL, "p50", p50_of},
                                          {NULL, "p99", p99_of},     {NULL, "name", NULL}};
    struct order order = {profile, "self", self_of};

    for (size_t i = 0; key && i < sizeof orders / sizeof *orders; i++)
        if (!strcmp(orders[i].key, key))
            order.value = orders[i].value;
    return order;
}

/* Rows in the order that was asked for; to be freed. NULL without memory. */
static const struct vti_profile_row **sorted(const struct vti_report *report)
{
    const struct vti_profile *profile = &report->study.functions;
    const struct vti_profile_row **rows = calloc(profile->row_count + 1, sizeof *rows);
    struct order order = find_order(profile, report->sort);

    for (size_t i = 0; rows && i < profile->row_count; i++)
        rows[i] = &profile->rows[i];
    if (rows)
        qsort_r(rows, profile->row_count, sizeof *rows, compare, &order);
    return rows;
}

/* "Step.execute step.py:12": the file without its folders, because the whole does not fit. */
static void add_row(const struct vti_report *report, struct vti_report_table *table,
                    const struct vti_profile_row *row)
{
    const char *slash = strrchr(row->file, '/');
    struct vti_buf name = {0};

    vti_buf_add_text(&name, row->samples ? "~" : "");
    vti_buf_add_text(&name, shown_name(&report->study.functions, row));
    if (row->line)
        vti_buf_printf(&name, " %s:%u", slash ? slash + 1 : row->file, row->line);
    vti_report_table_add(table, &(struct vti_report_row){.mark = "",
                                                         .is_part = true,
                                                         .count = row->numbers.calls,
                                                         .total_ns = row->numbers.total_s * 1e9,
                                                         .self_ns = row->numbers.self_s * 1e9,
                                                         .min_ns = row->shortest_s * 1e9,
                                                         .avg_ns = average_of(row) * 1e9,
                                                         .max_ns = row->longest_s * 1e9,
                                                         .p50_ns = row->p50_s * 1e9,
                                                         .p99_ns = row->p99_s * 1e9,
                                                         .name = (const char *)name.data,
                                                         .name_len = name.len});
    vti_buf_fini(&name);
}

int vti_report_print_functions(const struct vti_report *report)
{
    const struct vti_profile *profile = &report->study.functions;
    const struct vti_profile_row **rows;
    struct vti_report_table table;
    double self_ns = 0;
    int code;

    if (!profile->row_count)
        return 0;
    for (size_t i = 0; i < profile->row_count; i++)
        self_ns += profile->rows[i].numbers.self_s * 1e9;
    rows = sorted(report);
    code = rows ? vti_report_table_create(&table, true, self_ns)
                : vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; !code && i < profile->row_count && i < report->limit; i++)
        add_row(report, &table, rows[i]);
    if (!code)
        code = vti_report_table_print(&table);
    if (!code && profile->row_count > report->limit)
        printf("... and %zu more, `venturi stats` shows all\n", profile->row_count - report->limit);
    free(rows);
    return code;
}

static void add_seconds(struct vti_json *json, const char *key, double seconds)
{
    vti_json_add_double(json, key, seconds * 1e9);
}

void vti_report_json_functions(struct vti_json *json, const struct vti_report *report)
{
    const struct vti_profile *profile = &report->study.functions;
    const struct vti_profile_row **rows = sorted(report);

    vti_json_key(json, "functions");
    vti_json_array(json);
    for (size_t i = 0; rows && i < profile->row_count && i < report->limit; i++) {
        const struct vti_profile_row *row = rows[i];

        vti_json_object(json);
        vti_json_add_string(json, "name", profile->calls->functions[row->function].name);
        vti_json_add_string(json, "file", row->file);
        vti_json_add_uint(json, "line", row->line);
        vti_json_add_string(json, "language", profile->calls->functions[row->function].language);
        vti_json_add_uint(json, "calls", row->numbers.calls);
        vti_json_add_uint(json, "primitive_calls", row->numbers.primitive);
        vti_json_add_uint(json, "samples", row->samples);
        add_seconds(json, "total_ns", row->numbers.total_s);
        add_seconds(json, "self_ns", row->numbers.self_s);
        add_seconds(json, "min_ns", row->shortest_s);
        add_seconds(json, "max_ns", row->longest_s);
        add_seconds(json, "p50_ns", row->p50_s);
        add_seconds(json, "p99_ns", row->p99_s);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
    free(rows);
}
