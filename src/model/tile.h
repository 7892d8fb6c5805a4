/*
 * tile.h - a tile while it is being built, shared between tile.c (goes down the index) and tile_run.c
 * (decodes blocks).
 */
#ifndef VENTURI_MODEL_TILE_H
#define VENTURI_MODEL_TILE_H

#include "model/model.h"

/* Short spans of one depth in one column. */
struct vti_fold {
    int64_t begin_ns, end_ns; /* of the longest one */
    uint32_t site;            /* of that */
    uint32_t count;
};

struct vti_tile_builder {
    struct vt_recording *recording;
    struct vti_track *track;
    struct vti_clock *clock;
    struct vti_walk walk;
    struct vti_fold *rows[VTI_TILE_DEPTHS]; /* owned; one for each depth that was ever needed */
    uint32_t row_count;                     /* depths in use */
    struct vti_tile_span *spans;            /* owned; of a column or more, in order of their ends */
    size_t span_count;
    size_t span_capacity;
    struct vti_tile_span *open; /* owned */
    size_t open_count;
    size_t open_capacity;
    struct vti_open *stack; /* owned; of tile_run.c: spans that are open */
    size_t depth;
    size_t stack_capacity;
    size_t beyond; /* spans open beyond VTI_STACK_MAX */
    double busy_ns[VTI_TILE_COLUMNS];
    uint32_t zoom;
    int64_t width_ns;
    int64_t from_ns, to_ns;
    uint64_t run_first, run_end; /* blocks waiting to be decoded in one go */
    uint64_t next_block;         /* the first one that begins after the tile */
    bool has_before;             /* there are blocks before the tile */
    bool has_last;
    bool is_last_exact; /* last_share is known, not assumed */
    double last_share;  /* how busy the track was at last_ns, up to which all is drawn */
    int64_t last_ns;
    bool is_stack_only; /* decode for the stack that is left, draw nothing */
    bool is_short_of_memory;
};

/* A share of the time from `begin` to `end` was busy. */
void vti_tile_add_busy(struct vti_tile_builder *builder, int64_t begin_ns, int64_t end_ns,
                       double share);

/* A span; `count` of them if it is the longest of several. Short ones belong to the tile they end in. */
void vti_tile_add_span(struct vti_tile_builder *builder, const struct vti_tile_span *span,
                       uint32_t count);

/* Decodes blocks [first, end). What is left open is in `stack` then. Busy time is added from begin_ns
 * to end_ns, which are those of the blocks. */
void vti_tile_run(struct vti_tile_builder *builder, uint64_t first, uint64_t end, int64_t begin_ns,
                  int64_t end_ns);

#endif
