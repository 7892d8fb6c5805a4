/*
 * perf.c - the same counters through perf events of the "power" unit, where powercap may not be read.
 *
 * The kernel unwraps them. One CPU of each package is asked; `cpumask` names them.
 */
#include "base/number.h"
#include "energy/meter.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CPUS_MOST 64
#define MOST_W 5000

/* An event of the unit, and the one that has it in it. */
static const struct {
    const char *event, *name;
    enum vt_energy_part part;
    bool is_in_package;
} events[] = {
    {"energy-pkg", "package", VT_ENERGY_CPU, false},
    {"energy-cores", "core", VT_ENERGY_CPU, true},
    {"energy-gpu", "uncore", VT_ENERGY_CPU, true},
    {"energy-ram", "dram", VT_ENERGY_MEMORY, false},
    {"energy-psys", "psys", VT_ENERGY_PLATFORM, false},
};

static bool read_event(struct vti_counter *counter, uint64_t *value)
{
    return read(counter->file.fd, value, sizeof *value) == sizeof *value;
}

/* "event=0x02", with or without ",umask=0x01". */
static bool parse_config(const char *text, uint64_t *config)
{
    const char *mask = strstr(text, "umask=");
    char *end;

    if (strncmp(text, "event=", 6))
        return false;
    *config = strtoull(text + 6, &end, 0);
    if (end == text + 6)
        return false;
    if (mask)
        *config |= strtoull(mask + 6, NULL, 0) << 8;
    return true;
}

/* "0,18-19": CPUs. */
static size_t parse_cpus(const char *text, int *cpus)
{
    const char *at = text;
    size_t count = 0;

    while (*at >= '0' && *at <= '9') {
        char *end;
        long first = strtol(at, &end, 10);
        long last = *end == '-' ? strtol(end + 1, &end, 10) : first;

        for (long cpu = first; cpu >= 0 && cpu <= last && cpu < 1 << 20 && count < CPUS_MOST; cpu++)
            cpus[count++] = (int)cpu;
        at = *end == ',' ? end + 1 : end;
        if (at == end)
            break;
    }
    return count;
}

static bool describe(const vt_energy *meter, const char *event, struct perf_event_attr *attr,
                     double *scale)
{
    char path[256];
    char text[64];
    uint64_t type;
    uint64_t config;

    if (!vti_energy_path(path, sizeof path, "%s/bus/event_source/devices/power/type",
                         meter->sysfs) ||
        !vti_energy_read_number(&meter->hooks, path, &type) ||
        !vti_energy_path(path, sizeof path, "%s/bus/event_source/devices/power/events/%s",
                         meter->sysfs, event) ||
        !vti_energy_read_text(&meter->hooks, path, text, sizeof text) ||
        !parse_config(text, &config) ||
        !vti_energy_path(path, sizeof path, "%s/bus/event_source/devices/power/events/%s.scale",
                         meter->sysfs, event) ||
        !vti_energy_read_text(&meter->hooks, path, text, sizeof text))
        return false;
    *scale = vti_number_read(text, NULL);
    memset(attr, 0, sizeof *attr);
    attr->size = sizeof *attr;
    attr->type = (uint32_t)type;
    attr->config = config;
    return *scale > 0 && *scale < 1;
}

/* False if nothing may be asked at all. */
static bool add_event(vt_energy *meter, unsigned which, int cpu, size_t package)
{
    struct vti_counter *counter;
    struct perf_event_attr attr;
    char inside[64];
    char name[64];
    double scale;
    int fd;

    if (!describe(meter, events[which].event, &attr, &scale))
        return true;
    fd = meter->hooks.open_event(&attr, cpu);
    if (fd < 0 && (errno == EACCES || errno == EPERM)) {
        vti_advice_perf(meter);
        return false;
    }
    snprintf(name, sizeof name, "%s-%zu", events[which].name, package);
    snprintf(inside, sizeof inside, "package-%zu", package);
    counter = fd < 0 ? NULL
                     : vti_meter_add(meter, events[which].part, VT_ENERGY_MEASURED, "perf", name);
    if (!counter) {
        if (fd >= 0)
            close(fd);
        return true;
    }
    counter->file.fd = fd;
    counter->read = read_event;
    counter->unit = scale;
    counter->most_watts = MOST_W;
    snprintf(counter->source.note, sizeof counter->source.note, "%s on CPU %d", events[which].event,
             cpu);
    if (events[which].is_in_package)
        counter->source.inside = vti_meter_find(meter, "perf", inside);
    if (events[which].is_in_package && counter->source.inside < 0)
        vti_meter_drop(meter);
    return true;
}

void vti_perf_find(vt_energy *meter)
{
    int cpus[CPUS_MOST] = {0};
    char path[256];
    char text[256] = "";
    size_t count;

    if (vti_energy_path(path, sizeof path, "%s/bus/event_source/devices/power/cpumask",
                        meter->sysfs))
        vti_energy_read_text(&meter->hooks, path, text, sizeof text);
    count = *text ? parse_cpus(text, cpus) : 1;
    for (unsigned i = 0; i < sizeof events / sizeof *events; i++)
        for (size_t k = 0; k < count; k++)
            if (!add_event(meter, i, cpus[k], k))
                return;
}
