/*
 * venturi/hook.h - for those who hook into a language: calls of functions, counted and timed where they
 * happen, in a tree of calls for each thread. No event is recorded for a call.
 *
 * A hook asks for the id of a function once (vt_function_id) and then says when it is entered and left.
 * Everything else is done here: the tree lies in memory shared with the drainer, so that a killed
 * program loses none of it. Hooks of several languages push onto the same stack of their thread, which
 * is what makes one tree of them. Nothing here can fail, block, or allocate with malloc; calls that
 * found no place are counted.
 */
#ifndef VENTURI_HOOK_H
#define VENTURI_HOOK_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef VT_API
#define VT_API __attribute__((visibility("default")))
#endif

/* What is being recorded; bits of *vt_control_word (span.h). */
#define VT_ON_SPANS 0x01u
#define VT_ON_CALLS 0x02u    /* calls, in trees */
#define VT_ON_TIMELINE 0x08u /* calls, as spans with their times, instead of trees */

/* Who a function belongs to; each language has a cost of its own. */
enum vt_language {
    VT_LANGUAGE_PYTHON = 1,
    VT_LANGUAGE_BUILTIN,
    VT_LANGUAGE_C,
    VT_LANGUAGE_PYTHON_LINE, /* of costs only: one line event, see line.h */
    VT_LANGUAGE_C_LINE
};

struct vt_function {
    const char *name;     /* as people know it: "Step.execute" */
    const char *function; /* as its own file calls it: "execute" */
    const char *file;
    uint32_t line;
    uint32_t language; /* enum vt_language */
};

/*
 * The id of a function, valid for the life of the process (and of its forked children); 0 while nobody
 * records. Two calls give two ids: it is the caller who knows which functions are the same. Takes a
 * lock and copies the texts: for the first call of a function only. VT_FUNCTION_MORE stands for all that there is no
 * more room for: about 150,000 have it.
 */
#define VT_FUNCTION_MORE 1u
VT_API uint32_t vt_function_id(const struct vt_function *function);

/*
 * What was said about a function when its id was asked for, by whatever hook. The texts are copied to `texts`; those that do
 * not fit are cut. 0 if there is no such function. Takes time in proportion to the number of functions.
 */
VT_API int vt_function_read(uint32_t id, struct vt_function *function, char *texts, size_t room);

/* A call begins; ends. `id` 0 is ignored. An end whose function is not the innermost one ends those
 * above it too (they were left unseen); one that is not open at all is ignored. */
VT_API void vt_call_enter(uint32_t id);
VT_API uint64_t vt_call_leave(uint32_t id); /* the ticks at which it ended */

/* The same for a hook that has a value to return: they return `result`, so that its last step can be a jump. */
VT_API void *vt_call_enter_with(uint32_t id, void *result);
VT_API void *vt_call_leave_with(uint32_t id, void *result);

/* A generator or coroutine goes on after it was suspended with vt_call_leave(), which returned
 * `since` (0: unknown). */
VT_API void vt_call_resume(uint32_t id, uint64_t since);

/*
 * The same for code on the C stack, where a longjmp leaves functions unseen. On entering, `frame` is the
 * address just above the function's return address; functions that were inlined share it. `mark`
 * tells those from calls that were left unseen: its upper 16 bits are some of the return address, the
 * lower ones some of the place in the code that is entered here. On leaving, calls whose frames lie below `frame` were
 * left unseen. What was entered here is left here.
 */
VT_API void vt_call_enter_at(uint32_t id, uintptr_t frame, uint32_t mark);
VT_API void vt_call_leave_at(uint32_t id, uintptr_t frame);

/* For who sees such a jump: calls and spans whose frames lie below `frame` end now, and not when the next one is met. */
VT_API void vt_call_jump(uintptr_t frame);

/*
 * Stacks that take turns on one thread (greenlets, fibres). A stack belongs to the thread that opened
 * it; every thread begins on its stack 0. While a stack is switched away from, its calls do not age.
 */
VT_API uint32_t vt_stack_open(void); /* 0 if there is no place for it */
VT_API void vt_stack_switch(uint32_t stack);
VT_API void vt_stack_close(uint32_t stack); /* its open calls end */

/* What people call this thread; up to 63 bytes are kept. For languages that have names of their own. */
VT_API void vt_thread_name(const char *name);

/* What one call costs that the hook measures: thousandths of a tick added around the call, and shown by an
 * empty one. Measured by the hook itself; subtracted when the recording is read. */
VT_API void vt_hook_cost(enum vt_language language, uint64_t pair_millis, uint64_t inner_millis);

/* What was said last, by whatever hook of this process; zeros if nothing was. */
VT_API void vt_hook_cost_read(enum vt_language language, uint64_t *pair_millis,
                              uint64_t *inner_millis);

/* The call that was entered last did not take place after all. */
VT_API void vt_call_undo(uint32_t id);

/* A call that the hook has seen but cannot record: it is counted among the lost ones. */
VT_API void vt_call_lost(void);

/* Calls were made that the hook could not see, nobody knows how many: those that are lost are at least so many. */
VT_API void vt_calls_unseen(void);

/* Takes back what this thread has counted for a function, and says how many ticks that was: for a hook that measures
 * itself. */
VT_API uint64_t vt_call_forget(uint32_t id);

/* Ticks now, of the clock that the calls are timed with; 0 while nobody records. */
VT_API uint64_t vt_ticks(void);
VT_API double vt_ticks_per_second(void);

/* ---- samples: for those who interrupt a thread and look at its stack -------------------------- */

enum vt_sample_where {
    VT_SAMPLE_OFF,   /* nobody records */
    VT_SAMPLE_ALL,   /* no call is open: the whole stack is wanted */
    VT_SAMPLE_INNER, /* what lies inside of the innermost open call */
    VT_SAMPLE_LINES  /* no functions at all, only lines */
};

enum vt_sample_clock {
    VT_SAMPLE_CLOCK_EVENT = 1, /* a perf event: time in user mode */
    VT_SAMPLE_CLOCK_TIMER,     /* a timer of the thread's CPU time */
    VT_SAMPLE_CLOCK_OTHER      /* imported: somebody else took them */
};

/* Where in a function a stack stands, in bytes from its beginning. */
struct vt_sample_line {
    uint32_t function;
    uint32_t offset;
};

/* One look at a stack. */
struct vt_sample {
    const uint32_t *functions; /* ids, innermost first, … */
    size_t count;              /* … of those inside of the open call; 0: it runs itself */
    const struct vt_sample_line
        *lines;         /* all places of functions whose lines are counted, innermost … */
    size_t line_count;  /* … first, each once */
    uint64_t ns;        /* the CPU time that it stands for */
    uint64_t period_ns; /* what was asked for */
    uint64_t began;     /* ticks: when the handler began, for our own cost */
    uint32_t clock;     /* enum vt_sample_clock */
    uint32_t is_cut;    /* the stack could not be followed to its end */
    uint32_t is_ours;   /* met in our own code: only counted */
};

/* Both in a handler, with every signal blocked. The first says what is wanted of the thread that runs, and
 * where the frame of the open call is (as in vt_call_enter_at; 0: unknown); the second adds it. */
VT_API enum vt_sample_where vt_sample_begin(uintptr_t *frame);
VT_API void vt_sample_add(const struct vt_sample *sample);

/* No more samples: the program needs the signal itself. */
VT_API void vt_sample_stopped(void);

/* ---- reading one's own calls: for profilers that are used from inside the program ------------- */

/*
 * Calls are counted in this process from now on, also without any recording, until as many
 * vt_calls_stop() as vt_calls_start() were called. 0 or a negative code.
 */
VT_API int vt_calls_start(void);
VT_API void vt_calls_stop(void);
extern VT_API const uint32_t vt_local_word; /* 0 unless they are */

/* One place in the tree. A function that was called from two places is two of them. */
struct vt_call_node {
    uint32_t thread; /* number of its thread, in order of appearance, from 1 */
    int32_t tid;
    uint32_t node;   /* number of this place, from 1, stable while calls are being counted … */
    uint32_t parent; /* … and that of the caller; 0: none */
    uint32_t function;
    uint32_t is_open;
    uint64_t calls;
    uint64_t resumes;
    uint64_t total; /* ticks; that of an open call up to now included */
    uint64_t suspended;
    uint64_t shortest; /* of one call or resume; UINT64_MAX: none has ended */
    uint64_t longest;
};

#define VT_DURATION_BUCKETS 128

/* How long the calls of a function took on one thread: bucket 4 * (e - 5) + s counts durations of
 * (4 + s) * 2^(e - 2) ticks and more, e from 5 up to 36. Shorter and longer ones are in the outermost. */
struct vt_call_durations {
    uint32_t thread;
    uint32_t function;
    uint64_t counts[VT_DURATION_BUCKETS];
};

/*
 * What was counted since this process began to, ended threads included, parents before their
 * children. Returns how many there are; fills in at most `room`. NULL and 0 to ask.
 */
VT_API size_t vt_calls_read(struct vt_call_node *nodes, size_t room);
VT_API size_t vt_calls_durations(struct vt_call_durations *durations, size_t room);

/* A thread of which there are calls. Threads beyond the first 1024 that have ended are one, VT_THREAD_MORE: of them
 * only the sum is kept, so that memory does not grow with their number. */
#define VT_THREAD_MORE 0xffffffffu

struct vt_call_thread {
    uint32_t thread;
    int32_t tid;
    char name[64];
};

VT_API size_t vt_calls_threads(struct vt_call_thread *threads, size_t room);

/* Calls that found no place in the tree (it is full). */
VT_API uint64_t vt_calls_lost(void);

#ifdef __cplusplus
}
#endif

#endif
