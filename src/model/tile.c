/*
 * tile.c - what a stretch of one track looks like at one zoom.
 *
 * Goes down the track's index until what it finds is narrower than a column and takes the summary of that:
 * of each depth at most one span of a column or more can end there, and the summary names it. Blocks
 * as wide as a column are decoded. Spans that last beyond the tile are on the open stack of the first
 * block after it. So every span of at least a column is exact, and the work depends on the tile alone.
 */
#include "model/tile.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS VTI_TILE_COLUMNS
#define NO_BLOCK UINT64_MAX
#define COUNT_MOST ((1u << 24) - 1) /* what a cell can hold */

int vti_tile_builder_create(struct vti_tile_builder **result, struct vt_recording *recording)
{
    struct vti_tile_builder *builder = calloc(1, sizeof *builder);

    if (!builder)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    builder->recording = recording;
    *result = builder;
    return 0;
}

void vti_tile_builder_free(struct vti_tile_builder *builder)
{
    if (!builder)
        return;
    for (uint32_t i = 0; i < VTI_TILE_DEPTHS; i++)
        free(builder->rows[i]);
    free(builder->spans);
    free(builder->open);
    free(builder->stack);
    free(builder);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static uint32_t column_of(const struct vti_tile_builder *builder, int64_t ns)
{
    int64_t inside = least(most(ns, builder->from_ns), builder->to_ns - 1) - builder->from_ns;

    return (uint32_t)(inside >> builder->zoom);
}

void vti_tile_add_busy(struct vti_tile_builder *builder, int64_t begin_ns, int64_t end_ns,
                       double share)
{
    int64_t begin = most(begin_ns, builder->from_ns);
    int64_t end = least(end_ns, builder->to_ns);

    while (begin < end) {
        uint32_t column = column_of(builder, begin);
        int64_t until =
            least(end, builder->from_ns + (((int64_t)column + 1) << builder->zoom));

        builder->busy_ns[column] += (double)(until - begin) * share;
        begin = until;
    }
}

static struct vti_fold *row_of(struct vti_tile_builder *builder, uint32_t depth)
{
    if (!builder->rows[depth])
        builder->rows[depth] = calloc(COLUMNS, sizeof *builder->rows[depth]);
    if (!builder->rows[depth]) {
        builder->is_short_of_memory = true;
        return NULL;
    }
    if (depth >= builder->row_count)
        builder->row_count = depth + 1;
    return builder->rows[depth];
}

static void fold(struct vti_tile_builder *builder, const struct vti_tile_span *span, uint32_t count)
{
    int64_t duration = span->end_ns - span->begin_ns;
    struct vti_fold *row = row_of(builder, span->depth);
    struct vti_fold *cell;

    if (!row)
        return;
    cell = &row[column_of(builder, span->begin_ns + duration / 2)];
    if (!cell->count || duration > cell->end_ns - cell->begin_ns) {
        cell->site = span->site;
        cell->begin_ns = span->begin_ns;
        cell->end_ns = span->end_ns;
    }
    cell->count = count < COUNT_MOST - cell->count ? cell->count + count : COUNT_MOST;
}

void vti_tile_add_span(struct vti_tile_builder *builder, const struct vti_tile_span *span,
                       uint32_t count)
{
    if (span->depth >= VTI_TILE_DEPTHS || span->end_ns < builder->from_ns ||
        span->begin_ns >= builder->to_ns)
        return;
    if (span->end_ns - span->begin_ns < builder->width_ns) {
        if (span->end_ns < builder->to_ns)
            fold(builder, span, count);
        return;
    }
    if (!row_of(builder, span->depth) || vti_grow(&builder->spans, builder->span_count,
                                                  &builder->span_capacity, sizeof *builder->spans))
        builder->is_short_of_memory = true;
    else
        builder->spans[builder->span_count++] = *span;
}

/* Positions the decoder at the open stack of a block. */
static struct vti_decoder *open_stack_of(struct vti_tile_builder *builder, uint64_t block)
{
    struct vti_decoder *decoder = &builder->walk.decoder;
    struct vti_block_header header;
    struct vti_index_entry entry;
    const uint8_t *payload;

    vti_blocks_at(builder->track, block, &entry);
    if (!vti_blocks_read(builder->recording, builder->track, &entry, &header, &payload) ||
        vti_decoder_init(decoder, &header, payload))
        return NULL;
    return decoder;
}

static bool is_open_at(struct vti_tile_builder *builder, uint64_t block)
{
    const struct vti_decoder *decoder = open_stack_of(builder, block);

    return decoder && vti_decoder_stack_count(decoder) > 0;
}

/* The time up to `ns`, where `block` begins: no event lies in it, so it is busy throughout or not at all. */
static void add_gap(struct vti_tile_builder *builder, int64_t ns, uint64_t block)
{
    int64_t begin = builder->has_last ? builder->last_ns : builder->has_before ? builder->from_ns : ns;
    int64_t length = least(ns, builder->to_ns) - most(begin, builder->from_ns);
    double share = builder->last_share;

    if (length <= 0)
        return;
    /* Looking costs a block read; what cannot be seen is taken to be like the time before it. */
    if (!builder->has_last || (!builder->is_last_exact && length >= builder->width_ns / 8))
        share = is_open_at(builder, block);
    vti_tile_add_busy(builder, begin, ns, share);
}

static void set_last(struct vti_tile_builder *builder, int64_t ns, double share, bool is_exact)
{
    builder->has_last = true;
    builder->last_ns = ns;
    builder->last_share = share;
    builder->is_last_exact = is_exact;
}

/* Decodes the waiting blocks. */
static void flush_run(struct vti_tile_builder *builder)
{
    struct vti_index_entry entry;
    int64_t begin_ns;
    int64_t end_ns;

    if (builder->run_first == builder->run_end)
        return;
    vti_blocks_at(builder->track, builder->run_first, &entry);
    begin_ns = vti_clock_ns(builder->clock, entry.first);
    vti_blocks_at(builder->track, builder->run_end - 1, &entry);
    end_ns = vti_clock_ns(builder->clock, entry.last);
    add_gap(builder, begin_ns, builder->run_first);
    vti_tile_run(builder, builder->run_first, builder->run_end, begin_ns, end_ns);
    set_last(builder, end_ns, builder->depth > 0, true);
    builder->run_first = builder->run_end = 0;
}

/* The longest spans of a stretch that is narrower than a column. */
static void add_lanes(struct vti_tile_builder *builder, const struct vti_lane *lanes, uint32_t count,
                      uint64_t begins, int64_t length_ns)
{
    double weights[VTI_LANES_MAX];
    double sum = 0;

    /* How the spans are spread over the depths is not known: where the longest is short there is room for more. */
    for (uint32_t i = 0; i < count; i++) {
        weights[i] = lanes[i].site ? 1 + (double)length_ns / (1 + (double)(lanes[i].end - lanes[i].begin) *
                                                                      builder->clock->ns_per_tick)
                                   : 0;
        sum += weights[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        double share = lanes[i].site ? (double)begins * weights[i] / sum : 0;
        struct vti_tile_span span = {vti_clock_ns(builder->clock, lanes[i].begin),
                                     vti_clock_ns(builder->clock, lanes[i].end), lanes[i].site, i};

        if (lanes[i].site)
            vti_tile_add_span(builder, &span,
                     share > COUNT_MOST ? COUNT_MOST : share > 1 ? (uint32_t)(share + 0.5) : 1);
    }
}

/* A stretch with its summary, from `first_block` on. */
static void add_summary(struct vti_tile_builder *builder, int64_t begin_ns, int64_t end_ns,
                        uint64_t busy_ticks, uint64_t first_block)
{
    int64_t length = end_ns - begin_ns;
    double share = length > 0 ? (double)busy_ticks * builder->clock->ns_per_tick / (double)length : 0;

    add_gap(builder, begin_ns, first_block);
    share = share > 1 ? 1 : share;
    vti_tile_add_busy(builder, begin_ns, end_ns, share);
    set_last(builder, end_ns, share, false);
}

static void visit_node(struct vti_tile_builder *builder, const struct vti_index_node *node,
                       int64_t begin_ns, int64_t end_ns, uint64_t first_block)
{
    struct vti_lane lanes[VTI_LANES_MAX];

    flush_run(builder);
    for (uint32_t i = 0; i < node->lane_count; i++)
        vti_index_lane_at(node, i, &lanes[i]);
    add_summary(builder, begin_ns, end_ns, node->busy, first_block);
    add_lanes(builder, lanes, node->lane_count, node->begins, end_ns - begin_ns);
}

static void visit_block(struct vti_tile_builder *builder, const struct vti_index_entry *entry,
                        uint64_t at, int64_t begin_ns, int64_t end_ns)
{
    struct vti_block_header header;
    struct vti_summary summary;
    const uint8_t *payload;

    if (end_ns - begin_ns >= builder->width_ns) {
        if (builder->run_end != at || builder->run_first == builder->run_end) {
            flush_run(builder);
            builder->run_first = at;
        }
        builder->run_end = at + 1;
        return;
    }
    flush_run(builder);
    if (!vti_blocks_read(builder->recording, builder->track, entry, &header, &payload))
        return;
    if (vti_summary_parse(&header, payload, &summary)) {
        vti_blocks_spoil(builder->recording, builder->track, entry,
                         "summary of the block does not parse");
        return;
    }
    add_summary(builder, begin_ns, end_ns, summary.busy, at);
    add_lanes(builder, summary.lanes, summary.lane_count, summary.begins, end_ns - begin_ns);
}

/* Elements [first, end) of a level. False once the tile's end has been passed. */
static bool visit(struct vti_tile_builder *builder, uint32_t level, uint64_t first, uint64_t end)
{
    const struct vti_index *index = &builder->track->blocks.index;
    struct vti_index_entry entry;
    struct vti_index_node node;

    for (uint64_t at = first; at < end; at++) {
        uint64_t first_block = at << (4 * level);
        int64_t begin_ns;
        int64_t end_ns;

        if (level == 0) {
            vti_blocks_at(builder->track, at, &entry);
            node.first = entry.first;
            node.last = entry.last;
        } else {
            vti_index_node_at(index, level, at, &node);
        }
        end_ns = vti_clock_ns(builder->clock, node.last);
        if (end_ns < builder->from_ns) {
            builder->has_before = true;
            continue;
        }
        begin_ns = least(vti_clock_ns(builder->clock, node.first), end_ns);
        if (begin_ns >= builder->to_ns) {
            builder->next_block = first_block;
            return false;
        }
        if (level == 0) {
            visit_block(builder, &entry, at, begin_ns, end_ns);
        } else if (end_ns - begin_ns < builder->width_ns) {
            visit_node(builder, &node, begin_ns, end_ns, first_block);
        } else {
            uint64_t below = at * VTI_INDEX_FANOUT;
            uint64_t left = index->counts[level - 1] - below;

            if (!visit(builder, level - 1, below,
                       below + (left < VTI_INDEX_FANOUT ? left : VTI_INDEX_FANOUT)))
                return false;
        }
    }
    return true;
}

static void add_open(struct vti_tile_builder *builder, uint32_t depth, uint32_t site, int64_t begin_ns)
{
    if (vti_grow(&builder->open, builder->open_count, &builder->open_capacity,
                 sizeof *builder->open)) {
        builder->is_short_of_memory = true;
        return;
    }
    builder->open[builder->open_count++] =
        (struct vti_tile_span){begin_ns, INT64_MAX, site, depth};
}

/* Spans that are open when the first block after the tile begins. */
static void look_beyond(struct vti_tile_builder *builder)
{
    struct vti_decoder *decoder = NULL;
    struct vti_index_entry entry;
    uint32_t site;
    uint64_t begin;

    /* A damaged block hides what is open there; one of the next will know most of it. */
    for (int tries = 0; tries < 16 && !decoder; tries++) {
        if (builder->next_block + (unsigned)tries >= vti_blocks_count(builder->track))
            return;
        decoder = open_stack_of(builder, builder->next_block + (unsigned)tries);
        vti_blocks_at(builder->track, builder->next_block + (unsigned)tries, &entry);
    }
    if (!decoder)
        return;
    for (uint32_t depth = 0; depth < VTI_TILE_DEPTHS &&
                             vti_decoder_stack_next(decoder, &site, &begin) > 0; depth++) {
        int64_t begin_ns = vti_clock_ns(builder->clock, begin);

        if (begin_ns >= builder->to_ns)
            break;
        add_open(builder, depth, site, begin_ns);
    }
    add_gap(builder, vti_clock_ns(builder->clock, entry.first), builder->next_block);
}

/* After the last block: spans that never ended last as long as the track. */
static void look_at_end(struct vti_tile_builder *builder)
{
    uint64_t count = vti_blocks_count(builder->track);
    int64_t end_ns = vti_track_end_ns(builder->recording, builder->track);

    /* Only the stack is wanted: the block's spans are known, and its busy time is empty here. */
    builder->is_stack_only = true;
    vti_tile_run(builder, count - 1, count, 0, 0);
    builder->is_stack_only = false;
    for (uint32_t i = 0; i < builder->depth && i < VTI_TILE_DEPTHS; i++) {
        struct vti_tile_span span = {vti_clock_ns(builder->clock, builder->stack[i].begin), end_ns,
                                     builder->stack[i].site, i};

        vti_tile_add_span(builder, &span, 1);
    }
    if (builder->depth)
        vti_tile_add_busy(builder, builder->track->last_ns, end_ns, 1);
}

static void clear(struct vti_tile_builder *builder, uint32_t order, uint32_t zoom, int64_t number)
{
    builder->track = builder->recording->facts.tracks[order];
    builder->clock = vti_track_clock(builder->recording, builder->track);
    for (uint32_t i = 0; i < builder->row_count; i++)
        if (builder->rows[i])
            memset(builder->rows[i], 0, COLUMNS * sizeof *builder->rows[i]);
    builder->row_count = 0;
    builder->span_count = builder->open_count = 0;
    memset(builder->busy_ns, 0, sizeof builder->busy_ns);
    builder->zoom = zoom;
    builder->width_ns = (int64_t)1 << zoom;
    builder->from_ns = number * (builder->width_ns * COLUMNS);
    builder->to_ns = builder->from_ns + builder->width_ns * COLUMNS;
    builder->run_first = builder->run_end = 0;
    builder->next_block = NO_BLOCK;
    builder->has_before = builder->has_last = builder->is_last_exact = false;
    builder->is_short_of_memory = false;
}

/* One piece of memory for all arrays of the tile. */
static struct vti_tile *allocate(const struct vti_tile_builder *builder)
{
    size_t depths = (size_t)builder->row_count + 1;
    size_t span_count = builder->span_count;
    size_t cell_count = 0;
    struct vti_tile *tile;
    size_t bytes;

    for (uint32_t depth = 0; depth < builder->row_count; depth++)
        for (uint32_t i = 0; builder->rows[depth] && i < COLUMNS; i++) {
            span_count += builder->rows[depth][i].count == 1;
            cell_count += builder->rows[depth][i].count > 1;
        }
    bytes = sizeof *tile + (span_count + builder->open_count) * sizeof *tile->spans +
            cell_count * sizeof *tile->cells + 2 * depths * sizeof *tile->cell_starts;
    tile = malloc(bytes);
    if (!tile)
        return NULL;
    memset(tile, 0, sizeof *tile);
    tile->bytes = bytes;
    tile->depth_count = builder->row_count;
    tile->open_count = (uint32_t)builder->open_count;
    tile->spans = (struct vti_tile_span *)(void *)(tile + 1);
    tile->open = tile->spans + span_count;
    tile->cells = (struct vti_cell *)(void *)(tile->open + builder->open_count);
    tile->cell_starts = (uint32_t *)(void *)(tile->cells + cell_count);
    tile->span_starts = tile->cell_starts + depths;
    return tile;
}

/* The folds of one depth: lone spans to `lone`, the others to cells. Returns how many were lone. */
static uint32_t place_folds(const struct vti_fold *row, uint32_t depth, struct vti_tile_span *lone,
                            struct vti_cell *cells)
{
    uint32_t count = 0;

    for (uint32_t i = 0; row && i < COLUMNS; i++) {
        if (row[i].count == 1)
            lone[count++] =
                (struct vti_tile_span){row[i].begin_ns, row[i].end_ns, row[i].site, depth};
        else if (row[i].count)
            *cells++ = (struct vti_cell){row[i].site, (float)(row[i].end_ns - row[i].begin_ns), i,
                                         row[i].count};
    }
    return count;
}

/* Both lists by time into one. */
static void merge_spans(struct vti_tile_span *to, const struct vti_tile_span *a, uint32_t a_count,
                        const struct vti_tile_span *b, uint32_t b_count)
{
    while (a_count || b_count) {
        bool takes_a = a_count && (!b_count || a->begin_ns <= b->begin_ns);

        *to++ = takes_a ? *a++ : *b++;
        a_count -= takes_a;
        b_count -= !takes_a;
    }
}

/* Where each depth begins; the long spans have been counted in span_starts of the depth after. */
static void place_all(struct vti_tile_builder *builder, struct vti_tile *tile,
                      struct vti_tile_span *sorted)
{
    struct vti_tile_span lone[COLUMNS];
    uint32_t long_at = 0;
    uint32_t span_at = 0;
    uint32_t cell_at = 0;

    for (uint32_t depth = 0; depth < builder->row_count; depth++) {
        const struct vti_fold *row = builder->rows[depth];
        uint32_t long_count = tile->span_starts[depth + 1];
        uint32_t lone_count = place_folds(row, depth, lone, tile->cells + cell_at);

        tile->span_starts[depth] = span_at;
        tile->cell_starts[depth] = cell_at;
        merge_spans(tile->spans + span_at, sorted + long_at, long_count, lone, lone_count);
        long_at += long_count;
        span_at += long_count + lone_count;
        for (uint32_t i = 0; row && i < COLUMNS; i++)
            cell_at += row[i].count > 1;
    }
    tile->span_starts[builder->row_count] = span_at;
    tile->cell_starts[builder->row_count] = cell_at;
}

/* The long spans by depth; within one they are in order of time already. */
static struct vti_tile_span *sort_spans(const struct vti_tile_builder *builder, uint32_t *counts)
{
    struct vti_tile_span *sorted = malloc((builder->span_count + 1) * sizeof *sorted);
    uint32_t *ends = calloc((size_t)builder->row_count + 1, sizeof *ends);

    memset(counts, 0, ((size_t)builder->row_count + 1) * sizeof *counts);
    for (size_t i = 0; i < builder->span_count; i++)
        counts[builder->spans[i].depth + 1]++;
    if (sorted && ends) {
        for (uint32_t i = 0; i < builder->row_count; i++)
            ends[i + 1] = ends[i] + counts[i + 1];
        for (size_t i = 0; i < builder->span_count; i++)
            sorted[ends[builder->spans[i].depth]++] = builder->spans[i];
    } else {
        free(sorted);
        sorted = NULL;
    }
    free(ends);
    return sorted;
}

static struct vti_tile *finish(struct vti_tile_builder *builder)
{
    struct vti_tile *tile = allocate(builder);
    struct vti_tile_span *sorted = tile ? sort_spans(builder, tile->span_starts) : NULL;

    if (!sorted) {
        free(tile);
        return NULL;
    }
    place_all(builder, tile, sorted);
    free(sorted);
    if (builder->open_count)
        memcpy(tile->open, builder->open, builder->open_count * sizeof *tile->open);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        double share = builder->busy_ns[i] / (double)builder->width_ns;

        tile->busy[i] = share > 1 ? 1 : (float)share;
    }
    return tile;
}

struct vti_tile *vti_tile_build(struct vti_tile_builder *builder, uint32_t order, uint32_t zoom,
                                int64_t number)
{
    struct vti_tile *tile = NULL;
    const struct vti_index *index;
    uint32_t top;

    clear(builder, order, zoom, number);
    index = &builder->track->blocks.index;
    top = index->level_count ? index->level_count - 1 : 0;
    visit(builder, top, 0, index->counts[top]);
    flush_run(builder);
    if (builder->next_block != NO_BLOCK)
        look_beyond(builder);
    else if (vti_blocks_count(builder->track))
        look_at_end(builder);
    if (!builder->is_short_of_memory)
        tile = finish(builder);
    if (!tile) {
        vti_fail(VTI_E_NOMEM, "%s: no memory for a picture of track %u", builder->recording->path,
                 builder->track->id);
        return NULL;
    }
    tile->order = order;
    tile->zoom = zoom;
    tile->number = number;
    return tile;
}
