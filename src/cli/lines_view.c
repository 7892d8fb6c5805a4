/* lines_view.c - which functions and columns `venturi lines` shows. */
#include "base/error.h"
#include "cli/cmd.h"
#include "cli/lines_render.h"

#include <fnmatch.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- columns --------------------------------------------------------------------------------- */

static const struct {
    const char *word, *title;
    enum vti_lines_extra what;
} known[] = {
    {"events", "Events", VTI_EXTRA_EVENTS},
    {"min", "Min", VTI_EXTRA_MIN},
    {"max", "Max", VTI_EXTRA_MAX},
    {"await", "Await", VTI_EXTRA_AWAIT},
    {"resumes", "Resumes", VTI_EXTRA_RESUMES},
    {"error", "+/-", VTI_EXTRA_ERROR},
};

static bool take_percentile(const char *word, size_t len, struct vti_lines_column *column)
{
    char number[8];
    char *end;
    double percent;

    if (len < 2 || len >= sizeof number || word[0] != 'p')
        return false;
    memcpy(number, word + 1, len - 1);
    number[len - 1] = 0;
    percent = strtod(number, &end);
    if (strspn(number, "0123456789.") != len - 1 || *end || !(percent > 0 && percent < 100))
        return false;
    *column = (struct vti_lines_column){.what = VTI_EXTRA_PERCENTILE, .share = percent / 100};
    snprintf(column->title, sizeof column->title, "P%s", number);
    return true;
}

static bool take_column(struct vti_lines_view *view, const char *word, size_t len)
{
    struct vti_lines_column *column = &view->columns[view->column_count];

    if (len == 5 && !memcmp(word, "calls", len)) {
        view->has_callees = true;
        return true;
    }
    if (view->column_count == VTI_LINES_COLUMNS)
        return false;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strlen(known[i].word) == len && !memcmp(known[i].word, word, len)) {
            *column = (struct vti_lines_column){.what = known[i].what};
            snprintf(column->title, sizeof column->title, "%s", known[i].title);
            view->column_count++;
            return true;
        }
    if (!take_percentile(word, len, column))
        return false;
    view->column_count++;
    return true;
}

int vti_lines_columns_parse(struct vti_lines_view *view, const char *text)
{
    for (const char *at = text;; at++) {
        size_t len = strcspn(at, ",");

        if (!take_column(view, at, len))
            return vti_cmd_fail("lines",
                                "--columns: '%.*s' is none of min, max, await, resumes, events, "
                                "calls, error, p50 … p99.9",
                                (int)len, at);
        at += len;
        if (!*at)
            return 0;
    }
}

double vti_lines_extra(const struct vti_lines_view *view, const struct vti_lines_line *line,
                       const struct vti_lines_column *column)
{
    double unit_s = view->lines->unit_s;
    double scale = unit_s / view->unit_s;

    switch (column->what) {
    case VTI_EXTRA_EVENTS:
        return (double)line->events;
    case VTI_EXTRA_RESUMES:
        return line->resumes ? (double)line->resumes : NAN;
    case VTI_EXTRA_MIN:
        return line->shortest * scale;
    case VTI_EXTRA_MAX:
        return line->longest * scale;
    case VTI_EXTRA_AWAIT:
        return line->resumes ? line->suspended * scale : NAN;
    case VTI_EXTRA_ERROR:
        return line->how == VTI_LINE_SAMPLED ? line->error * scale : NAN;
    default:
        return line->durations ? vti_durations_percentile(line->durations, column->share,
                                                          line->shortest * unit_s * 1e9,
                                                          line->longest * unit_s * 1e9) /
                                     1e9 / view->unit_s
                               : NAN;
    }
}

/* ---- functions ------------------------------------------------------------------------------- */

static bool fits_text(const char *wanted, const char *name)
{
    return !strcmp(wanted, name) || !fnmatch(wanted, name, 0);
}

/* Behind the last "::" that is not within brackets. */
static char *last_part(char *name)
{
    char *last = name;
    int depth = 0;

    for (char *at = name; *at; at++) {
        depth += strchr("<({", *at) != NULL;
        depth -= strchr(">)}", *at) != NULL;
        if (depth <= 0 && at[0] == ':' && at[1] == ':')
            last = at + 2;
    }
    return last;
}

/* Of C++ also the name without types: "ns::named" and "named" find "int ns::named<int>(double)". */
static bool fits_plain(const char *wanted, const struct vti_lines_function *function)
{
    char plain[1024];
    char *last;

    snprintf(plain, sizeof plain, "%s", function->plain);
    last = last_part(plain);
    if (fits_text(wanted, plain) || fits_text(wanted, last))
        return true;
    if (!strncmp(last, "operator", 8) || !strchr(last, '<'))
        return false;
    *strchr(last, '<') = 0;
    return fits_text(wanted, plain) || fits_text(wanted, last);
}

/* The whole name, or its last part: "execute" finds Step.execute. */
static bool fits(const struct vti_lines_function *function, const char *const *names)
{
    const char *last = strrchr(function->name, '.');

    if (!names[0])
        return true;
    for (; *names; names++)
        if (fits_text(*names, function->name) || (last && !fnmatch(*names, last + 1, 0)) ||
            fits_plain(*names, function))
            return true;
    return false;
}

static int compare_totals(const void *left, const void *right, void *arg)
{
    const struct vti_lines *lines = arg;
    uint32_t first = *(const uint32_t *)left, second = *(const uint32_t *)right;
    double a = vti_lines_total(&lines->functions[first]);
    double b = vti_lines_total(&lines->functions[second]);

    return a < b ? -1 : a > b ? 1 : first < second ? -1 : first > second;
}

int vti_lines_view_choose(struct vti_lines_view *view, const char *const *names, bool is_sorted)
{
    const struct vti_lines *lines = view->lines;

    view->functions = calloc(lines->function_count + 1, sizeof *view->functions);
    if (!view->functions)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < lines->function_count; i++)
        if (fits(&lines->functions[i], names))
            view->functions[view->count++] = (uint32_t)i;
    if (is_sorted && view->count)
        qsort_r(view->functions, view->count, sizeof *view->functions, compare_totals,
                (void *)(uintptr_t)lines);
    return 0;
}

void vti_lines_view_fini(struct vti_lines_view *view)
{
    vti_lines_texts_fini(&view->texts);
    free(view->functions);
    view->functions = NULL;
}
