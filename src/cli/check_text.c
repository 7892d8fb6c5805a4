/* check_text.c - what a check found, as text for a terminal. */
#include "base/error.h"
#include "cli/check.h"
#include "cli/cmd.h"
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
        snprintf(to, VTI_NUMBER_BYTES, "%.3g J", value);
        return to;
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
    default:
        snprintf(to, VTI_NUMBER_BYTES, result->budget.unit == 'J' ? "%.6g J" : "%.6g",
                 result->value);
        return to;
    }
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

static void add_interval(struct vti_table *table, const struct vti_compared *row)
{
    char low[VTI_CHANGE_BYTES];
    char high[VTI_CHANGE_BYTES];

    if (row->kind == VTI_QUANTITY_COUNT || row->kind == VTI_QUANTITY_ITEMS || isinf(row->low))
        vti_table_text(table, "");
    else
        vti_table_printf(table, "%s to %s", vti_check_change(low, row->low),
                         vti_check_change(high, row->high));
}

static void add_row(struct vti_table *table, const struct vti_compared *row)
{
    char text[VTI_NUMBER_BYTES];
    char change[VTI_CHANGE_BYTES];
    bool is_count = row->kind == VTI_QUANTITY_COUNT || row->kind == VTI_QUANTITY_ITEMS;

    vti_table_text(table, vti_check_value(text, row->kind, row->base));
    vti_table_text(table, vti_check_value(text, row->kind, row->now));
    vti_table_text(table, row->base == row->now ? "" : vti_check_change(change, row->ratio));
    add_interval(table, row);
    if (is_count)
        vti_table_text(table, "");
    else
        vti_table_printf(table, "%.2g", row->adjusted);
    vti_table_printf(table, row->gates ? "%s" : "(%s)", vti_verdict_text(row->verdict));
    vti_table_printf(table, "%s%s%s%s", row->entry, *row->entry ? ": " : "", row->name,
                     row->is_per_item ? " an item" : "");
}

static int print_rows(const struct vti_comparison *comparison)
{
    static const struct vti_column columns[] = {
        {"Base", VTI_RIGHT}, {"New", VTI_RIGHT},    {"Change", VTI_RIGHT}, {"98 % sure", VTI_RIGHT},
        {"p", VTI_RIGHT},    {"Verdict", VTI_LEFT}, {"Quantity", VTI_LEFT}};
    struct vti_table *table;
    size_t counts = 0;
    size_t same = 0;
    int code = vti_table_create(&table, columns, sizeof columns / sizeof *columns);

    for (size_t i = 0; i < comparison->count && !code; i++) {
        const struct vti_compared *row = &comparison->rows[i];

        same += row->kind == VTI_QUANTITY_COUNT && row->gates && row->now == row->base;
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
    if (!code)
        printf("(in parentheses: shown, but does not decide)\n");
    return code;
}

/* ---- around them --------------------------------------------------------------------------------- */

static void print_lines(const char *title, const struct vti_buf *lines)
{
    const char *at = (const char *)lines->data;
    const char *end = at ? at + lines->len : NULL;

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

    if (checking->has_base)
        print_side("base", checking->names[0]);
    print_side("new", checking->names[1]);
    vti_buf_printf(&text, "%s: ", words[checking->exit_code & 3]);
    vti_text_safe(&text, checking->why, strlen(checking->why));
    if (checking->has_base && checking->pairs[0]) {
        vti_buf_printf(&text, " (%zu", checking->pairs[0]);
        if (checking->pairs[1])
            vti_buf_printf(&text, " and %zu", checking->pairs[1]);
        vti_buf_printf(&text, " %s)", checking->options.is_paired ? "pairs of runs" : "runs");
    }
    vti_buf_add_text(&text, ".");
    vti_buf_add_u8(&text, 0);
    printf("\n%s", vti_terminal_style(stdout, VTI_STYLE_BOLD));
    if (!text.failed)
        vti_prose_print((const char *)text.data, 2);
    printf("%s", vti_terminal_style(stdout, VTI_STYLE_PLAIN));
    vti_buf_fini(&text);
}

static void print_budgets(const struct vti_checking *checking)
{
    for (size_t i = 0; i < checking->budget_count; i++) {
        const struct vti_budget_result *result = &checking->budgets[i];
        char value[VTI_NUMBER_BYTES];
        struct vti_buf text = {0};

        vti_text_safe(&text, result->budget.text, strlen(result->budget.text));
        if (text.failed)
            return;
        if (isnan(result->value))
            printf("budget %.*s: unknown, nothing of that name was measured\n", (int)text.len,
                   (const char *)text.data);
        else
            printf("budget %.*s: %s, it is %s\n", (int)text.len, (const char *)text.data,
                   result->is_kept ? "kept" : "BROKEN", vti_check_budget_value(value, result));
        vti_buf_fini(&text);
    }
}

static int print_reasons(const struct vti_checking *checking)
{
    static const struct vti_column columns[] = {{"Own time", VTI_RIGHT},
                                                {"Was", VTI_RIGHT},
                                                {"Is", VTI_RIGHT},
                                                {"Calls, hits", VTI_RIGHT},
                                                {"What", VTI_LEFT}};
    struct vti_table *table;
    char text[VTI_NUMBER_BYTES];
    int code;

    if (!checking->reason_count)
        return 0;
    printf("\nWhat carries it (one recorded run of each side):\n");
    code = vti_table_create(&table, columns, sizeof columns / sizeof *columns);
    for (size_t i = 0; i < checking->reason_count && !code; i++) {
        const struct vti_reason *reason = &checking->reasons[i];
        double change = reason->now_s - reason->base_s;

        vti_table_printf(table, "%c%s", change < 0 ? '-' : '+',
                         vti_text_duration(text, 1e9 * fabs(change)));
        vti_table_time(table, 1e9 * reason->base_s);
        vti_table_time(table, 1e9 * reason->now_s);
        if (reason->base_count == reason->now_count)
            vti_table_printf(table, "%.12g", reason->now_count);
        else
            vti_table_printf(table, "%.12g to %.12g", reason->base_count, reason->now_count);
        vti_table_printf(table, "%s %s", reason->kind, reason->text);
    }
    if (!code) {
        code = vti_table_print(table, stdout);
        vti_table_free(table);
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
                    &checking->comparison.doubts);
        print_lines("Note", &checking->comparison.notes);
    }
    return code ? code : print_reasons(checking);
}
