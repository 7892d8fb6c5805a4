/*
 * calls.h - entries of the blocks that hold calls: CALL_TREE, DURATIONS, COSTS, SAMPLES, SAMPLING. As in facts.h, _write appends
 * one entry to a payload, and _read takes one from a bounded reader and says whether it parsed.
 */
#ifndef VENTURI_FORMAT_CALLS_H
#define VENTURI_FORMAT_CALLS_H

#include "base/buf.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_DURATIONS_MAX 128

/* One place in the tree of a track. Times are ticks. */
struct vti_call_fact {
    uint32_t node;
    uint32_t parent; /* 0: none */
    uint32_t site;
    uint64_t calls;
    uint64_t resumes;
    uint64_t total;
    uint64_t suspended;
    uint64_t shortest_plus_one; /* 0: no call has ended */
    uint64_t longest;
    uint64_t open_plus_one; /* 0: none is open; else for how long it was */
};

struct vti_durations_fact {
    uint32_t site;
    uint64_t counts[VTI_DURATIONS_MAX];
};

struct vti_cost_fact {
    uint32_t process;
    uint32_t language;
    uint64_t pair_millis; /* thousandths of a tick */
    uint64_t inner_millis;
};

/* One place in the same tree that samples met. */
struct vti_sample_fact {
    uint32_t node;
    uint32_t parent; /* 0: none; may be a place of calls */
    uint32_t site;
    uint64_t samples; /* in which it was the innermost */
    uint64_t ns;      /* that they stand for */
};

/* How the samples of a process were taken. */
struct vti_sampling_fact {
    uint32_t process;
    uint32_t clock; /* 1 perf event, 2 timer, 3 somebody else's */
    uint32_t is_stopped;
    uint64_t period_ns;
    uint64_t samples, ours, cut, lost;
    uint64_t spent; /* ticks */
};

void vti_call_write(struct vti_buf *out, const struct vti_call_fact *fact);
void vti_durations_write(struct vti_buf *out, const struct vti_durations_fact *fact);
/* Only the part after the site: the number of buckets with a count, and these. */
void vti_duration_counts_write(struct vti_buf *out, const uint64_t counts[VTI_DURATIONS_MAX]);
bool vti_duration_counts_read(struct vti_reader *in, uint64_t counts[VTI_DURATIONS_MAX]);
void vti_cost_write(struct vti_buf *out, const struct vti_cost_fact *fact);
void vti_sample_write(struct vti_buf *out, const struct vti_sample_fact *fact);
void vti_sampling_write(struct vti_buf *out, const struct vti_sampling_fact *fact);

bool vti_call_read(struct vti_reader *in, struct vti_call_fact *fact);
bool vti_durations_read(struct vti_reader *in, struct vti_durations_fact *fact);
bool vti_cost_read(struct vti_reader *in, struct vti_cost_fact *fact);
bool vti_sample_read(struct vti_reader *in, struct vti_sample_fact *fact);
bool vti_sampling_read(struct vti_reader *in, struct vti_sampling_fact *fact);

#endif
