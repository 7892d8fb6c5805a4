/*
 * exposition.h - writes metrics as Prometheus reads them: its text format 0.0.4, or OpenMetrics 1.0.
 *
 * Knows the two formats and nothing of ours. The caller gives families one after the other, all samples of a family together and each
 * series once; what is written then is valid whatever the texts are: labels are repaired, cut and quoted here.
 */
#ifndef VENTURI_LIVE_EXPOSITION_H
#define VENTURI_LIVE_EXPOSITION_H

#include "base/buf.h"

#include <stddef.h>
#include <stdint.h>

enum vti_exposition { VTI_EXPOSITION_TEXT, VTI_EXPOSITION_OPENMETRICS };

enum vti_metric_type {
    VTI_METRIC_COUNTER,
    VTI_METRIC_GAUGE,
    VTI_METRIC_HISTOGRAM,
    VTI_METRIC_SUMMARY,
    VTI_METRIC_INFO /* the value is in the labels */
};

struct vti_metrics_out {
    struct vti_buf *out; /* borrowed */
    enum vti_exposition format;
    const char *name; /* of the family that is being written; borrowed */
    enum vti_metric_type type;
    double
        created_s; /* since when counters, summaries and histograms count, in OpenMetrics; 0: not said */
};

struct vti_label {
    const char *name;
    const char *value; /* any bytes; NULL and "": the label is left out, which means the same */
};

/* The value of Content-Type. */
const char *vti_exposition_type(enum vti_exposition format);

void vti_exposition_begin(struct vti_metrics_out *metrics, enum vti_exposition format,
                          struct vti_buf *out);

/* 0, or VTI_E_NOMEM if something did not fit into memory. */
int vti_exposition_end(struct vti_metrics_out *metrics);

/* Begins a family. `name` is without "_total" and "_info", which its samples get; `unit` is how it ends ("seconds"), or NULL. `help` is
 * a sentence of ours. */
void vti_exposition_family(struct vti_metrics_out *metrics, enum vti_metric_type type,
                           const char *name, const char *unit, const char *help);

/* A sample of a counter, gauge or info. */
void vti_exposition_sample(struct vti_metrics_out *metrics, const struct vti_label *labels,
                           size_t label_count, double value);
void vti_exposition_count(struct vti_metrics_out *metrics, const struct vti_label *labels,
                          size_t label_count, uint64_t value);

/* A summary without quantiles: sum and count. */
void vti_exposition_summary(struct vti_metrics_out *metrics, const struct vti_label *labels,
                            size_t label_count, double sum, uint64_t count);

/* One thing that a bucket has counted, and where to read about it: OpenMetrics only. */
struct vti_exemplar {
    const char *trace_id; /* NULL: none of this bucket is known */
    double value;
    double unix_s; /* 0: unknown */
};

struct vti_distribution {
    const int64_t *bounds_ns;             /* upper ones, ascending, bucket_count - 1 of them */
    const uint64_t *buckets;              /* not cumulative; the last has no bound */
    const struct vti_exemplar *exemplars; /* one a bucket, or NULL */
    size_t bucket_count;
    double sum; /* in seconds */
};

/* A histogram of durations; how many there are is the sum of its buckets. */
void vti_exposition_histogram(struct vti_metrics_out *metrics, const struct vti_label *labels,
                              size_t label_count, const struct vti_distribution *times);

/* Bytes that a label's value has at most: longer ones are cut at a character. */
#define VTI_LABEL_MOST 200

/* The text as a label shows it, before it is quoted; two texts whose labels are the same are one series. Terminated. */
void vti_label_text(char to[VTI_LABEL_MOST + 1], const char *text);

#endif
