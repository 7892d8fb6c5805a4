/*
 * tile.c - what a stretch of one track looks like at one zoom.
 *
 * Goes down the track's index until what it finds is so narrow that its summary names all spans of
 * a column or more that end there: narrower than a column, so that there is at most one of each
 * depth, or than two if there is none. Wider blocks are decoded. Spans that last beyond the tile
 * are on the open stack of the first block after it. So every span of at least a column is exact,
 * and the work depends on the tile alone.
 */
#include "model/tile.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS VTI_TILE_COLUMNS
#define NO_BLOCK UINT64_MAX

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
    free(builder->stack.items);
    free(builder->block.before.items);
    free(builder->block.after.items);
    free(builder->block.spans);
    free(builder);
}

int64_t vti_zoom_width(uint32_t zoom)
{
    return zoom < 3 ? zoom + 1 : (int64_t)(4 + (zoom - 3) % 4) << (zoom - 3) / 4;
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* The time up to `ns`, where a block begins: no event lies in it, so it is busy throughout or
 * not at all, or so busy on average if it stands for several such times. */
static void add_gap(struct vti_tile_builder *builder, int64_t ns, double share)
{
    int64_t begin = builder->has_last     ? builder->last_ns
                    : builder->has_before ? builder->from_ns
                                          : ns;

    if (begin < ns)
        vti_tile_add_busy(builder, begin, ns, share);
}

static void set_last(struct vti_tile_builder *builder, int64_t ns)
{
    builder->has_last = true;
    builder->last_ns = ns;
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
    if (vti_tile_decode(builder, builder->run_first))
        add_gap(builder, begin_ns, builder->block.before.count > 0);
    vti_tile_run(builder, builder->run_first, builder->run_end, begin_ns, end_ns);
    set_last(builder, end_ns);
    builder->run_first = builder->run_end = 0;
}

/* How many spans of each depth there may be. It is not known: where the longest is short there
 * is room for more. */
static void guess_counts(const struct vti_tile_builder *builder, const struct vti_lane *lanes,
                         uint32_t count, uint64_t begins, int64_t length_ns, uint32_t *guesses)
{
    double weights[VTI_LANES_MAX];
    double sum = 0;

    for (uint32_t i = 0; i < count; i++) {
        double longest_ns = (double)(lanes[i].end - lanes[i].begin) * builder->clock->ns_per_tick;

        weights[i] = lanes[i].site ? 1 + (double)length_ns / (1 + longest_ns) : 0;
        sum += weights[i];
    }
    for (uint32_t i = 0; i < count; i++) {
        double share = sum > 0 ? (double)begins * weights[i] / sum : 0;

        guesses[i] = share > VTI_CELL_MOST ? VTI_CELL_MOST
                     : share > 1           ? (uint32_t)(share + 0.5)
                                           : 1;
    }
}

/* The longest spans of a stretch, each for all of its depth. Where the stretch has more columns
 * than one the others get their part, so that the picture has no holes. */
static void add_lanes(struct vti_tile_builder *builder, const struct vti_lane *lanes,
                      uint32_t count, uint64_t begins, int64_t begin_ns, int64_t end_ns)
{
    uint32_t first = vti_tile_column(builder, begin_ns);
    uint32_t last = vti_tile_column(builder, end_ns);
    uint32_t guesses[VTI_LANES_MAX];

    guess_counts(builder, lanes, count, begins, end_ns - begin_ns, guesses);
    for (uint32_t i = 0; i < count; i++) {
        struct vti_tile_span span = {vti_clock_ns(builder->clock, lanes[i].begin),
                                     vti_clock_ns(builder->clock, lanes[i].end), lanes[i].site, i};
        uint32_t part = guesses[i] / (last - first + 1);
        bool is_here = span.end_ns >= builder->from_ns && span.end_ns < builder->to_ns;
        uint32_t own = is_here ? vti_tile_column(builder, vti_tile_middle(&span)) : VT_NONE;

        if (!lanes[i].site)
            continue;
        vti_tile_add_span(builder, &span, part ? part : 1);
        for (uint32_t column = first; column <= last && part > 1; column++)
            if (column != own)
                vti_tile_fold(builder, column, &span, part);
    }
}

/* Whether a stretch need not be looked into: it is narrow, and no span that ends there is as
 * long as a column; or so narrow that of each depth only one can be, the longest, which is
 * known. */
static bool is_leaf(const struct vti_tile_builder *builder, const struct vti_lane *lanes,
                    uint32_t count, int64_t length_ns)
{
    if (length_ns < builder->width_ns)
        return true;
    if (length_ns >= 2 * builder->width_ns)
        return false;
    for (uint32_t i = 0; i < count; i++)
        if (lanes[i].site && vti_clock_ns(builder->clock, lanes[i].end) -
                                     vti_clock_ns(builder->clock, lanes[i].begin) >=
                                 builder->width_ns)
            return false;
    return true;
}

static void add_busy_ticks(struct vti_tile_builder *builder, int64_t begin_ns, int64_t end_ns,
                           uint64_t busy_ticks)
{
    int64_t length = end_ns - begin_ns;
    double share = length > 0 ? (double)busy_ticks * builder->clock->ns_per_tick / (double)length
                              : 0;

    vti_tile_add_busy(builder, begin_ns, end_ns, share > 1 ? 1 : share);
    set_last(builder, end_ns);
}

/* False: it must be looked into. */
static bool visit_node(struct vti_tile_builder *builder, const struct vti_index_node *node,
                       int64_t begin_ns, int64_t end_ns, double gap_share)
{
    struct vti_lane lanes[VTI_LANES_MAX];

    if (end_ns - begin_ns >= 2 * builder->width_ns)
        return false;
    for (uint32_t i = 0; i < node->lane_count; i++)
        vti_index_lane_at(node, i, &lanes[i]);
    if (!is_leaf(builder, lanes, node->lane_count, end_ns - begin_ns))
        return false;
    flush_run(builder);
    add_gap(builder, begin_ns, gap_share);
    add_busy_ticks(builder, begin_ns, end_ns, node->busy);
    add_lanes(builder, lanes, node->lane_count, node->begins, begin_ns, end_ns);
    return true;
}

/* Decoding is put off, so that blocks one after the other are decoded in one go. */
static void add_to_run(struct vti_tile_builder *builder, uint64_t at)
{
    if (builder->run_end != at || builder->run_first == builder->run_end) {
        flush_run(builder);
        builder->run_first = at;
    }
    builder->run_end = at + 1;
}

static void visit_block(struct vti_tile_builder *builder, uint64_t at, int64_t begin_ns,
                        int64_t end_ns)
{
    struct vti_block_header header;
    struct vti_index_entry entry;
    struct vti_summary summary;
    const uint8_t *payload;

    if (end_ns - begin_ns >= 2 * builder->width_ns) {
        add_to_run(builder, at);
        return;
    }
    if (!vti_blocks_read_at(builder->recording, builder->track, at, &entry, &header, &payload))
        return;
    if (vti_summary_parse(&header, payload, &summary)) {
        vti_blocks_spoil(builder->recording, builder->track, &entry,
                         "summary of the block does not parse");
        return;
    }
    if (!is_leaf(builder, summary.lanes, summary.lane_count, end_ns - begin_ns)) {
        add_to_run(builder, at);
        return;
    }
    flush_run(builder);
    add_gap(builder, begin_ns, summary.open > 0);
    add_busy_ticks(builder, begin_ns, end_ns, summary.busy);
    add_lanes(builder, summary.lanes, summary.lane_count, summary.begins, begin_ns, end_ns);
}

/* How busy the time between the nodes [first, end) is: what the node above has more than they
 * have. */
static double share_between(const struct vti_index *index, uint32_t level, uint64_t first,
                            uint64_t end, uint64_t busy_above)
{
    struct vti_index_node node;
    uint64_t busy = 0;
    uint64_t between = 0;
    uint64_t last = 0;

    for (uint64_t at = first; at < end; at++) {
        vti_index_node_at(index, level, at, &node);
        busy += node.busy;
        between += at > first && node.first > last ? node.first - last : 0;
        last = node.last;
    }
    if (busy_above <= busy || between == 0)
        return 0;
    return busy_above - busy < between ? (double)(busy_above - busy) / (double)between : 1;
}

static void visit(struct vti_tile_builder *builder, uint32_t level, uint64_t first, uint64_t end,
                  double first_share, double share);

static void descend(struct vti_tile_builder *builder, uint32_t level, uint64_t at, double gap_share,
                    uint64_t busy)
{
    const struct vti_index *index = &builder->track->blocks.index;
    uint64_t first = at * VTI_INDEX_FANOUT;
    uint64_t left = index->counts[level - 1] - first;
    uint64_t end = first + (left < VTI_INDEX_FANOUT ? left : VTI_INDEX_FANOUT);

    /* Blocks say themselves what is before them. */
    visit(builder, level - 1, first, end, gap_share,
          level > 1 ? share_between(index, level - 1, first, end, busy) : 0);
}

/*
 * Elements [first, end) of a level, until the tile's end has been passed. The shares say how busy
 * the time before the first one and between the others is; below zero: not known.
 */
static void visit(struct vti_tile_builder *builder, uint32_t level, uint64_t first, uint64_t end,
                  double first_share, double share)
{
    struct vti_index_entry entry;
    struct vti_index_node node = {0};

    for (uint64_t at = first; at < end && builder->next_block == NO_BLOCK; at++) {
        uint64_t first_block = at << (4 * level);
        double gap_share = at == first ? first_share : share;
        int64_t begin_ns;
        int64_t end_ns;

        if (level == 0) {
            vti_blocks_at(builder->track, at, &entry);
            node.first = entry.first;
            node.last = entry.last;
        } else {
            vti_index_node_at(&builder->track->blocks.index, level, at, &node);
        }
        end_ns = vti_clock_ns(builder->clock, node.last);
        begin_ns = least(vti_clock_ns(builder->clock, node.first), end_ns);
        if (end_ns < builder->from_ns) {
            builder->has_before = true;
            continue;
        }
        if (begin_ns >= builder->to_ns) {
            builder->next_block = first_block;
            return;
        }
        /* Between nodes of the top level: the time just before the first block of a node. */
        if (gap_share < 0 && level > 0)
            gap_share = vti_blocks_depth(builder->recording, builder->track, first_block) > 0;
        if (level == 0)
            visit_block(builder, at, begin_ns, end_ns);
        else if (!visit_node(builder, &node, begin_ns, end_ns, gap_share))
            descend(builder, level, at, gap_share, node.busy);
    }
}

static void add_open(struct vti_tile_builder *builder, uint32_t depth, uint32_t site,
                     int64_t begin_ns)
{
    if (vti_grow(&builder->open, builder->open_count, &builder->open_capacity,
                 sizeof *builder->open)) {
        builder->is_short_of_memory = true;
        return;
    }
    builder->open[builder->open_count++] = (struct vti_tile_span){begin_ns, INT64_MAX, site, depth};
}

/* Spans that are open when the first block after the tile begins. */
static void look_beyond(struct vti_tile_builder *builder)
{
    struct vti_decoder *decoder = &builder->walk.decoder;
    struct vti_index_entry entry;
    bool is_known = false;
    bool is_open;
    uint32_t site;
    uint64_t begin;

    /* A damaged block hides what is open there; one of the next will know most of it. */
    for (unsigned tries = 0; tries < 16 && !is_known; tries++)
        is_known = vti_blocks_open(builder->recording, builder->track, builder->next_block + tries,
                                   &entry, decoder);
    if (!is_known)
        return;
    is_open = vti_decoder_stack_count(decoder) > 0;
    for (uint32_t depth = 0;
         depth < VTI_TILE_DEPTHS && vti_decoder_stack_next(decoder, &site, &begin) > 0; depth++) {
        int64_t begin_ns = vti_clock_ns(builder->clock, begin);

        if (begin_ns >= builder->to_ns)
            break;
        add_open(builder, depth, site, begin_ns);
    }
    add_gap(builder, vti_clock_ns(builder->clock, entry.first), is_open);
}

/* After the last block: spans that never ended last as long as the track. */
static void look_at_end(struct vti_tile_builder *builder)
{
    const struct vti_stack *stack = &builder->block.after;
    int64_t end_ns = vti_track_end_ns(builder->recording, builder->track);

    if (!vti_tile_decode(builder, vti_blocks_count(builder->track) - 1))
        return;
    for (uint32_t i = 0; i < stack->count && i < VTI_TILE_DEPTHS; i++) {
        struct vti_tile_span span = {vti_clock_ns(builder->clock, stack->items[i].begin), end_ns,
                                     stack->items[i].site, i};

        vti_tile_add_span(builder, &span, 1);
    }
    if (stack->count)
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
    builder->width_ns = vti_zoom_width(zoom);
    builder->columns_per_ns = 1 / (double)builder->width_ns;
    builder->from_ns = number * (builder->width_ns * COLUMNS);
    builder->to_ns = builder->from_ns + builder->width_ns * COLUMNS;
    builder->run_first = builder->run_end = 0;
    builder->next_block = NO_BLOCK;
    builder->has_before = builder->has_last = false;
    builder->is_short_of_memory = false;
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
    visit(builder, top, 0, index->counts[top], -1, -1);
    flush_run(builder);
    if (builder->next_block != NO_BLOCK)
        look_beyond(builder);
    else if (vti_blocks_count(builder->track))
        look_at_end(builder);
    if (!builder->is_short_of_memory)
        tile = vti_tile_pack(builder);
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
