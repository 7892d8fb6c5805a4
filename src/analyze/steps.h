/*
 * steps.h - steps of a pipeline, each summed up: messages, failures, times of its phases, lag, sizes of batches.
 *
 * Counts, sums, least and most are exact; percentiles are within 1 %. Also for those who follow a growing recording: entries are taken one by
 * one, and what is asked is asked of all so far.
 */
#ifndef VENTURI_ANALYZE_STEPS_H
#define VENTURI_ANALYZE_STEPS_H

#include "analyze/histogram.h"
#include "base/json.h"
#include "model/step_log.h"

/* What is measured of an entry: nanoseconds, or messages. */
enum vti_step_measure {
    VTI_STEP_EXECUTE,
    VTI_STEP_PRE,
    VTI_STEP_POST,
    VTI_STEP_PRODUCE,
    VTI_STEP_LAG,
    VTI_STEP_BATCH,
    VTI_STEP_MEASURES
};

struct vti_step_measured {
    uint64_t count; /* entries that have it; without any the rest is zero */
    double sum;
    int64_t least, most;            /* a lag may be negative: clocks of two machines */
    struct vti_histogram histogram; /* owned; of what is negative: zero */
};

/* One step, in all processes. */
struct vti_step_sum {
    uint32_t site;
    const char *source, *prefix, *survey; /* the recording's, until it is closed */
    uint64_t entries;                     /* messages or batches, failed ones included */
    uint64_t failed_entries;              /* of them */
    uint64_t messages;                    /* in them */
    uint64_t failed;                      /* messages in those that failed, which fail as a whole */
    uint64_t documents;                   /* sent by hand, beside the entries */
    uint64_t cut, bad;         /* texts that were too long; that are no members of a JSON object */
    int64_t first_ns, last_ns; /* received and sent, in the recording's time */
    struct vti_step_measured measured[VTI_STEP_MEASURES];
};

/* Zeroed it is empty. */
struct vti_step_sums {
    struct vti_step_sum *sums; /* owned; beside the ids: in order of appearance */
    size_t room;
    struct vti_ids ids;
    uint64_t lost;       /* as far as the recording says */
    uint64_t sourceless; /* of those: of steps beyond those that a process may have */
};

/* "execute", "pre", …; of a batch its unit is messages. */
const char *vti_step_measure_name(enum vti_step_measure measure);

/* Takes in one entry: 0 or VTI_E_NOMEM. */
int vti_step_sums_take(struct vti_step_sums *sums, const struct vti_step *step);

/* All of a recording: 0 or a negative code, with a message. */
int vti_step_sums_load(struct vti_step_sums *sums, vt_recording *recording);
void vti_step_sums_fini(struct vti_step_sums *sums);

/* What `share` of all do not exceed; 0 if there is none. */
int64_t vti_step_quantile(struct vti_step_measured *measured, double share);
double vti_step_mean(const struct vti_step_measured *measured);

/* A member "steps": an array of objects. Times in nanoseconds, batches in messages. */
void vti_step_sums_add_json(struct vti_json *json, const struct vti_step_sums *sums);

#endif
