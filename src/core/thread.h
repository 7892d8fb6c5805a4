/*
 * thread.h - what the runtime keeps for each thread, in memory that the kernel wipes in a forked child.
 *
 * A wiped struct is all zero: cursor and limit are equal, so the next trace point takes the slow path,
 * which sees that there is no slot and begins anew. Nothing in the fast path has to know about fork.
 */
#ifndef VENTURI_CORE_THREAD_H
#define VENTURI_CORE_THREAD_H

#include "share/arena.h"

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

struct vti_lines_state;
struct vti_line_samples;
struct vti_line_frame;
struct vti_node;
struct vti_tree;

/* A span that is open. The frame tells after a longjmp that the function was left without notice. */
struct vti_open_span {
    uintptr_t frame;   /* 0: a place that is not filled */
    const void *token; /* the scope's address; NULL: begun by hand */
    uint32_t site;
    uint32_t mark; /* of a call: vt_call_enter_at() */
};

/* Spans that are open and whose begin was counted as lost: their end is counted too, if it comes. */
struct vti_unplaced_spans {
    uint32_t scopes;
    uint32_t by_hand;
    uint32_t calls;
};

#define VTI_FIRST_STACK 160

struct vti_thread {
    struct vti_record *cursor; /* the next record to fill */
    struct vti_record *base;   /* the stretch of records that it moves through */
    struct vti_record *limit;
    struct vti_open_span *top;       /* one past the innermost open span */
    struct vti_open_span *stack_end; /* as `top` NULL while there is no slot */
    uint32_t clock;
    uint32_t period;       /* of the control word when this thread last looked */
    struct vti_node *node; /* the innermost open call; NULL: calls are not counted */
    struct vti_tree *tree; /* of calls; owned, kept when the thread ends for the next one */
    uint32_t calls_word;   /* the control word when `node` was last looked at */
    uint32_t lines_word;   /* the control word when `line_top` was last looked at */
    struct vti_line_frame *line_top; /* the innermost open call; NULL: lines are not counted */
    struct vti_line_frame *line_end; /* of its stack */
    struct vti_slot *slot;           /* NULL: not registered */
    struct vti_lines_state *lines;   /* owned, as `tree` */
    struct vti_line_samples *line_samples; /* owned, as `tree` */

    /* from here on only in the slow path */
    struct vti_arena_control *arena;
    uint32_t last_chunk;     /* index + 1 of the last one that was linked; 0: none */
    struct vti_block *block; /* the last one that was linked; NULL: still in the slot */
    bool is_losing;          /* no block was free: the cursor is in the slot's scratch area */
    bool is_going_round;     /* the slot's own records are linked to themselves: they come next */
    bool has_waited;         /* for the session's limit, in vain, since the last block */
    const struct vti_record
        *unfinished;             /* what a loss waits for before it can end; NULL: nothing */
    uint64_t unfinished_ns;      /* since when */
    struct vti_open_span *stack; /* [0] is a sentinel that matches nothing */
    uintptr_t stack_high;        /* above every frame of this thread's own stack */
    uint64_t async_next;
    struct vti_unplaced_spans slotless; /* begun while there was no slot */
    struct vti_unplaced_spans deep;     /* begun beyond what the stack can hold */
    uint32_t stack_room;                /* places in the stack, whether it is in use or not */
    uint32_t end_rounds;                /* how often the thread's destructors have run */
    int32_t late_tid;                   /* of a thread that came after the last round */
    struct vti_thread *next_free;
    struct vti_open_span first_stack[VTI_FIRST_STACK];
};

extern __thread struct vti_thread *vti_self
    __attribute__((tls_model("initial-exec"), visibility("hidden")));

/* The slow path runs with signals blocked: a handler can neither see it half done nor jump out of it. */
struct vti_slow {
    sigset_t signals;
    int saved_errno;
    bool is_slotless; /* the thread records and has no slot: its events were counted as lost */
};

/* Blocks signals and gives this thread, registered and in the current period; NULL if nothing is to
 * be recorded, or if there is no place for it: then `events` are counted as lost. vti_slow_leave() must
 * follow in every case. */
struct vti_thread *vti_slow_enter(struct vti_slow *slow, unsigned events);

/* Counts the end of a span as lost whose begin was, for want of a slot; `open` is one of self->slotless. */
void vti_thread_end_slotless(const struct vti_thread *self, uint32_t *open);

/* The begin and the end of a span that nests deeper than there is memory for; `open` is one of self->deep. */
void vti_thread_begin_deep(const struct vti_thread *self, uint32_t *open);
void vti_thread_end_deep(const struct vti_thread *self, uint32_t *open);

/* Counts a call as lost where nothing but its count would have been kept, and there is no slot for that. */
void vti_thread_lose_call(const struct vti_thread *self);
void vti_thread_lose_line(const struct vti_thread *self);

/* Counts tasks as lost, or what was said of their run, where there is no room to say so. */
void vti_thread_lose_tasks(const struct vti_thread *self, unsigned count);

/* Counts what a step said as lost, for want of room or of a number for the step; how many that makes in this process. Not only in the
 * slow path. */
uint64_t vti_thread_lose_step(const struct vti_thread *self);
uint64_t vti_thread_lose_sourceless(const struct vti_thread *self);

/* Blocks signals and nothing else; vti_slow_leave() must follow. */
void vti_slow_block(struct vti_slow *slow);

/* The same without registering: NULL if this thread has nothing open. */
struct vti_thread *vti_slow_enter_open(struct vti_slow *slow);
void vti_slow_leave(struct vti_slow *slow);

uint32_t vti_thread_depth(const struct vti_thread *self);

/* Room for one more open span; false if there is no memory for it. */
bool vti_thread_push_room(struct vti_thread *self);

/* Whether a frame lies on the thread's own stack, and not on a handler's or a coroutine's. */
bool vti_thread_is_on_own_stack(const struct vti_thread *self, uintptr_t frame);

/* The same for whoever keeps the upper end of the stack, which the calling thread has from the first of these. */
uintptr_t vti_own_stack_high(void);
bool vti_is_on_own_stack(uintptr_t high, uintptr_t frame);

/* Called once when the library is loaded: the hook for the end of threads. */
void vti_thread_init(void);

#endif
