/*
 * bench_energy.c - what the energy meter costs: opening it with its first reading, one reading, and each process below the program.
 *
 *     bench_energy ROUNDS
 *
 * Counters are files of a tree of its own, processes are real ones. CPU time of this thread, the middle of many.
 */
#include "batch.h"
#include <venturi/energy.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PROCESSES 64
#define PAUSE_US 20000
#define OPENS_MOST 50

static const struct {
    const char *id, *name;
} zones[] = {{"intel-rapl:0", "package-0"},
             {"intel-rapl:0:0", "core"},
             {"intel-rapl:0:1", "dram"},
             {"intel-rapl:1", "package-1"}};

#define ZONES (sizeof zones / sizeof *zones)

static char root[] = "/tmp/bench-energy-XXXXXX";

static double cpu_us(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static void put(const char *id, const char *name, const char *text)
{
    char path[256];
    FILE *file;

    snprintf(path, sizeof path, "%s/class/powercap/%s/%s", root, id, name);
    file = fopen(path, "w");
    if (!file)
        exit(1);
    fputs(text, file);
    fclose(file);
}

static void make_tree(void)
{
    char path[256];

    if (!mkdtemp(root))
        exit(1);
    snprintf(path, sizeof path, "%s/class", root);
    mkdir(path, 0700);
    snprintf(path, sizeof path, "%s/class/powercap", root);
    mkdir(path, 0700);
    for (size_t i = 0; i < ZONES; i++) {
        snprintf(path, sizeof path, "%s/class/powercap/%s", root, zones[i].id);
        mkdir(path, 0700);
        put(zones[i].id, "name", zones[i].name);
        put(zones[i].id, "energy_uj", "123456789\n");
        put(zones[i].id, "max_energy_range_uj", "262143328850\n");
    }
}

static void remove_tree(void)
{
    static const char *const names[] = {"name", "energy_uj", "max_energy_range_uj", ""};
    char path[256];

    for (size_t i = 0; i < ZONES; i++)
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            snprintf(path, sizeof path, "%s/class/powercap/%s/%s", root, zones[i].id, names[k]);
            remove(path);
        }
    snprintf(path, sizeof path, "%s/class/powercap", root);
    rmdir(path);
    snprintf(path, sizeof path, "%s/class", root);
    rmdir(path);
    rmdir(root);
}

static vt_energy *open_meter(uint32_t flags)
{
    struct vt_energy_options options = {.size = sizeof options, .sysfs = root, .flags = flags};
    vt_energy *meter;
    char why[256];

    meter = vt_energy_open(&options, why, sizeof why);
    if (!meter) {
        fprintf(stderr, "bench_energy: %s\n", why);
        exit(1);
    }
    return meter;
}

static void measure_open(const char *name, uint32_t flags, uint32_t rounds)
{
    double all[OPENS_MOST];
    double middle;

    rounds = rounds < OPENS_MOST ? rounds : OPENS_MOST;
    for (uint32_t i = 0; i < rounds; i++) {
        double begin = cpu_us();
        vt_energy *meter = open_meter(flags);

        vt_energy_take(meter, NULL); /* which looks for who is there already */
        all[i] = cpu_us() - begin;
        vt_energy_close(meter);
    }
    middle = bench_median(all, rounds);
    bench_print(name, middle, middle, "us");
}

static double measure_take(vt_energy *meter, uint32_t rounds)
{
    double *all = calloc(rounds, sizeof *all);
    struct vt_energy_sum sum;
    double middle = 0;

    for (uint32_t i = 0; all && i < rounds; i++) {
        double begin;

        usleep(1000);
        begin = cpu_us();
        vt_energy_take(meter, &sum);
        all[i] = cpu_us() - begin;
    }
    if (all)
        middle = bench_median(all, rounds);
    free(all);
    return middle;
}

/* Does a little now and then. */
static pid_t start_child(void)
{
    pid_t pid = fork();

    while (pid == 0)
        usleep(PAUSE_US);
    return pid;
}

int main(int argc, char **argv)
{
    pid_t pids[PROCESSES];
    vt_energy *meter;
    uint32_t rounds;
    double one;
    double each;

    if (argc != 2) {
        fputs("usage: bench_energy ROUNDS\n", stderr);
        return 2;
    }
    rounds = bench_number(argv[1]);
    make_tree();
    measure_open("energy_open", 0, rounds);
    measure_open("energy_open_estimate", VT_ENERGY_NO_COUNTERS, rounds);
    meter = open_meter(0);
    one = measure_take(meter, rounds);
    for (int i = 0; i < PROCESSES; i++)
        pids[i] = start_child();
    measure_take(meter, 3); /* until all are found */
    each = (measure_take(meter, rounds) - one) / PROCESSES;
    bench_print("energy_take", one, one, "us");
    bench_print("energy_process", each, each, "us");
    for (int i = 0; i < PROCESSES; i++) {
        kill(pids[i], SIGKILL);
        waitpid(pids[i], NULL, 0);
    }
    vt_energy_close(meter);
    remove_tree();
    return 0;
}
