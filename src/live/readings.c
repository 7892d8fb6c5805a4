/* readings.c - what was read of a process or a tree of them: the newest values, and what changed in the last second. */
#include "live/state.h"

#include <math.h>
#include <string.h>

#define SECOND_NS 1000000000

void vti_usage_unknown(struct vti_live_usage *usage)
{
    *usage = (struct vti_live_usage){.cpu = NAN,
                                     .cpu_ns = VTI_LIVE_UNKNOWN,
                                     .user_ns = VTI_LIVE_UNKNOWN,
                                     .memory_bytes = VTI_LIVE_UNKNOWN,
                                     .peak_bytes = VTI_LIVE_UNKNOWN,
                                     .threads = VTI_LIVE_UNKNOWN,
                                     .read_bytes = VTI_LIVE_UNKNOWN,
                                     .written_bytes = VTI_LIVE_UNKNOWN,
                                     .disk_read_bytes = VTI_LIVE_UNKNOWN,
                                     .disk_written_bytes = VTI_LIVE_UNKNOWN,
                                     .read_per_s = NAN,
                                     .written_per_s = NAN};
}

/* User time is the kernel's share of all, and shares change: neither it nor the rest of all may go back, and both together are all. */
static uint64_t steady_user(const struct vti_readings *readings, uint32_t known,
                            const uint64_t *values)
{
    const uint32_t both = 1u << VTI_RESOURCE_CPU_NS | 1u << VTI_RESOURCE_USER_NS;
    uint64_t user = values[VTI_RESOURCE_USER_NS];
    uint64_t least = readings->values[VTI_RESOURCE_USER_NS];
    uint64_t before = readings->values[VTI_RESOURCE_CPU_NS];
    uint64_t now = values[VTI_RESOURCE_CPU_NS];
    uint64_t most = least + (now > before ? now - before : 0);

    if ((readings->known & both) != both || (known & both) != both)
        return user;
    return user < least ? least : user > most ? most : user;
}

void vti_readings_add(struct vti_readings *readings, int64_t time_ns, uint32_t known,
                      const uint64_t *values)
{
    uint64_t user_ns = steady_user(readings, known, values);

    if (readings->count && time_ns < readings->last_ns)
        return;
    readings->last_ns = time_ns;
    readings->known |= known;
    for (unsigned i = 0; i < VTI_RESOURCE_COUNT; i++)
        if (known >> i & 1)
            readings->values[i] = i == VTI_RESOURCE_USER_NS ? user_ns : values[i];
    for (unsigned i = VTI_RESOURCE_MEMORY_BYTES; i <= VTI_RESOURCE_PEAK_BYTES; i++)
        if (known >> i & 1 && values[i] > readings->peak_bytes)
            readings->peak_bytes = values[i];
    readings->at = readings->count ? (readings->at + 1) % VTI_LIVE_READINGS : 0;
    readings->count += readings->count < VTI_LIVE_READINGS;
    readings->ring[readings->at].time_ns = time_ns;
    readings->ring[readings->at].cpu_ns = readings->values[VTI_RESOURCE_CPU_NS];
    readings->ring[readings->at].read = readings->values[VTI_RESOURCE_READ_BYTES];
    readings->ring[readings->at].written = readings->values[VTI_RESOURCE_WRITTEN_BYTES];
    readings->ring[readings->at].machine_ns = readings->values[VTI_RESOURCE_MACHINE_NS];
}

/* The place of the reading that rates begin at: about a second before the newest, at least the one before it. */
static unsigned rate_from(const struct vti_readings *readings)
{
    unsigned found = readings->at;

    for (unsigned back = 1; back < readings->count; back++) {
        found = (readings->at + VTI_LIVE_READINGS - back) % VTI_LIVE_READINGS;
        if (readings->last_ns - readings->ring[found].time_ns >= SECOND_NS)
            break;
    }
    return found;
}

static double rate(const struct vti_readings *readings, uint64_t before, uint64_t now,
                   enum vti_resource which)
{
    int64_t ns = readings->last_ns - readings->ring[rate_from(readings)].time_ns;

    if (!(readings->known >> which & 1) || ns <= 0)
        return NAN;
    return now > before ? (double)(now - before) * SECOND_NS / (double)ns : 0;
}

double vti_readings_machine(const struct vti_readings *readings)
{
    return readings->count < 2
               ? NAN
               : rate(readings, readings->ring[rate_from(readings)].machine_ns,
                      readings->values[VTI_RESOURCE_MACHINE_NS], VTI_RESOURCE_MACHINE_NS) /
                     SECOND_NS;
}

static uint64_t value(const struct vti_readings *readings, enum vti_resource which)
{
    return readings->known >> which & 1 ? readings->values[which] : VTI_LIVE_UNKNOWN;
}

void vti_readings_usage(const struct vti_readings *readings, bool is_now,
                        struct vti_live_usage *usage)
{
    unsigned from = rate_from(readings);

    vti_usage_unknown(usage);
    if (!readings->count)
        return;
    usage->cpu_ns = value(readings, VTI_RESOURCE_CPU_NS);
    usage->user_ns = value(readings, VTI_RESOURCE_USER_NS);
    usage->memory_bytes = value(readings, VTI_RESOURCE_MEMORY_BYTES);
    usage->peak_bytes = readings->peak_bytes ? readings->peak_bytes : VTI_LIVE_UNKNOWN;
    usage->threads = value(readings, VTI_RESOURCE_THREADS);
    usage->read_bytes = value(readings, VTI_RESOURCE_READ_BYTES);
    usage->written_bytes = value(readings, VTI_RESOURCE_WRITTEN_BYTES);
    usage->disk_read_bytes = value(readings, VTI_RESOURCE_DISK_READ_BYTES);
    usage->disk_written_bytes = value(readings, VTI_RESOURCE_DISK_WRITTEN_BYTES);
    if (!is_now) {
        usage->cpu = usage->read_per_s = usage->written_per_s = 0;
        return;
    }
    usage->cpu = rate(readings, readings->ring[from].cpu_ns, usage->cpu_ns, VTI_RESOURCE_CPU_NS) /
                 SECOND_NS;
    usage->read_per_s = rate(readings, readings->ring[from].read, usage->read_bytes,
                             VTI_RESOURCE_READ_BYTES);
    usage->written_per_s = rate(readings, readings->ring[from].written, usage->written_bytes,
                                VTI_RESOURCE_WRITTEN_BYTES);
}
