/*
 * calls_samples.c - places in the tree of calls that samples met.
 *
 * What is exact stays so: a place that samples met takes its time out of what its caller spent by itself.
 */
#include "analyze/calls.h"
#include "base/error.h"

#include <math.h>
#include <stdlib.h>

static bool has_exact_parent(const struct vti_calls *calls, const struct vti_call *call)
{
    return call->parent != VT_NONE && !calls->calls[call->parent].is_estimated;
}

/* Totals from own times, and in `taken` what is to be taken from each exact caller. */
static void add_up(struct vti_calls *calls, double *taken)
{
    for (size_t i = calls->call_count; i-- > 0;) {
        const struct vti_call *call = &calls->calls[i];

        if (!call->is_estimated || call->parent == VT_NONE)
            continue;
        if (has_exact_parent(calls, call))
            taken[call->parent] += call->total_ns;
        else
            calls->calls[call->parent].total_ns += call->total_ns;
    }
}

/* From here on `factors` holds what each exact caller has for each nanosecond asked of it, at most 1. */
static void scale_down(struct vti_calls *calls, double *factors)
{
    for (size_t i = 0; i < calls->call_count; i++) {
        struct vti_call *call = &calls->calls[i];
        double taken = factors[i];

        if (call->is_estimated) {
            factors[i] = call->parent == VT_NONE ? 1 : factors[call->parent];
            call->total_ns *= factors[i];
        } else {
            factors[i] = taken > call->self_ns ? fmax(call->self_ns, 0) / taken : 1;
            call->sampled_ns = taken * factors[i];
        }
    }
}

int vti_calls_fit_samples(struct vti_calls *calls)
{
    double *factors;
    double samples = 0, ns = 0;

    for (size_t i = 0; i < calls->call_count; i++) {
        samples += (double)calls->calls[i].samples;
        ns += calls->calls[i].is_estimated ? calls->calls[i].total_ns : 0;
    }
    calls->is_estimated = samples > 0 || ns > 0;
    calls->sample_ns = samples > 0 ? ns / samples : 0;
    if (!calls->is_estimated)
        return 0;
    factors = calloc(calls->call_count, sizeof *factors);
    if (!factors)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    add_up(calls, factors);
    scale_down(calls, factors);
    free(factors);
    return 0;
}

double vti_calls_error(const struct vti_calls *calls, double estimate_ns)
{
    double most = fmax(estimate_ns, 0);

    return calls->sample_ns > 0 ? fmin(sqrt(most * calls->sample_ns), most) : most;
}
