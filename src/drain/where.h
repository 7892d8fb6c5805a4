/*
 * where.h - where a thread is: the innermost call and the innermost line that are open in its chunks, seen from outside
 * while it goes on.
 *
 * The innermost line is the one that was reached last of all that are open: where a function calls itself from
 * several of its lines that may be the line of an outer call.
 */
#ifndef VENTURI_DRAIN_WHERE_H
#define VENTURI_DRAIN_WHERE_H

#include "share/tree.h"

/* What is known of a thread's chunks, so that each is looked through once. Zeroed: nothing. */
struct vti_where {
    uint32_t last;       /* index + 1 of the last chunk that was met; 0: none */
    uint32_t met;        /* chunks so far */
    uint32_t node_chunk; /* index + 1 of the newest one of nodes … */
    uint32_t node_units; /* … of which so many were searched for roots */
    uint32_t *roots;     /* owned; units: one for each stack of the thread */
    uint32_t *lines;     /* owned; indices of chunks of lines */
    uint32_t root_count, root_room, line_count, line_room;
};

/* `first` is the slot's first chunk (index + 1; 0: none). Units, 0 where nothing is open. */
void vti_where_find(struct vti_where *where, const struct vti_arena_control *arena, uint32_t first,
                    uint32_t *node, uint32_t *line);
void vti_where_fini(struct vti_where *where);

#endif
