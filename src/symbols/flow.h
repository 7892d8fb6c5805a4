/* flow.h - from the counters of a function to how often each of its lines was executed. */
#ifndef VENTURI_SYMBOLS_FLOW_H
#define VENTURI_SYMBOLS_FLOW_H

#include "symbols/notes.h"

/* One line, or the same line number of another file that was included. */
struct vti_flow_line {
    struct vti_notes_text file;
    uint32_t line;
    uint64_t hits;
};

struct vti_flow {
    uint64_t calls;
    struct vti_flow_line *lines; /* owned, by file and line */
    size_t line_count;
};

/*
 * `counters` are those of the arcs that are counted, in their order; `by_last` for notes of gcc (see flow.c). False if there is
 * another number of them, or no memory.
 */
bool vti_flow_solve(struct vti_flow *flow, struct vti_notes_graph *graph, const uint64_t *counters,
                    size_t count, bool by_last);
void vti_flow_free(struct vti_flow *flow);

#endif
