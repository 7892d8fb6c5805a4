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

void vti_readings_add(struct vti_readings *readings, int64_t time_ns, uint32_t known,
                      const uint64_t *values)
{
    if (readings->count && time_ns < readings->last_ns)
        return;
    readings->last_ns = time_ns;
    readings->known |= known;
    for (unsigned i = 0; i < VTI_RESOURCE_COUNT; i++)
        if (known >> i & 1)
            readings->values[i] = values[i];
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
static unsigned second_ago(const struct vti_readings *readings)
{
    unsigned found = readings->at;

    for (unsigned back = 1; back < readings->count; back++) {
        found = (readings->at + VTI_LIVE_READINGS - back) % VTI_LIVE_READINGS;
        if (readings->last_ns - readings->ring[found].time_ns >= SECOND_NS)
            break;
    }
    return found;
}

/* What rates are over: from a reading, `ns` long. */
struct stretch {
    unsigned from;
    int64_t ns;
};

/* A process that did nothing has no reading of its own: what it was last read to have still holds when its tree was read, then and now. */
static struct stretch stretch_of(const struct vti_readings *readings,
                                 const struct vti_readings *tree)
{
    bool is_behind = tree->count && tree->last_ns >= readings->last_ns;
    unsigned from = second_ago(readings);
    int64_t from_ns = readings->ring[from].time_ns;
    int64_t tree_ns;

    if (!is_behind)
        return (struct stretch){from, readings->last_ns - from_ns};
    tree_ns = tree->ring[second_ago(tree)].time_ns;
    for (unsigned back = 0; back < readings->count; back++) {
        from = (readings->at + VTI_LIVE_READINGS - back) % VTI_LIVE_READINGS;
        from_ns = readings->ring[from].time_ns;
        if (from_ns <= tree_ns)
            break;
    }
    return (struct stretch){from, tree->last_ns - (from_ns > tree_ns ? from_ns : tree_ns)};
}

static double rate(const struct vti_readings *readings, struct stretch over, uint64_t before,
                   uint64_t now, enum vti_resource which)
{
    if (!(readings->known >> which & 1) || over.ns <= 0)
        return NAN;
    return now > before ? (double)(now - before) * SECOND_NS / (double)over.ns : 0;
}

double vti_readings_machine(const struct vti_readings *readings)
{
    struct stretch over = stretch_of(readings, readings);

    return readings->count < 2
               ? NAN
               : rate(readings, over, readings->ring[over.from].machine_ns,
                      readings->values[VTI_RESOURCE_MACHINE_NS], VTI_RESOURCE_MACHINE_NS) /
                     SECOND_NS;
}

static uint64_t value(const struct vti_readings *readings, enum vti_resource which)
{
    return readings->known >> which & 1 ? readings->values[which] : VTI_LIVE_UNKNOWN;
}

void vti_readings_usage(const struct vti_readings *readings, const struct vti_readings *tree,
                        bool is_now, struct vti_live_usage *usage)
{
    struct stretch over = stretch_of(readings, tree);

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
    usage->cpu = rate(readings, over, readings->ring[over.from].cpu_ns, usage->cpu_ns,
                      VTI_RESOURCE_CPU_NS) /
                 SECOND_NS;
    usage->read_per_s = rate(readings, over, readings->ring[over.from].read, usage->read_bytes,
                             VTI_RESOURCE_READ_BYTES);
    usage->written_per_s = rate(readings, over, readings->ring[over.from].written,
                                usage->written_bytes, VTI_RESOURCE_WRITTEN_BYTES);
}
