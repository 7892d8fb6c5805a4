/* csv.h - fields of comma-separated values, quoted where they must be. */
#ifndef VENTURI_BASE_CSV_H
#define VENTURI_BASE_CSV_H

#include "base/buf.h"

/* Text that a spreadsheet would take for a formula (=, +, -, @, tab or return at its start) gets a
 * single quote in front, with which it is text. Bytes that are not UTF-8 become U+FFFD: readers of
 * CSV stop at them. The caller puts the commas and line ends. */
void vti_csv_text(struct vti_buf *out, const char *text, size_t len);

/* An empty cell for what is not a finite number. Whole numbers need no function: the caller writes
 * their digits. */
void vti_csv_double(struct vti_buf *out, double value);

#endif
