/*
 * line.h - the lines of functions as core's other files see them: what a thread keeps beside the numbers
 * in the arena (share/lines.h). Private memory, wiped in a forked child, never given back while the thread lives.
 */
#ifndef VENTURI_CORE_LINE_H
#define VENTURI_CORE_LINE_H

#include "core/chunk.h"
#include "core/thread.h"
#include "share/lines.h"

#include <venturi/line.h>

/* Where the numbers of a row are; all NULL until it is reached. The first two are all that the hot path looks at. */
struct vti_line_row {
    struct vti_line *plain; /* `line`, if it is a statement, not of C, and the clock is quick */
    struct vti_durations_unit *durations; /* of `plain`, once they have a place */
    struct vti_line *line;
    struct vti_line *statement;     /* `line` itself, unless the statement takes several */
    struct vti_line *first;         /* the line that the statement stands on */
    struct vti_line_callee *callee; /* the one that was called last; NULL: none */
    bool is_shared;                 /* a row further on belongs to the statement that begins here */
    struct vti_line *whole;         /* of such a row: the statement over all of its lines */
};

/* One function on one thread. */
struct vti_line_table {
    const struct vt_lines *lines;
    struct vti_line *function;
    uint32_t row_count;
    uint32_t is_c; /* 1: its events cost what those of C do */
    struct vti_line_row rows[];
};

/* One call that is open. The place above the innermost one is always blank. */
struct vti_line_frame {
    const void *frame;
    struct vti_line_table *table;
    struct vti_line_row *row;   /* NULL: it has reached no line, or one without a place */
    struct vti_line *statement; /* NULL: none has begun */
    uint64_t begin; /* of the statement, ticks; 0: its end is not that of an execution */
};

struct vti_line_pool {
    struct vti_line_pool *next;
    size_t bytes, used;
};

struct vti_lines_state {
    const struct vti_arena_control *arena; /* NULL: what is kept here is of the past */
    uint8_t *units;
    struct vti_line_table **tables; /* by the number of the function */
    uint32_t table_room;
    uint32_t line_chunk, duration_chunk, callee_chunk; /* as in struct vti_tree */
    struct vti_line_frame *stack;                      /* [0] is a sentinel that matches nothing */
    size_t stack_room;
    uint64_t unplaced;           /* calls above the innermost one for which there is no place */
    struct vti_edges callees;    /* by line << 32 | site */
    struct vti_line_pool *pools; /* owned; tables lie in them */
    struct vti_line_pool *pool;  /* the one in use */
    uint64_t full_until; /* no unit is asked for before so many lines are lost; 0: there are some */
    struct vti_line nowhere_function;
    struct vti_line_table nowhere; /* of a function without a place: it has no rows */
};

/* The thread ends: its open lines end. It records elsewhere from now on. Slow path only. */
void vti_line_leave_thread(struct vti_thread *self);
void vti_line_drop(struct vti_thread *self);

/* What follows is with signals blocked, in a thread that is registered. NULL, false, 0: there is no place. */

bool vti_line_start(struct vti_thread *self);
bool vti_line_push_room(struct vti_thread *self);
struct vti_line_table *vti_line_table_of(struct vti_thread *self,
                                         struct vt_lines *lines); /* never NULL */
bool vti_line_fill(struct vti_thread *self, struct vti_line_table *table, uint32_t row);
uint32_t vti_line_durations_of(struct vti_thread *self, const struct vti_line *line);
struct vti_line_callee *vti_line_callee_of(struct vti_thread *self, const struct vti_line *line,
                                           uint32_t site);

#endif
