/* charge.c - the program's part of what a meter counts, as its readings come in. */
#include "live/charge.h"

#include <math.h>

void vti_charge_points_add(struct vti_charge_points *points, int64_t time_ns, uint32_t known,
                           const uint64_t values[VTI_RESOURCE_COUNT])
{
    points->at = points->count ? (points->at + 1) % VTI_CHARGE_POINTS : 0;
    points->count += points->count < VTI_CHARGE_POINTS;
    points->ring[points->at] = (struct vti_charge_point){
        .time_ns = time_ns,
        .known = known,
        .cpu_ns = values[VTI_RESOURCE_CPU_NS],
        .machine_ns = values[VTI_RESOURCE_MACHINE_NS],
        .memory_bytes = values[VTI_RESOURCE_MEMORY_BYTES]};
}

const struct vti_charge_point *vti_charge_point_at(const struct vti_charge_points *points,
                                                   int64_t time_ns)
{
    for (unsigned back = 0; points && back < points->count; back++) {
        unsigned at = (points->at + VTI_CHARGE_POINTS - back) % VTI_CHARGE_POINTS;

        if (points->ring[at].time_ns <= time_ns)
            return &points->ring[at];
    }
    return NULL;
}

static double since(uint64_t before, uint64_t after)
{
    return after > before ? (double)(after - before) / 1e9 : 0;
}

static void settle(struct vti_charge *charge)
{
    charge->settled_j += charge->joules * vti_share_take(&charge->share, charge->own_s,
                                                         charge->busy_s, charge->wall_s);
    charge->own_s = charge->busy_s = charge->wall_s = charge->joules = 0;
}

static void take_processors(struct vti_charge *charge, const struct vti_charge_point *now,
                            double wall_s, double joules)
{
    double busy_s = since(charge->last.machine_ns, now->machine_ns);

    if (vti_share_is_rest(charge->busy_s, charge->wall_s) != vti_share_is_rest(busy_s, wall_s))
        settle(charge);
    charge->own_s += since(charge->last.cpu_ns, now->cpu_ns);
    charge->busy_s += busy_s;
    charge->wall_s += wall_s;
    charge->joules += joules;
    charge->has_share = true;
    if (vti_share_is_settled(charge->busy_s, charge->wall_s))
        settle(charge);
}

void vti_charge_take(struct vti_charge *charge, const struct vti_charge_point *now, int64_t unix_ns,
                     double processor_j, double memory_j, uint64_t memory_bytes)
{
    const uint32_t needed = 1u << VTI_RESOURCE_CPU_NS | 1u << VTI_RESOURCE_MACHINE_NS;
    double wall_s = ((double)unix_ns - (double)charge->last_unix_ns) / 1e9;
    bool has_last = charge->last_unix_ns != 0;

    charge->last_unix_ns = unix_ns;
    if (!now) {
        charge->last.known = 0;
        return;
    }
    if (has_last && wall_s > 0 && (charge->last.known & now->known & needed) == needed)
        take_processors(charge, now, wall_s, processor_j);
    if (has_last && now->known >> VTI_RESOURCE_MEMORY_BYTES & 1 && memory_bytes) {
        charge->settled_j += memory_j * fmin((double)now->memory_bytes / (double)memory_bytes, 1);
        charge->has_share |= memory_j > 0;
    }
    charge->last = *now;
}

double vti_charge_settled(const struct vti_charge *charge)
{
    return charge->has_share ? charge->settled_j : NAN;
}

double vti_charge_joules(const struct vti_charge *charge)
{
    struct vti_share share = charge->share; /* the window goes on */

    return charge->has_share
               ? charge->settled_j + charge->joules * vti_share_take(&share, charge->own_s,
                                                                     charge->busy_s, charge->wall_s)
               : NAN;
}
