/* check_text.c - what a check found, as text for a terminal. */
#include "base/error.h"
#include "cli/bench.h"
#include "cli/check.h"
#include "cli/cmd.h"
#include "cli/energy.h"
#include "cli/prose.h"
#include "cli/render.h"

#include <math.h>
#include <string.h>

#define MOST_COUNTS 10 /* rows of counts that changed */

const char *vti_check_change(char to[VTI_CHANGE_BYTES], double ratio)
{
    if (!isfinite(ratio))
        snprintf(to, VTI_CHANGE_BYTES, "?");
    else if (ratio >= 3)
        snprintf(to, VTI_CHANGE_BYTES, "%.3g times", ratio);
    else
        snprintf(to, VTI_CHANGE_BYTES, fabs(ratio - 1) < 0.0995 ? "%+.1f %%" : "%+.0f %%",
                 100 * (ratio - 1));
    return to;
}

const char *vti_check_value(char to[VTI_NUMBER_BYTES], enum vti_quantity_kind kind, double value)
{
    switch (kind) {
    case VTI_QUANTITY_MEMORY:
        return vti_text_bytes(to, value > 0 ? (uint64_t)value : 0);
    case VTI_QUANTITY_COUNT:
    case VTI_QUANTITY_ITEMS:
    case VTI_QUANTITY_VALUE:
        snprintf(to, VTI_NUMBER_BYTES, "%.12g", value);
        return to;
    case VTI_QUANTITY_ENERGY:
        return vti_text_joules(to, value);
    default:
        return vti_text_duration(to, 1e9 * value);
    }
}

const char *vti_check_budget_value(char to[VTI_NUMBER_BYTES],
                                   const struct vti_budget_result *result)
{
    switch (result->budget.unit) {
    case 's':
        return vti_text_duration(to, 1e9 * result->value);
    case 'B':
        return vti_text_bytes(to, result->value > 0 ? (uint64_t)result->value : 0);
    case 'J':
        return vti_text_joules(to, result->value);
    default:
        snprintf(to, VTI_NUMBER_BYTES, "%.6g", result->value);
        return to;
    }
}

const char *vti_check_interval(char to[VTI_INTERVAL_BYTES], const struct vti_compared *row)
{
    char low[VTI_CHANGE_BYTES];
    char high[VTI_CHANGE_BYTES];

    to[0] = 0; /* of too few runs it is everything */
    if (row->kind != VTI_QUANTITY_COUNT && row->kind != VTI_QUANTITY_ITEMS && row->low > 0 &&
        isfinite(row->high))
        snprintf(to, VTI_INTERVAL_BYTES, "%s to %s", vti_check_change(low, row->low),
                 vti_check_change(high, row->high));
    return to;
}

const char *vti_check_counts(char to[VTI_COUNTS_BYTES], const struct vti_reason *reason)
{
    if (isnan(reason->now_count))
        snprintf(to, VTI_COUNTS_BYTES, "-");
    else if (reason->base_count == reason->now_count)
        snprintf(to, VTI_COUNTS_BYTES, "%.12g", reason->now_count);
    else
        snprintf(to, VTI_COUNTS_BYTES, "%.12g to %.12g", reason->base_count, reason->now_count);
    return to;
}

const char *vti_check_runs_text(char to[VTI_COUNTS_BYTES], const struct vti_checking *checking)
{
    const char *what = checking->options.is_paired ? "pairs of runs" : "runs";

    to[0] = 0;
    if (checking->has_base && checking->pairs[1])
        snprintf(to, VTI_COUNTS_BYTES, " (%zu and %zu %s)", checking->pairs[0], checking->pairs[1],
                 what);
    else if (checking->has_base && checking->pairs[0])
        snprintf(to, VTI_COUNTS_BYTES, " (%zu %s)", checking->pairs[0], what);
    return to;
}

const char *vti_check_times_text(const struct vti_checking *checking)
{
    return checking->reason_runs > 1
               ? "functions: medians of 3 recorded runs a side; lines: one run"
           : vti_check_worse_count(&checking->comparison)
               ? "counts decide; times are of one recorded run of each side"
               : "one recorded run of each side";
}

static bool has_reason(const struct vti_checking *checking, const char *kind)
{
    for (size_t i = 0; i < checking->reason_count; i++)
        if (!strcmp(checking->reasons[i].kind, kind))
            return true;
    return false;
}

/* A line that calls something takes longer than the function that it is in: not the same kind of time, nor the same run. */
void vti_check_reasons_legend(struct vti_buf *to, const struct vti_checking *checking)
{
    vti_buf_add_text(to, "(time of functions and spans: their own");
    if (has_reason(checking, "task"))
        vti_buf_add_text(to, "; of tasks: all of it");
    if (has_reason(checking, "line"))
        vti_buf_add_text(to, "; of lines: with what they call, and longer, as this run timed every "
                             "line");
    vti_buf_add_text(to, ")");
}

bool vti_check_is_shown(const struct vti_compared *row)
{
    if (row->kind == VTI_QUANTITY_ITEMS)
        return true;
    if (row->kind == VTI_QUANTITY_COUNT)
        return row->now != row->base;
    return row->kind != VTI_QUANTITY_TIME || row->gates;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static void add_row(struct vti_table *table, const struct vti_compared *row)
{
    char text[VTI_NUMBER_BYTES];
    char change[VTI_CHANGE_BYTES];
    char interval[VTI_INTERVAL_BYTES];
    bool is_count = row->kind == VTI_QUANTITY_COUNT || row->kind == VTI_QUANTITY_ITEMS;

    vti_table_text(table, vti_check_value(text, row->kind, row->base));
    vti_table_text(table, vti_check_value(text, row->kind, row->now));
    vti_table_text(table, row->base == row->now ? "" : vti_check_change(change, row->ratio));
    vti_table_text(table, vti_check_interval(interval, row));
    if (is_count)
        vti_table_text(table, "");
    else
        vti_table_printf(table, "%.2g", row->adjusted);
    vti_table_printf(table, row->gates ? "%s" : "(%s)", vti_verdict_text(row->verdict));
    vti_table_printf(table, "%s%s%s%s", row->entry, *row->entry ? ": " : "", row->name,
                     row->is_per_item ? " an item" : "");
}

void vti_check_legend(struct vti_buf *to, const struct vti_comparison *comparison)
{
    bool has_any = false;
    bool can_gate = false;
    bool is_small = false;
    bool varies = false;

    for (size_t i = 0; i < comparison->count; i++) {
        const struct vti_compared *row = &comparison->rows[i];

        if (row->gates || !vti_check_is_shown(row))
            continue;
        has_any = true;
        can_gate |= row->kind == VTI_QUANTITY_WALL || row->kind == VTI_QUANTITY_MEMORY;
        if (row->kind == VTI_QUANTITY_COUNT) {
            varies |= row->verdict == VTI_VERDICT_UNKNOWN;
            is_small |= row->verdict != VTI_VERDICT_UNKNOWN;
        }
    }
    if (!has_any)
        return;
    vti_buf_add_text(to, "(in parentheses: shown, but does not decide");
    if (!comparison->is_same_work) {
        can_gate = is_small = varies = false;
        vti_buf_add_text(to, ": not comparable");
    }
    if (can_gate && comparison->is_comparable)
        vti_buf_add_text(to, "; wall and rss do with --gate");
    if (is_small)
        vti_buf_add_text(to, "; a count of what takes less than 1 % of the time never does");
    if (varies)
        vti_buf_add_text(to, "; nor does a count that varies, or is of another amount of work");
    vti_buf_add_text(to, ")");
}

const char *vti_check_change_legend(const struct vti_comparison *comparison)
{
    char interval[VTI_INTERVAL_BYTES];

    for (size_t i = 0; i < comparison->count; i++)
        if (vti_check_is_shown(&comparison->rows[i]) &&
            *vti_check_interval(interval, &comparison->rows[i]))
            return "(Change: middle of the pairs (Hodges-Lehmann), not the ratio of the medians)";
    return "";
}

/* Frees the text. */
static void print_legend(struct vti_buf *text)
{
    vti_buf_add_u8(text, 0);
    if (!text->failed && text->len > 1)
        vti_prose_print((const char *)text->data, 1);
    vti_buf_fini(text);
}

static int print_rows(const struct vti_comparison *comparison)
{
    static const struct vti_column columns[] = {
        {"Base", VTI_RIGHT}, {"New", VTI_RIGHT},    {"Change", VTI_RIGHT}, {"98 % sure", VTI_RIGHT},
        {"p", VTI_RIGHT},    {"Verdict", VTI_LEFT}, {"Quantity", VTI_LEFT}};
    struct vti_table *table;
    size_t counts = 0;
    size_t same = vti_check_same_counts(comparison);
    struct vti_buf legend = {0};
    int code = vti_table_create(&table, columns, sizeof columns / sizeof *columns);

    for (size_t i = 0; i < comparison->count && !code; i++) {
        const struct vti_compared *row = &comparison->rows[i];

        if (vti_check_is_shown(row) && (row->kind != VTI_QUANTITY_COUNT || counts++ < MOST_COUNTS))
            add_row(table, row);
    }
    if (!code) {
        vti_table_keep_last(table, 12);
        code = vti_table_print(table, stdout);
        vti_table_free(table);
    }
    if (!code && counts > MOST_COUNTS)
        printf("… and %zu more counts that changed\n", counts - MOST_COUNTS);
    if (!code && same)
        printf("%zu count%s the same on both sides\n", same, same == 1 ? " is" : "s are");
    if (!code && *vti_check_change_legend(comparison))
        vti_prose_print(vti_check_change_legend(comparison), 1);
    if (!code) {
        vti_check_legend(&legend, comparison);
        print_legend(&legend);
    }
    return code;
}

/* ---- around them --------------------------------------------------------------------------------- */

static void print_lines(const char *title, const struct vti_buf *lines, bool without_first)
{
    const char *at = (const char *)lines->data;
    const char *end = at ? at + lines->len : NULL;

    if (at && without_first)
        at = (const char *)memchr(at, '\n', lines->len) + 1;
    while (at < end) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        struct vti_buf text = {0};

        vti_buf_printf(&text, "%s: ", title);
        vti_text_safe(&text, at, (size_t)(stop - at));
        vti_buf_add_u8(&text, '.');
        vti_buf_add_u8(&text, 0);
        if (!text.failed)
            vti_prose_print((const char *)text.data, 2);
        vti_buf_fini(&text);
        at = stop + 1;
    }
}

static void print_side(const char *title, const char *name)
{
    struct vti_buf text = {0};

    vti_buf_printf(&text, "%-5s ", title);
    vti_text_safe(&text, name ? name : "", name ? strlen(name) : 0);
    vti_buf_add_u8(&text, 0);
    if (!text.failed)
        vti_prose_print((const char *)text.data, 6);
    vti_buf_fini(&text);
}

static void print_head(const struct vti_checking *checking)
{
    static const char *const words[] = {"OK", "REGRESSION", "ERROR", "INCONCLUSIVE"};
    struct vti_buf text = {0};
    char runs[VTI_COUNTS_BYTES];

    if (checking->has_base)
        print_side("base", checking->names[0]);
    print_side("new", checking->names[1]);
    vti_buf_printf(&text, "%s: ", words[checking->exit_code & 3]);
    vti_text_safe(&text, checking->why, strlen(checking->why));
    vti_buf_printf(&text, "%s", vti_check_runs_text(runs, checking));
    vti_buf_add_text(&text, ".");
    vti_buf_add_u8(&text, 0);
    printf("\n%s", vti_terminal_style(stdout, VTI_STYLE_BOLD));
    if (!text.failed)
        vti_prose_print((const char *)text.data, 2);
    printf("%s", vti_terminal_style(stdout, VTI_STYLE_PLAIN));
    vti_buf_fini(&text);
}

static void print_budget(const struct vti_checking *checking,
                         const struct vti_budget_result *result)
{
    struct vti_buf text = {0};
    char value[VTI_NUMBER_BYTES];

    vti_buf_add_text(&text, "budget ");
    vti_text_safe(&text, result->budget.text, strlen(result->budget.text));
    if (isnan(result->value))
        vti_buf_printf(&text, ": unknown, %s", vti_check_unknown(checking, result));
    else
        vti_buf_printf(&text, ": %s, it is %s", result->is_kept ? "kept" : "BROKEN",
                       vti_check_budget_value(value, result));
    vti_buf_add_u8(&text, 0);
    if (!text.failed)
        vti_prose_print((const char *)text.data, 2);
    vti_buf_fini(&text);
}

static void print_budgets(const struct vti_checking *checking)
{
    for (size_t i = 0; i < checking->budget_count; i++)
        print_budget(checking, &checking->budgets[i]);
    if (checking->bencher.how)
        printf("Joules: the program's full share, %s.\n", vti_bench_how(checking->bencher.how));
}

static int print_reasons(const struct vti_checking *checking)
{
    static const struct vti_column columns[] = {{"Change", VTI_RIGHT},
                                                {"Was", VTI_RIGHT},
                                                {"Is", VTI_RIGHT},
                                                {"Calls, hits", VTI_RIGHT},
                                                {"What", VTI_LEFT}};
    struct vti_table *table;
    struct vti_buf legend = {0};
    char text[VTI_NUMBER_BYTES];
    char counts[VTI_COUNTS_BYTES];
    int code;

    if (!checking->reason_count)
        return 0;
    printf("\nWhat carries it (%s):\n", vti_check_times_text(checking));
    code = vti_table_create(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < checking->reason_count && !code; i++) {
        const struct vti_reason *reason = &checking->reasons[i];
        double change = reason->now_s - reason->base_s;

        vti_table_printf(table, "%c%s", change < 0 ? '-' : '+',
                         vti_text_duration(text, 1e9 * fabs(change)));
        vti_table_time(table, 1e9 * reason->base_s);
        vti_table_time(table, 1e9 * reason->now_s);
        vti_table_text(table, vti_check_counts(counts, reason));
        vti_table_printf(table, "%s %s", reason->kind, reason->text);
    }
    if (!code) {
        code = vti_table_print(table, stdout);
        vti_table_free(table);
        vti_check_reasons_legend(&legend, checking);
        print_legend(&legend);
    }
    return code;
}

int vti_check_print(const struct vti_checking *checking)
{
    int code = 0;

    print_head(checking);
    printf("\n");
    if (checking->has_base && checking->comparison.count)
        code = print_rows(&checking->comparison);
    print_budgets(checking);
    if (checking->has_base) {
        print_lines(checking->comparison.is_forced ? "Compared by force" : "Not comparable",
                    &checking->comparison.doubts, checking->says_doubt);
        print_lines("Note", &checking->comparison.notes, false);
    }
    return code ? code : print_reasons(checking);
}
