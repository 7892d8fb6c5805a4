/*
 * metrics.h - a live state as metrics for Prometheus.
 *
 * Everything is of the measured program as a whole: sums over its processes, those that have ended among them, so that counters never go
 * back. What is not known is left out. Names and labels stand in docs/prometheus.md.
 */
#ifndef VENTURI_LIVE_METRICS_H
#define VENTURI_LIVE_METRICS_H

#include "live/exposition.h"
#include "live/live.h"

/* Appends all metrics of the last refresh. 0 or VTI_E_NOMEM. */
int vti_metrics_write(const struct vti_live *live, enum vti_exposition format, struct vti_buf *out);

#endif
