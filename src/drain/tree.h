/*
 * tree.h - the tree of calls of one thread, from the arena into the recording.
 */
#ifndef VENTURI_DRAIN_TREE_H
#define VENTURI_DRAIN_TREE_H

#include "drain/recorder.h"
#include "share/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct vti_target;

/* What was written of a thread's tree so far. Zeroed: nothing. */
struct vti_tree_copy {
    uint64_t *seen; /* owned; digests of what was written, in the order of the tree */
    size_t seen_room;
    uint64_t due_ns;                 /* not before this again: a large tree is written less often */
    uint64_t lost_calls, lost_lines; /* stated */
    uint64_t calls;                  /* and resumes, in all */
    uint64_t line_events;
};

/* Writes what has changed since the last time, if that is due or `now` is set. */
void vti_tree_write(struct vti_tree_copy *copy, struct vti_target *process, uint32_t slot,
                    uint32_t track, uint64_t now_ns, bool now);

/* All of it is to be written again, into the next file. */
void vti_tree_again(struct vti_tree_copy *copy);

/* The thread is gone, and all of its tree is written: gives its chunks back. */
void vti_tree_finish(struct vti_tree_copy *copy, struct vti_target *process, uint32_t slot);

#endif
