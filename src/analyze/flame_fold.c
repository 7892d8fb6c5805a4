/* flame_fold.c - frames of a flame graph in their order, depth first and the longest first; small and deep ones left out. */
#include "analyze/flame_impl.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct order {
    const struct vti_flame_frame *frames;
    const struct vti_calls *calls;
};

static const char *name_of(const struct order *order, const struct vti_flame_frame *frame)
{
    return frame->function == VT_NONE ? "" : order->calls->functions[frame->function].name;
}

/* By parent; of one parent the longest first. */
static int by_length(const void *left, const void *right, void *arg)
{
    const struct order *order = arg;
    const struct vti_flame_frame *a = &order->frames[*(const uint32_t *)left];
    const struct vti_flame_frame *b = &order->frames[*(const uint32_t *)right];
    int names;

    if (a->parent != b->parent)
        return a->parent < b->parent ? -1 : 1;
    if (a->total_ns != b->total_ns)
        return a->total_ns > b->total_ns ? -1 : 1;
    names = strcmp(name_of(order, a), name_of(order, b));
    return names ? names : (a > b) - (a < b);
}

static bool is_kept(const struct vti_flame *flame, const struct vti_flame_options *options,
                    const struct vti_flame_frame *frame)
{
    return frame->depth < options->depth && frame->total_ns > 0 &&
           frame->total_ns >= options->least_share * flame->total_ns;
}

/* What it takes to put frames in their order, each by the index of a frame unless it says otherwise. */
struct layout {
    struct vti_flame_frame *kept; /* in that order */
    uint32_t *sorted;  /* frames, those with the same parent together, the longest first */
    uint32_t *indices; /* where a frame stands in `sorted` */
    uint32_t *firsts;  /* see find_firsts() */
    uint32_t *places;  /* in `kept`; VT_NONE: left out */
    uint32_t *around;  /* the same, of the innermost one that is kept: itself, or around it */
};

/* What is left out counts for the innermost frame around it that is kept. */
static void fold(struct vti_flame *flame, struct layout *layout,
                 const struct vti_flame_options *options, uint32_t index)
{
    const struct vti_flame_frame *frame = &flame->frames[index];
    uint32_t parent = frame->parent;
    uint32_t around = parent == VT_NONE ? VT_NONE : layout->around[parent];
    bool is_outermost = parent == VT_NONE || layout->places[parent] != VT_NONE;

    layout->places[index] = VT_NONE;
    layout->around[index] = around;
    flame->folded++;
    if (frame->depth >= options->depth && frame->depth - options->depth + 1 > flame->deeper)
        flame->deeper = frame->depth - options->depth + 1;
    if (around != VT_NONE) {
        layout->kept[around].folded++;
        layout->kept[around].folded_ns += is_outermost ? frame->total_ns : 0;
    } else {
        flame->folded_ns += is_outermost ? frame->total_ns : 0;
    }
}

static void keep(struct vti_flame *flame, struct layout *layout, uint32_t index, uint32_t place)
{
    uint32_t parent = flame->frames[index].parent;

    layout->places[index] = layout->around[index] = place;
    layout->kept[place] = flame->frames[index];
    layout->kept[place].parent = parent == VT_NONE ? VT_NONE : layout->places[parent];
}

/* The children of each frame: a run of `sorted`, from firsts[frame + 1] on; those of no frame from firsts[0] on. */
static uint32_t *find_firsts(const struct vti_flame *flame, const uint32_t *sorted)
{
    uint32_t *firsts = malloc((flame->count + 2) * sizeof *firsts);

    if (!firsts)
        return NULL;
    memset(firsts, 0xff, (flame->count + 2) * sizeof *firsts);
    for (size_t i = flame->count; i-- > 0;)
        firsts[(uint32_t)(flame->frames[sorted[i]].parent + 1)] = (uint32_t)i;
    return firsts;
}

/* Depth first without recursion: after a frame come its first child, its next sibling, that of its parent, … */
static void lay_out(struct vti_flame *flame, struct layout *layout,
                    const struct vti_flame_options *options)
{
    uint32_t at = layout->firsts[0];
    uint32_t count = 0;

    while (at != VT_NONE) {
        uint32_t index = layout->sorted[at];
        const struct vti_flame_frame *frame = &flame->frames[index];
        uint32_t parent = frame->parent;

        if (is_kept(flame, options, frame) &&
            (parent == VT_NONE || layout->places[parent] != VT_NONE))
            keep(flame, layout, index, count++);
        else
            fold(flame, layout, options, index);
        at = layout->firsts[index + 1];
        while (at == VT_NONE && index != VT_NONE) {
            uint32_t next = layout->indices[index] + 1;

            parent = flame->frames[index].parent;
            if (next < flame->count && flame->frames[layout->sorted[next]].parent == parent)
                at = next;
            index = parent;
        }
    }
    free(flame->frames);
    flame->frames = layout->kept;
    flame->room = flame->count + 1;
    flame->count = count;
    layout->kept = NULL;
}

int vti_flame_fold(struct vti_flame *flame, const struct vti_calls *calls,
                   const struct vti_flame_options *options)
{
    size_t room = flame->count + 1;
    struct order order = {flame->frames, calls};
    struct layout layout = {.kept = calloc(room, sizeof *layout.kept),
                            .sorted = calloc(room, sizeof *layout.sorted),
                            .indices = calloc(room, sizeof *layout.indices),
                            .places = calloc(room, sizeof *layout.places),
                            .around = calloc(room, sizeof *layout.around)};
    int code = layout.kept && layout.sorted && layout.indices && layout.places && layout.around
                   ? 0
                   : VTI_E_NOMEM;

    for (size_t i = 0; !code && i < flame->count; i++) {
        layout.sorted[i] = (uint32_t)i;
        flame->total_ns += flame->frames[i].parent == VT_NONE ? flame->frames[i].total_ns : 0;
    }
    if (!code) {
        qsort_r(layout.sorted, flame->count, sizeof *layout.sorted, by_length, &order);
        layout.firsts = find_firsts(flame, layout.sorted);
        code = layout.firsts ? 0 : VTI_E_NOMEM;
    }
    for (size_t i = 0; !code && i < flame->count; i++)
        layout.indices[layout.sorted[i]] = (uint32_t)i;
    if (!code)
        lay_out(flame, &layout, options);
    free(layout.kept);
    free(layout.sorted);
    free(layout.indices);
    free(layout.places);
    free(layout.around);
    free(layout.firsts);
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}
