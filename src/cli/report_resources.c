/* report_resources.c - CPU, memory and I/O over time, as sparklines and as JSON. */
#include "base/error.h"
#include "cli/chart.h"
#include "cli/prose.h"
#include "cli/render.h"
#include "cli/report.h"

#include <math.h>
#include <stdio.h>

#define SPARK 60   /* columns at most: readings are a tenth of a second apart, more is noise */
#define LABELS 30  /* columns beside it */
#define READINGS 4 /* fewer make no curve */
#define NEARLY 0.9 /* … the same: the kernel knows the peak, readings come near it */
#define CURVE_BYTES 10000000 /* 10 MB: programs and libraries that are loaded are less */

/* ---- curves ---------------------------------------------------------------------------------- */

/*
 * Per second, where values are totals that grow; in one slot the growth between the readings that hold at its ends. Those that
 * are nearer than a quarter of the usual interval, or are the same one, are joined with a neighbour: a few milliseconds
 * make any rate, and a slot without a reading is not one without growth.
 */
static double rate_at(const struct vti_resource_series *series, enum vti_resource value,
                      int64_t from_ns, int64_t to_ns)
{
    const struct vti_resource_point *from = vti_resource_at(series, from_ns);
    const struct vti_resource_point *to = vti_resource_at(series, to_ns);
    const struct vti_resource_point *first = series->points, *last = first + series->count - 1;
    int64_t near_ns = (last->time_ns - first->time_ns) / (int64_t)(series->count - 1) / 4;

    while (from && to && to->time_ns - from->time_ns < near_ns && (to < last || from > first))
        if (to < last)
            to++;
        else
            from--;
    if (!from || !to || !(from->known & to->known & 1u << value) || to->time_ns <= from->time_ns ||
        to->values[value] < from->values[value])
        return NAN;
    return (double)(to->values[value] - from->values[value]) /
           ((double)(to->time_ns - from->time_ns) / 1e9);
}

/* The most in one slot: what was there when it began, and all readings in it. */
static double level_in(const struct vti_resource_series *series, enum vti_resource value,
                       int64_t from_ns, int64_t to_ns)
{
    const struct vti_resource_point *end = series->points + series->count;
    double most = NAN;

    for (const struct vti_resource_point *point = vti_resource_at(series, from_ns);
         point && point < end && point->time_ns <= to_ns; point++)
        if (point->known & 1u << value)
            most = fmax(most, (double)point->values[value]);
    return most;
}

static size_t columns(const struct vti_resource_tree *tree)
{
    size_t room = vti_prose_width() > LABELS ? vti_prose_width() - LABELS : 1;
    size_t most = room < SPARK ? room : SPARK;

    return tree->series.count - 1 < most ? tree->series.count - 1 : most;
}

/* "  CPU     ▁▃█▇▁  at most 1.9 cores"; nothing of what is not known. */
static void add_curve(struct vti_buf *out, const struct vti_resource_tree *tree, const char *label,
                      enum vti_resource value, bool is_rate)
{
    size_t count = columns(tree);
    double length = (double)(tree->end_ns - tree->begin_ns) / (double)count;
    double values[SPARK];
    double most = NAN;
    char text[VTI_NUMBER_BYTES];

    for (size_t i = 0; i < count; i++) {
        int64_t from_ns = tree->begin_ns + (int64_t)((double)i * length);
        int64_t to_ns = tree->begin_ns + (int64_t)((double)(i + 1) * length);

        values[i] = is_rate ? rate_at(&tree->series, value, from_ns, to_ns)
                            : level_in(&tree->series, value, from_ns, to_ns);
        most = fmax(most, values[i]);
    }
    if (!(most > 0))
        return;
    vti_buf_printf(out, "  %-7s ", label);
    vti_chart_spark(out, values, count);
    if (value == VTI_RESOURCE_CPU_NS)
        vti_buf_printf(out, "  at most %.2g cores\n", most / 1e9);
    else
        vti_buf_printf(
            out, "  at most %s%s%s\n", vti_text_bytes(text, (uint64_t)most), is_rate ? "/s" : "",
            !is_rate && most < NEARLY * (double)tree->peak_bytes ? " when it was read" : "");
}

/* What is above these lines is as long as what was recorded; processes are watched from before their start until after their end, which of a short run
 * is most of it. */
static void add_time(struct vti_buf *out, const struct vti_resource_tree *tree, int64_t wall_ns)
{
    double watched = (double)(tree->end_ns - tree->begin_ns);
    char text[VTI_NUMBER_BYTES];

    if (wall_ns > 0 && NEARLY * watched > (double)wall_ns)
        vti_buf_printf(out, ", in %s from start to end of the program",
                       vti_text_duration(text, watched));
}

int vti_report_print_resources(const struct vti_report *report)
{
    const struct vti_resources *resources = &report->study.resources;
    struct vti_buf out = {0};
    int code;

    for (size_t i = 0; i < resources->tree_count; i++) {
        const struct vti_resource_tree *tree = &resources->trees[i];
        struct vti_buf sentence = {0};

        vti_resources_sentence(&sentence, tree);
        add_time(&sentence, tree, report->study.wall_ns);
        vti_buf_add_u8(&out, '\n');
        if (sentence.len)
            vti_prose_wrap(&out, (const char *)sentence.data, sentence.len, vti_prose_width(), 2);
        vti_buf_add_u8(&out, '\n');
        vti_buf_fini(&sentence);
        if (tree->series.count < READINGS || tree->end_ns <= tree->begin_ns)
            continue;
        add_curve(&out, tree, "CPU", VTI_RESOURCE_CPU_NS, true);
        add_curve(&out, tree, "memory", VTI_RESOURCE_MEMORY_BYTES, false);
        if (tree->read_bytes >= CURVE_BYTES)
            add_curve(&out, tree, "read", VTI_RESOURCE_READ_BYTES, true);
        if (tree->written_bytes >= CURVE_BYTES)
            add_curve(&out, tree, "written", VTI_RESOURCE_WRITTEN_BYTES, true);
    }
    code = out.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
    if (!code && out.len)
        fwrite(out.data, 1, out.len, stdout);
    vti_buf_fini(&out);
    return code;
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void add_known(struct vti_json *json, const struct vti_resource_tree *tree,
                      enum vti_resource value, const char *key, uint64_t number)
{
    if (tree->known & 1u << value)
        vti_json_add_uint(json, key, number);
    else
        vti_json_add_null(json, key);
}

void vti_report_json_resources(struct vti_json *json, const struct vti_report *report)
{
    const struct vti_resources *resources = &report->study.resources;

    vti_json_key(json, "resources");
    vti_json_array(json);
    for (size_t i = 0; i < resources->tree_count; i++) {
        const struct vti_resource_tree *tree = &resources->trees[i];
        bool has_cpu = tree->known & 1u << VTI_RESOURCE_CPU_NS;

        vti_json_object(json);
        vti_json_add_int(json, "begin_ns", tree->begin_ns);
        vti_json_add_int(json, "end_ns", tree->end_ns);
        vti_json_add_uint(json, "readings", tree->series.count);
        vti_json_add_uint(json, "process_count", tree->process_count);
        vti_json_add_uint(json, "cpu_count", tree->cpu_count);
        vti_json_add_double(json, "cpu_ns", has_cpu ? tree->cpu_s * 1e9 : NAN);
        vti_json_add_double(json, "cores", has_cpu ? tree->cores : NAN);
        add_known(json, tree, VTI_RESOURCE_PEAK_BYTES, "peak_bytes", tree->peak_bytes);
        add_known(json, tree, VTI_RESOURCE_READ_BYTES, "read_bytes", tree->read_bytes);
        add_known(json, tree, VTI_RESOURCE_WRITTEN_BYTES, "written_bytes", tree->written_bytes);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}
