/*
 * energy.c - a program that measures itself, as a user would.
 *
 *     energy WHAT    WHAT: idle; busy; children: one of 0.2 s of CPU time each
 *
 * Says "ready"; for a line of its input it takes a reading, works for 0.1 s or more and is ready again. When the input ends
 * it prints what the meter says as JSON.
 */
#include <venturi/energy.h>

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_US 100000
#define CHILD_S 0.2

static double cpu_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void burn(double seconds)
{
    double end = cpu_s() + seconds;

    while (cpu_s() < end)
        ;
}

static void work(const char *what)
{
    pid_t pid;

    if (!strcmp(what, "busy"))
        burn(TICK_US / 1e6);
    else if (strcmp(what, "children"))
        usleep(TICK_US);
    else if ((pid = fork()) == 0) {
        burn(CHILD_S);
        _exit(0);
    } else {
        waitpid(pid, NULL, 0);
    }
}

int main(int argc, char **argv)
{
    struct vt_energy_options options = {.size = sizeof options, .flags = VT_ENERGY_NO_MEMORY};
    struct vt_energy_sum sum = {.takes = 0};
    double cost_s;
    double cost_j;
    vt_energy *meter;
    char line[16];
    char why[256];

    if (argc != 2)
        return 2;
    meter = vt_energy_open(&options, why, sizeof why);
    if (!meter) {
        fprintf(stderr, "%s\n", why);
        return 1;
    }
    for (;;) {
        puts("ready");
        fflush(stdout);
        if (!fgets(line, sizeof line, stdin))
            break;
        vt_energy_take(meter, &sum);
        work(argv[1]);
    }
    vt_energy_cost(meter, &cost_s, &cost_j);
    printf("{\"gross\": %.6f, \"share\": %.6f, \"dynamic\": %.6f, \"how\": %" PRIu32
           ", \"wall\": %.6f, \"unknown\": %.6f, \"own\": %.6f, \"busy\": %.6f, \"meter\": %.6f, "
           "\"meter_j\": %.6f, \"sources\": [",
           sum.all.gross_j, sum.all.share_j, sum.all.dynamic_j, sum.all.how, sum.wall_s,
           sum.unknown_s, sum.own_cpu_s, sum.busy_cpu_s, cost_s, cost_j);
    for (size_t i = 0; i < vt_energy_source_count(meter); i++) {
        const struct vt_energy_source *source = vt_energy_source_get(meter, i);

        printf("%s{\"name\": \"%s\", \"from\": \"%s\", \"joules\": %.6f, \"inside\": %" PRId32
               ", \"wraps\": %" PRIu64 "}",
               i ? ", " : "", source->name, source->from, source->joules, source->inside,
               source->wraps);
    }
    puts("]}");
    vt_energy_close(meter);
    return 0;
}
