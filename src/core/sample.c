/*
 * sample.c - samples of native stacks, counted below the calls that are open (venturi/hook.h).
 *
 * Runs in the sampler's signal handler, with every signal blocked, so that it is as good as the slow path. The
 * handler must not come here from within this library: the hot path of calls may be half done.
 */
#include "core/call.h"
#include "core/clock.h"
#include "core/tree.h"

#include <venturi/hook.h>

static bool make_ready(void)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);
    bool is_ready = self && vti_calls_look(self);

    vti_slow_leave(&slow);
    return is_ready;
}

enum vt_sample_where vt_sample_begin(uintptr_t *frame)
{
    const struct vti_thread *self = vti_self;
    uint32_t word = vti_control_word() | __atomic_load_n(&vti_local_kinds, __ATOMIC_RELAXED);

    if (!(word & VTI_CONTROL_CALLS))
        return VT_SAMPLE_OFF;
    if ((!self || !self->slot || !self->node || self->calls_word != word) && !make_ready())
        return VT_SAMPLE_OFF;
    self = vti_self;
    *frame = self->node->frame;
    return self->node->site ? VT_SAMPLE_INNER : VT_SAMPLE_ALL;
}

static void count(uint64_t *sum)
{
    __atomic_fetch_add(sum, 1, __ATOMIC_RELAXED);
}

void vt_sample_add(const struct vt_sample *sample)
{
    struct vti_thread *self = vti_self;
    struct vti_sampling *all;
    struct vti_node *node;
    size_t left = sample->is_ours ? 0 : sample->count;

    if (!self || !self->slot || !self->node)
        return;
    all = &vti_arena_producer(self->arena)->sampling;
    all->clock = sample->clock;
    all->period_ns = sample->period_ns;
    count(&all->samples);
    if (sample->is_ours)
        count(&all->ours);
    if (sample->is_cut)
        count(&all->cut);
    node = self->node;
    while (left && node != &self->tree->full) {
        struct vti_node *inner = vti_tree_sample(self, node, sample->functions[left - 1]);

        if (!inner)
            break;
        node = inner;
        left--;
    }
    if (left) /* it counts for as much of the stack as has a place */
        count(&all->lost);
    if (node != self->node) {
        node->calls++;
        node->total += sample->ns;
    }
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
