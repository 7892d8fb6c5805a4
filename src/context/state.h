/*
 * state.h - what a thread has that is or was in a trace: its context, and its trace points that are open.
 *
 * It lies in a mapping of its own and not on the stacks of those who opened trace points: a function that is left by longjmp leaves nothing behind
 * that points into its frame. A forked child inherits it, and is thereby in the trace of its parent.
 */
#ifndef VENTURI_CONTEXT_STATE_H
#define VENTURI_CONTEXT_STATE_H

#include <stdbool.h>
#include <stdint.h>
#include <venturi/context.h>

#define VTI_TRACE_DEPTH                                                                            \
    512 /* trace points open at once on one thread; those inside are plain spans */
#define VTI_ERROR_TYPE 64
#define VTI_ERROR_MESSAGE 256

struct vti_trace_open {
    const void *token; /* the trace point's address; NULL: begun by hand */
    uintptr_t frame; /* of the function that opened it; begun by hand: that of the one around it */
    uint32_t period; /* of one that is plain: see period_now() */
    bool is_plain;   /* of no trace: what follows is not set */
    bool has_failed;
    uint32_t context;   /* number of the context it belongs to */
    uint64_t number;    /* in the recording; 0: it is in none */
    const uint32_t *on; /* the control word then: which recording that is */
    uint64_t epoch;     /* which process it belongs to */
    uint64_t begin_ns;  /* monotonic; 0: nobody listened */
    const struct vt_site *site;
    struct vt_trace_ids ids;
    char error_type[VTI_ERROR_TYPE], error_message[VTI_ERROR_MESSAGE];
};

struct vti_trace_state {
    struct vt_context context;
    bool is_entering;        /* the context came from another process, … */
    struct vt_id entered;    /* … and this is its span */
    uint64_t epoch;          /* of the process that the last trace point was opened in */
    uint32_t context_number; /* of the context */
    uint32_t context_count;  /* how many this thread has had */
    uintptr_t telling;       /* the listener runs, called from this frame; 0: it does not */
    uint32_t depth;          /* of `open` */
    uint32_t deep;           /* scopes beyond that, */
    uint32_t deep_by_hand;   /* and those begun by hand: plain spans */
    uintptr_t stack_high;
    struct vti_trace_open open[VTI_TRACE_DEPTH];
};

/* This thread's; NULL: it has none. Made by the second if there is memory. */
extern __thread struct vti_trace_state *vti_trace_own
    __attribute__((tls_model("initial-exec"), visibility("hidden")));
struct vti_trace_state *vti_trace_state(void);

/* A number that differs between a process and the children that it forks; 0: that cannot be told. */
uint64_t vti_epoch(void);

#endif
