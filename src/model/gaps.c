/*
 * gaps.c - when events of a process were lost, for spans whose end is missing.
 *
 * Such a span may have ended in the first gap after its begin: it is not known to have lasted longer. What was left out on purpose, sliced away or
 * overwritten by a ring, is no gap; and in a slice spans lack their ends because they go on after it.
 */
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>

static bool hides_ends(uint32_t reason)
{
    return reason == VTI_LOSS_BUFFERS || reason == VTI_LOSS_THREADS || reason == VTI_LOSS_DISK ||
           reason == VTI_LOSS_WRITER || reason == VTI_LOSS_DAMAGE;
}

static int by_process_and_begin(const void *left, const void *right)
{
    const struct vti_gap *a = left;
    const struct vti_gap *b = right;

    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return a->begin_ns < b->begin_ns ? -1 : a->begin_ns > b->begin_ns;
}

/* The process that it is of, VT_NONE: nobody knows, or of all. */
static uint32_t process_of(const struct vti_facts *facts, const struct vt_loss_info *loss)
{
    int64_t track = vti_ids_find(&facts->track_ids, loss->track);

    if (loss->process != VT_NONE || loss->track == VT_NONE || track < 0)
        return loss->process;
    return facts->tracks[track]->process;
}

int vti_gaps_find(struct vti_gaps *gaps, const struct vt_recording *recording)
{
    const struct vti_facts *facts = &recording->facts;
    struct vt_loss_info loss;
    size_t count = 0;

    gaps->count = 0;
    gaps->list = calloc(facts->loss_count + 1, sizeof *gaps->list);
    if (!gaps->list)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (uint32_t i = 0; i < facts->loss_count && vt_recording_loss(recording, i, &loss); i++) {
        if (facts->losses[i].reason == VTI_LOSS_SLICED)
            return 0;
        if (hides_ends(facts->losses[i].reason) && loss.events)
            gaps->list[count++] = (struct vti_gap){process_of(facts, &loss), loss.begin_ns,
                                                   loss.end_ns};
    }
    if (count)
        qsort(gaps->list, count, sizeof *gaps->list, by_process_and_begin);
    for (size_t i = 0; i < count; i++) { /* those that overlap become one */
        struct vti_gap *last = gaps->count ? &gaps->list[gaps->count - 1] : NULL;

        if (!last || last->process != gaps->list[i].process ||
            last->end_ns < gaps->list[i].begin_ns)
            gaps->list[gaps->count++] = gaps->list[i];
        else if (last->end_ns < gaps->list[i].end_ns)
            last->end_ns = gaps->list[i].end_ns;
    }
    return 0;
}

/* The first one that ends after `begin_ns`, or NULL. */
static const struct vti_gap *first_after(const struct vti_gaps *gaps, uint32_t process,
                                         int64_t begin_ns)
{
    size_t low = 0, high = gaps->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct vti_gap *gap = &gaps->list[middle];

        if (gap->process < process || (gap->process == process && gap->end_ns <= begin_ns))
            low = middle + 1;
        else
            high = middle;
    }
    return low < gaps->count && gaps->list[low].process == process ? &gaps->list[low] : NULL;
}

void vti_gaps_cut(const struct vti_gaps *gaps, struct vti_async *async)
{
    const struct vti_gap *found[] = {first_after(gaps, async->process, async->begin_ns),
                                     first_after(gaps, VT_NONE, async->begin_ns)};

    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        if (!found[i] || found[i]->begin_ns >= async->end_ns)
            continue;
        async->end_ns = found[i]->begin_ns > async->begin_ns ? found[i]->begin_ns : async->begin_ns;
        async->flags |= VT_FLAG_IN_GAP;
    }
}

void vti_gaps_fini(struct vti_gaps *gaps)
{
    free(gaps->list);
    gaps->list = NULL;
    gaps->count = 0;
}
