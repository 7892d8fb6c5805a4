/*
 * call.c - the hot path of calls: functions are entered and left (venturi/hook.h).
 *
 * As in span.c each function does its usual work in a straight line and leaves what is unusual to a
 * slow twin; the clock is read last on entering (but see enter_quickly) and first on leaving. A node's
 * numbers are written by its own thread only and are right whenever the process is killed.
 */
#include "core/call.h"

#include "core/clock.h"
#include "core/runtime.h"
#include "core/span.h"
#include "core/tree.h"

#include <venturi/hook.h>

#define SLOW __attribute__((noinline, cold))
#define CALL_KINDS (VTI_CONTROL_CALLS | VTI_CONTROL_TIMELINE)

uint32_t vti_local_kinds;
extern VT_API const uint32_t vt_local_word __attribute__((alias("vti_local_kinds")));

_Static_assert(VTI_DURATION_BUCKETS == VT_DURATION_BUCKETS, "one idea of buckets");
_Static_assert(VT_ON_CALLS == VTI_CONTROL_CALLS && VT_ON_TIMELINE == VTI_CONTROL_TIMELINE, "bits");

static inline uint32_t wanted(void)
{
    return vti_control_word() | __atomic_load_n(&vti_local_kinds, __ATOMIC_RELAXED);
}

/* `has_frame` is false only where it is known that it has none. */
static inline void finish_call(struct vti_thread *self, struct vti_node *node, uint64_t ticks,
                               bool has_frame)
{
    const struct vti_tree *tree = self->tree;
    uint64_t took = vti_likely(node->begin) ? ticks - node->begin : 0;

    /* In this order: whenever a handler jumps out of here for good, the call is either still open with its frame,
     * by which it is found, and has no time to count, or it is open no more. */
    node->begin = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->node = vti_tree_node(tree, node->parent);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (has_frame)
        node->frame = 0;
    node->total += took;
    if (vti_unlikely(took >= node->longest))
        node->longest = took;
    if (vti_unlikely(took < node->shortest - 1))
        node->shortest = took + 1;
    if (vti_likely(node->durations)) {
        struct vti_durations_unit *durations = (void *)vti_tree_node(tree, node->durations);

        durations->counts[VTI_DURATION_BUCKETS + durations->last]++;
        durations->last = (int64_t)vti_duration_bucket(took) - VTI_DURATION_BUCKETS;
    }
}

static inline void finish(struct vti_thread *self, struct vti_node *node, uint64_t ticks)
{
    finish_call(self, node, ticks, true);
}

/* ---- what is unusual ------------------------------------------------------------------------- */

void vti_calls_end(struct vti_thread *self)
{
    uint64_t ticks = vti_clock_read(self->clock);

    if (self->tree->unplaced)
        self->node = self->tree->above;
    self->tree->unplaced = 0;
    while (self->node->site)
        finish(self, self->node, ticks);
}

void vti_calls_leave_thread(struct vti_thread *self)
{
    if (self->node)
        vti_stacks_end(self);
    vti_calls_forget(self);
}

void vti_calls_forget(struct vti_thread *self)
{
    self->node = NULL;
    self->calls_word = 0;
    if (self->tree)
        self->tree->arena = NULL;
}

/* Recording was switched on or off since the last call. Whether calls are wanted now. */
static bool look_again(struct vti_thread *self)
{
    bool has_tree = self->tree && self->tree->arena;

    if (self->node)
        vti_stacks_end(self);
    self->node = NULL;
    self->calls_word = wanted();
    if (!(self->calls_word & VTI_CONTROL_CALLS) || (!has_tree && !vti_tree_start(self)))
        return false;
    self->node = vti_stack_root(self->tree);
    return true;
}

bool vti_calls_look(struct vti_thread *self)
{
    return self->calls_word == wanted() ? self->node != NULL : look_again(self);
}

/* All calls that found no place have been left. */
static void leave_unplaced(struct vti_thread *self)
{
    self->tree->unplaced = 0;
    self->node = self->tree->above;
}

/* Calls that were left by longjmp have frames below the one that runs now. */
static void end_below(struct vti_thread *self, uintptr_t frame, uint64_t ticks)
{
    struct vti_tree *tree = self->tree;

    if (!frame || !vti_thread_is_on_own_stack(self, frame))
        return;
    if (self->node == &tree->full && tree->full.frame && tree->full.frame < frame)
        leave_unplaced(self);
    while (self->node->site && self->node->frame && self->node->frame < frame)
        finish(self, self->node, ticks);
}

/* Whether an open call with the very frame of one that is entered is a function that the other was
 * inlined into: it was called from the same place and entered at another one. */
static inline bool is_around(const struct vti_node *node, uint32_t mark)
{
    return (node->mark ^ mark) >> 16 == 0 && (uint16_t)node->mark != (uint16_t)mark;
}

static inline bool are_all_around(const struct vti_tree *tree, const struct vti_node *node,
                                  uintptr_t frame, uint32_t mark)
{
    for (; node->frame == frame; node = vti_tree_node(tree, node->parent))
        if (!is_around(node, mark))
            return false;
    return true;
}

static void end_stale(struct vti_thread *self, uintptr_t frame, uint32_t mark)
{
    struct vti_tree *tree = self->tree;
    uint64_t ticks = vti_clock_read(self->clock);

    end_below(self, frame, ticks);
    while (frame && self->node->frame == frame && !are_all_around(tree, self->node, frame, mark)) {
        if (self->node == &tree->full)
            leave_unplaced(self);
        else
            finish(self, self->node, ticks);
    }
}

/* The call has no place: it and all above it are only counted. */
static void enter_unplaced(struct vti_thread *self, uintptr_t frame, uint32_t mark)
{
    struct vti_tree *tree = self->tree;

    if (!tree->unplaced) {
        tree->above = self->node;
        tree->full.frame = frame;
        tree->full.mark = mark;
        self->node = &tree->full;
    }
    tree->unplaced++;
    self->slot->lost_calls++;
}

SLOW static struct vti_node *enter_slowly(uint32_t id, uintptr_t frame, uint32_t mark)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);
    struct vti_node *node = NULL;

    if (slow.is_slotless)
        vti_thread_lose_call(vti_self);
    if (!self || !id)
        goto out;
    if (self->calls_word != wanted() && !look_again(self))
        goto out;
    if (!self->node) {
        if (self->calls_word & VTI_CONTROL_CALLS)
            self->slot->lost_calls++; /* no memory for a tree */
        goto out;
    }
    end_stale(self, frame, mark);
    if (self->node == &self->tree->full) {
        enter_unplaced(self, frame, mark);
        goto out;
    }
    node = vti_tree_find(self->tree, vti_tree_unit(self->tree, self->node), id);
    if (!node)
        node = vti_tree_add(self, self->node, id);
    if (!node)
        enter_unplaced(self, frame, mark);
    else
        self->node->recent = vti_tree_unit(self->tree, node);
out:
    vti_slow_leave(&slow);
    return node;
}

/* The function that is left is not the innermost one, or that one has been left before. */
SLOW static void leave_other(struct vti_thread *self, uint32_t id, uintptr_t frame, uint64_t ticks)
{
    struct vti_tree *tree = self->tree;
    struct vti_node *node;

    end_below(self, frame, ticks);
    node = self->node;
    if (node == &tree->full) {
        if (--tree->unplaced == 0)
            self->node = tree->above;
        return;
    }
    while (node->site && node->site != id)
        node = vti_tree_node(tree, node->parent);
    if (!node->site) { /* entered before anybody counted, or on a time line */
        if (vti_control_word() & VTI_CONTROL_TIMELINE)
            vti_span_leave(id, frame, ticks);
        return;
    }
    while (self->node != node)
        finish(self, self->node, ticks);
    finish(self, node, ticks);
}

/* Calls go to the time line. If they were counted until now, that has ended. */
static void enter_span(uint32_t id, uintptr_t frame, uint32_t mark)
{
    struct vti_slow slow;
    struct vti_thread *self;

    if (vti_unlikely(vti_self && vti_self->node)) {
        self = vti_slow_enter(&slow, 0);
        if (self)
            vti_calls_look(self);
        vti_slow_leave(&slow);
    }
    vti_span_enter(id, frame, mark);
}

/* ---- what is usual --------------------------------------------------------------------------- */

/* The node of a function that is entered now; NULL: not recorded. */
static inline struct vti_node *child_of(struct vti_thread *self, uint32_t id, uintptr_t frame,
                                        uint32_t mark)
{
    struct vti_node *parent;
    struct vti_node *node;

    if (vti_unlikely(!self || self->calls_word != wanted()))
        return enter_slowly(id, frame, mark);
    parent = self->node;
    if (vti_unlikely(!parent || !id))
        return parent ? NULL : enter_slowly(id, frame, mark);
    /* Both known, and not what a callee has: below the caller's. */
    if (vti_unlikely(parent->frame - 1 < frame) &&
        (parent->frame < frame || !are_all_around(self->tree, parent, frame, mark)))
        return enter_slowly(id, frame, mark);
    node = vti_tree_node(self->tree, parent->recent);
    if (vti_likely(node->site == id))
        return node;
    if (parent == &self->tree->full)
        return enter_slowly(id, frame, mark);
    node = vti_tree_find(self->tree, vti_tree_unit(self->tree, parent), id);
    if (vti_unlikely(!node))
        return enter_slowly(id, frame, mark);
    parent->recent = vti_tree_unit(self->tree, node);
    return node;
}

/* Signal handlers call functions too, at any point in here, and may jump out of it for good: a node that is open has
 * its frame. Stored twice: a handler that went through the same node before that was open has taken it away. */
static inline void begin(struct vti_thread *self, struct vti_node *node, uintptr_t frame,
                         uint32_t mark)
{
    node->frame = frame;
    node->mark = mark;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    self->node = node;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    node->frame = frame;
    node->mark = mark;
    node->calls++;
    node->begin = vti_clock_read(self->clock);
}

/* Another function than its caller called last. Out of line: the way before it needs no stack then. */
__attribute__((noinline)) static void enter_other(uint32_t id, uintptr_t frame, uint32_t mark)
{
    struct vti_node *node;
    uint32_t word = wanted();

    if (vti_unlikely(!(word & VTI_CONTROL_CALLS))) {
        if (word & VTI_CONTROL_TIMELINE)
            enter_span(id, frame, mark);
        return;
    }
    node = child_of(vti_self, id, frame, mark);
    if (vti_likely(node))
        begin(vti_self, node, frame, mark);
}

static inline void enter(uint32_t id, uintptr_t frame, uint32_t mark)
{
    struct vti_thread *self = vti_self;
    struct vti_node *parent = vti_likely(self) ? self->node : NULL;
    struct vti_node *node;

    /* A caller's frame lies above, or is not known. */
    if (vti_likely(parent && id && self->calls_word == wanted() && parent->frame - 1 >= frame)) {
        node = vti_tree_node(self->tree, parent->recent);
        if (vti_likely(node->site == id)) {
            begin(self, node, frame, mark);
            return;
        }
    }
    enter_other(id, frame, mark);
}

/*
 * The same for who knows no frames, as long as nothing is unusual. The clock is read first: the CPU waits with that for
 * what it has begun before, so that read last it costs 2 ns more than all that lies between, which every call of the hook
 * has and which is subtracted with the rest of its cost.
 */
static inline bool enter_quickly(uint32_t id)
{
    struct vti_thread *self = vti_self;
    struct vti_node *parent;
    struct vti_node *node;
    uint64_t now;

    if (vti_unlikely(!self || self->clock != VTI_TICKS_QUICK))
        return false;
    now = vti_clock_quick();
    parent = self->node;
    if (vti_unlikely(!parent || !id || self->calls_word != wanted()))
        return false;
    node = vti_tree_node(self->tree, parent->recent);
    if (vti_unlikely(node->site != id))
        return false;
    self->node = node;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    node->calls++;
    node->begin = now;
    return true;
}

void vt_call_enter(uint32_t id)
{
    if (vti_unlikely(!enter_quickly(id)))
        enter_other(id, 0, 0);
}

__attribute__((noinline)) static void *enter_other_with(uint32_t id, void *result)
{
    enter_other(id, 0, 0);
    return result;
}

void *vt_call_enter_with(uint32_t id, void *result)
{
    return vti_likely(enter_quickly(id)) ? result : enter_other_with(id, result);
}

void vt_call_enter_at(uint32_t id, uintptr_t frame, uint32_t mark)
{
    enter(id, frame, mark);
}

void vt_call_resume(uint32_t id, uint64_t since)
{
    struct vti_thread *self;
    struct vti_node *node;
    uint64_t now;
    uint32_t word = wanted();

    if (vti_unlikely(!(word & VTI_CONTROL_CALLS))) {
        if (word & VTI_CONTROL_TIMELINE)
            enter_span(id, 0, 0);
        return;
    }
    node = child_of(vti_self, id, 0, 0);
    if (vti_unlikely(!node))
        return;
    self = vti_self;
    self->node = node;
    node->frame = 0;
    node->resumes++;
    now = vti_clock_read(self->clock);
    if (since && since < now)
        node->suspended += now - since;
    node->begin = now;
}

static inline uint64_t leave(uint32_t id, uintptr_t frame)
{
    struct vti_thread *self = vti_self;
    struct vti_node *node;
    uint64_t ticks;

    if (vti_unlikely(!self || !self->slot)) {
        if (self && self->slotless.calls)
            vti_span_leave(id, frame, 0);
        return 0;
    }
    ticks = vti_clock_read(self->clock);
    node = self->node;
    if (vti_unlikely(!node))
        vti_span_leave(id, frame, ticks);
    else if (vti_likely(node->site == id && (!frame || node->frame - 1 >= frame - 1)))
        finish(self, node, ticks);
    else
        leave_other(self, id, frame, ticks);
    return ticks;
}

/* The innermost call ends, and whoever entered it knows no frames. False: something else has to be done. */
static inline bool leave_quickly(uint32_t id, uint64_t *now)
{
    struct vti_thread *self = vti_self;
    struct vti_node *node;

    if (vti_unlikely(!self || self->clock != VTI_TICKS_QUICK))
        return false;
    *now = vti_clock_quick();
    node = self->node;
    if (vti_unlikely(!node || node->site != id))
        return false;
    finish_call(self, node, *now, false);
    return true;
}

__attribute__((noinline)) static uint64_t leave_slowly(uint32_t id)
{
    return leave(id, 0);
}

uint64_t vt_call_leave(uint32_t id)
{
    uint64_t now;

    return vti_likely(leave_quickly(id, &now)) ? now : leave_slowly(id);
}

__attribute__((noinline)) static void *leave_slowly_with(uint32_t id, void *result)
{
    leave_slowly(id);
    return result;
}

void *vt_call_leave_with(uint32_t id, void *result)
{
    uint64_t now;

    return vti_likely(leave_quickly(id, &now)) ? result : leave_slowly_with(id, result);
}

void vt_call_leave_at(uint32_t id, uintptr_t frame)
{
    leave(id, frame);
}

void vt_call_jump(uintptr_t frame)
{
    struct vti_thread *self = vti_self;
    uint64_t ticks;

    if (!self || !self->slot)
        return;
    ticks = vti_clock_read(self->clock);
    if (self->node)
        end_below(self, frame, ticks);
    vti_span_jump(frame, ticks);
}
