/* page_impl.h - the inside of a page that is being written; for the files of the writer alone. */
#ifndef VENTURI_PAGE_PAGE_IMPL_H
#define VENTURI_PAGE_PAGE_IMPL_H

#include "base/hash.h"
#include "page/base64.h"
#include "page/page.h"

#define VTI_PAGE_ROWS 262144 /* of a block */
#define VTI_PAGE_COLUMNS 24
#define VTI_PAGE_UINT_MOST 0xffffffffffffffu /* 7 bytes */

/* The shell, embedded by shell.S. */
extern const char vti_page_shell[] __attribute__((visibility("hidden")));
extern const char vti_page_shell_end[] __attribute__((visibility("hidden")));

/* The table that is being filled. */
struct vti_page_table {
    const char *name; /* borrowed, as `columns` is; NULL: none */
    const struct vti_page_column *columns;
    unsigned column_count;
    uint64_t *values[VTI_PAGE_COLUMNS]; /* owned; the rows of the block at hand */
    size_t room;                        /* rows that fit */
    size_t rows;
    uint64_t last[VTI_PAGE_COLUMNS]; /* of columns with differences */
    uint64_t all_rows;
    struct vti_buf blocks; /* what the directory says of those written, and its writer */
    struct vti_json json;
};

struct vti_page {
    struct vti_sink sink;
    const char *rest; /* of the shell, after the data */
    uint32_t block_count;
    int failure; /* the first that happened where nobody could be told */
    struct vti_base64 base64;
    struct vti_page_table table;
    struct vti_map *texts; /* owned */
    struct vti_buf repaired;
    struct vti_buf directory, tables, notes; /* JSON that grows */
    struct vti_json directory_json, tables_json, notes_json;
    struct vti_buf piece; /* of a block, on its way */
};

/* table.c, text.c: 0 or a negative code. */
void vti_page_table_fini(struct vti_page_table *table);
int vti_page_texts_init(struct vti_page *page);
int vti_page_texts_write(struct vti_page *page);

/* One element with what `fill` adds, in pieces, to the buffer that it gets. The number of the block is the count before. */
struct vti_gzip;
int vti_page_block(struct vti_page *page,
                   int (*fill)(struct vti_page *page, struct vti_gzip *gzip));

int vti_page_write(struct vti_page *page, const void *bytes, size_t count);

#endif
