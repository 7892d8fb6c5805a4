/*
 * rows.c - a table of any number of rows.
 *
 * On a terminal, texts lose their middle until the rows fit; if there are too many columns for that,
 * rows go on in a second line, indented. Must never keep more than KEPT_MOST rows: a query may give
 * millions.
 */
#include "cli/rows.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MOST 1000
#define GAP 2
#define WIDEST 60   /* a cell that is wider gets no column of its own width */
#define NARROWEST 8 /* columns of a text, so that its row stays in one line … */
#define WRAPPED 24  /* … and if it does not */
#define LEAST 3     /* what a text can be cut to */
#define INDENT 2

struct column {
    char *title; /* owned, harmless */
    size_t title_width;
    size_t width;
    size_t most;  /* columns that a text may take, 0: as many as it has */
    bool is_text; /* at least one cell is */
    bool is_last; /* of its line: a row that is too wide for the terminal takes several */
};

struct cell {
    size_t len;
    size_t width;
};

struct vti_rows {
    FILE *to;
    unsigned count;
    unsigned room; /* columns of the terminal, 0: as wide as it gets */
    unsigned at;   /* next cell of the row */
    size_t kept;   /* rows */
    bool is_streaming;
    struct vti_buf text;  /* of the kept cells */
    struct vti_buf cells; /* of struct cell */
    struct vti_buf line;
    struct column columns[];
};

int vti_rows_create(struct vti_rows **result, unsigned count, FILE *to)
{
    struct vti_rows *rows = calloc(1, sizeof *rows + count * sizeof rows->columns[0]);

    *result = rows;
    if (!rows)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    rows->to = to;
    rows->count = count;
    rows->room = vti_terminal_width(to);
    return 0;
}

void vti_rows_free(struct vti_rows *rows)
{
    if (!rows)
        return;
    for (unsigned i = 0; i < rows->count; i++)
        free(rows->columns[i].title);
    vti_buf_fini(&rows->text);
    vti_buf_fini(&rows->cells);
    vti_buf_fini(&rows->line);
    free(rows);
}

void vti_rows_title(struct vti_rows *rows, unsigned at, const char *title)
{
    struct vti_buf safe = {0};

    vti_text_safe(&safe, title, strlen(title));
    rows->columns[at].title = strndup((const char *)safe.data, safe.len);
    rows->columns[at].title_width = vti_text_width((const char *)safe.data, safe.len);
    rows->columns[at].width = rows->columns[at].title_width;
    rows->line.failed |= safe.failed || !rows->columns[at].title;
    vti_buf_fini(&safe);
}

void vti_rows_cell(struct vti_rows *rows, const char *text, size_t len, bool is_number)
{
    struct column *column = &rows->columns[rows->at++];
    size_t begin = rows->text.len;
    struct cell cell;

    vti_text_safe(&rows->text, text, len);
    cell.len = rows->text.len - begin;
    cell.width = cell.len ? vti_text_width((const char *)rows->text.data + begin, cell.len) : 0;
    vti_buf_add(&rows->cells, &cell, sizeof cell);
    if (rows->is_streaming)
        return;
    column->is_text |= !is_number && !(len == 1 && text[0] == '-');
    if (cell.width > column->width)
        column->width = cell.width < WIDEST ? cell.width : WIDEST;
}

static void add_blanks(struct vti_buf *out, size_t count)
{
    while (count--)
        vti_buf_add_u8(out, ' ');
}

/* ---- fitting the terminal -------------------------------------------------------------------- */

/* A column's width if texts may have `most` columns; its title stays whole. */
static size_t width_within(const struct column *column, size_t most)
{
    size_t width = column->width < most ? column->width : most;

    if (!column->is_text)
        return column->width;
    width = width < LEAST ? LEAST : width; /* room for what may still come */
    return column->title_width > width ? column->title_width : width;
}

static size_t line_width(const struct vti_rows *rows, size_t most)
{
    size_t width = 0;

    for (unsigned i = 0; i < rows->count; i++)
        width += width_within(&rows->columns[i], most) + (i ? GAP : 0);
    return width;
}

/* Ends lines where the next column would not fit any more. */
static void break_lines(struct vti_rows *rows)
{
    size_t used = 0;

    for (unsigned i = 0; i < rows->count; i++) {
        struct column *column = &rows->columns[i];

        if (i && used + GAP + column->width > rows->room) {
            rows->columns[i - 1].is_last = true;
            used = INDENT;
        } else if (i) {
            used += GAP;
        }
        column->most = rows->room > used + column->width ? rows->room - used : column->width;
        used += column->width;
    }
}

static void fit(struct vti_rows *rows)
{
    size_t most = WIDEST;

    rows->columns[rows->count - 1].is_last = true;
    if (!rows->room)
        return;
    while (most > NARROWEST && line_width(rows, most) > rows->room)
        most--;
    if (line_width(rows, most) > rows->room)
        most = WRAPPED < rows->room ? WRAPPED : rows->room;
    for (unsigned i = 0; i < rows->count; i++)
        rows->columns[i].width = width_within(&rows->columns[i], most);
    break_lines(rows);
    /* Only what ends a line may use what is left of it. */
    for (unsigned i = 0; i < rows->count; i++)
        if (!rows->columns[i].is_last)
            rows->columns[i].most = rows->columns[i].width;
}

/* ---- printing -------------------------------------------------------------------------------- */

static void add_cell(struct vti_rows *rows, const struct column *column, const char *text,
                     struct cell cell)
{
    size_t width = cell.width;
    size_t blanks;

    if (column->most && column->is_text && width > column->most)
        width = column->most;
    blanks = width < column->width ? column->width - width : 0;
    if (!column->is_text)
        add_blanks(&rows->line, blanks);
    vti_text_fit(&rows->line, text, cell.len, width);
    if (!column->is_last)
        add_blanks(&rows->line, (column->is_text ? blanks : 0) + GAP);
}

static void end_line(struct vti_rows *rows, unsigned column)
{
    if (!rows->columns[column].is_last)
        return;
    vti_buf_add_u8(&rows->line, '\n');
    if (column + 1 < rows->count)
        add_blanks(&rows->line, INDENT);
}

static void add_row(struct vti_rows *rows, const char *text, const struct cell *cells)
{
    for (unsigned i = 0; i < rows->count; i++) {
        add_cell(rows, &rows->columns[i], text, cells[i]);
        end_line(rows, i);
        text += cells[i].len;
    }
}

static int print_line(struct vti_rows *rows)
{
    if (rows->line.failed || rows->text.failed || rows->cells.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    fwrite(rows->line.data, 1, rows->line.len, rows->to);
    vti_buf_clear(&rows->line);
    return ferror(rows->to) ? vti_fail(VTI_E_WRITE, "standard output: cannot write") : 0;
}

static int print_titles(struct vti_rows *rows)
{
    fit(rows);
    for (unsigned i = 0; i < rows->count; i++) {
        const struct column *column = &rows->columns[i];

        add_cell(rows, column, column->title,
                 (struct cell){strlen(column->title), column->title_width});
        end_line(rows, i);
    }
    if (rows->line.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    fputs(vti_terminal_style(rows->to, VTI_STYLE_BOLD), rows->to);
    fwrite(rows->line.data, 1, rows->line.len - 1, rows->to); /* its end after the style's */
    fputs(vti_terminal_style(rows->to, VTI_STYLE_PLAIN), rows->to);
    vti_buf_clear(&rows->line);
    vti_buf_add_u8(&rows->line, '\n');
    return print_line(rows);
}

static int print_kept(struct vti_rows *rows)
{
    const char *text = (const char *)rows->text.data;
    const struct cell *cells = (const struct cell *)(const void *)rows->cells.data;
    int code = 0;

    for (size_t r = 0; r < rows->kept && !code; r++) {
        add_row(rows, text, cells);
        for (unsigned i = 0; i < rows->count; i++)
            text += cells[i].len;
        cells += rows->count;
        code = print_line(rows);
    }
    rows->kept = 0;
    vti_buf_clear(&rows->text);
    vti_buf_clear(&rows->cells);
    return code;
}

int vti_rows_end(struct vti_rows *rows)
{
    int code = 0;

    rows->at = 0;
    rows->kept++;
    if (rows->line.failed || rows->text.failed || rows->cells.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (!rows->is_streaming && rows->kept == KEPT_MOST) {
        rows->is_streaming = true;
        code = print_titles(rows);
    }
    return code || !rows->is_streaming ? code : print_kept(rows);
}

int vti_rows_finish(struct vti_rows *rows)
{
    int code = 0;

    if (rows->line.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (!rows->is_streaming)
        code = print_titles(rows);
    return code ? code : print_kept(rows);
}
