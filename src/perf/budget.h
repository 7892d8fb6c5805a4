/*
 * budget.h - limits as people write them: "cpu<2s", "step:p99<50ms", "throughput/core>=75/s", "rss<2G", "energy/item<0.1J".
 *
 * NAME is a quantity of a bench, "throughput" or "effective" (items for each second of the wall; with /core or /cpu for each second of
 * a core), a span or task with p50, p90, p99, max, total or count behind a colon, or a function with :calls. "/item" divides by
 * the items.
 */
#ifndef VENTURI_PERF_BUDGET_H
#define VENTURI_PERF_BUDGET_H

#include "perf/bench.h"

enum vti_budget_order {
    VTI_BUDGET_BELOW,
    VTI_BUDGET_AT_MOST,
    VTI_BUDGET_ABOVE,
    VTI_BUDGET_AT_LEAST
};

struct vti_budget {
    const char *text; /* borrowed */
    char name[256];
    enum vti_budget_order order;
    double limit; /* in seconds, bytes, joules, or plain … */
    char unit;    /* … of what it limits: 's', 'B', 'J', '/' (a second), or 0 */
};

/* 0 or VTI_E_USAGE with a message. */
int vti_budget_parse(struct vti_budget *budget, const char *text);

/* The median of what it limits; NaN: the entry does not know it. */
double vti_budget_value(const struct vti_budget *budget, const struct vti_bench *bench,
                        const struct vti_bench_entry *entry);
bool vti_budget_is_kept(const struct vti_budget *budget, double value);

#endif
