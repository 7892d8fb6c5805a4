/*
 * page.h - the writer of a page: tables of columns and texts go in, one file of HTML comes out.
 *
 * docs/page.md says what the file holds. Rows leave in compressed blocks as they come, so that memory does not
 * grow with their number; texts and the directory are kept until the end. No text of a recording reaches the
 * file unescaped.
 */
#ifndef VENTURI_PAGE_PAGE_H
#define VENTURI_PAGE_PAGE_H

#include "base/buf.h"
#include "base/json.h"
#include "export/export.h"

#include <stddef.h>
#include <stdint.h>

struct vti_page;

enum vti_page_type { VTI_PAGE_UINT, VTI_PAGE_DELTA, VTI_PAGE_TEXT, VTI_PAGE_REF, VTI_PAGE_F64 };

struct vti_page_column {
    const char *name; /* NULL ends the list */
    enum vti_page_type type;
};

/* One value of a row, in the order of the columns. */
union vti_page_value {
    uint64_t
        u; /* UINT and DELTA: up to 7 bytes, what is more is cut to that; TEXT; REF: index plus 1 */
    double d;
};

/* Writes the shell up to the place of the data. 0 or a negative code, as everywhere here. */
int vti_page_open(struct vti_page **page, const struct vti_sink *sink);

/* The number of a text, the same for equal ones. Its bytes need not be UTF-8. 0 (the empty one) without memory, and the
 * page fails when it is closed. */
uint64_t vti_page_text(struct vti_page *page, const char *text);
uint64_t vti_page_bytes(struct vti_page *page, const char *text, size_t len);

/* One table at a time: begin, rows, end. A table that got no row is left out. */
int vti_page_begin(struct vti_page *page, const char *name, const struct vti_page_column *columns);
int vti_page_row(struct vti_page *page, const union vti_page_value *values);
int vti_page_end(struct vti_page *page);

/* A sentence about what the page leaves out. */
void vti_page_note(struct vti_page *page, const char *kind, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Where the directory's other members ("kind", "title", "recordings", "findings") go; between members of an object. */
struct vti_json *vti_page_directory(struct vti_page *page);

/* Texts, directory and the rest of the shell; frees in every case. */
int vti_page_close(struct vti_page *page);
void vti_page_abandon(struct vti_page *page);

#endif
