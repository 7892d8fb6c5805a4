/* metrics_impl.h - between the files that write metrics: one for each kind of thing. */
#ifndef VENTURI_LIVE_METRICS_IMPL_H
#define VENTURI_LIVE_METRICS_IMPL_H

#include "live/metrics.h"
#include "live/metrics_exemplars.h"

struct vti_map;

/* ---- families of one sample; what is not known (NaN, VTI_LIVE_UNKNOWN) is not written ---------- */

void vti_metrics_gauge(struct vti_metrics_out *metrics, const char *name, const char *unit,
                       const char *help, double value);
void vti_metrics_gauge_u(struct vti_metrics_out *metrics, const char *name, const char *unit,
                         const char *help, uint64_t value);
void vti_metrics_counter(struct vti_metrics_out *metrics, const char *name, const char *unit,
                         const char *help, double value);
void vti_metrics_counter_u(struct vti_metrics_out *metrics, const char *name, const char *unit,
                           const char *help, uint64_t value);

/* Nanoseconds, written as seconds; VTI_LIVE_UNKNOWN stays unknown. */
double vti_metrics_seconds(uint64_t ns);
double vti_metrics_unix(int64_t unix_ns); /* 0: NaN */

/* ---- sums by labels ---------------------------------------------------------------------------- */

#define VTI_SUM_LABELS 3
#define VTI_SUM_NUMBERS 16

/* What several things with the same labels come to. */
struct vti_sum {
    struct vti_label labels[VTI_SUM_LABELS];
    char texts[VTI_SUM_LABELS][VTI_LABEL_MOST + 1];
    size_t label_count;
    double numbers[VTI_SUM_NUMBERS]; /* their meaning is the caller's; counts up to 2^53 */
    double sum_s;                    /* of durations */
    uint64_t buckets[VTI_LIVE_BUCKETS];
    struct vti_exemplars *exemplars; /* owned, or NULL */
};

/* Zeroed with `most`: empty. Beyond `most` different ones all others are "(others)". */
struct vti_sums {
    size_t most;
    size_t count;
    struct vti_sum **list; /* owned, each too; in order of their first appearance */
    size_t room;
    struct vti_map *map; /* owned */
};

/* The sum for these labels (at most VTI_SUM_LABELS), NULL: out of memory. */
struct vti_sum *vti_sums_at(struct vti_sums *sums, const struct vti_label *labels,
                            size_t label_count);
void vti_sum_add_times(struct vti_sum *sum, const struct vti_live_times *times);
void vti_sum_add_exemplars(struct vti_sum *sum,
                           const struct vti_exemplars *exemplars); /* or NULL */
void vti_sums_fini(struct vti_sums *sums);

/* Families with a sample for each sum: of one of its numbers, of its durations. Nothing if there are no sums. */
void vti_sums_write(struct vti_metrics_out *metrics, const struct vti_sums *sums,
                    enum vti_metric_type type, const char *name, const char *unit, const char *help,
                    unsigned number);
void vti_sums_write_times(struct vti_metrics_out *metrics, const struct vti_sums *sums,
                          const char *name, const char *help);

/* ---- one for each kind of thing: 0 or VTI_E_NOMEM ---------------------------------------------- */

int vti_metrics_spans(struct vti_metrics_out *metrics, const struct vti_live *live);
int vti_metrics_tasks(struct vti_metrics_out *metrics, const struct vti_live *live);
int vti_metrics_steps(struct vti_metrics_out *metrics, const struct vti_live *live);
void vti_metrics_machine(struct vti_metrics_out *metrics, const struct vti_live *live);
void vti_metrics_files(struct vti_metrics_out *metrics, const struct vti_live *live);
void vti_metrics_ship(struct vti_metrics_out *metrics, const struct vti_live *live);
void vti_metrics_energy(struct vti_metrics_out *metrics, const struct vti_live *live);

#endif
