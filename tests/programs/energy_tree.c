/*
 * energy_tree.c - a /sys with energy counters that go up at a known power, for programs that measure energy.
 *
 *     energy_tree [--step] FOLDER ZONE,NAME,WATTS[,START_UJ[,RANGE_UJ]]…
 *     energy_tree tree intel-rapl:0,package-0,50 intel-rapl:0:0,dram,5
 *
 * Makes FOLDER/class/powercap/ZONE/{name,energy_uj,max_energy_range_uj}, says "ready", and writes the counters anew every
 * 5 ms until its standard input ends. What they count begins at "ready". VENTURI_SYSFS=FOLDER shows it to a meter.
 * With --step no time passes but what lines of its input say, in seconds; each is answered with "done".
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define ZONES_MOST 16
#define PERIOD_MS 5
#define RANGE_UJ 262143328850

struct zone {
    FILE *energy;
    double watts;
    uint64_t start, range;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Of a fixed length, so that a reader never sees half of a number. */
static void put(FILE *file, uint64_t value)
{
    fseek(file, 0, SEEK_SET);
    fprintf(file, "%020" PRIu64 "\n", value);
    fflush(file);
}

static FILE *make(const char *folder, const char *id, const char *name)
{
    char path[512];

    snprintf(path, sizeof path, "%s/class/powercap/%s/%s", folder, id, name);
    return fopen(path, "w");
}

static int add(struct zone *zone, const char *folder, const char *text)
{
    char id[64];
    char name[64];
    char path[512];
    FILE *file;

    zone->range = RANGE_UJ;
    if (sscanf(text, "%63[^,],%63[^,],%lf,%" SCNu64 ",%" SCNu64, id, name, &zone->watts,
               &zone->start, &zone->range) < 3)
        return -1;
    snprintf(path, sizeof path, "%s/class/powercap/%s", folder, id);
    if (mkdir(path, 0755) && errno != EEXIST)
        return -1;
    if (!(file = make(folder, id, "name")))
        return -1;
    fprintf(file, "%s\n", name);
    fclose(file);
    if (!(file = make(folder, id, "max_energy_range_uj")))
        return -1;
    fprintf(file, "%" PRIu64 "\n", zone->range);
    fclose(file);
    zone->energy = make(folder, id, "energy_uj");
    if (!zone->energy)
        return -1;
    put(zone->energy, zone->start);
    return 0;
}

static void advance(struct zone *zones, int count, double seconds)
{
    for (int i = 0; i < count; i++)
        put(zones[i].energy,
            (zones[i].start + (uint64_t)(zones[i].watts * seconds * 1e6 + 0.5)) % zones[i].range);
}

static void run(struct zone *zones, int count)
{
    struct pollfd input = {.fd = 0, .events = POLLIN};
    uint64_t begin = now_ns();
    char byte;

    while (poll(&input, 1, PERIOD_MS) <= 0 || read(0, &byte, 1) > 0)
        advance(zones, count, (double)(now_ns() - begin) / 1e9);
}

static void step(struct zone *zones, int count)
{
    double seconds = 0;
    char line[64];

    while (fgets(line, sizeof line, stdin)) {
        seconds += strtod(line, NULL);
        advance(zones, count, seconds);
        puts("done");
        fflush(stdout);
    }
}

int main(int argc, char **argv)
{
    bool is_step = argc > 1 && !strcmp(argv[1], "--step");
    struct zone zones[ZONES_MOST] = {{0}};
    char path[512];
    int count = argc - 2 - is_step;

    argv += is_step;
    if (count < 1 || count > ZONES_MOST) {
        fputs("usage: energy_tree [--step] FOLDER ZONE,NAME,WATTS[,START_UJ[,RANGE_UJ]]…\n",
              stderr);
        return 2;
    }
    mkdir(argv[1], 0755);
    snprintf(path, sizeof path, "%s/class", argv[1]);
    mkdir(path, 0755);
    snprintf(path, sizeof path, "%s/class/powercap", argv[1]);
    mkdir(path, 0755);
    for (int i = 0; i < count; i++)
        if (add(&zones[i], argv[1], argv[2 + i])) {
            fprintf(stderr, "energy_tree: %s: %s\n", argv[2 + i], strerror(errno));
            return 2;
        }
    puts("ready");
    fflush(stdout);
    if (is_step)
        step(zones, count);
    else
        run(zones, count);
    for (int i = 0; i < count; i++)
        fclose(zones[i].energy);
    return 0;
}
