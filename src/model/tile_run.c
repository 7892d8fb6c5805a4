/*
 * tile_run.c - decodes blocks into a tile.
 *
 * As match.c, but for what a picture needs: no sites, attributes or children. This is what a window costs
 * that nobody has looked at before, so it does as little as it can for each event.
 */
#include "model/tile.h"

static void give(struct vti_tile_builder *builder, uint32_t depth, const struct vti_open *open,
                 int64_t end_ns, int64_t from_ns, int64_t to_ns)
{
    struct vti_tile_span span = {vti_clock_ns(builder->clock, open->begin), end_ns, open->site, depth};

    if (builder->is_stack_only)
        return;
    if (depth == 0)
        vti_tile_add_busy(builder, span.begin_ns > from_ns ? span.begin_ns : from_ns,
                          end_ns < to_ns ? end_ns : to_ns, 1);
    if (span.end_ns < span.begin_ns)
        span.end_ns = span.begin_ns;
    vti_tile_add_span(builder, &span, 1);
}

static void push(struct vti_tile_builder *builder, struct vti_open open)
{
    if (builder->depth == builder->stack_capacity) {
        if (builder->depth >= VTI_STACK_MAX) {
            builder->beyond++;
            return;
        }
        if (vti_grow(&builder->stack, builder->depth, &builder->stack_capacity,
                     sizeof *builder->stack)) {
            builder->is_short_of_memory = true;
            return;
        }
    }
    builder->stack[builder->depth++] = open;
}

/* The block's own stack counts. Spans that it does not have any more ended where events are missing. */
static void meet_block(struct vti_tile_builder *builder, int64_t from_ns, int64_t to_ns)
{
    struct vti_decoder *decoder = &builder->walk.decoder;
    int64_t ns = vti_clock_ns(builder->clock, builder->walk.entry.first);
    size_t known = builder->depth;
    size_t at = 0;
    struct vti_open open;

    builder->beyond = 0;
    while (vti_decoder_stack_next(decoder, &open.site, &open.begin) > 0) {
        bool is_known = at < known && builder->stack[at].site == open.site &&
                        builder->stack[at].begin == open.begin;

        if (!is_known) {
            for (size_t i = known; i-- > at;)
                give(builder, (uint32_t)i, &builder->stack[i], ns, from_ns, to_ns);
            known = 0;
            builder->depth = at;
            push(builder, open);
        }
        at++;
    }
    for (size_t i = known; i-- > at;)
        give(builder, (uint32_t)i, &builder->stack[i], ns, from_ns, to_ns);
    builder->depth = at < builder->depth ? at : builder->depth;
}

static void take_event(struct vti_tile_builder *builder, const struct vti_event *event,
                       int64_t from_ns, int64_t to_ns)
{
    if (event->kind == VTI_EVENT_BEGIN) {
        push(builder, (struct vti_open){event->ticks, event->site});
    } else if (event->kind == VTI_EVENT_END) {
        if (builder->beyond) {
            builder->beyond--;
        } else if (builder->depth) {
            builder->depth--;
            give(builder, (uint32_t)builder->depth, &builder->stack[builder->depth],
                 vti_clock_ns(builder->clock, event->ticks), from_ns, to_ns);
        }
    }
}

void vti_tile_run(struct vti_tile_builder *builder, uint64_t first, uint64_t end, int64_t begin_ns,
                  int64_t end_ns)
{
    struct vti_walk *walk = &builder->walk;
    struct vti_event event;
    int got = 0;

    vti_walk_init(walk, builder->recording, builder->track, first, end);
    builder->depth = builder->beyond = 0;
    while (vti_walk_block(walk, got) != VTI_WALK_END) {
        meet_block(builder, begin_ns, end_ns);
        while ((got = vti_decoder_next(&walk->decoder, &event)) > 0)
            take_event(builder, &event, begin_ns, end_ns);
    }
    if (builder->depth && !builder->is_stack_only) {
        int64_t open_ns = vti_clock_ns(builder->clock, builder->stack[0].begin);

        vti_tile_add_busy(builder, open_ns > begin_ns ? open_ns : begin_ns, end_ns, 1);
    }
}
