/*
 * sum.c - what was used so far: of the machine, of the program, and of the program beyond rest.
 *
 * Nothing is charged twice: a source that is in another counts for its part, the other one for all.
 */
#include "energy/meter.h"

#include <string.h>

/* Rest of a processor's counter when the machine was never quiet: a part of its power by the table, for each of them. */
static double guess_cpu(const vt_energy *meter, const struct vti_counter *counter)
{
    double watts = meter->idle_guess_watts;
    unsigned count = 0;

    for (size_t i = 0; i < meter->count; i++)
        count += meter->counters[i]->source.part == VT_ENERGY_CPU &&
                 meter->counters[i]->source.inside == counter->source.inside;
    watts /= count ? count : 1;
    return watts < counter->rest.lowest_watts ? watts : counter->rest.lowest_watts;
}

static double guess(const vt_energy *meter, const struct vti_counter *counter)
{
    double watts = counter->rest.lowest_watts;
    int self = vti_meter_index(meter, counter);

    if (counter->source.part == VT_ENERGY_CPU)
        return guess_cpu(meter, counter);
    if (counter->source.part != VT_ENERGY_PLATFORM)
        return watts;
    for (size_t i = 0; i < meter->count; i++) /* less what its processors would not use */
        if (meter->counters[i]->source.inside == self &&
            meter->counters[i]->source.part == VT_ENERGY_CPU)
            watts -= meter->counters[i]->rest.lowest_watts - guess_cpu(meter, meter->counters[i]);
    return watts > 0 ? watts : 0;
}

double vti_meter_rest(const vt_energy *meter, const struct vti_counter *counter, uint32_t *how)
{
    double watts;

    *how = counter->source.how; /* no better than what measured it */
    if (counter->baseline_watts >= 0)
        return counter->baseline_watts;
    *how = VT_ENERGY_ESTIMATED;
    if (counter->kind == VTI_COUNTER_LOAD)
        return counter->source.idle_watts;
    *how = VT_ENERGY_MODELLED;
    if (vti_rest_watts(&counter->rest, &watts))
        return watts;
    *how = VT_ENERGY_ESTIMATED;
    return guess(meter, counter);
}

/* Of what is added up; the given one is divided as the others are among themselves. */
static double rest_of_all(const vt_energy *meter, uint32_t *worst)
{
    double watts = 0;
    uint32_t how;

    *worst = VT_ENERGY_UNKNOWN;
    for (size_t i = 0; i < meter->count; i++) {
        if (meter->counters[i]->source.inside >= 0 || meter->counters[i]->source.is_over)
            continue;
        watts += vti_meter_rest(meter, meter->counters[i], &how);
        *worst = how > *worst ? how : *worst;
    }
    return watts;
}

static void add(struct vt_energy_use *use, const struct vti_counter *counter, double share_j,
                double dynamic_j)
{
    if (use->how == VT_ENERGY_UNKNOWN)
        *use = (struct vt_energy_use){.how = counter->source.how, .share_j = -1, .dynamic_j = -1};
    use->how = counter->source.how > use->how ? counter->source.how : use->how;
    use->gross_j += counter->source.joules;
    if (share_j < 0)
        return;
    use->share_j = (use->share_j < 0 ? 0 : use->share_j) + share_j;
    use->dynamic_j = (use->dynamic_j < 0 ? 0 : use->dynamic_j) + dynamic_j;
}

bool vti_meter_is_of_part(const vt_energy *meter, const struct vti_counter *counter)
{
    int32_t inside = counter->source.inside;

    return inside < 0 || meter->counters[inside]->source.part != counter->source.part;
}

static void add_counter(const vt_energy *meter, const struct vti_counter *counter, double open,
                        double scale, struct vt_energy_sum *sum)
{
    bool is_known = counter->charged_s > 0 || (meter->has_program && !meter->wall_s);
    double share_s = counter->share_s + open * counter->window_s;
    double share_j = is_known ? counter->share_j + open * counter->window_j : -1;
    double dynamic_j;
    uint32_t how;

    dynamic_j = vti_share_dynamic(share_j, share_s, scale * vti_meter_rest(meter, counter, &how));
    if (vti_meter_is_of_part(meter, counter))
        add(&sum->parts[counter->source.part], counter, share_j, dynamic_j);
    if (counter->source.inside < 0)
        add(&sum->all, counter, share_j, dynamic_j);
}

void vti_meter_sum(const vt_energy *meter, struct vt_energy_sum *sum)
{
    const struct vt_energy_use unknown = {-1, -1, -1, VT_ENERGY_UNKNOWN};
    struct vti_share share = meter->share; /* the window goes on: this is as if it ended now */
    double open = vti_share_take(&share, meter->window_own_s, meter->window_busy_s,
                                 meter->window_wall_s);
    double scale = 1;

    memset(sum, 0, sizeof *sum);
    for (unsigned i = 0; i < VT_ENERGY_PART_COUNT; i++)
        sum->parts[i] = unknown;
    sum->all = unknown;
    sum->idle_watts = rest_of_all(meter, &sum->idle_how);
    if (meter->given_idle_watts > 0) {
        scale = sum->idle_watts > 0 ? meter->given_idle_watts / sum->idle_watts : 1;
        sum->idle_watts = meter->given_idle_watts;
        sum->idle_how = VT_ENERGY_GIVEN;
    }
    for (size_t i = 0; i < meter->count; i++) {
        const struct vti_counter *counter = meter->counters[i];
        double unknown_s = counter->source.unknown_s - counter->covered_s;

        add_counter(meter, counter, open, scale, sum);
        if (counter->source.inside < 0 && unknown_s > sum->unknown_s)
            sum->unknown_s = unknown_s;
    }
    sum->wall_s = meter->wall_s;
    sum->own_cpu_s = meter->has_program ? meter->own_s : -1;
    sum->busy_cpu_s = meter->had_busy ? meter->busy_s : -1;
    sum->resident_bytes = meter->resident_bytes;
    sum->takes = meter->takes;
}

void vt_energy_cost(const vt_energy *meter, double *cpu_s, double *joules)
{
    double open = vti_share_apart(meter->window_meter_s, meter->window_busy_s,
                                  meter->window_wall_s);
    double sum_j = 0;

    for (size_t i = 0; i < meter->count; i++)
        if (meter->counters[i]->source.inside < 0)
            sum_j += meter->counters[i]->meter_j + open * meter->counters[i]->window_j;
    if (cpu_s)
        *cpu_s = (double)meter->meter_ns / 1e9;
    if (joules)
        *joules = meter->has_program && meter->had_busy ? sum_j : -1;
}
