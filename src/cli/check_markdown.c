/* check_markdown.c - what a check found, for a comment on a pull request. Names come from anywhere: what Markdown or HTML would obey is escaped. */
#include "cli/check.h"
#include "cli/render.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROWS 20

static void add_safe(struct vti_buf *out, const char *text)
{
    struct vti_buf safe = {0};

    vti_text_safe(&safe, text, strlen(text));
    for (size_t i = 0; i < safe.len; i++) {
        char one = (char)safe.data[i];

        if (one == '<')
            vti_buf_add_text(out, "&lt;");
        else if (one == '&')
            vti_buf_add_text(out, "&amp;");
        else {
            if (strchr("|\\`*_[]~#@", one))
                vti_buf_add_u8(out, '\\');
            vti_buf_add_u8(out, (uint8_t)one);
        }
    }
    vti_buf_fini(&safe);
}

static void add_verdict(struct vti_buf *out, const struct vti_compared *row)
{
    const char *text = vti_verdict_text(row->verdict);

    if (!row->gates)
        vti_buf_printf(out, " | (%s) |\n", text);
    else
        vti_buf_printf(out, row->verdict == VTI_VERDICT_WORSE ? " | **%s** |\n" : " | %s |\n",
                       text);
}

static void add_row(struct vti_buf *out, const struct vti_compared *row)
{
    char text[VTI_NUMBER_BYTES];
    char change[VTI_CHANGE_BYTES];
    char interval[VTI_INTERVAL_BYTES];
    bool is_count = row->kind == VTI_QUANTITY_COUNT || row->kind == VTI_QUANTITY_ITEMS;

    vti_buf_add_text(out, "| ");
    if (*row->entry) {
        add_safe(out, row->entry);
        vti_buf_add_text(out, ": ");
    }
    add_safe(out, row->name);
    vti_buf_printf(out, "%s | %s", row->is_per_item ? " an item" : "",
                   vti_check_value(text, row->kind, row->base));
    vti_buf_printf(out, " | %s", vti_check_value(text, row->kind, row->now));
    vti_buf_printf(out, " | %s | %s | ", vti_check_change(change, row->ratio),
                   vti_check_interval(interval, row));
    if (!is_count)
        vti_buf_printf(out, "%.2g", row->adjusted);
    add_verdict(out, row);
}

static void add_rows(struct vti_buf *out, const struct vti_comparison *comparison)
{
    size_t count = 0;

    vti_buf_add_text(out, "\n| quantity | base | new | change | 98 % sure | p | verdict |\n"
                          "|---|--:|--:|--:|--:|--:|---|\n");
    for (size_t i = 0; i < comparison->count && count < MOST_ROWS; i++)
        if (vti_check_is_shown(&comparison->rows[i])) {
            add_row(out, &comparison->rows[i]);
            count++;
        }
    vti_buf_printf(out, "\n%s\n\n", vti_check_change_legend(comparison));
    vti_check_legend(out, comparison);
    vti_buf_add_text(out, "\n");
}

/* What was compared: commands, files or revisions. */
static void add_side(struct vti_buf *out, const char *title, const char *name)
{
    vti_buf_printf(out, "\n- %s: ", title);
    add_safe(out, name ? name : "");
}

static void add_reasons(struct vti_buf *out, const struct vti_checking *checking)
{
    char was[VTI_NUMBER_BYTES];
    char is[VTI_NUMBER_BYTES];
    char counts[VTI_COUNTS_BYTES];

    if (!checking->reason_count)
        return;
    vti_buf_add_text(out, "\n| what carries it | time | calls, hits |\n|---|--:|--:|\n");
    for (size_t i = 0; i < checking->reason_count; i++) {
        const struct vti_reason *reason = &checking->reasons[i];

        vti_buf_printf(out, "| %s ", reason->kind);
        add_safe(out, reason->text);
        vti_buf_printf(out, " | %s to %s | %s |\n", vti_text_duration(was, 1e9 * reason->base_s),
                       vti_text_duration(is, 1e9 * reason->now_s),
                       vti_check_counts(counts, reason));
    }
    vti_buf_printf(out, "\n(%s) ", vti_check_times_text(checking));
    vti_check_reasons_legend(out, checking);
    vti_buf_add_u8(out, '\n');
}

static void add_notes(struct vti_buf *out, const char *title, const struct vti_buf *lines,
                      bool without_first)
{
    char *at = lines->len ? strndup((const char *)lines->data, lines->len) : NULL;
    char *rest = at;
    char *line;

    if (without_first)
        strsep(&rest, "\n");
    while (rest && (line = strsep(&rest, "\n")))
        if (*line) {
            vti_buf_printf(out, "\n%s: ", title);
            add_safe(out, line);
            vti_buf_add_text(out, ".\n");
        }
    free(at);
}

int vti_check_print_markdown(const struct vti_checking *checking)
{
    static const char *const marks[] = {"✅ ok", "❌ regression", "error", "⚠️ inconclusive"};
    struct vti_buf out = {0};
    char runs[VTI_COUNTS_BYTES];

    vti_buf_printf(&out, "### Performance: %s\n\n", marks[checking->exit_code & 3]);
    add_safe(&out, checking->why);
    vti_buf_printf(&out, "%s.\n", vti_check_runs_text(runs, checking));
    if (checking->has_base)
        add_side(&out, "base", checking->names[0]);
    add_side(&out, "new", checking->names[1]);
    vti_buf_add_text(&out, "\n");
    if (checking->has_base && checking->comparison.count)
        add_rows(&out, &checking->comparison);
    for (size_t i = 0; i < checking->budget_count; i++) {
        const struct vti_budget_result *result = &checking->budgets[i];
        char value[VTI_NUMBER_BYTES];

        vti_buf_add_text(&out, "\n- budget ");
        add_safe(&out, result->budget.text);
        if (isnan(result->value))
            vti_buf_printf(&out, ": unknown, %s", vti_check_unknown(checking, result));
        else
            vti_buf_printf(&out, ": %s (%s)", result->is_kept ? "kept" : "**broken**",
                           vti_check_budget_value(value, result));
    }
    if (checking->budget_count)
        vti_buf_add_text(&out, "\n");
    add_reasons(&out, checking);
    add_notes(&out, "Not comparable", &checking->comparison.doubts, checking->says_doubt);
    add_notes(&out, "Note", &checking->comparison.notes, false);
    out.len -= !out.failed; /* the last line end is vti_print_json()'s */
    return vti_print_json(&out);
}
