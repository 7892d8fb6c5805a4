/* steps_json.c - steps summed up as JSON, alike for the tool and the page. docs/commands/report.md names the keys. */
#include "analyze/steps.h"

static void add_measured(struct vti_json *json, enum vti_step_measure measure,
                         struct vti_step_measured *measured)
{
    if (!measured->count)
        return;
    vti_json_key(json, vti_step_measure_name(measure));
    vti_json_object(json);
    vti_json_add_uint(json, "count", measured->count);
    vti_json_add_double(json, "sum", measured->sum);
    vti_json_add_double(json, "avg", vti_step_mean(measured));
    vti_json_add_int(json, "min", measured->least);
    vti_json_add_int(json, "max", measured->most);
    vti_json_add_int(json, "p50", vti_step_quantile(measured, 0.5));
    vti_json_add_int(json, "p90", vti_step_quantile(measured, 0.9));
    vti_json_add_int(json, "p99", vti_step_quantile(measured, 0.99));
    vti_json_object_end(json);
}

static void add_sum(struct vti_json *json, struct vti_step_sum *sum)
{
    vti_json_object(json);
    vti_json_add_string(json, "source", sum->source);
    vti_json_add_string(json, "prefix", sum->prefix);
    vti_json_add_string(json, "survey", *sum->survey ? sum->survey : NULL);
    vti_json_add_uint(json, "count", sum->entries);
    vti_json_add_uint(json, "failed_count", sum->failed_entries);
    vti_json_add_uint(json, "messages", sum->messages);
    vti_json_add_uint(json, "failed", sum->failed);
    vti_json_add_uint(json, "documents", sum->documents);
    vti_json_add_uint(json, "cut", sum->cut);
    vti_json_add_uint(json, "bad_extra", sum->bad);
    vti_json_add_int(json, "begin_ns", sum->first_ns);
    vti_json_add_int(json, "end_ns", sum->last_ns);
    for (unsigned i = 0; i < VTI_STEP_MEASURES; i++)
        add_measured(json, i, &sum->measured[i]);
    vti_json_object_end(json);
}

void vti_step_sums_add_json(struct vti_json *json, const struct vti_step_sums *sums)
{
    vti_json_key(json, "steps");
    vti_json_array(json);
    for (uint32_t i = 0; i < sums->ids.count; i++)
        add_sum(json, &sums->sums[i]);
    vti_json_array_end(json);
}
