/*
 * rows.c - a table of any number of rows.
 *
 * Must never keep more than KEPT_MOST of them: a query may give millions.
 */
#include "cli/rows.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define KEPT_MOST 1000
#define GAP 2
#define WIDEST 60 /* a cell that is wider gets no column of its own width */

struct column {
    char *title; /* owned, harmless */
    size_t width;
    bool is_text; /* at least one cell is */
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
    rows->columns[at].width = vti_text_width((const char *)safe.data, safe.len);
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

/* Text that is too wide for a terminal loses its middle. */
static void add_cell(struct vti_rows *rows, const char *text, struct cell cell, size_t width)
{
    size_t most = width > WIDEST ? width : WIDEST;
    size_t half = (most - 2) / 2;
    size_t tail;

    if (!rows->room || cell.width <= most) {
        vti_buf_add(&rows->line, text, cell.len);
        return;
    }
    while (half && (text[half] & 0xc0) == 0x80)
        half--;
    tail = cell.len - half;
    while (tail < cell.len && (text[tail] & 0xc0) == 0x80)
        tail++;
    vti_buf_add(&rows->line, text, half);
    vti_buf_add_text(&rows->line, "..");
    vti_buf_add(&rows->line, text + tail, cell.len - tail);
}

static void add_row(struct vti_rows *rows, const char *text, const struct cell *cells)
{
    for (unsigned i = 0; i < rows->count; i++) {
        const struct column *column = &rows->columns[i];
        size_t blanks = cells[i].width < column->width ? column->width - cells[i].width : 0;

        if (!column->is_text)
            add_blanks(&rows->line, blanks);
        add_cell(rows, text, cells[i], column->width);
        if (column->is_text && i + 1 < rows->count)
            add_blanks(&rows->line, blanks);
        if (i + 1 < rows->count)
            add_blanks(&rows->line, GAP);
        text += cells[i].len;
    }
    vti_buf_add_u8(&rows->line, '\n');
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
    for (unsigned i = 0; i < rows->count; i++) {
        const struct column *column = &rows->columns[i];
        size_t blanks = column->width - vti_text_width(column->title, strlen(column->title));

        if (!column->is_text)
            add_blanks(&rows->line, blanks);
        vti_buf_add_text(&rows->line, column->title);
        if (column->is_text && i + 1 < rows->count)
            add_blanks(&rows->line, blanks);
        if (i + 1 < rows->count)
            add_blanks(&rows->line, GAP);
    }
    fputs(vti_terminal_style(rows->to, VTI_STYLE_BOLD), rows->to);
    fwrite(rows->line.data, 1, rows->line.len, rows->to);
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
