/*
 * charge.h - the program's part of what a meter counts, as its readings come in.
 *
 * The arithmetic is that of the meter (src/energy/take.c) and of who reads a whole recording (src/analyze/energy_tree.c): processors by CPU
 * time over windows, memory by what is resident, cards not at all.
 */
#ifndef VENTURI_LIVE_CHARGE_H
#define VENTURI_LIVE_CHARGE_H

#include "energy/share.h"
#include "format/energy.h"
#include "format/resources.h"

#define VTI_CHARGE_POINTS 256

/* What the tree's readings of resources say; those of the last block or two. */
struct vti_charge_points {
    struct vti_charge_point {
        int64_t time_ns;
        uint32_t known; /* bits of enum vti_resource */
        uint64_t cpu_ns, machine_ns, memory_bytes;
    } ring[VTI_CHARGE_POINTS];
    unsigned at, count;
};

void vti_charge_points_add(struct vti_charge_points *points, int64_t time_ns, uint32_t known,
                           const uint64_t values[VTI_RESOURCE_COUNT]);

/* The last one that is not after a time; NULL: none. */
const struct vti_charge_point *vti_charge_point_at(const struct vti_charge_points *points,
                                                   int64_t time_ns);

/* Zeroed: nothing yet. */
struct vti_charge {
    struct vti_share share;
    double own_s, busy_s, wall_s, joules; /* of the window that is open */
    double settled_j;                     /* of those before, and of memory */
    bool has_share;
    struct vti_charge_point last; /* at the reading before; known 0: none */
    int64_t last_unix_ns;
};

/* One reading: what processors and platform, and what memory used since the one before. */
void vti_charge_take(struct vti_charge *charge, const struct vti_charge_point *now, int64_t unix_ns,
                     double processor_j, double memory_j, uint64_t memory_bytes);

/* Of windows that have ended, which never becomes less; and as if the one that is open ended now, which may. NaN: nothing is known. */
double vti_charge_settled(const struct vti_charge *charge);
double vti_charge_joules(const struct vti_charge *charge);

#endif
