/*
 * table.c - the tables of a page: rows come in, and leave as blocks of columns, bytes of one significance together.
 *
 * Memory is that of one block, whatever the number of rows.
 */
#include "base/error.h"
#include "export/gzip.h"
#include "page/page_impl.h"

#include <stdlib.h>
#include <string.h>

#define F64_BYTES 8

static const char *const types[] = {[VTI_PAGE_UINT] = "uint",
                                    [VTI_PAGE_DELTA] = "uint",
                                    [VTI_PAGE_TEXT] = "text",
                                    [VTI_PAGE_REF] = "ref",
                                    [VTI_PAGE_F64] = "f64"};

static void free_values(struct vti_page_table *table)
{
    for (unsigned i = 0; i < VTI_PAGE_COLUMNS; i++) {
        free(table->values[i]);
        table->values[i] = NULL;
    }
    table->room = 0;
}

void vti_page_table_fini(struct vti_page_table *table)
{
    free_values(table);
    vti_buf_fini(&table->blocks);
}

int vti_page_begin(struct vti_page *page, const char *name, const struct vti_page_column *columns)
{
    struct vti_page_table *table = &page->table;

    table->name = name;
    table->columns = columns;
    table->column_count = 0;
    while (columns[table->column_count].name)
        table->column_count++;
    if (table->column_count > VTI_PAGE_COLUMNS)
        return vti_fail(VTI_E_LIMIT, "%s: more than %d columns", name, VTI_PAGE_COLUMNS);
    table->rows = 0;
    table->all_rows = 0;
    vti_buf_clear(&table->blocks);
    vti_json_init(&table->json, &table->blocks);
    vti_json_array(&table->json);
    return 0;
}

/* Room for twice as many rows of the block. */
static int grow(struct vti_page_table *table)
{
    size_t room = table->room ? 2 * table->room : 1024;

    for (unsigned i = 0; i < table->column_count; i++) {
        uint64_t *values = realloc(table->values[i], room * sizeof *values);

        if (!values)
            return vti_fail(VTI_E_NOMEM, "out of memory");
        table->values[i] = values;
    }
    table->room = room;
    return 0;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static unsigned width_of(const struct vti_page_table *table, unsigned column)
{
    const uint64_t *values = table->values[column];
    uint64_t bits = 0;
    unsigned width = 0;

    for (size_t i = 0; i < table->rows; i++)
        bits |= values[i];
    if (table->columns[column].type == VTI_PAGE_F64)
        return bits ? F64_BYTES : 0;
    while (bits >> (8 * width))
        width++;
    return width;
}

static int fill(struct vti_page *page, struct vti_gzip *gzip)
{
    struct vti_page_table *table = &page->table;
    int code = 0;

    for (unsigned i = 0; i < table->column_count; i++) {
        const uint64_t *values = table->values[i];
        unsigned width = width_of(table, i);

        for (unsigned plane = 0; plane < width && !code; plane++) {
            uint8_t *to = vti_buf_reserve(&page->piece, table->rows);

            if (!to)
                return vti_fail(VTI_E_NOMEM, "out of memory");
            for (size_t j = 0; j < table->rows; j++)
                to[j] = (uint8_t)(values[j] >> (8 * plane));
            page->piece.len += table->rows;
            code = vti_gzip_offer(gzip, &page->piece);
        }
    }
    return code;
}

static int write_block(struct vti_page *page)
{
    struct vti_page_table *table = &page->table;
    struct vti_json *json = &table->json;
    int code;

    vti_json_object(json);
    vti_json_add_uint(json, "block", page->block_count);
    vti_json_add_uint(json, "rows", table->rows);
    vti_json_key(json, "widths");
    vti_json_array(json);
    for (unsigned i = 0; i < table->column_count; i++)
        vti_json_uint(json, width_of(table, i));
    vti_json_array_end(json);
    vti_json_object_end(json);
    code = vti_page_block(page, fill);
    table->all_rows += table->rows;
    table->rows = 0;
    return code;
}

/* ---- rows ------------------------------------------------------------------------------------ */

static uint64_t zigzag(uint64_t value, uint64_t last)
{
    int64_t difference = (int64_t)(value - last);

    return (uint64_t)difference << 1 ^ (uint64_t)(difference >> 63);
}

static uint64_t stored(struct vti_page_table *table, unsigned column, union vti_page_value value)
{
    uint64_t bits = value.u;

    if (table->columns[column].type == VTI_PAGE_F64) {
        memcpy(&bits, &value.d, sizeof bits);
        return bits;
    }
    if (table->columns[column].type == VTI_PAGE_DELTA) {
        /* So that the difference fits too. */
        value.u = value.u <= VTI_PAGE_UINT_MOST / 2 ? value.u : VTI_PAGE_UINT_MOST / 2;
        bits = zigzag(value.u, table->rows ? table->last[column] : 0);
        table->last[column] = value.u;
    }
    return bits <= VTI_PAGE_UINT_MOST ? bits : VTI_PAGE_UINT_MOST;
}

int vti_page_row(struct vti_page *page, const union vti_page_value *values)
{
    struct vti_page_table *table = &page->table;

    if (table->rows == table->room && grow(table))
        return VTI_E_NOMEM;
    for (unsigned i = 0; i < table->column_count; i++)
        table->values[i][table->rows] = stored(table, i, values[i]);
    return ++table->rows < VTI_PAGE_ROWS ? 0 : write_block(page);
}

static void add_columns(struct vti_json *json, const struct vti_page_table *table)
{
    vti_json_key(json, "columns");
    vti_json_array(json);
    for (unsigned i = 0; i < table->column_count; i++) {
        vti_json_object(json);
        vti_json_add_string(json, "name", table->columns[i].name);
        vti_json_add_string(json, "type", types[table->columns[i].type]);
        if (table->columns[i].type == VTI_PAGE_DELTA)
            vti_json_add_bool(json, "delta", true);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

int vti_page_end(struct vti_page *page)
{
    struct vti_page_table *table = &page->table;
    struct vti_json *json = &page->tables_json;
    int code = table->rows ? write_block(page) : 0;

    free_values(table);
    if (code || !table->all_rows)
        return code;
    vti_json_array_end(&table->json);
    vti_buf_add_u8(&table->blocks, 0);
    if (table->blocks.failed)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    vti_json_object(json);
    vti_json_add_string(json, "name", table->name);
    vti_json_add_uint(json, "rows", table->all_rows);
    add_columns(json, table);
    vti_json_key(json, "blocks");
    vti_json_raw(json, (const char *)table->blocks.data);
    vti_json_object_end(json);
    return 0;
}
