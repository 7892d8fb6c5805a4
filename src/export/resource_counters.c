/*
 * resource_counters.c - readings of resources as counters, for formats that have such: of all processes together. CPU
 * time becomes the number of cores that were busy since the reading before, energy the watts since then, the rest is as it was read.
 */
#include "export/resource_counters.h"

#include "analyze/resources.h"
#include "model/energy_log.h"

#include <stdio.h>

struct job {
    const struct vt_filter *range;
    int (*each)(const struct vti_resource_counter *counter, void *arg);
    void *arg;
};

static const struct kind {
    enum vti_resource value;
    const char *name, *unit;
} kinds[] = {
    {VTI_RESOURCE_CPU_NS, "CPU of all processes", "cores"},
    {VTI_RESOURCE_MEMORY_BYTES, "memory of all processes", "bytes"},
    {VTI_RESOURCE_READ_BYTES, "read by all processes", "bytes"},
    {VTI_RESOURCE_WRITTEN_BYTES, "written by all processes", "bytes"},
};
#define KINDS (sizeof kinds / sizeof *kinds)

static double cores(const struct vti_resource_point *before, const struct vti_resource_point *now)
{
    double ns = (double)(now->time_ns - before->time_ns);
    double used = (double)now->values[VTI_RESOURCE_CPU_NS] -
                  (double)before->values[VTI_RESOURCE_CPU_NS];

    return ns > 0 && used > 0 ? used / ns : 0;
}

static int give(const struct job *job, const struct kind *kind,
                const struct vti_resource_series *series, struct vti_resource_counter *counter)
{
    int code = 0;

    for (size_t i = 0; i < series->count && !code; i++) {
        const struct vti_resource_point *now = &series->points[i];
        bool is_rate = kind->value == VTI_RESOURCE_CPU_NS;

        if (!(now->known & 1u << kind->value) || now->time_ns < job->range->from_ns ||
            now->time_ns >= job->range->to_ns)
            continue;
        if (is_rate && (i == 0 || !(now[-1].known & 1u << kind->value)))
            continue;
        counter->time_ns = now->time_ns;
        counter->value = is_rate ? cores(now - 1, now) : (double)now->values[kind->value];
        code = job->each(counter, job->arg);
    }
    return code;
}

static uint32_t process_of(const struct vti_resources *all, size_t tree)
{
    for (size_t i = 0; i < all->process_count; i++)
        if (all->processes[i].tree == tree && all->processes[i].process != VT_NONE)
            return all->processes[i].process;
    return VT_NONE;
}

/* ---- power ----------------------------------------------------------------------------------- */

/* Watts of one source, where it was known at two readings and nothing is missing between them. */
static int give_watts(const struct job *job, const struct vti_energy_log_tree *tree,
                      uint32_t source, struct vti_resource_counter *counter)
{
    int64_t before_ns = 0;
    uint64_t before = 0;
    uint64_t now;
    bool has_before = false;
    int code = 0;

    for (size_t i = 0; i < tree->reading_count && !code; i++) {
        const struct vti_energy_log_reading *reading = &tree->readings[i];
        double ns = (double)reading->time_ns - (double)before_ns;

        if (!vti_energy_log_value(tree, reading, source, &now))
            continue;
        if (has_before && !(reading->lost >> source & 1) && ns > 0 && now >= before &&
            reading->time_ns >= job->range->from_ns && reading->time_ns < job->range->to_ns) {
            counter->time_ns = reading->time_ns;
            counter->value = (double)(now - before) * 1e3 / ns;
            code = job->each(counter, job->arg);
        }
        has_before = true;
        before_ns = reading->time_ns;
        before = now;
    }
    return code;
}

static int give_power(const struct job *job, vt_recording *recording,
                      const struct vti_resources *all)
{
    struct vti_energy_log log;
    int code = vti_energy_log_load(&log, recording);

    for (size_t at = 0; at < log.tree_count && !code; at++) {
        const struct vti_energy_log_tree *tree = &log.trees[at];
        struct vti_resource_counter counter = {.unit = "watts", .process = VT_NONE};
        char name[256];

        for (size_t i = 0; i < all->tree_count; i++)
            if (all->trees[i].number == tree->number)
                counter.process = process_of(all, i);
        for (uint32_t i = 0; i < tree->source_count && !code; i++) {
            if (!tree->sources[i].is_defined)
                continue;
            counter.number = (uint32_t)(all->tree_count * KINDS + at * VTI_ENERGY_SOURCES_MAX + i);
            snprintf(name, sizeof name, at ? "power of %.200s (%zu)" : "power of %.200s",
                     tree->sources[i].name, at + 1);
            counter.name = name;
            code = give_watts(job, tree, i, &counter);
        }
    }
    vti_energy_log_fini(&log);
    return code;
}

int vti_resource_counters(vt_recording *recording, const struct vt_filter *range,
                          int (*each)(const struct vti_resource_counter *counter, void *arg),
                          void *arg)
{
    const struct job job = {range, each, arg};
    struct vti_resources all;
    int code = vti_resources_load(&all, recording);

    for (size_t tree = 0; tree < all.tree_count && !code; tree++)
        for (size_t k = 0; k < KINDS && !code; k++) {
            struct vti_resource_counter counter = {.number = (uint32_t)(tree * KINDS + k),
                                                   .unit = kinds[k].unit,
                                                   .process = process_of(&all, tree)};
            char name[64];

            snprintf(name, sizeof name, "%s (%zu)", kinds[k].name, tree + 1);
            counter.name = tree ? name : kinds[k].name; /* a merged recording has several */
            code = give(&job, &kinds[k], &all.trees[tree].series, &counter);
        }
    if (!code)
        code = give_power(&job, recording, &all);
    vti_resources_fini(&all);
    return code;
}
