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

/* What is left out counts for the innermost frame around it that is kept: `places` has where frames went. */
static void fold(struct vti_flame *flame, struct vti_flame_frame *kept, const uint32_t *places,
                 const struct vti_flame_options *options, const struct vti_flame_frame *frame)
{
    uint32_t parent = frame->parent;
    bool is_outermost = parent == VT_NONE || places[parent] != VT_NONE;

    flame->folded++;
    if (frame->depth >= options->depth && frame->depth - options->depth + 1 > flame->deeper)
        flame->deeper = frame->depth - options->depth + 1;
    while (parent != VT_NONE && places[parent] == VT_NONE)
        parent = flame->frames[parent].parent;
    if (parent != VT_NONE) {
        kept[places[parent]].folded++;
        kept[places[parent]].folded_ns += is_outermost ? frame->total_ns : 0;
    } else {
        flame->folded_ns += is_outermost ? frame->total_ns : 0;
    }
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
static void lay_out(struct vti_flame *flame, struct vti_flame_frame *kept, uint32_t *places,
                    const uint32_t *sorted, const uint32_t *firsts, const uint32_t *indices,
                    const struct vti_flame_options *options)
{
    uint32_t at = firsts[0];
    size_t count = 0;

    while (at != VT_NONE) {
        uint32_t index = sorted[at];
        const struct vti_flame_frame *frame = &flame->frames[index];
        uint32_t parent = frame->parent;

        places[index] = VT_NONE;
        if (is_kept(flame, options, frame) && (parent == VT_NONE || places[parent] != VT_NONE)) {
            places[index] = (uint32_t)count;
            kept[count] = *frame;
            kept[count++].parent = parent == VT_NONE ? VT_NONE : places[parent];
        } else {
            fold(flame, kept, places, options, frame);
        }
        at = firsts[index + 1];
        while (at == VT_NONE && index != VT_NONE) {
            uint32_t next = indices[index] + 1;

            parent = flame->frames[index].parent;
            if (next < flame->count && flame->frames[sorted[next]].parent == parent)
                at = next;
            index = parent;
        }
    }
    free(flame->frames);
    flame->frames = kept;
    flame->room = flame->count + 1;
    flame->count = count;
}

int vti_flame_fold(struct vti_flame *flame, const struct vti_calls *calls,
                   const struct vti_flame_options *options)
{
    size_t room = flame->count + 1;
    struct order order = {flame->frames, calls};
    struct vti_flame_frame *kept = calloc(room, sizeof *kept);
    uint32_t *sorted = calloc(room, sizeof *sorted);
    uint32_t *indices = calloc(room, sizeof *indices); /* where a frame stands in `sorted` */
    uint32_t *places = calloc(room, sizeof *places);
    uint32_t *firsts = NULL;
    int code = kept && sorted && indices && places ? 0 : VTI_E_NOMEM;

    for (size_t i = 0; !code && i < flame->count; i++) {
        sorted[i] = (uint32_t)i;
        flame->total_ns += flame->frames[i].parent == VT_NONE ? flame->frames[i].total_ns : 0;
    }
    if (!code) {
        qsort_r(sorted, flame->count, sizeof *sorted, by_length, &order);
        firsts = find_firsts(flame, sorted);
        code = firsts ? 0 : VTI_E_NOMEM;
    }
    for (size_t i = 0; !code && i < flame->count; i++)
        indices[sorted[i]] = (uint32_t)i;
    if (!code)
        lay_out(flame, kept, places, sorted, firsts, indices, options);
    else
        free(kept);
    free(sorted);
    free(indices);
    free(places);
    free(firsts);
    return code ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}
