/* rows.c - a table of the moment: columns, rows of cells, sorted and filtered. */
#include "top/rows.h"

#include "base/buf.h"
#include "base/number.h"
#include "cli/render.h"
#include "model/model.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vti_top_rows_clear(struct vti_top_rows *rows)
{
    for (size_t i = 0; i < rows->count; i++)
        free(rows->rows[i].name);
    rows->count = rows->hidden = 0;
    rows->has_failed = false;
}

void vti_top_rows_free(struct vti_top_rows *rows)
{
    vti_top_rows_clear(rows);
    free(rows->rows);
    rows->rows = NULL;
    rows->room = 0;
}

/* Owned; NULL without memory. */
static char *harmless(const char *text)
{
    struct vti_buf out = {0};

    vti_text_safe(&out, text, strlen(text));
    vti_buf_add(&out, "", 1);
    if (!out.failed)
        return (char *)out.data;
    vti_buf_fini(&out);
    return NULL;
}

struct vti_top_row *vti_top_row_add(struct vti_top_rows *rows, const char *format, ...)
{
    struct vti_top_row *row;
    va_list args;
    char *text = NULL;
    char *name;

    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    name = text ? harmless(text) : NULL;
    free(text);
    if (!name || vti_grow(&rows->rows, rows->count, &rows->room, sizeof *rows->rows)) {
        free(name);
        rows->has_failed = true;
        return NULL;
    }
    if (rows->filter && *rows->filter && !strcasestr(name, rows->filter)) {
        free(name);
        rows->hidden++;
        return NULL;
    }
    row = &rows->rows[rows->count++];
    *row = (struct vti_top_row){.name = name};
    return row;
}

/* Room for a cell's text, which is empty; NULL if there is no row or no column left. */
static char *cell(struct vti_top_row *row, double key)
{
    if (!row || row->filled >= VTI_TOP_COLUMNS)
        return NULL;
    row->keys[row->filled] = key;
    return row->cells[row->filled++];
}

static void set(struct vti_top_row *row, double key, const char *text)
{
    char *to = cell(row, key);

    if (to)
        snprintf(to, VTI_TOP_CELL, "%.15s", isnan(key) ? "-" : text);
}

void vti_top_cell_count(struct vti_top_row *row, uint64_t count)
{
    char text[VTI_NUMBER_BYTES];

    set(row, count == UINT64_MAX ? NAN : (double)count, vti_text_count(text, count));
}

void vti_top_cell_id(struct vti_top_row *row, uint32_t id)
{
    char text[VTI_NUMBER_BYTES];

    snprintf(text, sizeof text, "%u", (unsigned)id);
    set(row, (double)id, text);
}

void vti_top_cell_duration(struct vti_top_row *row, double ns)
{
    char text[VTI_NUMBER_BYTES];

    set(row, ns, vti_text_duration(text, isnan(ns) ? 0 : ns));
}

void vti_top_cell_bytes(struct vti_top_row *row, uint64_t bytes)
{
    char text[VTI_NUMBER_BYTES];

    set(row, bytes == UINT64_MAX ? NAN : (double)bytes, vti_text_bytes(text, bytes));
}

void vti_top_cell_number(struct vti_top_row *row, double number)
{
    char text[VTI_NUMBER_BYTES];

    if (number >= 100)
        vti_text_count(text, (uint64_t)fmin(number + 0.5, 1e18));
    else
        snprintf(text, sizeof text, number >= 10 ? "%.1f" : "%.2f", number);
    set(row, number, text);
}

void vti_top_cell_share(struct vti_top_row *row, double share)
{
    char text[VTI_NUMBER_BYTES];

    snprintf(text, sizeof text, "%.1f%%", share * 100);
    set(row, share, text);
}

/* ---- order ----------------------------------------------------------------------------------- */

/* qsort() takes no argument; one thread draws. */
static unsigned order_column;
static bool order_is_reversed, order_is_name;

static int in_order(const void *left, const void *right)
{
    const struct vti_top_row *a = left;
    const struct vti_top_row *b = right;
    double x = a->keys[order_column];
    double y = b->keys[order_column];
    int order = 0;

    if (!order_is_name) {
        if (isnan(x) || isnan(y))
            return isnan(x) != isnan(y) ? (isnan(x) ? 1 : -1) : strcmp(a->name, b->name);
        order = x > y ? -1 : x < y;
    }
    if (!order)
        order = strcmp(a->name, b->name);
    return order_is_reversed ? -order : order;
}

void vti_top_rows_sort(struct vti_top_rows *rows, unsigned column, bool is_reversed)
{
    order_column = column < VTI_TOP_COLUMNS ? column : 0;
    order_is_name = column + 1 >= rows->column_count;
    order_is_reversed = is_reversed;
    if (rows->count)
        qsort(rows->rows, rows->count, sizeof *rows->rows, in_order);
}
