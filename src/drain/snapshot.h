/*
 * snapshot.h - one walk over the chunks of a thread: what has changed since the last one goes into blocks.
 */
#ifndef VENTURI_DRAIN_SNAPSHOT_H
#define VENTURI_DRAIN_SNAPSHOT_H

#include "base/buf.h"
#include "drain/tree.h"
#include "share/tree.h"

/* The kinds of blocks that come of it. */
enum vti_batch_type {
    VTI_BATCH_CALLS,
    VTI_BATCH_DURATIONS,
    VTI_BATCH_SAMPLES,
    VTI_BATCH_LINES,
    VTI_BATCH_LINE_DURATIONS,
    VTI_BATCH_LINE_CALLEES,
    VTI_BATCH_COUNT
};

struct vti_batch {
    struct vti_buf entries;
    uint32_t count;
};

struct vti_snapshot {
    struct vti_tree_copy *copy;
    struct vti_target *process;
    const struct vti_slot *slot;
    uint32_t track;
    uint64_t ticks;       /* now */
    size_t at;            /* which unit of the walk this is, counted over its chunks */
    uint64_t bytes;       /* written */
    uint64_t entries;     /* calls and resumes */
    uint64_t line_events; /* lines reached */
    struct vti_batch batches[VTI_BATCH_COUNT];
};

/* A number that the thread may be changing: read once. */
uint64_t vti_snapshot_load(const uint64_t *from);
uint32_t vti_snapshot_load32(const uint32_t *from);

/* Whether this unit of the walk is not what it was when it was last written. What `words` points to has no gaps with
 * chance values. */
bool vti_snapshot_is_changed(struct vti_snapshot *snapshot, const void *words, size_t bytes);
bool vti_snapshot_was_written(const struct vti_snapshot *snapshot);

/* An entry was appended to a batch: it is counted, and the batch written if it is large. */
void vti_snapshot_added(struct vti_snapshot *snapshot, enum vti_batch_type type);

/* Writes what is left and frees. */
void vti_snapshot_end(struct vti_snapshot *snapshot);

/* Writes a chunk of lines, of their durations or of their callees (lines.c). */
void vti_snapshot_line(struct vti_snapshot *snapshot, uint32_t type, uint32_t unit,
                       const uint8_t *at);
void vti_snapshot_line_durations(struct vti_snapshot *snapshot, uint32_t line,
                                 const struct vti_durations_unit *durations);

#endif
