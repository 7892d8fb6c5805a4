/*
 * calls.h - the functions of a program: what was called, from where, how often, how long.
 *
 * Filled from the trees of a recording, from its spans if they are calls (--timeline), from the live
 * process, or from a file of another profiler; everything that shows or exports functions starts
 * here. Times are nanoseconds, our own cost already subtracted unless raw ones were asked for.
 */
#ifndef VENTURI_ANALYZE_CALLS_H
#define VENTURI_ANALYZE_CALLS_H

#include "analyze/durations.h"
#include "base/hash.h"
#include "venturi/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* One function. Two that share name, file and line (lambdas on one line, code made at run time) are
 * still two: `twin` counts them, 0 for the first. The same function in two processes is one. */
struct vti_function {
    const char *name;     /* "Step.execute"; strings are owned by the table */
    const char *function; /* "execute" */
    const char *file;     /* "~" for built-in functions, "" if unknown */
    const char *language; /* "python", "builtin", "c", "" unknown */
    uint32_t line;
    uint32_t twin;
};

/* One place: a function, called along one path on one track. */
struct vti_call {
    uint32_t parent;   /* index of the caller, which comes before this one; VT_NONE: a root */
    uint32_t function; /* index */
    uint32_t track;    /* index of its track in the recording, VT_NONE: all or unknown */
    bool is_open;      /* had not ended when the recording did; its time counts up to there */
    bool is_estimated; /* met by samples only: it has no calls, and its times are estimates */
    uint64_t samples;  /* in which it was the innermost */
    double sampled_ns; /* of an exact one: what places that samples met take out of its own time */
    uint64_t calls;    /* first entries … */
    uint64_t resumes;  /* … and those of a generator or coroutine that went on */
    double total_ns;   /* with what it called */
    double self_ns;    /* without */
    double raw_ns;   /* total as it was measured, and what of our cost lies in its own hooks: … */
    double inner_ns; /* … from vti_calls_settle() on */
    double suspended_ns;
    double shortest_ns; /* of one call or resume; NaN: none has ended */
    double longest_ns;
};

struct vti_calls {
    struct vti_function *functions;
    struct vti_durations **durations; /* one for each function; NULL: unknown */
    struct vti_call *calls;
    size_t function_count, function_room;
    size_t call_count, call_room;
    double cost_ns;      /* what was subtracted, in all … */
    double cost_call_ns; /* … and for one call of the most frequent language */
    uint64_t lost_calls; /* that found no place in a tree … */
    bool has_unseen;     /* … and more, which nobody could count */
    bool is_estimated;   /* there are estimates among the times … */
    double sample_ns; /* … made of samples that stand for so much each: see vti_calls_error() */
    struct vti_map *known; /* owned, as all of these: functions by their texts, line and twin … */
    struct vti_map *strings; /* … and the texts */
};

struct vti_calls_options {
    bool is_raw;      /* do not subtract our own cost */
    bool is_merged;   /* one tree for all tracks: equal paths are added up, `track` is VT_NONE */
    uint32_t track;   /* id: only this one; VT_NONE: all */
    uint32_t process; /* id: only this one; VT_NONE: all */
};

/* All calls of a recording. 0, or a negative code with the usual message. A recording without any is
 * no error: call_count is 0. */
int vti_calls_load(struct vti_calls *calls, vt_recording *recording,
                   const struct vti_calls_options *options);

/* The same without calls that were recorded as spans (--timeline), which are among the spans too. */
int vti_calls_load_trees(struct vti_calls *calls, vt_recording *recording,
                         const struct vti_calls_options *options);

/* The part of vti_calls_load() for recordings made with --timeline: adds a call for every span whose
 * site is a function. A resume cannot be told from a call there. Before vti_calls_finish(). */
int vti_calls_from_spans(struct vti_calls *calls, vt_recording *recording,
                         const struct vti_calls_options *options);

/* The spans of threads, as if each were a call: a function for each site, of language "span" unless it is
 * one, and the paths of spans within spans. In place of vti_calls_load(). */
int vti_calls_load_spans(struct vti_calls *calls, vt_recording *recording,
                         const struct vti_calls_options *options);

/* The spans of traces in the same way, one tree for all threads: children are those that name a span as their parent. What ran at the
 * same time lies side by side, so that a total is the sum of what is under it. */
int vti_calls_load_traces(struct vti_calls *calls, vt_recording *recording);

/* Building one by hand: init, functions, calls (parents first; self_ns is worked out by _finish, from
 * total_ns of the children), finish. A zeroed struct is as good as an initialized one. _fini frees in
 * every case. */
void vti_calls_init(struct vti_calls *calls);

/* The index of a function, the same for equal texts, line and `twin`; negative without memory. */
int64_t vti_calls_function(struct vti_calls *calls, const struct vti_function *function);

/* Its index; negative without memory. A parent that is not there yet makes it a root. */
int64_t vti_calls_add(struct vti_calls *calls, const struct vti_call *call);

/* The table's own copy of a text, the same for equal ones; NULL without memory. */
const char *vti_calls_text(struct vti_calls *calls, const char *text);

/* Adds to the durations of a function. 0 or VTI_E_NOMEM. */
int vti_calls_durations(struct vti_calls *calls, uint32_t function,
                        const struct vti_durations *durations);

/* Takes our own cost off, before _finish(): self_ns of each call is what is to be subtracted inside of
 * it, `outside` (one for each call; used up) what its hooks took outside of it, in all. No call loses more
 * than was measured; what they do lose is added to cost_ns. */
void vti_calls_settle(struct vti_calls *calls, double *outside);

/* Gives places that samples met their totals, before _finish(): they share out the time that their callers,
 * where these are exact, spent by themselves, and no more than that. 0 or VTI_E_NOMEM. */
int vti_calls_fit_samples(struct vti_calls *calls);

/* The standard error of an estimated time: of n samples, their time divided by the root of n. Never more than the
 * time itself, and all of it where nothing is known of the samples. */
double vti_calls_error(const struct vti_calls *calls, double estimate_ns);

void vti_calls_finish(struct vti_calls *calls);
void vti_calls_fini(struct vti_calls *calls);

/* Depth first over all calls, children in the order of their indices; without recursion, so that trees may
 * be as deep as they like. Stops when `enter` or `leave` returns non-zero and returns that; else 0 or
 * VTI_E_NOMEM. */
int vti_calls_walk(const struct vti_calls *calls, int (*enter)(uint32_t call, void *arg),
                   int (*leave)(uint32_t call, void *arg), void *arg);

#endif
