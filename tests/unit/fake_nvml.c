/*
 * fake_nvml.c - a library with the names of NVIDIA's, for cards that nobody has: each value is a file of $FAKE_NVML.
 *
 * "cards": how many; "energy", "power": of each, in millijoules and milliwatts; "samples": lines "PID PERCENT". What is not
 * there is not supported.
 */
#include <stdio.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))
enum { OK, UNINITIALIZED, INVALID, NOT_SUPPORTED, NOT_FOUND = 6 };

struct sample {
    unsigned pid;
    unsigned long long time_us;
    unsigned cores, memory, encoder, decoder;
};

static unsigned long long now_us;
static int cards[16];

static FILE *file_of(const char *name)
{
    const char *folder = getenv("FAKE_NVML");
    char path[256];

    snprintf(path, sizeof path, "%s/%s", folder ? folder : "", name);
    return fopen(path, "r");
}

static int number_of(const char *name, unsigned long long *value)
{
    FILE *file = file_of(name);
    int code = file && fscanf(file, "%llu", value) == 1 ? OK : NOT_SUPPORTED;

    if (file)
        fclose(file);
    return code;
}

EXPORT int nvmlInit_v2(void)
{
    unsigned long long count;

    return number_of("cards", &count);
}

EXPORT int nvmlShutdown(void)
{
    return OK;
}

EXPORT int nvmlDeviceGetCount_v2(unsigned *count)
{
    unsigned long long value = 0;
    int code = number_of("cards", &value);

    *count = (unsigned)value;
    return code;
}

EXPORT int nvmlDeviceGetHandleByIndex_v2(unsigned at, void **card)
{
    *card = &cards[at % 16];
    return OK;
}

EXPORT int nvmlDeviceGetName(void *card, char *name, unsigned room)
{
    (void)card;
    snprintf(name, room, "Fake 9000");
    return OK;
}

EXPORT int nvmlDeviceGetTotalEnergyConsumption(void *card, unsigned long long *millijoules)
{
    (void)card;
    return number_of("energy", millijoules);
}

EXPORT int nvmlDeviceGetPowerUsage(void *card, unsigned *milliwatts)
{
    unsigned long long value = 0;
    int code = number_of("power", &value);

    (void)card;
    *milliwatts = (unsigned)value;
    return code;
}

EXPORT int nvmlDeviceGetProcessUtilization(void *card, struct sample *samples, unsigned *count,
                                           unsigned long long since_us)
{
    FILE *file = file_of("samples");
    unsigned room = *count;

    (void)card;
    (void)since_us;
    *count = 0;
    if (!file)
        return NOT_SUPPORTED;
    while (*count < room &&
           fscanf(file, "%u %u", &samples[*count].pid, &samples[*count].cores) == 2)
        samples[(*count)++].time_us = ++now_us;
    fclose(file);
    return *count ? OK : NOT_FOUND;
}
