/*
 * thread.c - threads come, are registered at their first trace point, and go.
 *
 * Everything here is slow path: signals blocked, no malloc (the program may be inside it).
 */
#include "core/thread.h"

#include "core/call.h"
#include "core/clock.h"
#include "core/line.h"
#include "core/ring.h"
#include "core/runtime.h"
#include "share/tree.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <venturi/span.h>

__thread struct vti_thread *vti_self __attribute__((tls_model("initial-exec")));

extern void *__libc_stack_end; /* of the main thread, from the dynamic loader */

/* One less than PTHREAD_DESTRUCTOR_ITERATIONS of all C libraries for Linux: the last round belongs to runtimes that
 * must be the last to go, such as a sanitizer's. */
#define END_ROUNDS 3

static pthread_key_t end_of_thread;
static bool has_key;
static uint32_t thread_count;

/* The last round of destructors has come by us: of what this thread still does nobody will tell the end. */
static __thread bool is_late __attribute__((tls_model("initial-exec")));

uint32_t vti_thread_depth(const struct vti_thread *self)
{
    return (uint32_t)(self->top - self->stack - 1);
}

/* Places above the top are blank, see span.c. */
static void leave_stack(struct vti_thread *self)
{
    while (self->top && self->top > self->stack + 1)
        (--self->top)->frame = 0;
    self->top = NULL;
    self->stack_end = NULL;
}

static void reset_stack(struct vti_thread *self)
{
    if (!self->stack) {
        self->stack = self->first_stack;
        self->stack_room = VTI_FIRST_STACK;
    }
    self->stack_end = self->stack + self->stack_room;
    self->stack[0] = (struct vti_open_span){UINTPTR_MAX, (const void *)UINTPTR_MAX, 0, 0};
    self->top = self->stack + 1;
}

bool vti_thread_push_room(struct vti_thread *self)
{
    size_t used = (size_t)(self->top - self->stack);
    uint32_t room = self->stack_room;
    struct vti_open_span *grown;

    if (self->top < self->stack_end) {
        self->deep.by_hand = self->deep
                                 .calls = 0; /* what was around them has ended, so have they */
        return true;
    }
    if (self->deep.by_hand || self->deep.calls)
        return false; /* they are told by the stack being full */
    grown = vti_private_map(2 * (size_t)room * sizeof *grown);
    if (!grown)
        return false;
    /* The old one stays: what a signal handler has interrupted may be about to write there. */
    memcpy(grown, self->stack, used * sizeof *grown);
    self->stack = grown;
    self->top = grown + used;
    self->stack_room = 2 * room;
    self->stack_end = grown + self->stack_room;
    return true;
}

/* Frames above this are on another stack (an alternate signal stack, a coroutine) and tell nothing
 * about ours. The thread pointer lies just above the stack of every thread but the first. */
uintptr_t vti_own_stack_high(void)
{
    if (getpid() == (pid_t)syscall(SYS_gettid))
        return (uintptr_t)__libc_stack_end;
    return (uintptr_t)__builtin_thread_pointer();
}

/* A handler on an alternate stack tells nothing about the frames of the thread, wherever that stack lies. */
bool vti_is_on_own_stack(uintptr_t high, uintptr_t frame)
{
    stack_t alternate;

    return frame <= high && (sigaltstack(NULL, &alternate) || !(alternate.ss_flags & SS_ONSTACK));
}

bool vti_thread_is_on_own_stack(const struct vti_thread *self, uintptr_t frame)
{
    return vti_is_on_own_stack(self->stack_high, frame);
}

/* Forgets what a thread that is gone was doing. */
static void clear(struct vti_thread *self)
{
    leave_stack(self);
    self->slot = NULL;
    self->arena = NULL;
    self->limit = NULL;
    self->base = NULL;
    self->cursor = NULL;
}

/* What a late thread used that is gone by now; NULL if there is none. The drainer sees to its slot. */
static struct vti_thread *take_late(struct vti_runtime *runtime)
{
    struct vti_thread **link = &runtime->late_threads;
    struct vti_thread *late;

    while ((late = *link)) {
        if (syscall(SYS_tgkill, getpid(), late->late_tid, 0) && errno == ESRCH) {
            *link = late->next_free;
            clear(late);
            return late;
        }
        link = &late->next_free;
    }
    return NULL;
}

static struct vti_thread *new_thread(void)
{
    struct vti_runtime *runtime = vti_runtime();
    struct vti_thread *self;

    vti_runtime_lock();
    self = runtime->free_threads;
    if (self)
        runtime->free_threads = self->next_free;
    else
        self = take_late(runtime);
    if (!self)
        self = vti_private_map(sizeof *self);
    if (self)
        self->next_free = NULL;
    if (self && is_late) {
        self->late_tid = (int32_t)syscall(SYS_gettid);
        self->next_free = runtime->late_threads;
        runtime->late_threads = self;
    }
    vti_runtime_unlock();
    if (!self)
        return NULL;
    self->end_rounds = 0;
    vti_self = self;
    if (has_key)
        pthread_setspecific(end_of_thread, self);
    return self;
}

static void count_unplaced(const struct vti_arena_control *arena, struct vti_unplaced *sum,
                           unsigned events)
{
    uint64_t ticks = vti_clock_read(arena->clock);

    if (!events)
        return;
    if (!__atomic_load_n(&sum->first, __ATOMIC_RELAXED))
        __atomic_store_n(&sum->first, ticks, __ATOMIC_RELAXED);
    __atomic_store_n(&sum->last, ticks, __ATOMIC_RELAXED);
    __atomic_fetch_add(&sum->events, events, __ATOMIC_RELEASE);
}

void vti_thread_end_slotless(const struct vti_thread *self, uint32_t *open)
{
    if (!*open)
        return;
    --*open;
    count_unplaced(self->arena, &vti_arena_producer(self->arena)->without_slot, 1);
}

void vti_thread_begin_deep(const struct vti_thread *self, uint32_t *open)
{
    ++*open;
    count_unplaced(self->arena, &vti_arena_producer(self->arena)->too_deep, 1);
}

void vti_thread_end_deep(const struct vti_thread *self, uint32_t *open)
{
    if (!*open)
        return;
    --*open;
    count_unplaced(self->arena, &vti_arena_producer(self->arena)->too_deep, 1);
}

void vti_thread_lose_call(const struct vti_thread *self)
{
    count_unplaced(self->arena, &vti_arena_producer(self->arena)->lost_calls, 1);
}

void vti_thread_lose_line(const struct vti_thread *self)
{
    count_unplaced(self->arena, &vti_arena_producer(self->arena)->lost_lines, 1);
}

void vti_thread_lose_tasks(const struct vti_thread *self, unsigned count)
{
    count_unplaced(self->arena, &vti_arena_producer(self->arena)->lost_tasks, count);
}

static uint64_t lose_step(const struct vti_thread *self, struct vti_unplaced *sum)
{
    count_unplaced(self->arena, sum, 1);
    return __atomic_load_n(&sum->events, __ATOMIC_RELAXED);
}

uint64_t vti_thread_lose_step(const struct vti_thread *self)
{
    return lose_step(self, &vti_arena_producer(self->arena)->lost_steps);
}

uint64_t vti_thread_lose_sourceless(const struct vti_thread *self)
{
    return lose_step(self, &vti_arena_producer(self->arena)->sourceless_steps);
}

/* Gives the thread a slot in the arena. Without one it has no stack, so it comes by here each time. */
static bool enlist(struct vti_thread *self, struct vti_arena_control *arena)
{
    uint32_t at = vti_slots_pop(arena);

    self->slot = at == UINT32_MAX ? NULL : vti_arena_slot(arena, at);
    if (self->arena != arena)
        self->slotless = (struct vti_unplaced_spans){0, 0, 0};
    self->arena = arena;
    leave_stack(self);
    vti_calls_forget(self);
    vti_line_drop(self);
    self->last_chunk = 0;
    if (self->slot && __atomic_load_n(&self->slot->state, __ATOMIC_ACQUIRE) == VTI_SLOT_LIVE)
        self->slot = NULL; /* somebody scribbled over the list of free ones */
    if (!self->slot)
        return false;
    self->clock = arena->clock;
    self->stack_high = vti_own_stack_high();
    reset_stack(self);
    self->deep = (struct vti_unplaced_spans){0, 0, 0};
    self->slot->tid = (int32_t)syscall(SYS_gettid);
    self->slot->start = vti_clock_read(self->clock);
    self->slot->end = is_late ? self->slot->start : 0;
    self->slot->number = __atomic_add_fetch(&thread_count, 1, __ATOMIC_RELAXED);
    self->async_next = (uint64_t)self->slot->tid << 32;
    prctl(PR_GET_NAME, self->slot->name);
    vti_ring_start(self);
    __atomic_store_n(&self->slot->state, VTI_SLOT_LIVE, __ATOMIC_RELEASE);
    return true;
}

/* Recording was off for a while: spans begun by hand may have ended unseen, so they end here. */
static void start_period(struct vti_thread *self, uint32_t period)
{
    self->period = period;
    while (!self->top[-1].token && self->top[-1].frame) {
        vti_ring_put(self, vti_clock_read(self->clock), 0, VTI_RECORD_END, VTI_RECORD_IN_GAP, 0,
                     NULL, 0);
        (--self->top)->frame = 0;
    }
}

void vti_slow_block(struct vti_slow *slow)
{
    sigset_t all;

    slow->saved_errno = errno;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &slow->signals);
}

struct vti_thread *vti_slow_enter(struct vti_slow *slow, unsigned events)
{
    struct vti_arena_control *arena;
    struct vti_thread *self;
    uint32_t word;

    vti_slow_block(slow);
    slow->is_slotless = false;
    if (!vti_control_word() && !vti_local_kinds)
        return NULL;
    arena = vti_runtime_arena();
    word = arena ? __atomic_load_n(&arena->word, __ATOMIC_RELAXED) : 0;
    if (!arena || !(word | vti_local_kinds))
        return NULL;
    self = vti_self ? vti_self : new_thread();
    if (!self)
        return NULL;
    if (self->period != (word & ~VTI_CONTROL_KINDS))
        self->slotless.by_hand = self->slotless.calls = 0; /* they may have ended unseen */
    if (self->arena != arena || !self->slot) {
        if (!enlist(self, arena)) {
            self->period = word & ~VTI_CONTROL_KINDS;
            count_unplaced(arena, &vti_arena_producer(arena)->without_slot, events);
            slow->is_slotless = true;
            return NULL;
        }
        self->period = word & ~VTI_CONTROL_KINDS;
    } else if (self->period != (word & ~VTI_CONTROL_KINDS)) {
        start_period(self, word & ~VTI_CONTROL_KINDS);
    }
    return self;
}

struct vti_thread *vti_slow_enter_open(struct vti_slow *slow)
{
    struct vti_thread *self = vti_self;

    vti_slow_block(slow);
    return self && self->slot && self->top > self->stack + 1 ? self : NULL;
}

void vti_slow_leave(struct vti_slow *slow)
{
    pthread_sigmask(SIG_SETMASK, &slow->signals, NULL);
    errno = slow->saved_errno;
}

/* What the drainer does where there is one. Spans are not recorded without, so that there are no blocks. */
static void give_back(const struct vti_arena_control *arena, struct vti_slot *slot)
{
    uintptr_t offset = (uintptr_t)slot - (uintptr_t)vti_arena_slot(arena, 0);

    while (slot->chunks) {
        uint32_t at = slot->chunks - 1;
        struct vti_chunk *chunk = vti_arena_chunk(arena, at);

        slot->chunks = chunk->next;
        memset(chunk, 0, VTI_CHUNK_BYTES);
        vti_chunks_push(arena, at);
    }
    memset(slot, 0, sizeof *slot);
    vti_slots_push(arena, (uint32_t)(offset / VTI_SLOT_BYTES));
}

/* Runs when a thread ends, and again after other destructors, which may have trace points: the thread is left
 * in the last round. What it does in that one registers it once more, for the drainer to find. */
static void leave(void *arg)
{
    struct vti_runtime *runtime = vti_runtime();
    struct vti_thread *self = arg;
    struct vti_slow slow;

    if (is_late)
        return;
    if (++self->end_rounds < END_ROUNDS && !pthread_setspecific(end_of_thread, self))
        return;
    vti_slow_block(&slow);
    vti_self = NULL;
    if (self->slot) {
        vti_ring_leave(self);
        vti_calls_leave_thread(self);
        vti_line_leave_thread(self);
        self->slot->end = vti_clock_read(self->clock);
        vti_runtime_lock();
        vti_calls_keep(self);
        __atomic_store_n(&self->slot->state, VTI_SLOT_DEAD, __ATOMIC_RELEASE);
        if (runtime->is_local)
            give_back(self->arena, self->slot);
        vti_runtime_unlock();
    }
    clear(self);
    is_late = true;
    vti_runtime_lock();
    self->next_free = runtime->free_threads;
    runtime->free_threads = self;
    vti_runtime_unlock();
    vti_slow_leave(&slow);
}

void vti_thread_init(void)
{
    has_key = pthread_key_create(&end_of_thread, leave) == 0;
}
