/*
 * nvml.c - energy of NVIDIA's cards, from the library that comes with their driver; it is loaded if there is a card.
 *
 * The card counts millijoules; older ones tell their power only. Whose work it was is asked of the card too: CPU time says
 * nothing of it.
 */
#include "energy/meter.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define CARDS_MOST 16
#define MILLI 1e-3
#define MOST_W 2000
#define NAME_BYTES 64
#define SAMPLES_MOST 64
#define NOBODY 6 /* its code for "not found" */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

/* As in its header: what a process used of a card, in percent. */
struct sample {
    unsigned pid;
    unsigned long long time_us;
    unsigned cores, memory, encoder, decoder;
};

/* What we use of its interface; 0 is success everywhere. */
struct vti_nvml {
    void *library;
    int (*begin)(void);
    int (*end)(void);
    int (*count)(unsigned *count);
    int (*card)(unsigned at, void **card);
    int (*name)(void *card, char *name, unsigned room);
    int (*energy)(void *card, unsigned long long *millijoules);
    int (*power)(void *card, unsigned *milliwatts);
    /* Not there before the cards of 2014; or the card does not tell: */
    int (*samples)(void *card, struct sample *samples, unsigned *count,
                   unsigned long long since_us);
    bool is_begun;
    bool knows_pids; /* they are the numbers that we know, too */
};

static bool read_energy(struct vti_counter *counter, uint64_t *value)
{
    const struct vti_nvml *nvml = counter->library;
    unsigned long long millijoules;

    if (nvml->energy(counter->device, &millijoules))
        return false;
    *value = millijoules;
    return true;
}

static bool read_power(struct vti_counter *counter, uint64_t *value)
{
    const struct vti_nvml *nvml = counter->library;
    unsigned milliwatts;

    if (nvml->power(counter->device, &milliwatts))
        return false;
    *value = milliwatts;
    return true;
}

/* By what the processes of the program used of its cores. */
static double own_part(const vt_energy *meter, struct vti_counter *counter)
{
    const struct vti_nvml *nvml = counter->library;
    struct sample samples[SAMPLES_MOST];
    unsigned count = SAMPLES_MOST;
    double own = 0;
    double all = 0;
    int code;

    if (!nvml->samples || !nvml->knows_pids || !meter->has_program)
        return -1;
    code = nvml->samples(counter->device, samples, &count, counter->seen_us);
    if (code && code != NOBODY)
        return -1;
    for (unsigned i = 0; !code && i < count && i < SAMPLES_MOST; i++) {
        if (samples[i].time_us > counter->seen_us)
            counter->seen_us = samples[i].time_us;
        all += samples[i].cores;
        if (vti_family_find(&meter->family, (pid_t)samples[i].pid))
            own += samples[i].cores;
    }
    return all > 0 ? own / all : 0;
}

/* In a container processes have other numbers than the card knows. */
static bool is_outermost(const vt_energy *meter)
{
    struct stat space;

    return strcmp(meter->procfs, "/proc") != 0 ||
           (stat("/proc/self/ns/pid", &space) == 0 && space.st_ino == FIRST_PID_NAMESPACE);
}

static bool load(struct vti_nvml *nvml, const char *library)
{
    const struct {
        const char *name;
        void *to;
    } all[] = {
        {"nvmlInit_v2", &nvml->begin},
        {"nvmlShutdown", &nvml->end},
        {"nvmlDeviceGetCount_v2", &nvml->count},
        {"nvmlDeviceGetHandleByIndex_v2", &nvml->card},
        {"nvmlDeviceGetName", &nvml->name},
        {"nvmlDeviceGetTotalEnergyConsumption", &nvml->energy},
        {"nvmlDeviceGetPowerUsage", &nvml->power},
    };

    nvml->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!nvml->library)
        return false;
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        void *symbol = dlsym(nvml->library, all[i].name);

        if (!symbol)
            return false;
        memcpy(all[i].to, &symbol, sizeof symbol);
    }
    nvml->samples = (int (*)(void *, struct sample *, unsigned *, unsigned long long))dlsym(
        nvml->library, "nvmlDeviceGetProcessUtilization");
    nvml->is_begun = nvml->begin() == 0;
    return nvml->is_begun;
}

static void add_card(vt_energy *meter, struct vti_nvml *nvml, unsigned at)
{
    struct vti_counter *counter;
    char model[NAME_BYTES] = "";
    unsigned long long energy;
    char name[64];
    unsigned power;
    void *card;
    bool has_energy;

    if (nvml->card(at, &card))
        return;
    has_energy = nvml->energy(card, &energy) == 0;
    if (!has_energy && nvml->power(card, &power))
        return;
    snprintf(name, sizeof name, "gpu-%u", at);
    counter = vti_meter_add(meter, VT_ENERGY_GPU,
                            has_energy ? VT_ENERGY_MEASURED : VT_ENERGY_MODELLED, "nvml", name);
    if (!counter)
        return;
    if (!nvml->name(card, model, sizeof model))
        snprintf(counter->source.note, sizeof counter->source.note, "%.63s%s", model,
                 has_energy ? "" : ", power integrated");
    counter->kind = has_energy ? VTI_COUNTER_COUNTS : VTI_COUNTER_WATTS;
    counter->read = has_energy ? read_energy : read_power;
    counter->unit = MILLI;
    counter->most_watts = MOST_W;
    counter->own_part = own_part;
    counter->device = card;
    counter->library = nvml;
}

void vti_nvml_find(vt_energy *meter, const char *library)
{
    struct vti_nvml *nvml;
    unsigned count = 0;
    char path[256];
    bool is_named = library != NULL;

    if (is_named && !*library)
        return;
    if (!is_named && (!vti_energy_path(path, sizeof path, "%s/module/nvidia", meter->sysfs) ||
                      access(path, F_OK)))
        return;
    nvml = calloc(1, sizeof *nvml);
    if (!nvml)
        return;
    meter->nvml = nvml;
    nvml->knows_pids = is_outermost(meter);
    if (!load(nvml, is_named ? library : "libnvidia-ml.so.1") || nvml->count(&count)) {
        vti_meter_advise(meter,
                         "no energy of NVIDIA's cards: %s could not be used; it comes with their "
                         "driver, and a container needs it mounted",
                         is_named ? library : "libnvidia-ml.so.1");
        return;
    }
    for (unsigned i = 0; i < count && i < CARDS_MOST; i++)
        add_card(meter, nvml, i);
}

void vti_nvml_free(struct vti_nvml *nvml)
{
    if (!nvml)
        return;
    if (nvml->is_begun)
        nvml->end();
    if (nvml->library)
        dlclose(nvml->library);
    free(nvml);
}
