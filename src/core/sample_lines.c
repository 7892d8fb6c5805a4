/*
 * sample_lines.c - samples of native stacks by their places in functions: a tree of places for each thread, in the arena,
 * beside that of calls. A place is in a path once, so that recursion does not make it deep.
 *
 * Runs in the sampler's signal handler, as sample.c does.
 */
#include "core/sample_lines.h"

#include "core/chunk.h"
#include "core/runtime.h"

#define PARENT_SHIFT 44
#define SITE_SHIFT 24
#define SITE_MOST (1u << (PARENT_SHIFT - SITE_SHIFT))
#define OFFSET_MOST (1u << SITE_SHIFT)

_Static_assert((uint64_t)VTI_CHUNK_COUNT *VTI_CHUNK_UNITS <= (uint64_t)1 << (64 - PARENT_SHIFT),
               "a unit fits into a key");

struct vti_line_samples {
    const struct vti_arena_control *arena; /* what is kept here is of this one, and … */
    uint32_t thread;                       /* … of this thread */
    uint32_t chunk;                        /* index + 1 of the one with room; 0: none */
    uint8_t *units;
    struct vti_edges edges; /* by parent, site and offset */
};

static struct vti_line_samples *samples_of(struct vti_thread *self)
{
    struct vti_line_samples *all = self->line_samples;

    if (!all)
        all = self->line_samples = vti_private_map(sizeof *all);
    if (!all || (all->arena == self->arena && all->thread == self->slot->number))
        return all;
    if (!vti_edges_start(&all->edges))
        return NULL;
    all->arena = self->arena;
    all->thread = self->slot->number;
    all->units = vti_arena_units(self->arena);
    all->chunk = 0;
    return all;
}

/* The unit of a place below `parent` (0: none), added if need be; 0 if there is no room. */
static uint32_t step(struct vti_thread *self, struct vti_line_samples *all, uint32_t parent,
                     const struct vt_sample_line *place)
{
    uint64_t key = (uint64_t)parent << PARENT_SHIFT | (uint64_t)place->function << SITE_SHIFT |
                   place->offset;
    struct vti_chunk *chunk;
    struct vti_node *node;
    uint32_t unit;

    if (place->function >= SITE_MOST || place->offset >= OFFSET_MOST)
        return 0;
    unit = vti_edges_find(&all->edges, key);
    if (unit || !vti_edges_room(&all->edges))
        return unit;
    chunk = vti_chunk_room(self, &all->chunk, VTI_CHUNK_LINE_SAMPLES, 1);
    if (!chunk)
        return 0;
    unit = vti_chunk_unit(chunk, all->chunk);
    node = (struct vti_node *)(all->units + (size_t)unit * VTI_UNIT_BYTES);
    node->parent = parent;
    node->site = place->function;
    node->frame = place->offset;
    vti_chunk_publish(chunk, 1);
    vti_edges_add(&all->edges, key, unit);
    return unit;
}

bool vti_sample_lines_add(struct vti_thread *self, const struct vt_sample *sample)
{
    struct vti_line_samples *all = samples_of(self);
    uint32_t unit = 0;
    size_t left = all ? sample->line_count : 0;

    for (; left; left--) {
        uint32_t inner = step(self, all, unit, &sample->lines[left - 1]);

        if (!inner)
            break;
        unit = inner;
    }
    if (unit) {
        struct vti_node *node = (struct vti_node *)(all->units + (size_t)unit * VTI_UNIT_BYTES);

        node->calls++;
        node->total += sample->ns;
    }
    return all && !left;
}
