/*
 * tile_run.c - decodes blocks into a tile.
 *
 * As match.c, but for what a picture needs: no slots, attributes or children. This is what a window
 * costs that nobody has looked at before, so it does as little as it can for each event.
 */
#include "model/tile.h"

static bool push(struct vti_stack *stack, struct vti_open open)
{
    if (vti_grow(&stack->items, stack->count, &stack->capacity, sizeof *stack->items))
        return false;
    stack->items[stack->count++] = open;
    return true;
}

static bool copy_stack(struct vti_stack *to, const struct vti_stack *from)
{
    to->count = 0;
    for (size_t i = 0; i < from->count; i++)
        if (!push(to, from->items[i]))
            return false;
    return true;
}

/* The innermost span ends. */
static bool pop(struct vti_tile_block *block, struct vti_clock *clock, uint64_t ticks)
{
    const struct vti_open *open;

    if (block->beyond) {
        block->beyond--;
        return true;
    }
    if (!block->after.count)
        return true;
    if (block->span_count == block->span_capacity &&
        vti_grow(&block->spans, block->span_count, &block->span_capacity, sizeof *block->spans))
        return false;
    open = &block->after.items[--block->after.count];
    block->spans[block->span_count++] = (struct vti_tile_span){
        vti_clock_ns(clock, open->begin), vti_clock_ns(clock, ticks), open->site,
        (uint32_t)block->after.count};
    return true;
}

static bool decode(struct vti_tile_builder *builder, struct vti_tile_block *block)
{
    struct vti_walk *walk = &builder->walk;
    struct vti_event event;
    struct vti_open open;
    bool is_fine = true;
    int got;

    while (is_fine && vti_decoder_stack_next(&walk->decoder, &open.site, &open.begin) > 0)
        is_fine = push(&block->before, open);
    is_fine = is_fine && copy_stack(&block->after, &block->before);
    while (is_fine && (got = vti_decoder_next(&walk->decoder, &event)) != 0) {
        if (got < 0) {
            vti_walk_block(walk, got);
            break;
        }
        if (event.kind == VTI_EVENT_END)
            is_fine = pop(block, builder->clock, event.ticks);
        else if (event.kind == VTI_EVENT_BEGIN && block->after.count < VTI_STACK_MAX)
            is_fine = push(&block->after, (struct vti_open){event.ticks, event.site});
        else
            block->beyond += event.kind == VTI_EVENT_BEGIN;
    }
    return is_fine;
}

bool vti_tile_decode(struct vti_tile_builder *builder, uint64_t at)
{
    struct vti_tile_block *block = &builder->block;

    if (block->track == builder->track && block->at == at)
        return true;
    block->track = NULL;
    block->before.count = block->after.count = block->beyond = block->span_count = 0;
    vti_walk_init(&builder->walk, builder->recording, builder->track, at, at + 1);
    if (vti_walk_block(&builder->walk, 0) == VTI_WALK_END)
        return false;
    if (!decode(builder, block)) {
        builder->is_short_of_memory = true;
        return false;
    }
    block->track = builder->track;
    block->at = at;
    return true;
}

static void draw(struct vti_tile_builder *builder, const struct vti_tile_span *span,
                 int64_t from_ns, int64_t to_ns)
{
    if (span->depth == 0)
        vti_tile_add_busy(builder, span->begin_ns > from_ns ? span->begin_ns : from_ns,
                          span->end_ns < to_ns ? span->end_ns : to_ns, 1);
    vti_tile_add_span(builder, span, 1);
}

/* Spans that the next block does not have any more ended where events are missing. */
static void draw_missing(struct vti_tile_builder *builder, const struct vti_stack *before,
                         int64_t ns, int64_t from_ns, int64_t to_ns)
{
    const struct vti_stack *stack = &builder->stack;
    size_t known = 0;

    while (known < stack->count && known < before->count &&
           stack->items[known].site == before->items[known].site &&
           stack->items[known].begin == before->items[known].begin)
        known++;
    for (size_t i = stack->count; i-- > known;) {
        struct vti_tile_span span = {vti_clock_ns(builder->clock, stack->items[i].begin), ns,
                                     stack->items[i].site, (uint32_t)i};

        draw(builder, &span, from_ns, to_ns);
    }
}

void vti_tile_run(struct vti_tile_builder *builder, uint64_t first, uint64_t end, int64_t begin_ns,
                  int64_t end_ns)
{
    const struct vti_tile_block *block = &builder->block;
    struct vti_index_entry entry;

    builder->stack.count = 0;
    for (uint64_t at = first; at < end; at++) {
        if (!vti_tile_decode(builder, at))
            continue;
        vti_blocks_at(builder->track, at, &entry);
        draw_missing(builder, &block->before, vti_clock_ns(builder->clock, entry.first), begin_ns,
                     end_ns);
        for (size_t i = 0; i < block->span_count; i++)
            draw(builder, &block->spans[i], begin_ns, end_ns);
        if (!copy_stack(&builder->stack, &block->after))
            builder->is_short_of_memory = true;
    }
    if (builder->stack.count) {
        int64_t open_ns = vti_clock_ns(builder->clock, builder->stack.items[0].begin);

        vti_tile_add_busy(builder, open_ns > begin_ns ? open_ns : begin_ns, end_ns, 1);
    }
}
