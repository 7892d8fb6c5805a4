/* rows.h - a table of the moment: columns, rows of cells, sorted and filtered. */
#ifndef VENTURI_TOP_ROWS_H
#define VENTURI_TOP_ROWS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_TOP_COLUMNS 8
#define VTI_TOP_CELL 16

struct vti_top_column {
    const char *title;
    unsigned width; /* of numbers, which stand on the right; 0: the last one, a name */
};

/* Numbers first, then one name, which may be of any length and hold anything. */
struct vti_top_row {
    char cells[VTI_TOP_COLUMNS][VTI_TOP_CELL];
    double keys[VTI_TOP_COLUMNS]; /* what cells are sorted by; NaN last */
    unsigned filled;
    char *name;      /* owned; harmless text */
    bool is_running; /* worth a look: something is in it now */
    bool is_bad;     /* something failed */
};

struct vti_top_rows {
    const struct vti_top_column *columns;
    unsigned column_count;
    struct vti_top_row *rows; /* owned */
    size_t count, room;
    size_t hidden;      /* that the filter left out */
    const char *filter; /* borrowed; "" or NULL: everything */
    bool has_failed;    /* no memory for some of them */
};

void vti_top_rows_clear(struct vti_top_rows *rows);
void vti_top_rows_free(struct vti_top_rows *rows);

/* A row by this name; NULL if the filter leaves it out, or without memory. The cells follow, in the order of the columns; each takes NULL for no row. */
struct vti_top_row *vti_top_row_add(struct vti_top_rows *rows, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void vti_top_cell_count(struct vti_top_row *row, uint64_t count); /* UINT64_MAX: unknown */
void vti_top_cell_id(struct vti_top_row *row, uint32_t id);       /* all digits */
void vti_top_cell_duration(struct vti_top_row *row, double ns);   /* NaN: unknown */
void vti_top_cell_bytes(struct vti_top_row *row, uint64_t bytes); /* UINT64_MAX: unknown */
void vti_top_cell_number(struct vti_top_row *row, double number); /* 0.12, 12.3, 1.2 k */
void vti_top_cell_share(struct vti_top_row *row, double share);   /* of one: 1 is 100 % */

/* By a column, the most first, names by the alphabet; the other way round if asked for. Rows that are alike keep their order. */
void vti_top_rows_sort(struct vti_top_rows *rows, unsigned column, bool is_reversed);

#endif
