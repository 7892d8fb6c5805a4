/* csv.h - fields of comma-separated values, quoted where they must be. */
#ifndef VENTURI_BASE_CSV_H
#define VENTURI_BASE_CSV_H

#include "base/buf.h"

/* Bytes that are not UTF-8 become U+FFFD: readers of CSV stop at them. The caller puts the
 * commas and line ends. */
void vti_csv_field(struct vti_buf *out, const char *text, size_t len);

#endif
