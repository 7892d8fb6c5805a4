/*
 * energy_rest.c - what each source of a recording uses at rest.
 *
 * The meter says what all of them use together: measured before the program began, or as it knew best when it ended. Without
 * that (the recording has no end) it is found as the meter does, in time in which the machine had little to do.
 */
#include "analyze/energy_impl.h"
#include "energy/rest.h"

#include <math.h>

/* What a source would be found to use; *how is UNKNOWN where that is only the least that it ever used. */
static double found(const struct vti_energy_tree *tree, uint32_t number, uint32_t *how)
{
    const struct vti_energy_log_source *source = &tree->log->sources[number];
    double cpus = tree->log->cpus ? tree->log->cpus : 1;
    struct vti_energy_step step = {0};
    struct vti_rest rest = {0};
    double watts;

    *how = source->watts > 0 ? VT_ENERGY_ESTIMATED : source->how;
    if (source->watts > 0 || source->idle_watts > 0)
        return source->idle_watts;
    for (size_t i = 0; i < tree->log->reading_count; i++) {
        const struct vti_energy_interval *interval = &tree->intervals[i ? i - 1 : 0];
        double load = interval->busy_s / vti_energy_seconds(interval) / cpus;

        if (vti_energy_step_to(tree->log, number, i, &step))
            vti_rest_add(&rest, step.joules, step.seconds, isfinite(load) ? load : -1);
    }
    *how = VT_ENERGY_MODELLED;
    if (vti_rest_watts(&rest, &watts))
        return watts;
    *how = VT_ENERGY_UNKNOWN;
    return rest.lowest_watts;
}

/* A model of constant power, or a counter whose rest was measured by itself, whatever the others use. */
static bool is_settled(const struct vti_energy_log_source *source)
{
    return source->idle_watts > 0 && (source->watts == 0 || source->watts == source->idle_watts);
}

/* Divides what all use together as they were found to use it. */
static void divide(struct vti_energy_tree *tree, double watts)
{
    const struct vti_energy_log_tree *log = tree->log;
    double sum = 0;
    double scale;

    for (uint32_t i = 0; i < log->source_count; i++) {
        if (!vti_energy_is_added_up(log, i))
            continue;
        if (is_settled(&log->sources[i]))
            watts -= tree->rests[i];
        else
            sum += tree->rests[i];
    }
    scale = sum > 0 ? fmax(watts, 0) / sum : 1;
    for (uint32_t i = 0; i < log->source_count; i++)
        if (log->sources[i].is_defined && !is_settled(&log->sources[i]))
            tree->rests[i] *= scale;
}

void vti_energy_find_rest(struct vti_energy_tree *tree)
{
    const struct vti_energy_log_tree *log = tree->log;
    bool has_cpu = tree->parts[VT_ENERGY_CPU].has_source;
    uint32_t part = has_cpu ? VT_ENERGY_CPU : VT_ENERGY_PLATFORM;
    uint32_t how;

    for (uint32_t i = 0; i < log->source_count; i++) {
        if (!log->sources[i].is_defined)
            continue;
        tree->rests[i] = found(tree, i, &how);
        if (how == VT_ENERGY_UNKNOWN && !log->has_baseline)
            tree->rests[i] = NAN;
        if (vti_energy_is_added_up(log, i))
            tree->rest_watts += tree->rests[i];
        if (vti_energy_is_added_up(log, i) && how > tree->rest_how)
            tree->rest_how = how;
    }
    if (log->has_baseline) {
        divide(tree, log->rest_watts);
        tree->rest_watts = log->rest_watts;
        tree->rest_how = log->rest_how;
    }
    for (uint32_t i = 0; i < log->source_count && log->rest_for_ns; i++) /* no better than these */
        if (vti_energy_is_added_up(log, i) && log->sources[i].how > tree->rest_how)
            tree->rest_how = log->sources[i].how;
    if (isnan(tree->rest_watts))
        tree->rest_how = VT_ENERGY_UNKNOWN;
    for (uint32_t i = 0; i < log->source_count; i++)
        if (vti_energy_is_of_part(log, i) && log->sources[i].part == part)
            tree->price_rest_watts += tree->rests[i];
}
