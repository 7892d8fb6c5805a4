/*
 * tile_pack.c - gathers spans and busy time, and packs them into a tile: one piece of memory, by
 * depth, then time.
 */
#include "model/tile.h"

#include <stdlib.h>
#include <string.h>

#define COLUMNS VTI_TILE_COLUMNS

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

uint32_t vti_tile_column(const struct vti_tile_builder *builder, int64_t ns)
{
    int64_t inside = least(most(ns, builder->from_ns), builder->to_ns - 1) - builder->from_ns;
    uint32_t column = (uint32_t)((double)inside * builder->columns_per_ns);

    return column < COLUMNS ? column : COLUMNS - 1;
}

void vti_tile_add_busy(struct vti_tile_builder *builder, int64_t begin_ns, int64_t end_ns,
                       double share)
{
    int64_t begin = most(begin_ns, builder->from_ns);
    int64_t end = least(end_ns, builder->to_ns);

    while (begin < end) {
        int64_t column = (begin - builder->from_ns) / builder->width_ns;
        int64_t until = least(end, builder->from_ns + (column + 1) * builder->width_ns);

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

int64_t vti_tile_middle(const struct vti_tile_span *span)
{
    return span->begin_ns + (span->end_ns - span->begin_ns) / 2;
}

void vti_tile_fold(struct vti_tile_builder *builder, uint32_t column,
                   const struct vti_tile_span *span, uint32_t count)
{
    int64_t duration = span->end_ns - span->begin_ns;
    struct vti_fold *row = row_of(builder, span->depth);
    struct vti_fold *cell;

    if (!row)
        return;
    cell = &row[column];
    if (!cell->count || duration > cell->end_ns - cell->begin_ns) {
        cell->site = span->site;
        cell->begin_ns = span->begin_ns;
        cell->end_ns = span->end_ns;
    }
    cell->count = count < VTI_CELL_MOST - cell->count ? cell->count + count : VTI_CELL_MOST;
}

void vti_tile_add_span(struct vti_tile_builder *builder, const struct vti_tile_span *span,
                       uint32_t count)
{
    if (span->depth >= VTI_TILE_DEPTHS || span->end_ns < builder->from_ns ||
        span->begin_ns >= builder->to_ns)
        return;
    if (span->end_ns - span->begin_ns < builder->width_ns) {
        if (span->end_ns < builder->to_ns)
            vti_tile_fold(builder, vti_tile_column(builder, vti_tile_middle(span)), span, count);
        return;
    }
    if (!row_of(builder, span->depth) || vti_grow(&builder->spans, builder->span_count,
                                                  &builder->span_capacity, sizeof *builder->spans))
        builder->is_short_of_memory = true;
    else
        builder->spans[builder->span_count++] = *span;
}

/* One piece of memory for all arrays of the tile. */
static struct vti_tile *allocate(const struct vti_tile_builder *builder)
{
    size_t depths = (size_t)builder->row_count + 1;
    size_t cell_count = builder->span_count;
    size_t span_count = builder->span_count + 1;
    struct vti_tile *tile;
    size_t bytes;

    for (uint32_t depth = 0; depth < builder->row_count; depth++)
        for (uint32_t i = 0; builder->rows[depth] && i < COLUMNS; i++) {
            cell_count += builder->rows[depth][i].count > 0;
            span_count += builder->rows[depth][i].count == 1;
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
    /* Nobody looks at the one more, but it may be read. */
    tile->spans[span_count - 1] = (struct vti_tile_span){0};
    return tile;
}

/* The long spans by depth; within one they are in order of time already. NULL without memory. */
static struct vti_tile_span *sort_spans(const struct vti_tile_builder *builder, uint32_t *starts)
{
    struct vti_tile_span *sorted = malloc((builder->span_count + 1) * sizeof *sorted);

    if (!sorted)
        return NULL;
    memset(starts, 0, ((size_t)builder->row_count + 1) * sizeof *starts);
    for (size_t i = 0; i < builder->span_count; i++)
        starts[builder->spans[i].depth + 1]++;
    for (uint32_t depth = 0; depth < builder->row_count; depth++)
        starts[depth + 1] += starts[depth];
    for (size_t i = 0; i < builder->span_count; i++)
        sorted[starts[builder->spans[i].depth]++] = builder->spans[i];
    /* Each start has moved to the end of its depth, which is where the next one starts. */
    memmove(starts + 1, starts, builder->row_count * sizeof *starts);
    starts[0] = 0;
    return sorted;
}

static void place_span(struct vti_tile_builder *builder, struct vti_cell **cell,
                       struct vti_tile_span **to, const struct vti_tile_span *span)
{
    *(*cell)++ = (struct vti_cell){span->site, (float)(span->end_ns - span->begin_ns),
                                   vti_tile_column(builder, span->begin_ns), 0};
    *(*to)++ = *span;
}

/* Folds of a depth in order of their columns, and between them the long spans that begin there. */
static void place_depth(struct vti_tile_builder *builder, uint32_t depth, struct vti_cell **cell,
                        struct vti_tile_span **to, const struct vti_tile_span *span,
                        const struct vti_tile_span *end)
{
    const struct vti_fold *row = builder->rows[depth];

    for (uint32_t i = 0; row && i < COLUMNS; i++) {
        if (!row[i].count)
            continue;
        while (span < end && vti_tile_column(builder, span->begin_ns) < i)
            place_span(builder, cell, to, span++);
        *(*cell)++ = (struct vti_cell){row[i].site, (float)(row[i].end_ns - row[i].begin_ns), i,
                                       row[i].count};
        if (row[i].count == 1)
            *(*to)++ = (struct vti_tile_span){row[i].begin_ns, row[i].end_ns, row[i].site, depth};
    }
    while (span < end)
        place_span(builder, cell, to, span++);
}

static bool place_all(struct vti_tile_builder *builder, struct vti_tile *tile)
{
    uint32_t *starts = tile->span_starts;
    struct vti_tile_span *sorted = sort_spans(builder, starts);
    struct vti_tile_span *span = tile->spans;
    struct vti_cell *cell = tile->cells;
    bool is_placed;

    for (uint32_t depth = 0; sorted && depth < builder->row_count; depth++) {
        const struct vti_tile_span *first = sorted + starts[depth];

        tile->cell_starts[depth] = (uint32_t)(cell - tile->cells);
        starts[depth] = (uint32_t)(span - tile->spans);
        place_depth(builder, depth, &cell, &span, first, sorted + starts[depth + 1]);
    }
    tile->cell_starts[builder->row_count] = (uint32_t)(cell - tile->cells);
    starts[builder->row_count] = (uint32_t)(span - tile->spans);
    is_placed = sorted != NULL;
    free(sorted);
    return is_placed;
}

struct vti_tile *vti_tile_pack(struct vti_tile_builder *builder)
{
    struct vti_tile *tile = allocate(builder);

    if (!tile || !place_all(builder, tile)) {
        free(tile);
        return NULL;
    }
    if (builder->open_count)
        memcpy(tile->open, builder->open, builder->open_count * sizeof *tile->open);
    for (uint32_t i = 0; i < COLUMNS; i++) {
        double share = builder->busy_ns[i] / (double)builder->width_ns;

        tile->busy[i] = share > 1 ? 1 : (float)share;
    }
    return tile;
}
