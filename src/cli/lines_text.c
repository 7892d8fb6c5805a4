/*
 * lines_text.c - the tables of `venturi lines`: to the byte what line_profiler 5 prints of the same numbers, as long as
 * no columns are asked for that it has not.
 */
#include "base/error.h"
#include "cli/lines_render.h"
#include "cli/render.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define CELL 40
#define ROWS_MOST                                                                                  \
    100000 /* without text; beyond them lines are shown only where there are numbers */

enum { LINE, HITS, TIME, PER_HIT, PERCENT, EXTRA };

static const unsigned least[EXTRA] = {6, 9, 12, 8, 8};

#define EXTRA_LEAST 9

/* Colours; empty ones where there are none. */
struct palette {
    const char *head, *hot, *warm, *quiet, *reset;
};

static const struct palette plain = {"", "", "", "", ""};
static const struct palette rich = {"\033[1m", "\033[1;31m", "\033[33m", "\033[2m", "\033[0m"};

struct cells {
    char text[EXTRA + VTI_LINES_COLUMNS][CELL];
};

struct table {
    struct vti_buf *out;
    struct vti_lines_view *view;
    const struct vti_lines_function *function;
    const struct vti_lines_text *text;
    struct vti_lines_column
        columns[VTI_LINES_COLUMNS + 1]; /* the view's, and the error of estimates */
    unsigned count;                     /* of all columns but the source */
    unsigned widths[EXTRA + VTI_LINES_COLUMNS + 1];
    double total;
    bool is_sampled;
    const struct palette *colours;
};

/* ---- numbers --------------------------------------------------------------------------------- */

/* One decimal, or three digits where that is too wide. */
static void put_time(char to[CELL], double value, unsigned width, bool is_estimate)
{
    const char *mark = is_estimate ? "~" : "";

    if (snprintf(to, CELL, "%s%5.1f", mark, value) > (int)width)
        snprintf(to, CELL, "%s%5.3g", mark, value);
    if (is_estimate && to[1] == ' ') { /* "~  1.5" */
        size_t blanks = strspn(to + 1, " ");

        memmove(to + 1, to + 1 + blanks, strlen(to + 1 + blanks) + 1);
    }
}

static void put_numbers(const struct table *table, struct cells *cells, uint64_t hits, double time,
                        unsigned how, bool is_rough)
{
    double scale = table->view->lines->unit_s / table->view->unit_s;
    bool is_estimate = how == VTI_LINE_SAMPLED || is_rough;

    if (snprintf(cells->text[HITS], CELL, "%llu", (unsigned long long)hits) > (int)least[HITS])
        snprintf(cells->text[HITS], CELL, "%g", (double)hits);
    if (how == VTI_LINE_UNTIMED)
        return;
    put_time(cells->text[TIME], time * scale, least[TIME], is_estimate);
    if (hits)
        put_time(cells->text[PER_HIT], time * scale / (double)hits, least[PER_HIT], is_estimate);
    if (table->total > 0)
        put_time(cells->text[PERCENT], 100 * time / table->total, CELL, is_estimate);
}

static void put_extra(char to[CELL], double value, enum vti_lines_extra what)
{
    if (isnan(value))
        to[0] = 0;
    else if (what == VTI_EXTRA_EVENTS || what == VTI_EXTRA_RESUMES)
        snprintf(to, CELL, "%.0f", value);
    else
        put_time(to, value, EXTRA_LEAST, false);
}

static void put_line(const struct table *table, struct cells *cells,
                     const struct vti_lines_line *line)
{
    memset(cells, 0, sizeof *cells);
    if (!line)
        return;
    put_numbers(table, cells, line->hits, line->time, line->how,
                vti_lines_is_rough(table->function, line));
    if (!vti_lines_has_hits(table->function, line))
        cells->text[HITS][0] = 0;
    for (unsigned i = EXTRA; i < table->count; i++) {
        const struct vti_lines_column *column = &table->columns[i - EXTRA];

        put_extra(cells->text[i], vti_lines_extra(table->view, line, column), column->what);
    }
}

static void put_callee(const struct table *table, struct cells *cells,
                       const struct vti_lines_callee *callee, unsigned how)
{
    memset(cells, 0, sizeof *cells);
    put_numbers(table, cells, callee->calls, callee->time, how, false);
}

/* ---- rows ------------------------------------------------------------------------------------ */

static void add_cells(const struct table *table, const struct cells *cells)
{
    for (unsigned i = 0; i < table->count; i++)
        vti_buf_printf(table->out, "%s%*s", i ? " " : "", (int)table->widths[i], cells->text[i]);
    vti_buf_add_text(table->out, "  ");
}

/* Source as it is, or on a terminal harmless and with blanks for tabs. */
static void add_source(const struct table *table, const char *text, size_t len)
{
    struct vti_buf spread = {0};

    if (!table->view->is_terminal) {
        vti_buf_add(table->out, text, len);
        return;
    }
    for (size_t i = 0; i < len; i++) {
        if (text[i] != '\t')
            vti_buf_add_u8(&spread, (uint8_t)text[i]);
        else
            do
                vti_buf_add_u8(&spread, ' ');
            while (spread.len % 8 && !spread.failed);
    }
    vti_text_safe(table->out, (const char *)spread.data, spread.len);
    vti_buf_fini(&spread);
}

static void add_name(struct vti_buf *out, const struct vti_lines_view *view, const char *name)
{
    if (view->is_terminal)
        vti_text_safe(out, name, strlen(name));
    else
        vti_buf_add_text(out, name);
}

static const char *heat(const struct table *table, const struct vti_lines_line *line)
{
    double share = line && table->total > 0 ? line->time / table->total : 0;

    return !line          ? table->colours->quiet
           : share >= 0.5 ? table->colours->hot
           : share >= 0.1 ? table->colours->warm
                          : "";
}

/* What was called from a line, under it. */
static void add_callees(const struct table *table, const struct vti_lines_line *line, size_t indent)
{
    struct cells cells;

    for (size_t i = 0; i < line->callee_count; i++) {
        const struct vti_lines_callee *callee = &line->callees[i];

        put_callee(table, &cells, callee, line->how);
        vti_buf_add_text(table->out, table->colours->quiet);
        add_cells(table, &cells);
        vti_buf_printf(table->out, "%*s-> ", (int)indent, "");
        add_name(table->out, table->view, callee->name);
        if (callee->line) {
            const char *base = strrchr(callee->file, '/');

            vti_buf_add_text(table->out, " (");
            add_name(table->out, table->view, base ? base + 1 : callee->file);
            vti_buf_printf(table->out, ":%u)", callee->line);
        }
        vti_buf_printf(table->out, "%s\n", table->colours->reset);
    }
}

static void add_row(const struct table *table, uint32_t number, const struct vti_lines_line *line)
{
    const struct vti_source_text *source = &table->text->source;
    const struct vti_source_line *text = number && number <= source->count
                                             ? &source->lines[number - 1]
                                             : NULL;
    const char *colour = heat(table, line);
    struct cells cells;
    size_t indent = 0;

    put_line(table, &cells, line);
    snprintf(cells.text[LINE], CELL, "%u", number);
    vti_buf_add_text(table->out, colour);
    add_cells(table, &cells);
    if (text)
        add_source(table, text->text, text->len);
    vti_buf_printf(table->out, "%s\n", *colour ? table->colours->reset : "");
    while (text && indent < text->len && text->text[indent] == ' ')
        indent++;
    if (line && table->view->has_callees)
        add_callees(table, line, indent);
}

/* ---- a function ------------------------------------------------------------------------------ */

static void widen(struct table *table, const struct cells *cells)
{
    for (unsigned i = HITS; i < table->count; i++) {
        size_t len = strlen(cells->text[i]);

        if (i != PERCENT && len > table->widths[i])
            table->widths[i] = (unsigned)len;
    }
}

static void measure(struct table *table)
{
    const struct vti_lines_function *function = table->function;
    struct cells cells;

    for (unsigned i = 0; i < table->count; i++)
        table->widths[i] = i < EXTRA ? least[i] : EXTRA_LEAST;
    for (size_t i = 0; i < function->line_count; i++) {
        const struct vti_lines_line *line = &function->lines[i];

        put_line(table, &cells, line);
        widen(table, &cells);
        for (size_t j = 0; table->view->has_callees && j < line->callee_count; j++) {
            put_callee(table, &cells, &line->callees[j], line->how);
            widen(table, &cells);
        }
    }
}

static void add_header(const struct table *table)
{
    static const char *const titles[EXTRA] = {"Line #", "Hits", "Time", "Per Hit", "% Time"};
    struct cells cells = {0};
    size_t from;
    size_t len;

    for (unsigned i = 0; i < table->count; i++)
        snprintf(cells.text[i], CELL, "%s",
                 i < EXTRA ? titles[i] : table->columns[i - EXTRA].title);
    vti_buf_printf(table->out, "\n%s", table->colours->head);
    from = table->out->len;
    add_cells(table, &cells);
    vti_buf_add_text(table->out, "Line Contents");
    len = table->out->len - from;
    vti_buf_printf(table->out, "%s\n", table->colours->reset);
    for (size_t i = 0; i < len && !table->out->failed; i++)
        vti_buf_add_u8(table->out, '=');
    vti_buf_add_u8(table->out, '\n');
}

static void add_title(const struct table *table)
{
    const struct vti_lines_function *function = table->function;
    struct vti_buf *out = table->out;

    if (vti_lines_has_time(function))
        vti_buf_printf(out, "Total time: %s%g s\n", table->is_sampled ? "~" : "",
                       table->total * table->view->lines->unit_s);
    else
        vti_buf_add_text(out, "Total time: -\n");
    if (table->text->state == VTI_TEXT_MISSING || table->text->state == VTI_TEXT_NO_FILE) {
        vti_buf_add_text(out, "\nCould not find file ");
        add_name(out, table->view, function->file);
        vti_buf_add_text(out,
                         "\nAre you sure you are running this program from the same directory\n"
                         "that you ran the profiler from?\n"
                         "Continuing without the function's contents.\n");
        return;
    }
    vti_buf_add_text(out, "File: ");
    add_name(out, table->view, function->file);
    vti_buf_add_text(out, "\nFunction: ");
    add_name(out, table->view, function->name);
    vti_buf_printf(out, " at line %u\n", function->line);
    if (*function->thread) {
        vti_buf_add_text(out, "Thread: ");
        add_name(out, table->view, function->thread);
        vti_buf_add_u8(out, '\n');
    }
}

/* The last row that is shown with numbers or without: a damaged file may speak of lines that are far away. */
static uint32_t last_filled(const struct table *table, uint32_t last)
{
    size_t texts = table->text->source.count;
    uint32_t known = table->function->line;

    if (texts > known)
        known = texts < last ? (uint32_t)texts : last;
    if (last <= known || last - known <= ROWS_MOST)
        return last;
    return texts ? known : 0;
}

static void add_rows(const struct table *table)
{
    const struct vti_lines_function *function = table->function;
    uint32_t last = vti_lines_last(table->text, function);
    uint32_t filled = last_filled(table, last);
    size_t at = 0;

    for (uint32_t number = function->line; number <= filled && !table->out->failed; number++) {
        const struct vti_lines_line *line;

        while (at < function->line_count && function->lines[at].line < number)
            at++;
        line = at < function->line_count && function->lines[at].line == number
                   ? &function->lines[at]
                   : NULL;
        add_row(table, number, line);
        if (number == UINT32_MAX)
            break;
    }
    for (; filled < last && at < function->line_count; at++)
        if (function->lines[at].line > filled)
            add_row(table, function->lines[at].line, &function->lines[at]);
}

/* The view's columns, and the error where there are estimates. */
static void choose_columns(struct table *table)
{
    const struct vti_lines_function *function = table->function;
    unsigned extra = table->view->column_count;
    bool has_error = false;

    memcpy(table->columns, table->view->columns, sizeof table->view->columns);
    for (size_t i = 0; i < function->line_count; i++)
        table->is_sampled |= function->lines[i].how == VTI_LINE_SAMPLED;
    for (unsigned i = 0; i < extra; i++)
        has_error |= table->columns[i].what == VTI_EXTRA_ERROR;
    if (table->is_sampled && !has_error && extra < VTI_LINES_COLUMNS)
        table->columns[extra++] = (struct vti_lines_column){VTI_EXTRA_ERROR, 0, "+/-"};
    table->count = EXTRA + extra;
}

static int add_function(struct vti_buf *out, struct vti_lines_view *view,
                        const struct vti_lines_function *function)
{
    struct table table = {.out = out,
                          .view = view,
                          .function = function,
                          .total = vti_lines_total(function),
                          .colours = view->is_rich ? &rich : &plain};
    uint64_t hits = function->calls;

    for (size_t i = 0; i < function->line_count && !hits; i++)
        hits = function->lines[i].hits + (function->lines[i].time > 0);
    if (view->skips_empty && !hits)
        return 0;
    table.text = vti_lines_texts_find(&view->texts, view->lines, function);
    if (!table.text)
        return VTI_E_NOMEM;
    choose_columns(&table);
    measure(&table);
    add_title(&table);
    add_header(&table);
    add_rows(&table);
    vti_buf_add_u8(out, '\n');
    return 0;
}

static void add_summary(struct vti_buf *out, const struct vti_lines_view *view)
{
    for (size_t i = 0; i < view->count; i++) {
        const struct vti_lines_function *function = &view->lines->functions[view->functions[i]];
        double seconds = vti_lines_total(function) * view->lines->unit_s;

        if (view->skips_empty && !(seconds > 0))
            continue;
        if (vti_lines_has_time(function))
            vti_buf_printf(out, "%6.2f seconds - ", seconds);
        else
            vti_buf_add_text(out, "     - seconds - ");
        add_name(out, view, function->file);
        vti_buf_printf(out, ":%u - ", function->line);
        add_name(out, view, function->name);
        vti_buf_add_u8(out, '\n');
    }
}

int vti_lines_text_tables(struct vti_buf *out, struct vti_lines_view *view)
{
    int code = 0;

    vti_buf_printf(out, "Timer unit: %g s\n\n", view->unit_s);
    for (size_t i = 0; i < view->count && !code; i++)
        code = add_function(out, view, &view->lines->functions[view->functions[i]]);
    if (!code && view->has_summary)
        add_summary(out, view);
    return code || out->failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}
