/* recorder_state.h - what recorder.c and opening.c know of the recording that is being written. For these two only. */
#ifndef VENTURI_DRAIN_RECORDER_STATE_H
#define VENTURI_DRAIN_RECORDER_STATE_H

#include "base/hash.h"
#include "drain/clock.h"
#include "drain/flight.h"
#include "drain/recorder.h"
#include "drain/spool.h"

struct vti_recorder {
    struct vti_drain_options options; /* texts are the caller's */
    struct vti_writer *writer;        /* owned; NULL once closed */
    struct vti_map *sites;            /* owned: description -> file-wide id - 1 */
    struct vti_weights weights;
    struct vti_c_lines c_lines;
    struct vti_buf scratch;
    enum vti_clock_type clock;
    struct vti_anchor first_anchor;
    struct vti_anchor last_anchor;
    struct vti_clock_doubts doubts;
    uint64_t flushed_ns;
    struct vti_buf command; /* arguments, separated by zero bytes; empty: not known */
    uint32_t process_count;
    uint32_t track_count;
    struct vti_flight flight;
    int error; /* the first one */

    /* Of a spool: */
    bool is_spool;
    struct vti_spool spool;
    uint64_t file;                /* that is being written, from 1; 0: this is no spool */
    uint64_t began_ns, tried_ns;  /* the file; when another could not be begun, or 0 */
    bool is_removed;              /* somebody has removed it */
    uint64_t synced_ns;           /* when the kernel was last asked to write it out … */
    int synced_fd;                /* … by this descriptor; -1 */
    struct vti_writer_stats past; /* of the files before */
    uint64_t carried;             /* events that were told again */
    struct vti_buf *named;        /* owned: sites that have got a better description, by id */
    uint32_t named_room;
};

void vti_recorder_keep_error(struct vti_recorder *recorder, int code);

/* Entries of facts, which stand in `scratch`. */
void vti_recorder_facts(struct vti_recorder *recorder, enum vti_kind kind, uint32_t count,
                        uint64_t first, uint64_t last);
void vti_recorder_anchor(struct vti_recorder *recorder);

/* What stands at the beginning of a file. */
void vti_recorder_opening(struct vti_recorder *recorder);

/* Makes a file of the spool and its writer: 0 or a negative code. */
int vti_recorder_begin_file(struct vti_recorder *recorder, struct vti_writer **writer);

/* What files before and this one hold together. */
void vti_recorder_sum(const struct vti_recorder *recorder, struct vti_writer_stats *stats);

#endif
