/*
 * notes.h - what the counters of an object mean: the notes (.gcno) that gcc and clang write when they compile
 * with -ftest-coverage. Untrusted: every offset and number is checked.
 */
#ifndef VENTURI_SYMBOLS_NOTES_H
#define VENTURI_SYMBOLS_NOTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_ARC_ON_TREE 1u /* not counted: follows from the others */

/* Text in the notes, not terminated. */
struct vti_notes_text {
    const char *data;
    size_t len;
};

struct vti_notes_function {
    uint32_t ident;
    uint32_t checksum;
    struct vti_notes_text name; /* as the linker knows it */
    struct vti_notes_text file; /* as the compiler was told */
    uint32_t line;
    uint32_t last_line; /* 0: not said */
    bool is_made;       /* by the compiler: nobody wrote it, and its lines are by chance */
    size_t at, end;     /* its blocks, arcs and lines */
};

struct vti_notes {
    const uint8_t *data; /* borrowed */
    size_t size;
    unsigned version; /* of gcc's format: 122 for 12.2, 48 for 4.8 */
    uint32_t stamp;
    struct vti_notes_text folder;         /* in which it was compiled; empty: not said */
    struct vti_notes_function *functions; /* owned */
    size_t function_count;
};

struct vti_notes_arc {
    uint32_t from, to;
    uint32_t flags;
    uint64_t count;
};

struct vti_notes_line {
    uint32_t block;
    uint32_t line;
    uint32_t order; /* in the block */
    bool is_last;   /* of its block */
    struct vti_notes_text file;
};

/* One function in full. */
struct vti_notes_graph {
    uint32_t block_count;
    struct vti_notes_arc *arcs; /* owned, in the order of the notes */
    size_t arc_count;
    struct vti_notes_line *lines; /* owned */
    size_t line_count;
};

/* False if these are no notes, or damaged ones; then there is nothing to free. */
bool vti_notes_open(struct vti_notes *notes, const void *data, size_t size);
void vti_notes_close(struct vti_notes *notes);

/* NULL if there is none. */
const struct vti_notes_function *vti_notes_find(const struct vti_notes *notes, uint32_t ident);

/* False if it makes no sense; then there is nothing to free. */
bool vti_notes_graph(const struct vti_notes *notes, const struct vti_notes_function *function,
                     struct vti_notes_graph *graph);
void vti_notes_graph_free(struct vti_notes_graph *graph);

bool vti_notes_text_is(struct vti_notes_text a, struct vti_notes_text b);

#endif
