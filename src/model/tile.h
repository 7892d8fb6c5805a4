/*
 * tile.h - pictures of stretches of a track, at fixed zooms: what window.c puts windows together
 * from. tile.c goes down the index, tile_run.c decodes blocks, tile_pack.c packs what they found,
 * tile_cache.c keeps tiles.
 */
#ifndef VENTURI_MODEL_TILE_H
#define VENTURI_MODEL_TILE_H

#include "model/model.h"

#define VTI_TILE_COLUMNS 256
#define VTI_ZOOM_MOST 210    /* a tile is less than 2^62 ns long */
#define VTI_TILE_DEPTHS 1024 /* deeper spans are not drawn */

/*
 * Something to draw in a column. Small: a window goes through 100,000 of them. A count of 1 stands
 * for the next of the tile's spans, and so does 0, but then it is a column long or more and begins
 * here.
 */
struct vti_cell {
    uint32_t site;    /* of the longest span */
    float longest_ns; /* how long that is */
    uint32_t column : 8;
    uint32_t count : 24; /* short spans that are folded here, guessed if from a summary */
};

struct vti_tile_span {
    int64_t begin_ns, end_ns;
    uint32_t site;
    uint32_t depth;
};

/* Nanoseconds a column: 1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16 … so that a window finds one
 * close to its pixel. */
int64_t vti_zoom_width(uint32_t zoom);

/* The first column is number * VTI_TILE_COLUMNS columns from the start. All in one piece of
 * memory. */
struct vti_tile {
    uint32_t order; /* of the track in the recording */
    uint32_t zoom;
    int64_t number;
    size_t bytes;
    struct vti_tile *newer, *older; /* in the order of last use; not owned */
    struct vti_tile *next;          /* with the same hash; not owned */
    uint64_t used;                  /* when it was used last */
    uint32_t depth_count;
    uint32_t open_count;
    uint32_t *cell_starts, *span_starts; /* depth_count + 1 each, into the two arrays below */
    struct vti_cell *cells;              /* by depth, then column */
    struct vti_tile_span *spans;  /* those of cells with one span in the same order, and one more */
    struct vti_tile_span *open;   /* one for each depth: spans that last beyond the tile */
    float busy[VTI_TILE_COLUMNS]; /* share of the column during which a span was open */
};

/* What building tiles needs again and again. */
struct vti_tile_builder;

int vti_tile_builder_create(struct vti_tile_builder **builder, struct vt_recording *recording);
void vti_tile_builder_free(struct vti_tile_builder *builder);

/* A new tile, owned by the caller (one free()), or NULL without memory. */
struct vti_tile *vti_tile_build(struct vti_tile_builder *builder, uint32_t order, uint32_t zoom,
                                int64_t number);

/* The tile from the cache, built if need be. It stays while vti_tiles_hold() is not called
 * again. */
struct vti_tile *vti_tiles_get(struct vt_recording *recording, uint32_t order, uint32_t zoom,
                               int64_t number);
void vti_tiles_hold(struct vt_recording *recording);

/* ---- while one is being built ---------------------------------------------------------------- */

/* Short spans of one depth in one column. */
struct vti_fold {
    int64_t begin_ns, end_ns; /* of the longest one */
    uint32_t site;            /* of that */
    uint32_t count;
};

/* A stack of open spans. */
struct vti_stack {
    struct vti_open *items; /* owned */
    size_t count;
    size_t capacity;
};

/* A decoded block. */
struct vti_tile_block {
    const struct vti_track *track; /* NULL: none */
    uint64_t at;
    struct vti_stack before, after; /* open at its begin and at its end */
    size_t beyond;                  /* while decoding: spans open beyond VTI_STACK_MAX */
    struct vti_tile_span *spans;    /* owned; those that end in it */
    size_t span_count;
    size_t span_capacity;
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
    struct vti_tile_block
        block;              /* the last one that was decoded: the next tile often needs it again */
    struct vti_stack stack; /* spans that are open after a run */
    double busy_ns[VTI_TILE_COLUMNS];
    int64_t width_ns;
    double columns_per_ns;
    int64_t from_ns, to_ns;
    uint64_t run_first, run_end; /* blocks waiting to be decoded in one go */
    uint64_t next_block;         /* the first one that begins after the tile */
    bool has_before;             /* there are blocks before the tile */
    bool has_last;
    int64_t last_ns; /* up to here all is drawn */
    bool is_short_of_memory;
};

#define VTI_CELL_MOST ((1u << 24) - 1) /* spans that a cell can hold */

/* The column of a time, the first or last one outside; as good as a division for drawing, and
 * quicker. */
uint32_t vti_tile_column(const struct vti_tile_builder *builder, int64_t ns);
int64_t vti_tile_middle(const struct vti_tile_span *span);

/* A share of the time from `begin` to `end` was busy. */
void vti_tile_add_busy(struct vti_tile_builder *builder, int64_t begin_ns, int64_t end_ns,
                       double share);

/* A span; `count` of them if it is the longest of several. Short ones belong to the tile they
 * end in. */
void vti_tile_add_span(struct vti_tile_builder *builder, const struct vti_tile_span *span,
                       uint32_t count);

/* `count` short spans of the span's depth in a column, of which it is the longest. */
void vti_tile_fold(struct vti_tile_builder *builder, uint32_t column,
                   const struct vti_tile_span *span, uint32_t count);

/* Draws blocks [first, end), which last from begin_ns to end_ns. What they leave open is in
 * `stack` then. */
void vti_tile_run(struct vti_tile_builder *builder, uint64_t first, uint64_t end, int64_t begin_ns,
                  int64_t end_ns);

/* Decodes a block into `block`; false if it is damaged or memory is short. */
bool vti_tile_decode(struct vti_tile_builder *builder, uint64_t at);

/* The tile with all that was added, owned by the caller; NULL without memory. */
struct vti_tile *vti_tile_pack(struct vti_tile_builder *builder);

#endif
