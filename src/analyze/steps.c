/* steps.c - steps of a pipeline, each summed up. Numbers in a recording are untrusted: none index anything, no sum wraps. */
#include "analyze/steps.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

const char *vti_step_measure_name(enum vti_step_measure measure)
{
    static const char *const names[VTI_STEP_MEASURES] = {"execute", "pre", "post",
                                                         "produce", "lag", "batch"};

    return names[measure];
}

static struct vti_step_sum *sum_of(struct vti_step_sums *sums, const struct vti_step *step)
{
    uint32_t known = sums->ids.count;
    int64_t at;

    if (vti_grow(&sums->sums, known, &sums->room, sizeof *sums->sums))
        return NULL;
    at = vti_ids_add(&sums->ids, step->site);
    if (at < 0)
        return NULL;
    if (at == known)
        sums->sums[at] = (struct vti_step_sum){.site = step->site,
                                               .source = step->source,
                                               .prefix = step->prefix,
                                               .survey = step->survey,
                                               .first_ns = INT64_MAX,
                                               .last_ns = INT64_MIN};
    return &sums->sums[at];
}

static int measure(struct vti_step_measured *to, int64_t value)
{
    to->least = !to->count || value < to->least ? value : to->least;
    to->most = !to->count || value > to->most ? value : to->most;
    to->sum += (double)value;
    to->count++;
    return vti_histogram_add(&to->histogram, value);
}

static int measure_known(struct vti_step_measured *to, uint64_t value)
{
    if (value == VTI_STEP_UNKNOWN)
        return 0;
    return measure(to, value < INT64_MAX ? (int64_t)value : INT64_MAX);
}

static int take_entry(struct vti_step_sum *sum, const struct vti_step *step)
{
    struct vti_step_measured *to = sum->measured;
    int code = measure_known(&to[VTI_STEP_EXECUTE], step->execute_ns);

    sum->entries++;
    sum->failed_entries += step->is_failed;
    if (step->is_failed)
        sum->failed = vti_add_capped(sum->failed, step->messages);
    sum->messages = vti_add_capped(sum->messages, step->messages);
    if (!code)
        code = measure_known(&to[VTI_STEP_PRE], step->pre_ns);
    if (!code)
        code = measure_known(&to[VTI_STEP_POST], step->post_ns);
    if (!code)
        code = measure_known(&to[VTI_STEP_PRODUCE], step->produce_ns);
    if (!code && step->lag_ns != VTI_STEP_LAG_UNKNOWN)
        code = measure(&to[VTI_STEP_LAG], step->lag_ns);
    return code ? code : measure_known(&to[VTI_STEP_BATCH], step->messages);
}

int vti_step_sums_take(struct vti_step_sums *sums, const struct vti_step *step)
{
    struct vti_step_sum *sum = sum_of(sums, step);

    if (!sum)
        return VTI_E_NOMEM;
    sum->cut += step->is_cut;
    sum->bad += !step->is_json;
    sum->first_ns = step->begin_ns < sum->first_ns ? step->begin_ns : sum->first_ns;
    sum->last_ns = step->time_ns > sum->last_ns ? step->time_ns : sum->last_ns;
    if (!step->is_metrics)
        return take_entry(sum, step);
    sum->documents++;
    return 0;
}

int vti_step_sums_load(struct vti_step_sums *sums, vt_recording *recording)
{
    struct vti_step_log log;
    struct vti_step step;
    int code = 0;
    int got = 0;

    memset(sums, 0, sizeof *sums);
    vti_step_log_init(&log, recording, NULL);
    while (!code && (got = vti_step_log_next(&log, &step)) > 0)
        code = vti_step_sums_take(sums, &step);
    vti_step_log_fini(&log);
    sums->lost = vti_steps_lost(recording);
    sums->sourceless = vti_steps_sourceless(recording);
    if (code)
        code = vti_fail(code, "%s: out of memory", recording->path);
    return code ? code : got;
}

void vti_step_sums_fini(struct vti_step_sums *sums)
{
    for (uint32_t i = 0; i < sums->ids.count; i++)
        for (unsigned k = 0; k < VTI_STEP_MEASURES; k++)
            vti_histogram_fini(&sums->sums[i].measured[k].histogram);
    vti_ids_fini(&sums->ids);
    free(sums->sums);
    memset(sums, 0, sizeof *sums);
}

/* A bucket's middle may lie outside of what there was. */
int64_t vti_step_quantile(struct vti_step_measured *measured, double share)
{
    int64_t value = measured->count ? vti_histogram_quantile(&measured->histogram, share) : 0;

    if (!measured->count || value > measured->most)
        return measured->most;
    return value < measured->least ? measured->least : value;
}

double vti_step_mean(const struct vti_step_measured *measured)
{
    return measured->count ? measured->sum / (double)measured->count : 0;
}
