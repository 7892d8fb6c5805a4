/*
 * steps.h - STEPS blocks: messages that steps of a pipeline have dealt with, one entry each, in the order in which they were recorded.
 *
 * A block belongs to one process: its owner. It begins with one moment on two clocks, so that the real time of its entries
 * is told by the block alone and never changes; entries say how they differ from those before them in their block.
 */
#ifndef VENTURI_FORMAT_STEPS_H
#define VENTURI_FORMAT_STEPS_H

#include "base/buf.h"
#include "base/bytes.h"
#include "format/event.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_STEP_EXTRA_MAX 32768u /* bytes; a longer text is left out whole */
#define VTI_STEP_UNKNOWN UINT64_MAX
#define VTI_STEP_LAG_UNKNOWN INT64_MIN
#define VTI_STEPS_HEAD_BYTES 24

/* What the machine's clock showed at a tick, and how long a tick is. */
struct vti_steps_head {
    uint64_t ticks;
    int64_t realtime_ns;
    double ns_per_tick;
};

enum vti_step_entry { VTI_STEP_DONE = 1 };

/* One entry. Times are ticks. */
struct vti_step_fact {
    uint32_t type; /* enum vti_step_entry; an unknown one was stepped over */
    uint32_t site; /* of type VTI_SITE_STEP: who it was */
    uint64_t number;
    bool is_failed, is_metrics, is_cut;
    uint64_t received, sent;
    uint64_t messages;
    uint64_t execute_ns, pre_ns, post_ns, produce_ns; /* or VTI_STEP_UNKNOWN */
    int64_t lag_ns;                                   /* or VTI_STEP_LAG_UNKNOWN */
    struct vti_bytes extra;                           /* read: valid until the next entry */
};

/* What an entry refers to; zeroed it begins a block. */
struct vti_step_codec {
    uint64_t ticks, number;
    struct vti_buf extra; /* that of the entry before */
    struct vti_buf body;  /* scratch */
};

/* Another block begins; and all memory is given back. */
void vti_step_codec_clear(struct vti_step_codec *codec);
void vti_step_codec_fini(struct vti_step_codec *codec);

/* What a block begins with; false if it does not parse. */
void vti_steps_head_write(struct vti_buf *out, const struct vti_steps_head *head);
bool vti_steps_head_read(struct vti_reader *in, struct vti_steps_head *head);

/* Nanoseconds since 1970. */
int64_t vti_steps_realtime(const struct vti_steps_head *head, uint64_t ticks);

/* Appends one entry; takes one, false if it does not parse. */
void vti_step_write(struct vti_buf *out, struct vti_step_codec *codec,
                    const struct vti_step_fact *fact);
bool vti_step_read(struct vti_reader *in, struct vti_step_codec *codec, struct vti_step_fact *fact);

#endif
