/*
 * sample.c - samples of native stacks, counted below the calls that are open (venturi/hook.h).
 *
 * Runs in the sampler's signal handler, with every signal blocked, so that it is as good as the slow path. The
 * handler must not come here from within this library: the hot path of calls may be half done.
 */
#include "core/call.h"
#include "core/clock.h"
#include "core/sample_lines.h"
#include "core/tree.h"

#include <venturi/hook.h>

static bool make_ready(bool has_calls)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);
    bool is_ready = self && (!has_calls || vti_calls_look(self));

    vti_slow_leave(&slow);
    return is_ready;
}

enum vt_sample_where vt_sample_begin(uintptr_t *frame)
{
    const struct vti_thread *self = vti_self;
    uint32_t word = vti_control_word() | __atomic_load_n(&vti_local_kinds, __ATOMIC_RELAXED);
    bool has_calls = word & VTI_CONTROL_CALLS;

    if (!(word & (VTI_CONTROL_CALLS | VTI_CONTROL_LINES)))
        return VT_SAMPLE_OFF;
    if ((!self || !self->slot || (has_calls && (!self->node || self->calls_word != word))) &&
        !make_ready(has_calls))
        return VT_SAMPLE_OFF;
    if (!has_calls)
        return VT_SAMPLE_LINES;
    self = vti_self;
    *frame = self->node->frame;
    return self->node->site ? VT_SAMPLE_INNER : VT_SAMPLE_ALL;
}

static void count(uint64_t *sum)
{
    __atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
}

/* False: it counts for only as much of the stack as has a place. */
static bool add_functions(struct vti_thread *self, const struct vt_sample *sample)
{
    struct vti_node *node = self->node;
    size_t left = sample->count;

    while (left && node != &self->tree->full) {
        struct vti_node *inner = vti_tree_sample(self, node, sample->functions[left - 1]);

        if (!inner)
            break;
        node = inner;
        left--;
    }
    if (node != self->node) {
        node->calls++;
        node->total += sample->ns;
    }
    return !left;
}

void vt_sample_add(const struct vt_sample *sample)
{
    struct vti_thread *self = vti_self;
    struct vti_sampling *all;
    bool has_place = true;

    if (!self || !self->slot)
        return;
    all = &vti_arena_producer(self->arena)->sampling;
    all->clock = sample->clock;
    all->period_ns = sample->period_ns;
    count(&all->samples);
    if (sample->is_ours)
        count(&all->ours);
    if (sample->is_cut)
        count(&all->cut);
    if (!sample->is_ours && sample->count && self->node)
        has_place = add_functions(self, sample);
    if (!sample->is_ours && sample->line_count)
        has_place &= vti_sample_lines_add(self, sample);
    if (!has_place)
        count(&all->lost);
    if (sample->began)
        __atomic_fetch_add(&all->spent, vti_clock_read(self->clock) - sample->began,
                           __ATOMIC_RELAXED);
}

void vt_sample_stopped(void)
{
    struct vti_slow slow;
    const struct vti_thread *self = vti_slow_enter(&slow, 0);

    if (self)
        vti_arena_producer(self->arena)->sampling.is_stopped = 1;
    vti_slow_leave(&slow);
}
