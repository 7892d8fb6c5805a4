/* metrics_machine.c - what the program uses of the machine: CPU, memory, files, energy. Under Prometheus' own names where it has one. */
#include "live/metrics_impl.h"

#include <math.h>

/* When the first process of the program began. */
static int64_t program_start(const struct vti_live *live)
{
    size_t count;
    const struct vti_live_process *processes = vti_live_processes(live, &count);
    struct vti_live_summary summary;
    int64_t start = 0;

    for (size_t i = 0; i < count; i++) {
        if (processes[i].start_unix_ns > 0 && (!start || processes[i].start_unix_ns < start))
            start = processes[i].start_unix_ns;
    }
    if (!start) {
        vti_live_summary(live, &summary);
        start = summary.start_unix_ns;
    }
    return start;
}

static void write_process(struct vti_metrics_out *metrics, const struct vti_live *live,
                          const struct vti_live_usage *usage)
{
    vti_metrics_counter(metrics, "process_cpu_seconds", "seconds",
                        "CPU time of the program, all its processes together.",
                        vti_metrics_seconds(usage->cpu_ns));
    vti_metrics_gauge_u(metrics, "process_resident_memory_bytes", "bytes",
                        "Memory of the program, all its processes together.", usage->memory_bytes);
    vti_metrics_gauge_u(metrics, "process_threads", NULL, "Threads of the program.",
                        usage->threads);
    vti_metrics_gauge(metrics, "process_start_time_seconds", "seconds",
                      "When the program began, since 1970.", vti_metrics_unix(program_start(live)));
}

static void write_cpu(struct vti_metrics_out *metrics, const struct vti_live_usage *usage)
{
    uint64_t system_ns;

    if (usage->cpu_ns == VTI_LIVE_UNKNOWN || usage->user_ns == VTI_LIVE_UNKNOWN)
        return;
    system_ns = usage->cpu_ns > usage->user_ns ? usage->cpu_ns - usage->user_ns : 0;
    vti_exposition_family(metrics, VTI_METRIC_COUNTER, "venturi_cpu_seconds", "seconds",
                          "CPU time of the program, by what it was used for.");
    vti_exposition_sample(metrics, &(struct vti_label){"mode", "user"}, 1,
                          vti_metrics_seconds(usage->user_ns));
    vti_exposition_sample(metrics, &(struct vti_label){"mode", "system"}, 1,
                          vti_metrics_seconds(system_ns));
}

void vti_metrics_machine(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    struct vti_live_resources resources;
    const struct vti_live_usage *usage = &resources.usage;

    vti_live_resources(live, &resources);
    if (!resources.is_known)
        return;
    write_process(metrics, live, usage);
    write_cpu(metrics, usage);
    vti_metrics_gauge_u(metrics, "venturi_processes", NULL,
                        "Processes of the program that are alive.", resources.processes);
    vti_metrics_gauge_u(metrics, "venturi_peak_memory_bytes", "bytes",
                        "The most memory that the program was seen to use.", usage->peak_bytes);
    vti_metrics_counter_u(metrics, "venturi_read_bytes", "bytes",
                          "What the program has read, from wherever.", usage->read_bytes);
    vti_metrics_counter_u(metrics, "venturi_written_bytes", "bytes",
                          "What the program has written, to wherever.", usage->written_bytes);
    vti_metrics_counter_u(metrics, "venturi_disk_read_bytes", "bytes",
                          "What the program has read from disks.", usage->disk_read_bytes);
    vti_metrics_counter_u(metrics, "venturi_disk_written_bytes", "bytes",
                          "What the program has written to disks.", usage->disk_written_bytes);
    vti_metrics_gauge(metrics, "venturi_machine_busy_cores", NULL,
                      "Cores of the machine in use, by everybody.", resources.machine_busy);
    vti_metrics_gauge_u(metrics, "venturi_machine_available_bytes", "bytes",
                        "Memory that the machine could still give.", resources.available_bytes);
}

/* A family over the parts of the machine; `is_power`: watts, else joules. */
static void write_parts(struct vti_metrics_out *metrics, const struct vti_live_energy *energy,
                        bool is_power)
{
    bool has_family = false;

    for (size_t i = 0; i < energy->part_count && i < VTI_LIVE_PARTS; i++) {
        const struct vti_live_energy_part *part = &energy->parts[i];
        struct vti_label labels[] = {{"part", part->name}, {"how", part->how}};
        double value = is_power ? part->watts : part->joules;

        if (!part->is_known || isnan(value))
            continue;
        if (!has_family && is_power)
            vti_exposition_family(metrics, VTI_METRIC_GAUGE, "venturi_machine_part_watts", "watts",
                                  "Power of a part of the machine.");
        else if (!has_family)
            vti_exposition_family(metrics, VTI_METRIC_COUNTER, "venturi_machine_part_joules",
                                  "joules", "Energy that a part of the machine has used.");
        has_family = true;
        vti_exposition_sample(metrics, labels, 2, value);
    }
}

void vti_metrics_energy(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    struct vti_live_energy energy;

    vti_live_energy(live, &energy);
    if (!energy.is_known)
        return;
    write_parts(metrics, &energy, false);
    write_parts(metrics, &energy, true);
    vti_metrics_counter(metrics, "venturi_machine_energy_joules", "joules",
                        "Energy that the machine has used since recording began.", energy.joules);
    vti_metrics_gauge(metrics, "venturi_machine_power_watts", "watts", "Power of the machine.",
                      energy.watts);
    vti_metrics_counter(metrics, "venturi_energy_joules", "joules",
                        "The program's share of the machine's energy.", energy.own_joules);
    vti_metrics_gauge(metrics, "venturi_power_watts", "watts",
                      "The program's share of the machine's power.", energy.own_watts);
    vti_metrics_counter(metrics, "venturi_co2e_grams", "grams",
                        "Emissions of the program's share of energy.", energy.grams);
    vti_metrics_gauge(metrics, "venturi_carbon_intensity_grams_per_kwh", NULL,
                      "Emissions of a kilowatt hour, as they were stated.", energy.intensity);
}
