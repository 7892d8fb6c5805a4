/*
 * stream.h - the records of one thread, from its slot and chain of blocks into an encoder.
 */
#ifndef VENTURI_DRAIN_STREAM_H
#define VENTURI_DRAIN_STREAM_H

#include "drain/recorder.h"
#include "drain/tree.h"
#include "share/arena.h"

#include <stdbool.h>

struct vti_target;

struct vti_stream {
    bool is_used;
    uint32_t track;
    uint32_t block;    /* index + 1 of the block being read; 0: the slot's own records */
    uint32_t position; /* next record in it */
    bool is_retired;   /* the block holds a record that was never finished: not to be used again */
    uint64_t stuck_ns; /* since when such a record is in the way; 0: none */
    uint32_t loss_seen;
    uint64_t pending_ns; /* when the oldest event that waits for a block was read */
    uint64_t quiet_ns;   /* when the last record was read, or the thread seen to live */
    uint64_t spans;
    struct vti_encoder *encoder; /* owned */
    struct vti_buf step_text;    /* owned: of a step, told in parts */
    struct vti_tree_copy tree;
    struct vti_track_fact fact;
    char name[VTI_THREAD_NAME_BYTES + 1];
};

/* Reads what is there. `is_final`: the thread is gone, nothing more will come. Returns the number of
 * records read. */
uint64_t vti_stream_read(struct vti_stream *stream, struct vti_target *process, uint32_t slot,
                         uint64_t now_ns, bool is_final);

/* Cuts a block if events have waited long enough, or now. */
void vti_stream_cut(struct vti_stream *stream, struct vti_target *process, uint64_t now_ns,
                    bool now);

/* Notes in the file that the thread lives, if it has spans open: that is how long they last so far. */
void vti_stream_note_alive(struct vti_stream *stream, struct vti_target *process);

/* The thread is gone: reads the rest, states its losses, writes its end, gives slot and blocks back. */
void vti_stream_finish(struct vti_stream *stream, struct vti_target *process, uint32_t slot,
                       uint64_t now_ns);

#endif
