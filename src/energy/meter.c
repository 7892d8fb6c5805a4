/*
 * meter.c - a meter: finds its sources and keeps them.
 *
 * Nothing here waits, starts a thread or writes anything.
 */
#include "energy/meter.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LOOK_NS 5000000000u /* for sources that are new */

/* ---- sources ------------------------------------------------------------------------------------- */

/* What is given stands for all counters of its part. */
static bool is_wanted(const vt_energy *meter, enum vt_energy_part part, enum vt_energy_how how)
{
    switch (part) {
    case VT_ENERGY_MEMORY:
        return !(meter->flags & VT_ENERGY_NO_MEMORY) &&
               (how == VT_ENERGY_GIVEN || !meter->has_given_memory);
    case VT_ENERGY_CPU:
        return how == VT_ENERGY_GIVEN || !meter->has_given_cpu;
    case VT_ENERGY_GPU:
        return !(meter->flags & VT_ENERGY_NO_GPU);
    default:
        return true;
    }
}

struct vti_counter *vti_meter_add(vt_energy *meter, enum vt_energy_part part,
                                  enum vt_energy_how how, const char *from, const char *name)
{
    struct vti_counter *counter;

    if (!is_wanted(meter, part, how) || meter->count == VTI_COUNTERS_MOST ||
        !(counter = calloc(1, sizeof *counter)))
        return NULL;
    snprintf(counter->source.name, sizeof counter->source.name, "%s", name);
    snprintf(counter->source.from, sizeof counter->source.from, "%s", from);
    counter->source.part = (uint32_t)part;
    counter->source.how = (uint32_t)how;
    counter->source.inside = -1;
    counter->file.fd = -1;
    counter->baseline_watts = -1;
    meter->counters[meter->count++] = counter;
    return counter;
}

bool vti_meter_add_file(struct vti_counter *counter, const vt_energy *meter, const char *path)
{
    counter->read = vti_counter_read_file;
    counter->file.hooks = &meter->hooks;
    return vti_energy_path(counter->file.path, sizeof counter->file.path, "%s", path);
}

static void free_counter(struct vti_counter *counter)
{
    vti_number_file_close(&counter->file);
    free(counter);
}

void vti_meter_drop(vt_energy *meter)
{
    free_counter(meter->counters[--meter->count]);
}

int vti_meter_find(const vt_energy *meter, const char *from, const char *name)
{
    for (size_t i = 0; i < meter->count; i++)
        if (!strcmp(meter->counters[i]->source.from, from) &&
            !strcmp(meter->counters[i]->source.name, name))
            return (int)i;
    return -1;
}

int vti_meter_index(const vt_energy *meter, const struct vti_counter *counter)
{
    for (size_t i = 0; i < meter->count; i++)
        if (meter->counters[i] == counter)
            return (int)i;
    return -1;
}

bool vti_meter_has(const vt_energy *meter, enum vt_energy_part part)
{
    for (size_t i = 0; i < meter->count; i++)
        if (meter->counters[i]->source.part == (uint32_t)part &&
            meter->counters[i]->kind != VTI_COUNTER_LOAD)
            return true;
    return false;
}

static void find_sources(vt_energy *meter, const struct vt_energy_options *options)
{
    const char *nvml = options->nvml ? options->nvml : getenv("VENTURI_NVML");
    bool has_counters = !(meter->flags & VT_ENERGY_NO_COUNTERS);
    bool has_zones;

    meter->has_given_cpu = options->cpu_watts > 0;
    meter->has_given_memory = options->memory_watts > 0;
    if (has_counters)
        vti_powercap_find(meter);
    has_zones = vti_meter_has(meter, VT_ENERGY_CPU);
    if (has_counters && !has_zones && !meter->has_given_cpu)
        vti_perf_find(meter);
    if (has_counters)
        vti_hwmon_find(meter);
    /* What comes later must not be counted beside the same of another kind. */
    meter->is_looking = has_counters && (has_zones || !vti_meter_has(meter, VT_ENERGY_CPU));
    if (has_counters && !(meter->flags & VT_ENERGY_NO_GPU))
        vti_nvml_find(meter, nvml);
    if (!vti_meter_has(meter, VT_ENERGY_CPU))
        vti_estimate_find(meter, options->cpu_watts);
    else
        meter->idle_guess_watts = vti_estimate_idle(meter);
    if (!vti_meter_has(meter, VT_ENERGY_MEMORY))
        vti_memory_find(meter, options->memory_watts);
    vti_nest_platform(meter);
}

/* Counters that came since: what was estimated until then ends here. */
void vti_meter_look(vt_energy *meter, uint64_t now_ns)
{
    size_t before = meter->count;

    if (!meter->is_looking || now_ns < meter->looked_ns + LOOK_NS)
        return;
    meter->looked_ns = now_ns;
    vti_powercap_find(meter);
    if (meter->count == before)
        return;
    for (size_t i = before; i < meter->count; i++) {
        struct vti_counter *counter = meter->counters[i];

        counter->lost_s = meter->wall_s;
        for (size_t k = 0; k < before && counter->source.inside < 0; k++)
            if (meter->counters[k]->source.part == counter->source.part &&
                meter->counters[k]->kind == VTI_COUNTER_LOAD) {
                meter->counters[k]->source.is_over = 1;
                counter->covered_s = meter->wall_s;
            }
        vti_counter_ask(counter);
        vti_counter_step(counter, now_ns, -1);
    }
    vti_nest_platform(meter);
}

/* ---- open and close ------------------------------------------------------------------------------ */

static bool set_root(char to[VTI_ROOT_BYTES], const char *given, const char *variable,
                     const char *usual)
{
    const char *named = given ? given : getenv(variable);

    return vti_energy_path(to, VTI_ROOT_BYTES, "%s", named && *named ? named : usual);
}

static void open_machine(vt_energy *meter, pid_t pid)
{
    bool is_real = !strcmp(meter->procfs, "/proc");

    vti_proc_source_init(&meter->source);
    meter->source.root = meter->procfs;
    meter->source.without_io = true;
    if (!is_real)
        meter->source.cpu_ns = NULL;
    /* Files of other trees may be replaced by who writes them. */
    vti_machine_init(&meter->machine, &meter->source, is_real);
    vti_machine_take(&meter->machine, true);
    vti_family_init(&meter->family, &meter->source, NULL);
    if (!is_real)
        meter->family.kept_most = 0;
    else if (!pid || pid == getpid())
        meter->family.group = getpgrp();
    vti_family_round(&meter->family, meter->machine.last_pid, 0);
    meter->is_self = is_real && (!pid || pid == getpid());
    meter->has_program = pid >= 0 && vti_family_add(&meter->family, pid ? pid : getpid());
}

vt_energy *vti_energy_open(const struct vt_energy_options *options,
                           const struct vti_energy_hooks *hooks, char *why, size_t room)
{
    struct vt_energy_options wish = {0};
    vt_energy *meter = calloc(1, sizeof *meter);
    const char *trouble = NULL;

    if (options)
        memcpy(&wish, options, options->size < sizeof wish ? options->size : sizeof wish);
    if (!meter) {
        snprintf(why, room, "out of memory");
        return NULL;
    }
    meter->hooks = *hooks;
    meter->flags = wish.flags;
    meter->given_idle_watts = wish.idle_watts;
    if (!set_root(meter->sysfs, wish.sysfs, "VENTURI_SYSFS", "/sys") ||
        !set_root(meter->procfs, wish.procfs, "VENTURI_PROCFS", "/proc"))
        trouble = "the path of another /sys or /proc is too long";
    if (wish.cpu_watts < 0 || wish.memory_watts < 0 || wish.idle_watts < 0 ||
        !isfinite(wish.cpu_watts + wish.memory_watts + wish.idle_watts))
        trouble = "watts must be finite and not negative";
    open_machine(meter, wish.pid);
    if (!trouble)
        find_sources(meter, &wish);
    if (!trouble && !meter->machine.has_busy && !vti_meter_has(meter, VT_ENERGY_CPU) &&
        !vti_meter_has(meter, VT_ENERGY_PLATFORM))
        trouble = "no counter can be read, and no busy time of the machine for an estimate";
    if (!trouble)
        return meter;
    snprintf(why, room, "%s", trouble);
    vt_energy_close(meter);
    return NULL;
}

vt_energy *vt_energy_open(const struct vt_energy_options *options, char *why, size_t room)
{
    return vti_energy_open(options, &vti_energy_hooks_default, why, room);
}

void vt_energy_close(vt_energy *meter)
{
    if (!meter)
        return;
    for (size_t i = 0; i < meter->count; i++)
        free_counter(meter->counters[i]);
    for (size_t i = 0; i < meter->advice_count; i++)
        free(meter->advice[i]);
    vti_nvml_free(meter->nvml);
    vti_family_fini(&meter->family);
    vti_machine_fini(&meter->machine);
    free(meter);
}

/* ---- what it is made of --------------------------------------------------------------------------- */

size_t vt_energy_source_count(const vt_energy *meter)
{
    return meter->count;
}

const struct vt_energy_source *vt_energy_source_get(const vt_energy *meter, size_t at)
{
    return at < meter->count ? &meter->counters[at]->source : NULL;
}

const char *vt_energy_advice(const vt_energy *meter, size_t at)
{
    return at < meter->advice_count ? meter->advice[at] : NULL;
}
