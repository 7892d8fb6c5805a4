/*
 * step_log.h - the STEPS blocks of a recording: what steps have dealt with, one entry after the other, in file order.
 *
 * Nothing is kept: entries are decoded where they lie, so that a follower of a growing recording pays for what is new
 * only. A place in the file outlives the process that read so far; it can be kept as its two numbers.
 */
#ifndef VENTURI_MODEL_STEP_LOG_H
#define VENTURI_MODEL_STEP_LOG_H

#include "format/steps.h"
#include "model/model.h"

/* One message or batch; or, if `is_metrics`, a document that was sent by hand. Texts that are not terminated belong to the log and live until the
 * next call; the others until the recording is refreshed or closed. */
struct vti_step {
    const char *source, *prefix, *survey; /* "" : no survey */
    uint32_t site;                        /* id of the three together */
    const char *host;                     /* "" : unknown */
    const char *process_name;
    uint32_t process;         /* id in the recording */
    uint32_t pid;             /* 0: unknown */
    int64_t process_start_ns; /* UTC, since 1970; 0: unknown */
    uint64_t
        number; /* of its process: with the recording's id and the process's it names this entry for good */
    int64_t received_ns,
        sent_ns; /* UTC, since 1970: the clock of the machine when it was written; they never change */
    int64_t time_ns;  /* sent, in the recording's time */
    int64_t begin_ns; /* received, in the recording's time */
    bool is_failed, is_metrics;
    bool is_cut;  /* it came with more text than is kept: `extra` was left out */
    bool is_json; /* `extra` is members of a JSON object, as it should be; "" is */
    uint64_t messages;
    uint64_t execute_ns;
    uint64_t pre_ns, post_ns, produce_ns; /* or VTI_STEP_UNKNOWN */
    int64_t lag_ns;                       /* or VTI_STEP_LAG_UNKNOWN */
    struct vti_bytes extra;               /* without braces */
};

/* Where to go on: all zero is the start. Survives refreshing, closing and reopening of a recording that is only appended to. */
struct vti_step_place {
    uint64_t offset; /* of a block in the file */
    uint64_t entry;  /* of its entries so many were read */
};

struct vti_step_log {
    vt_recording *recording; /* borrowed */
    struct vti_step_place place;
    unsigned generation; /* of the recording when the block was opened */
    bool in_block;
    struct vti_block_header header;
    struct vti_steps_head head;
    struct vti_reader in;
    struct vti_step_codec codec;
};

/* From `from` on, NULL: from the start. _fini() gives back all memory. */
void vti_step_log_init(struct vti_step_log *log, vt_recording *recording,
                       const struct vti_step_place *from);
void vti_step_log_fini(struct vti_step_log *log);

/* The next entry: 1; 0 if there are no more for now (after vt_recording_refresh() there may be); or a negative code. Blocks that do not parse are put
 * on the recording's list of damage and left out. */
int vti_step_log_next(struct vti_step_log *log, struct vti_step *step);

/* Behind the entry that was given last. */
struct vti_step_place vti_step_log_place(const struct vti_step_log *log);

/* Whether messages of steps are lost for such a reason, not events. */
bool vti_loss_is_of_steps(uint32_t reason);

/* How many were lost for want of room, of disk or of sources, as far as the recording says by now. */
uint64_t vti_steps_lost(const vt_recording *recording);
uint64_t vti_steps_sourceless(const vt_recording *recording); /* only the last of these */

/* Whether there is any: quick, for reports. */
bool vti_steps_are_there(const vt_recording *recording);

#endif
