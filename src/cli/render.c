/* render.c - tables of text: columns as wide as their cells, folded to fit the terminal. */
#include "cli/render.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define GAP 2 /* blanks between columns */
#define LAST_LEAST 24

struct cell {
    size_t at; /* in `text` */
    size_t len;
    size_t width;
};

struct vti_table {
    const struct vti_column *columns; /* borrowed */
    unsigned count;
    unsigned last_least;  /* columns of the last cell below which it gets a line of its own */
    struct vti_buf text;  /* all cells, harmless */
    struct vti_buf cells; /* struct cell, row by row */
};

/* How a table is laid out for one width. */
struct layout {
    size_t *widths; /* owned, one a column */
    bool is_stacked;
    size_t last_most; /* columns for the last cell */
};

int vti_table_create(struct vti_table **table, const struct vti_column *columns, unsigned count)
{
    struct vti_table *new = calloc(1, sizeof *new);

    if (!new)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    new->columns = columns;
    new->count = count;
    new->last_least = LAST_LEAST;
    *table = new;
    return 0;
}

void vti_table_keep_last(struct vti_table *table, unsigned least)
{
    table->last_least = least;
}

void vti_table_free(struct vti_table *table)
{
    if (!table)
        return;
    vti_buf_fini(&table->text);
    vti_buf_fini(&table->cells);
    free(table);
}

void vti_table_bytes(struct vti_table *table, const char *text, size_t len)
{
    struct cell cell = {.at = table->text.len};

    if (len)
        vti_text_safe(&table->text, text, len);
    cell.len = table->text.len - cell.at;
    if (cell.len)
        cell.width = vti_text_width((const char *)table->text.data + cell.at, cell.len);
    vti_buf_add(&table->cells, &cell, sizeof cell);
}

void vti_table_text(struct vti_table *table, const char *text)
{
    vti_table_bytes(table, text, text ? strlen(text) : 0);
}

void vti_table_printf(struct vti_table *table, const char *format, ...)
{
    char text[512];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    vti_table_text(table, text);
}

void vti_table_duration(struct vti_table *table, double ns)
{
    char text[VTI_NUMBER_BYTES];

    vti_table_text(table, vti_text_duration(text, ns));
}

void vti_table_time(struct vti_table *table, double ns)
{
    char text[VTI_NUMBER_BYTES];
    char *blank = strchr(vti_text_duration(text, ns), ' ');

    if (blank)
        memmove(blank, blank + 1, strlen(blank));
    vti_table_text(table, text);
}

void vti_table_count(struct vti_table *table, uint64_t count)
{
    vti_table_printf(table, "%llu", (unsigned long long)count);
}

static void measure(const struct vti_table *table, struct layout *layout, unsigned width)
{
    const struct cell *cells = (const struct cell *)table->cells.data;
    size_t rows = table->cells.len / sizeof *cells / table->count;
    unsigned last = table->count - 1;
    size_t others = 0;

    for (unsigned c = 0; c < table->count; c++) {
        layout->widths[c] = strlen(table->columns[c].title);
        for (size_t r = 0; r < rows; r++) {
            size_t cell_width = cells[r * table->count + c].width;

            if (cell_width > layout->widths[c])
                layout->widths[c] = cell_width;
        }
        if (c != last)
            others += layout->widths[c] + GAP;
    }
    layout->last_most = layout->widths[last];
    if (!width || others + layout->last_most <= width || table->columns[last].align != VTI_LEFT)
        return;
    layout->is_stacked = others + table->last_least > width && last > 0;
    layout->last_most = layout->is_stacked || others + table->last_least > width ? width
                                                                                 : width - others;
}

static void add_blanks(struct vti_buf *out, size_t count)
{
    uint8_t *to = vti_buf_reserve(out, count);

    if (!to || count == 0)
        return;
    memset(to, ' ', count);
    out->len += count;
}

/* One row; `cells` index into `text`. Lines carry no blanks at their end. */
static void add_row(struct vti_buf *out, const struct vti_table *table, const struct layout *layout,
                    const char *text, const struct cell *cells)
{
    unsigned last = table->count - 1;
    size_t owed = 0; /* blanks that are due before the next text */

    if (layout->is_stacked) {
        vti_text_fit(out, text + cells[last].at, cells[last].len, layout->last_most);
        vti_buf_add_text(out, "\n");
    }
    for (unsigned c = 0; c < (layout->is_stacked ? last : table->count); c++) {
        bool is_left = table->columns[c].align == VTI_LEFT;
        size_t room = layout->widths[c] - cells[c].width;

        if (!is_left)
            owed += room;
        if (cells[c].len) {
            add_blanks(out, owed);
            vti_text_fit(out, text + cells[c].at, cells[c].len,
                         c == last ? layout->last_most : layout->widths[c]);
            owed = 0;
        }
        owed += GAP + (is_left ? room : 0);
    }
    vti_buf_add_text(out, "\n");
}

static void add_header(struct vti_buf *out, const struct vti_table *table,
                       const struct layout *layout)
{
    struct vti_buf titles = {0};
    struct vti_buf cells = {0};

    for (unsigned c = 0; c < table->count; c++) {
        size_t len = strlen(table->columns[c].title);
        struct cell cell = {titles.len, len, len};

        vti_buf_add_text(&titles, table->columns[c].title);
        vti_buf_add(&cells, &cell, sizeof cell);
    }
    if (titles.failed || cells.failed)
        out->failed = true;
    else
        add_row(out, table, layout, (const char *)titles.data, (const struct cell *)cells.data);
    vti_buf_fini(&titles);
    vti_buf_fini(&cells);
}

/* The header goes to `head`, the rows to `body`, so that a terminal can show them differently. */
static int render(const struct vti_table *table, struct vti_buf *head, struct vti_buf *body,
                  unsigned width)
{
    const struct cell *cells = (const struct cell *)table->cells.data;
    const char *text = table->text.data ? (const char *)table->text.data : "";
    size_t rows = table->cells.len / sizeof *cells / table->count;
    struct layout layout = {.widths = calloc(table->count, sizeof *layout.widths)};

    if (!layout.widths || table->text.failed || table->cells.failed) {
        free(layout.widths);
        return vti_fail(VTI_E_NOMEM, "out of memory");
    }
    measure(table, &layout, width);
    add_header(head, table, &layout);
    for (size_t r = 0; r < rows; r++)
        add_row(body, table, &layout, text, cells + r * table->count);
    free(layout.widths);
    if (head->failed || body->failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    return 0;
}

int vti_table_render(const struct vti_table *table, struct vti_buf *out, unsigned width)
{
    return render(table, out, out, width);
}

int vti_table_print(const struct vti_table *table, FILE *to)
{
    struct vti_buf head = {0};
    struct vti_buf body = {0};
    int code = render(table, &head, &body, vti_terminal_width(to));

    if (!code) {
        fputs(vti_terminal_style(to, VTI_STYLE_BOLD), to);
        fwrite(head.data, 1, head.len, to);
        fputs(vti_terminal_style(to, VTI_STYLE_PLAIN), to);
        if (body.len)
            fwrite(body.data, 1, body.len, to);
    }
    vti_buf_fini(&head);
    vti_buf_fini(&body);
    return code;
}

int vti_print_json(struct vti_buf *out)
{
    int code = 0;

    vti_buf_add_u8(out, '\n');
    if (out->failed)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    else
        fwrite(out->data, 1, out->len, stdout);
    vti_buf_fini(out);
    return code;
}
