/*
 * overview.h - what a recording holds beside spans: counters, marks, errors, losses; in one pass
 * over the events. Memory grows with the number of sites and of different errors, not with the
 * events.
 */
#ifndef VENTURI_ANALYZE_OVERVIEW_H
#define VENTURI_ANALYZE_OVERVIEW_H

#include "model/model.h"

struct vti_counter_stats {
    uint32_t site;
    uint64_t count;
    double min, max, sum, last;
    int64_t last_ns; /* when that was */
};

struct vti_mark_stats {
    uint32_t site;
    uint64_t count;
    int64_t first_ns, last_ns;
};

struct vti_error_stats {
    uint32_t site; /* of the span that failed */
    uint64_t count;
    char *type, *message; /* owned; the message of the first one */
};

struct vti_loss_stats {
    const char *reason;
    uint32_t process, track; /* ids, or VT_NONE */
    uint64_t gaps, events;
    bool is_lower_bound;
    bool is_process;  /* one whole process for each gap */
    bool is_of_steps; /* messages of steps: no event is missing */
    bool is_wanted;   /* sliced away, or overwritten as asked: nothing is lost */
    int64_t begin_ns, end_ns;
};

struct vti_losses {
    struct vti_loss_stats *items; /* owned; by reason, process and track in order of appearance */
    size_t count, capacity;
    uint64_t lost_events;                       /* that nobody wanted to miss */
    uint64_t sliced_events, overwritten_events; /* cut away by `slice`, given way by --ring */
    uint64_t missing_processes;                 /* not recorded, or not to their end */
};

struct vti_overview {
    struct vti_counter_stats *counters; /* arrays are owned; in order of appearance */
    size_t counter_count;
    struct vti_mark_stats *marks;
    size_t mark_count;
    struct vti_error_stats *errors; /* most frequent first */
    size_t error_count;
    struct vti_losses losses;
};

int vti_overview_query(vt_recording *recording, struct vti_overview *overview);
void vti_overview_free(struct vti_overview *overview);

/* The losses alone, for which no events are read. */
int vti_losses_query(const vt_recording *recording, struct vti_losses *losses);
void vti_losses_free(struct vti_losses *losses);

/* The sites (as vti_site_same() has them) whose figures losses put wrong: an estimate by time, see
 * distorted.c. The caller frees `sites` with vti_ids_fini(). */
int vti_distorted_query(vt_recording *recording, const struct vti_losses *losses,
                        struct vti_ids *sites);

/* As vt_stats_query() of the whole recording, with our own cost left in everywhere. */
int vti_stats_query_raw(vt_recording *recording, struct vt_stats *stats);

#endif
