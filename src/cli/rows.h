/*
 * rows.h - a table of any number of rows: the first 1,000 decide how wide the columns are, the rest
 * is printed as it comes.
 */
#ifndef VENTURI_CLI_ROWS_H
#define VENTURI_CLI_ROWS_H

#include "cli/render.h"

struct vti_rows;

int vti_rows_create(struct vti_rows **rows, unsigned columns, FILE *to);
void vti_rows_free(struct vti_rows *rows);
void vti_rows_title(struct vti_rows *rows, unsigned column, const char *title);

/* The cells of a row, one after the other; numbers go to the right if all of their column do. */
void vti_rows_cell(struct vti_rows *rows, const char *text, size_t len, bool is_number);
int vti_rows_end(struct vti_rows *rows);    /* of a row: 0 or a negative code */
int vti_rows_finish(struct vti_rows *rows); /* prints what is still kept */

#endif
