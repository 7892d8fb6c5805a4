/* check_junit.c - what a check found, as JUnit's XML: one test case for each quantity that decides and each budget. */
#include "base/error.h"
#include "base/file.h"
#include "cli/check.h"
#include "cli/cmd.h"
#include "cli/render.h"

#include <math.h>
#include <string.h>

/* U+FFFE and U+FFFF are UTF-8 and no characters of XML. */
static bool is_no_character(const uint8_t *at, size_t len)
{
    return len >= 3 && at[0] == 0xef && at[1] == 0xbf && at[2] >= 0xbe;
}

static void add_safe(struct vti_buf *out, const char *text)
{
    struct vti_buf safe = {0};

    vti_text_safe(&safe, text, strlen(text));
    for (size_t i = 0; i < safe.len; i++) {
        char one = (char)safe.data[i];

        if (is_no_character(safe.data + i, safe.len - i)) {
            vti_buf_add_text(out, "\xef\xbf\xbd");
            i += 2;
        } else if (one == '<')
            vti_buf_add_text(out, "&lt;");
        else if (one == '>')
            vti_buf_add_text(out, "&gt;");
        else if (one == '&')
            vti_buf_add_text(out, "&amp;");
        else if (one == '"')
            vti_buf_add_text(out, "&quot;");
        else
            vti_buf_add_u8(out, (uint8_t)one);
    }
    vti_buf_fini(&safe);
}

static void open_case(struct vti_buf *out, const char *group, const char *name)
{
    vti_buf_add_text(out, "    <testcase classname=\"venturi.");
    add_safe(out, group);
    vti_buf_add_text(out, "\" name=\"");
    add_safe(out, name);
    vti_buf_add_text(out, "\"");
}

/* <failure>, <skipped>, or nothing. */
static void close_case(struct vti_buf *out, const char *what, const char *message)
{
    if (!what) {
        vti_buf_add_text(out, "/>\n");
        return;
    }
    vti_buf_printf(out, "><%s message=\"", what);
    add_safe(out, message);
    vti_buf_add_text(out, "\"/></testcase>\n");
}

static void add_row(struct vti_buf *out, const struct vti_compared *row)
{
    char message[512];
    char was[VTI_NUMBER_BYTES];
    char is[VTI_NUMBER_BYTES];
    char change[VTI_CHANGE_BYTES];

    open_case(out, *row->entry ? row->entry : "check", row->name);
    snprintf(message, sizeof message, "%s, then %s (%s): %s",
             vti_check_value(was, row->kind, row->base), vti_check_value(is, row->kind, row->now),
             vti_check_change(change, row->ratio), vti_verdict_text(row->verdict));
    close_case(out,
               row->verdict == VTI_VERDICT_WORSE ? "failure"
               : row->verdict == VTI_VERDICT_UNDECIDED || row->verdict == VTI_VERDICT_TOO_FEW
                   ? "skipped"
                   : NULL,
               message);
}

/* The verdict as a whole: also what no single row says, such as "not comparable". */
static void add_whole(struct vti_buf *out, const struct vti_checking *checking)
{
    open_case(out, "check", "verdict");
    close_case(out,
               checking->exit_code == VTI_EXIT_OK   ? NULL
               : checking->exit_code == VTI_EXIT_NO ? "failure"
                                                    : "error",
               checking->why);
}

static void fill(struct vti_buf *out, const struct vti_checking *checking)
{
    size_t tests = 1 + checking->budget_count;
    size_t failures = checking->exit_code == VTI_EXIT_NO;
    size_t skipped = 0;
    char message[64];
    char value[VTI_NUMBER_BYTES];

    for (size_t i = 0; i < checking->comparison.count; i++) {
        const struct vti_compared *row = &checking->comparison.rows[i];

        tests += row->gates;
        failures += row->gates && row->verdict == VTI_VERDICT_WORSE;
        skipped += row->gates &&
                   (row->verdict == VTI_VERDICT_UNDECIDED || row->verdict == VTI_VERDICT_TOO_FEW);
    }
    for (size_t i = 0; i < checking->budget_count; i++) {
        failures += !isnan(checking->budgets[i].value) && !checking->budgets[i].is_kept;
        skipped += isnan(checking->budgets[i].value);
    }
    vti_buf_printf(out,
                   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n"
                   "  <testsuite name=\"venturi check\" tests=\"%zu\" failures=\"%zu\" "
                   "errors=\"%d\" skipped=\"%zu\">\n",
                   tests, failures, checking->exit_code == VTI_EXIT_UNSURE, skipped);
    add_whole(out, checking);
    for (size_t i = 0; i < checking->comparison.count; i++)
        if (checking->comparison.rows[i].gates)
            add_row(out, &checking->comparison.rows[i]);
    for (size_t i = 0; i < checking->budget_count; i++) {
        const struct vti_budget_result *result = &checking->budgets[i];

        open_case(out, "budget", result->budget.text);
        snprintf(message, sizeof message, "it is %s", vti_check_budget_value(value, result));
        close_case(out,
                   isnan(result->value) ? "skipped"
                   : result->is_kept    ? NULL
                                        : "failure",
                   isnan(result->value) ? vti_check_unknown(checking, result) : message);
    }
    vti_buf_add_text(out, "  </testsuite>\n</testsuites>\n");
}

int vti_check_write_junit(const struct vti_checking *checking, const char *path)
{
    struct vti_buf text = {0};
    struct vti_output *output = NULL;
    int code;

    fill(&text, checking);
    code = text.failed ? vti_fail(VTI_E_NOMEM, "out of memory")
                       : vti_output_open(&output, path, true, false);
    if (!code) {
        code = vti_output_write(output, text.data, text.len);
        if (code)
            vti_output_abandon(output);
        else
            code = vti_output_commit(output);
    }
    vti_buf_fini(&text);
    return code;
}
