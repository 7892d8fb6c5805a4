/*
 * hwmon.c - sensors of devices whose drivers say what they measure: graphics cards, boards, processors of AMD.
 *
 * A sensor of which it is not known what hangs behind it is left out: it would be added to what is counted already.
 */
#include "energy/meter.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define SENSORS_MOST 256
#define MOST_W 5000
#define MICRO 1e-6

static const struct {
    const char *driver;
    const char *label; /* that a sensor must begin with; NULL: any */
    enum vt_energy_part part;
} drivers[] = {
    {"amdgpu", NULL, VT_ENERGY_GPU},
    {"nouveau", NULL, VT_ENERGY_GPU},
    {"radeon", NULL, VT_ENERGY_GPU},
    {"i915", NULL, VT_ENERGY_GPU},
    {"xe", NULL, VT_ENERGY_GPU},
    {"amd_energy", "Esocket", VT_ENERGY_CPU},
    {"zenergy", "Esocket", VT_ENERGY_CPU},
    {"fam15h_power", NULL, VT_ENERGY_CPU},
    {"power_meter", NULL, VT_ENERGY_PLATFORM}, /* of ACPI */
    {"corsairpsu", "power total", VT_ENERGY_PLATFORM},
    {"macsmc_hwmon", "Total System Power", VT_ENERGY_PLATFORM},
    {"ina3221", "VDD_IN", VT_ENERGY_PLATFORM},
};

static int driver_of(const char *name, const char *label)
{
    for (unsigned i = 0; i < sizeof drivers / sizeof *drivers; i++)
        if (!strcmp(drivers[i].driver, name) &&
            (!drivers[i].label || !strncmp(label, drivers[i].label, strlen(drivers[i].label))))
            return (int)i;
    return -1;
}

/* "energy1_input", "power2_average": a sensor. The mean is better than what is there just now. */
static bool is_sensor(const char *file, char *stem, size_t room, bool *is_energy)
{
    const char *end = strchr(file, '_');
    size_t digits = strcspn(file, "0123456789");

    *is_energy = !strncmp(file, "energy", 6);
    if (!end || (!*is_energy && strncmp(file, "power", 5)) || digits != (*is_energy ? 6 : 5) ||
        file[digits + strspn(file + digits, "0123456789")] != '_' || (size_t)(end - file) >= room)
        return false;
    snprintf(stem, room, "%.*s", (int)(end - file), file);
    return !strcmp(end, "_input") || (!*is_energy && !strcmp(end, "_average"));
}

static void add_sensor(vt_energy *meter, const char *folder, const char *hwmon, const char *driver,
                       const char *file)
{
    struct vti_counter *counter;
    char label[64] = "";
    char path[256];
    char name[64];
    char stem[32];
    bool is_energy;
    int which;

    if (!is_sensor(file, stem, sizeof stem, &is_energy))
        return;
    if (vti_energy_path(path, sizeof path, "%s/%s_label", folder, stem))
        vti_energy_read_text(&meter->hooks, path, label, sizeof label);
    which = driver_of(driver, label);
    snprintf(name, sizeof name, "%.20s-%.12s%s%.24s", driver, hwmon, *label ? "-" : "", label);
    if (which < 0 || vti_meter_find(meter, "hwmon", name) >= 0 ||
        (drivers[which].part == VT_ENERGY_CPU && vti_meter_has(meter, VT_ENERGY_CPU)) ||
        !vti_energy_path(path, sizeof path, "%s/%s", folder, file) || access(path, R_OK))
        return;
    counter = vti_meter_add(meter, drivers[which].part,
                            is_energy ? VT_ENERGY_MEASURED : VT_ENERGY_MODELLED, "hwmon", name);
    if (!counter)
        return;
    counter->kind = is_energy ? VTI_COUNTER_COUNTS : VTI_COUNTER_WATTS;
    counter->unit = MICRO;
    counter->most_watts = MOST_W;
    snprintf(counter->source.note, sizeof counter->source.note, "%.32s/%.32s%s", hwmon, file,
             is_energy ? "" : ", power integrated");
    if (!vti_meter_add_file(counter, meter, path))
        vti_meter_drop(meter);
}

/* Energy before power, averages before what is there just now: the first one of a name counts. */
static void add_device(vt_energy *meter, const char *hwmon)
{
    static const char *const order[] = {"energy", "power"};
    static const char *const ends[] = {"_average", "_input"};
    struct dirent *entry;
    char folder[256];
    char driver[64];
    char path[256];
    DIR *dir;

    if (!vti_energy_path(folder, sizeof folder, "%s/class/hwmon/%s", meter->sysfs, hwmon) ||
        !vti_energy_path(path, sizeof path, "%s/name", folder) ||
        !vti_energy_read_text(&meter->hooks, path, driver, sizeof driver) ||
        !(dir = opendir(folder)))
        return;
    for (unsigned i = 0; i < 4; i++) {
        rewinddir(dir);
        while ((entry = readdir(dir))) {
            size_t len = strlen(entry->d_name);
            size_t end_len = strlen(ends[i % 2]);

            if (!strncmp(entry->d_name, order[i / 2], strlen(order[i / 2])) && len > end_len &&
                !strcmp(entry->d_name + len - end_len, ends[i % 2]))
                add_sensor(meter, folder, hwmon, driver, entry->d_name);
        }
    }
    closedir(dir);
}

void vti_hwmon_find(vt_energy *meter)
{
    struct dirent *entry;
    unsigned left = SENSORS_MOST;
    char path[256];
    DIR *dir = NULL;

    if (vti_energy_path(path, sizeof path, "%s/class/hwmon", meter->sysfs))
        dir = opendir(path);
    while (dir && left-- && (entry = readdir(dir)))
        if (!strncmp(entry->d_name, "hwmon", 5))
            add_device(meter, entry->d_name);
    if (dir)
        closedir(dir);
}
