/* csv_row.h - rows of comma-separated values as JSON objects, and the other way round. */
#ifndef VENTURI_STEP_CSV_ROW_H
#define VENTURI_STEP_CSV_ROW_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

#define VTI_CSV_COLUMNS 4096

/* Names of columns, each with a zero byte behind it. */
struct vti_csv_names {
    struct vti_buf text;
    size_t count;
};

/* From the first row of a file. */
int vti_csv_names_read(struct vti_csv_names *names, const char *row, size_t len);

/* From the keys of the first object. */
int vti_csv_names_of(struct vti_csv_names *names, const char *object, size_t len);
void vti_csv_names_write(const struct vti_csv_names *names, struct vti_buf *out);
void vti_csv_names_fini(struct vti_csv_names *names);

/* A row as a JSON object: what looks like a number is one, an empty field is null, any other a text. A field too many or
 * too few is an error. */
int vti_csv_to_json(const struct vti_csv_names *names, const char *row, size_t len,
                    struct vti_buf *out);

/* The other way round: members that have no column are left out, a column without a member stays empty, what is no plain value
 * is written as JSON. With the line's end. */
int vti_csv_from_json(const struct vti_csv_names *names, const char *object, size_t len,
                      struct vti_buf *out);

#endif
