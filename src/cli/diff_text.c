/* diff_text.c - what changed between two runs, as text and as JSON. */
#include "base/error.h"
#include "base/json.h"
#include "cli/check.h"
#include "cli/diff.h"
#include "cli/prose.h"
#include "cli/reading.h"
#include "cli/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Less than that of a run's own time is not called a change in words, … */
#define SAME_SHARE 0.01
/* … and a function that is called as often and changed by less than that is left out. */
#define LEAST_SHARE 0.001

/* ---- order ----------------------------------------------------------------------------------- */

static double change_of_self(const struct vti_diff_function *row)
{
    return row->now.self_ns - row->base.self_ns;
}

static double change_of_total(const struct vti_diff_function *row)
{
    return row->now.total_ns - row->base.total_ns;
}

static double change_of_calls(const struct vti_diff_function *row)
{
    return (double)row->now.calls - (double)row->base.calls;
}

static int compare_texts(const struct vti_diff_function *a, const struct vti_diff_function *b)
{
    int order = strcmp(a->name, b->name);

    return order ? order : strcmp(a->file, b->file);
}

#define BY(what)                                                                                   \
    static int by_##what(const void *left, const void *right)                                      \
    {                                                                                              \
        const struct vti_diff_function *const *a = left;                                           \
        const struct vti_diff_function *const *b = right;                                          \
        double one = fabs(change_of_##what(*a));                                                   \
        double other = fabs(change_of_##what(*b));                                                 \
                                                                                                   \
        return one < other ? 1 : one > other ? -1 : compare_texts(*a, *b);                         \
    }
BY(self)
BY(total)
BY(calls)

static int by_name(const void *left, const void *right)
{
    return compare_texts(*(const struct vti_diff_function *const *)left,
                         *(const struct vti_diff_function *const *)right);
}

const struct vti_diff_function **vti_diff_rows(const struct vti_diff_view *view, size_t *count)
{
    const struct vti_diff *diff = view->diff;
    const struct vti_diff_function **rows = calloc(diff->function_count + 1, sizeof *rows);
    const char *sort = view->sort ? view->sort : "self";
    bool by_totals = !strcmp(sort, "total");
    double least = LEAST_SHARE * fmax(diff->base->self_ns, diff->now->self_ns);

    *count = 0;
    if (!rows)
        return NULL;
    for (size_t i = 0; i < diff->function_count; i++) {
        const struct vti_diff_function *row = &diff->functions[i];

        if (view->has_all || change_of_calls(row) != 0 || row->match != VTI_DIFF_BOTH ||
            fabs(by_totals ? change_of_total(row) : change_of_self(row)) > least)
            rows[(*count)++] = row;
    }
    qsort(rows, *count, sizeof *rows,
          by_totals                ? by_total
          : !strcmp(sort, "calls") ? by_calls
          : !strcmp(sort, "name")  ? by_name
                                   : by_self);
    if (*count > view->limit)
        *count = view->limit;
    return rows;
}

/* ---- text ------------------------------------------------------------------------------------ */

const char *vti_diff_signed_time(char to[VTI_NUMBER_BYTES + 1], double ns)
{
    to[0] = ns < 0 ? '-' : '+';
    vti_text_duration(to + 1, fabs(ns));
    return to;
}

static void add_time(struct vti_table *table, double ns, bool is_there)
{
    if (is_there)
        vti_table_time(table, ns);
    else
        vti_table_text(table, "-");
}

static void add_calls(struct vti_table *table, const struct vti_diff_function *row)
{
    if (row->base.calls == row->now.calls)
        vti_table_count(table, row->now.calls);
    else
        vti_table_printf(table, "%llu to %llu", (unsigned long long)row->base.calls,
                         (unsigned long long)row->now.calls);
}

static void add_function(struct vti_table *table, const struct vti_diff_function *row)
{
    const char *file = strrchr(row->file, '/');
    uint32_t line = row->match == VTI_DIFF_GONE ? row->base_line : row->line;
    const char *what = row->match == VTI_DIFF_GONE  ? "  (gone)"
                       : row->match == VTI_DIFF_NEW ? "  (new)"
                                                    : "";

    file = file ? file + 1 : row->file;
    if (*file && line)
        vti_table_printf(table, "%s  %s:%u%s", row->name, file, line, what);
    else
        vti_table_printf(table, "%s%s", row->name, what);
}

static int print_rows(const struct vti_diff_function **rows, size_t count)
{
    static const struct vti_column columns[] = {
        {"Self change", VTI_RIGHT},  {"Was", VTI_RIGHT},   {"Is", VTI_RIGHT},
        {"Total change", VTI_RIGHT}, {"Calls", VTI_RIGHT}, {"Function", VTI_LEFT}};
    struct vti_table *table;
    char text[VTI_NUMBER_BYTES + 1];
    int code = vti_table_create(&table, columns, sizeof columns / sizeof *columns);

    if (code)
        return code;
    for (size_t i = 0; i < count; i++) {
        vti_table_text(table, vti_diff_signed_time(text, change_of_self(rows[i])));
        add_time(table, rows[i]->base.self_ns, rows[i]->match != VTI_DIFF_NEW);
        add_time(table, rows[i]->now.self_ns, rows[i]->match != VTI_DIFF_GONE);
        vti_table_text(table, vti_diff_signed_time(text, change_of_total(rows[i])));
        add_calls(table, rows[i]);
        add_function(table, rows[i]);
    }
    code = vti_table_print(table, stdout);
    vti_table_free(table);
    return code;
}

static void print_side(const char *title, const char *name, const struct vti_diff_side *side)
{
    struct vti_buf text = {0};
    char when[VTI_WHEN_BYTES];
    char duration[VTI_NUMBER_BYTES];

    vti_text_safe(&text, name, strlen(name));
    if (side->start_realtime_ns)
        vti_buf_printf(&text, ", %s, %s", vti_text_when(when, side->start_realtime_ns),
                       vti_text_duration(duration, side->duration_ns));
    if (*side->command) {
        vti_buf_add_text(&text, ", ");
        vti_text_safe(&text, side->command, strlen(side->command));
    }
    if (!text.failed)
        printf("%-5s %.*s\n", title, (int)text.len, (const char *)text.data);
    vti_buf_fini(&text);
}

/* ": 1.57 s, then 1.06 s (510 ms less, -32 %)". */
static void print_change(double was, double is)
{
    char one[VTI_NUMBER_BYTES];
    char other[VTI_NUMBER_BYTES];
    char change[VTI_NUMBER_BYTES];
    char share[VTI_NUMBER_BYTES] = "";

    if (was > 0) /* from nothing there is none */
        snprintf(share, sizeof share, ", %+.0f %%", 100 * (is - was) / was);
    printf(": %s, then %s", vti_text_duration(one, was), vti_text_duration(other, is));
    if (fabs(is - was) > SAME_SHARE * fmax(was, is))
        printf(" (%s %s%s)", vti_text_duration(change, fabs(is - was)), is > was ? "more" : "less",
               share);
    printf("\n");
}

/* How long they lasted is what people wait for; self time adds threads up, and waiting too. */
static void print_verdict(const struct vti_diff *diff)
{
    double was = diff->base->duration_ns;
    double is = diff->now->duration_ns;

    if (diff->function_count && !diff->common) {
        printf("They have no function and no span in common.\n");
        return;
    }
    if (was > 0 && is > 0) {
        printf("%s", fabs(is - was) <= SAME_SHARE * fmax(was, is)
                         ? "The new run lasted as long as the base"
                     : is > was ? "The new run is slower"
                                : "The new run is faster");
        print_change(was, is);
    }
    if (!diff->function_count)
        return;
    printf("Self time, all threads together");
    print_change(diff->base->self_ns, diff->now->self_ns);
}

/* "CPU time: 1.20 s, then 1.31 s (+9 %)", and the like. */
void vti_diff_sentences(struct vti_buf *to, const struct vti_comparison *quantities)
{
    static const struct {
        const char *name, *label;
    } shown[] = {{"cpu", "CPU time"},
                 {"rss", "Peak memory"},
                 {"energy", "Energy"},
                 {"items", "Items"},
                 {"effective", "Effective items"}};

    for (size_t i = 0; i < sizeof shown / sizeof *shown; i++)
        for (size_t j = 0; j < quantities->count; j++) {
            const struct vti_compared *row = &quantities->rows[j];
            char was[VTI_NUMBER_BYTES];
            char is[VTI_NUMBER_BYTES];
            char change[VTI_CHANGE_BYTES];

            if (strcmp(row->name, shown[i].name))
                continue;
            vti_buf_printf(to, "%s%s: %s, then %s", shown[i].label,
                           row->is_per_item ? " an item" : "",
                           vti_check_value(was, row->kind, row->base),
                           vti_check_value(is, row->kind, row->now));
            if (fabs(row->now - row->base) > SAME_SHARE * fmax(row->base, row->now))
                vti_buf_printf(to, " (%s)", vti_check_change(change, row->ratio));
            vti_buf_add_text(to, "\n");
        }
}

static void print_quantities(const struct vti_comparison *quantities)
{
    struct vti_buf text = {0};

    vti_diff_sentences(&text, quantities);
    if (!text.failed)
        printf("%.*s", (int)text.len, (const char *)text.data);
    vti_buf_fini(&text);
}

static void print_doubts(const struct vti_diff *diff)
{
    const char *at = (const char *)diff->doubts.data;
    const char *end = at ? at + diff->doubts.len : NULL;

    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct vti_buf text = {0};

        vti_buf_add_text(&text, "Compare with care: ");
        vti_text_safe(&text, at, (size_t)(stop - at));
        vti_buf_add(&text, ".", sizeof ".");
        if (!text.failed)
            vti_prose_print((const char *)text.data, 2);
        vti_buf_fini(&text);
        at = stop + 1;
    }
    printf("One run a side: how much of this is noise is not known.\n");
}

int vti_diff_print(const struct vti_diff_view *view)
{
    size_t count;
    const struct vti_diff_function **rows = vti_diff_rows(view, &count);
    int code = rows ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");

    if (code)
        return code;
    print_side("base", view->base_name, view->diff->base);
    print_side("new", view->name, view->diff->now);
    printf("\n");
    print_verdict(view->diff);
    print_quantities(view->quantities);
    printf("\n");
    if (count)
        code = print_rows(rows, count);
    else if (view->diff->function_count)
        printf("Nothing changed: calls are the same, times within %g %% of the run.\n",
               100 * LEAST_SHARE);
    else
        printf("Neither of them holds functions or spans.\n");
    printf("\n");
    if (!code && view->diff->part_count) {
        code = vti_diff_print_parts(view);
        printf("\n");
    }
    print_doubts(view->diff);
    free(rows);
    return code;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_numbers(struct vti_json *json, const char *key,
                        const struct vti_diff_numbers *numbers)
{
    vti_json_key(json, key);
    vti_json_object(json);
    vti_json_add_uint(json, "calls", numbers->calls);
    vti_json_add_double(json, "self_ns", numbers->self_ns);
    vti_json_add_double(json, "total_ns", numbers->total_ns);
    vti_json_object_end(json);
}

static void add_row(struct vti_json *json, const struct vti_diff_function *row)
{
    static const char *const matches[] = {"both", "gone", "new"};

    vti_json_object(json);
    vti_json_add_string(json, "name", row->name);
    vti_json_add_string(json, "file", row->file);
    vti_json_add_string(json, "language", row->language);
    vti_json_add_uint(json, "line", row->line);
    vti_json_add_uint(json, "base_line", row->base_line);
    vti_json_add_string(json, "match", matches[row->match]);
    add_numbers(json, "base", &row->base);
    add_numbers(json, "new", &row->now);
    vti_json_object_end(json);
}

static void add_side(struct vti_json *json, const char *key, const char *name,
                     const struct vti_diff_side *side)
{
    vti_json_key(json, key);
    vti_json_object(json);
    vti_json_add_string(json, "file", name);
    vti_json_add_string(json, "command", side->command);
    vti_json_add_double(json, "duration_ns", side->duration_ns);
    vti_json_add_double(json, "self_ns", side->self_ns);
    vti_json_add_uint(json, "lost_events", side->lost_events);
    vti_json_object_end(json);
}

static void add_doubts(struct vti_json *json, const struct vti_diff *diff)
{
    const char *at = (const char *)diff->doubts.data;
    const char *end = at ? at + diff->doubts.len : NULL;

    vti_json_key(json, "doubts");
    vti_json_array(json);
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));

        vti_json_bytes(json, at, (size_t)(stop - at));
        at = stop + 1;
    }
    vti_json_array_end(json);
}

static void add_quantities(struct vti_json *json, const struct vti_comparison *quantities)
{
    vti_json_key(json, "quantities");
    vti_json_array(json);
    for (size_t i = 0; i < quantities->count; i++) {
        const struct vti_compared *row = &quantities->rows[i];

        vti_json_object(json);
        vti_json_add_string(json, "name", row->name);
        vti_json_add_string(json, "kind", vti_quantity_kind_text(row->kind));
        vti_json_add_bool(json, "per_item", row->is_per_item);
        vti_json_add_double(json, "base", row->base);
        vti_json_add_double(json, "new", row->now);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

int vti_diff_json(const struct vti_diff_view *view)
{
    struct vti_buf out = {0};
    struct vti_json json;
    size_t count;
    const struct vti_diff_function **rows = vti_diff_rows(view, &count);

    if (!rows)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    vti_json_init(&json, &out);
    vti_json_object(&json);
    add_side(&json, "base", view->base_name, view->diff->base);
    add_side(&json, "new", view->name, view->diff->now);
    add_doubts(&json, view->diff);
    vti_json_key(&json, "functions");
    vti_json_array(&json);
    for (size_t i = 0; i < count; i++)
        add_row(&json, rows[i]);
    vti_json_array_end(&json);
    vti_diff_add_parts(&json, view->diff);
    add_quantities(&json, view->quantities);
    vti_json_object_end(&json);
    free(rows);
    return vti_print_json(&out);
}
