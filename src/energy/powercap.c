/*
 * powercap.c - the kernel's counters of processors, their memory and the whole board (RAPL), Intel's and AMD's alike.
 *
 * A zone "intel-rapl:0" may show again as "intel-rapl-mmio:0": one of the two is read. Zones of cores are inside their
 * package, that of memory is not. Zones that come later are found when this is called again.
 */
#include "energy/meter.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ZONES_MOST 128
#define ZONE_BYTES 32
#define PACKAGE_MOST_W 1500
#define MEMORY_MOST_W 500
#define PLATFORM_MOST_W 5000
#define MICRO 1e-6

struct zone {
    char id[ZONE_BYTES];     /* "intel-rapl:0:1" */
    char folder[ZONE_BYTES]; /* that it lies in, "" unless the tree is not flat */
};

static bool is_zone(const char *name)
{
    return (!strncmp(name, "intel-rapl:", 11) || !strncmp(name, "intel-rapl-mmio:", 16)) &&
           strlen(name) < ZONE_BYTES;
}

/* MSR before MMIO, packages before what is in them. */
static int compare_zones(const void *a, const void *b)
{
    const struct zone *one = a;
    const struct zone *two = b;
    bool is_mmio_one = one->id[10] == '-';
    bool is_mmio_two = two->id[10] == '-';

    if (is_mmio_one != is_mmio_two)
        return is_mmio_one - is_mmio_two;
    return strverscmp(one->id, two->id);
}

static size_t list(const vt_energy *meter, const char *folder, struct zone *zones, size_t count)
{
    struct dirent *entry;
    char path[256];
    DIR *dir = NULL;

    if (vti_energy_path(path, sizeof path, "%s/class/powercap/%s", meter->sysfs, folder))
        dir = opendir(path);
    while (dir && count < ZONES_MOST && (entry = readdir(dir)))
        if (is_zone(entry->d_name)) {
            snprintf(zones[count].id, sizeof zones->id, "%.31s", entry->d_name);
            snprintf(zones[count++].folder, sizeof zones->folder, "%s", folder);
        }
    if (dir)
        closedir(dir);
    return count;
}

/* "intel-rapl:0:1" is in "intel-rapl:0"; -1: in none. */
static int parent_of(const vt_energy *meter, const char *id)
{
    const char *first = strchr(id, ':');
    const char *last = strrchr(id, ':');

    if (first == last)
        return -1;
    for (size_t i = 0; i < meter->count; i++)
        if (!strncmp(meter->counters[i]->id, id, (size_t)(last - id)) &&
            !meter->counters[i]->id[last - id])
            return (int)i;
    return -1;
}

static bool part_of(const char *name, enum vt_energy_part *part, double *most_watts)
{
    bool is_package = !strncmp(name, "package", 7);

    *part = VT_ENERGY_CPU;
    *most_watts = PACKAGE_MOST_W;
    if (!strcmp(name, "dram")) {
        *part = VT_ENERGY_MEMORY;
        *most_watts = MEMORY_MOST_W;
    } else if (!strcmp(name, "psys")) {
        *part = VT_ENERGY_PLATFORM;
        *most_watts = PLATFORM_MOST_W;
    } else {
        return is_package || !strcmp(name, "core") || !strcmp(name, "uncore");
    }
    return true;
}

static bool is_known(const vt_energy *meter, const char *id)
{
    for (size_t i = 0; i < meter->count; i++)
        if (!strcmp(meter->counters[i]->id, id))
            return true;
    return false;
}

/* The same number of the other interface, already read: "intel-rapl-mmio:0" and "intel-rapl:0". */
static struct vti_counter *twin_of(const vt_energy *meter, const char *id, const char *name)
{
    int at = vti_meter_find(meter, "powercap", name);

    return at >= 0 && (id[10] == '-') != (meter->counters[at]->id[10] == '-') ? meter->counters[at]
                                                                              : NULL;
}

/* "dram" is there once for each package: "dram-0". */
static void full_name(const char *id, const char *name, char *to, size_t room)
{
    const char *number = strchr(id, ':') + 1;

    if (strchr(number, ':'))
        snprintf(to, room, "%s-%.*s", name, (int)strcspn(number, ":"), number);
    else
        snprintf(to, room, "%s", name);
}

static void add_zone(vt_energy *meter, const struct zone *zone)
{
    struct vti_counter *counter;
    struct vti_counter *twin;
    enum vt_energy_part part;
    double most_watts;
    char folder[256];
    char path[256];
    char kind[32];
    char name[64];
    uint64_t value;
    bool is_alone; /* cores without the rest of their package would pass for it */

    if (is_known(meter, zone->id) ||
        !vti_energy_path(folder, sizeof folder, "%s/class/powercap/%s%s%s", meter->sysfs,
                         zone->folder, *zone->folder ? "/" : "", zone->id) ||
        !vti_energy_path(path, sizeof path, "%s/name", folder) ||
        !vti_energy_read_text(&meter->hooks, path, kind, sizeof kind) ||
        !part_of(kind, &part, &most_watts))
        return;
    full_name(zone->id, kind, name, sizeof name);
    twin = twin_of(meter, zone->id, name);
    if (twin) {
        snprintf(twin->source.note, sizeof twin->source.note, "%s, also as %s", twin->id, zone->id);
        return;
    }
    counter = vti_meter_add(meter, part, VT_ENERGY_MEASURED, "powercap", name);
    if (!counter)
        return;
    snprintf(counter->id, sizeof counter->id, "%s", zone->id);
    snprintf(counter->source.note, sizeof counter->source.note, "%s", zone->id);
    counter->unit = MICRO;
    counter->most_watts = most_watts;
    if (part == VT_ENERGY_CPU)
        counter->source.inside = parent_of(meter, zone->id);
    is_alone = part == VT_ENERGY_CPU && strncmp(kind, "package", 7) && counter->source.inside < 0;
    if (vti_energy_path(path, sizeof path, "%s/max_energy_range_uj", folder) &&
        !vti_energy_read_number(&meter->hooks, path, &counter->range))
        counter->range = 0;
    if (is_alone || !vti_energy_path(path, sizeof path, "%s/energy_uj", folder) ||
        !vti_meter_add_file(counter, meter, path)) {
        vti_meter_drop(meter);
        return;
    }
    if (!vti_number_file_read(&counter->file, &value) &&
        (counter->file.error == EACCES || counter->file.error == EPERM || counter->file.is_gone)) {
        if (!counter->file.is_gone)
            vti_advice_powercap(meter, path);
        vti_meter_drop(meter);
    }
}

void vti_powercap_find(vt_energy *meter)
{
    struct zone *zones = calloc(ZONES_MOST, sizeof *zones);
    size_t count = zones ? list(meter, "", zones, 0) : 0;

    if (zones && !count) {
        count = list(meter, "intel-rapl", zones, count);
        count = list(meter, "intel-rapl-mmio", zones, count);
    }
    qsort(zones, count, sizeof *zones, compare_zones);
    for (size_t i = 0; i < count; i++)
        add_zone(meter, &zones[i]);
    free(zones);
}
