/*
 * fuzz_energy.c - libFuzzer target: any bytes as what a machine says of its energy.
 *
 * As numbers of a counter at any times, whose joules must never go back nor exceed what is possible; and as every file of a
 * small /sys and /proc, on which a meter is opened and read.
 */
#include "energy/meter.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define STEPS_MOST 64
#define MOST_W 1500.0

static const uint8_t *bytes;
static size_t left;
static uint64_t clock_ns;

static void require(int condition)
{
    if (!condition)
        abort();
}

static uint64_t take_number(unsigned size)
{
    uint64_t number = 0;

    for (; size && left; size--, left--)
        number = number << 8 | *bytes++;
    return number;
}

/* ---- steps of a counter -------------------------------------------------------------------------- */

static void fuzz_counter(void)
{
    static struct vti_counter counter;
    double seconds = 0;
    uint64_t now_ns = 1;

    memset(&counter, 0, sizeof counter);
    counter.kind = (enum vti_counter_kind)(take_number(1) % 3);
    counter.unit = 1e-6;
    counter.most_watts = MOST_W;
    counter.range = take_number(5);
    counter.source.watts = 100;
    counter.source.idle_watts = 10;
    for (unsigned i = 0; i < STEPS_MOST && left; i++) {
        double before = counter.source.joules;
        uint64_t pause_ns = take_number(5);
        double load = (double)take_number(1) / 128 - 0.5;

        now_ns += pause_ns;
        seconds += i ? (double)pause_ns / 1e9 : 0;
        counter.has_value = take_number(1) & 1;
        counter.value = take_number(6);
        vti_counter_step(&counter, now_ns, load < 0 ? -1 : load);
        vti_rest_add(&counter.rest, counter.step_j, counter.step_s, load);
        require(counter.source.joules >= before);
        require(counter.source.unknown_s >= 0 && counter.source.unknown_s <= seconds + 1e-6);
        require(counter.source.joules <= MOST_W * (seconds + 0.1 * (i + 1)));
    }
}

/* ---- a machine ----------------------------------------------------------------------------------- */

static char root[] = "/tmp/fuzz-energy-XXXXXX";

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

static void remove_tree(void)
{
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_tree(void)
{
    static const char *const folders[] = {"sys",
                                          "sys/class",
                                          "sys/class/powercap",
                                          "sys/class/powercap/intel-rapl:0",
                                          "sys/class/powercap/intel-rapl:0:0",
                                          "sys/class/powercap/intel-rapl:1",
                                          "sys/class/powercap/intel-rapl-mmio:0",
                                          "sys/class/hwmon",
                                          "sys/class/hwmon/hwmon0",
                                          "proc"};
    static const char *const files[] = {"sys/class/hwmon/hwmon0/energy1_input",
                                        "sys/class/hwmon/hwmon0/power1_average"};
    char path[256];

    require(mkdtemp(root) != NULL);
    atexit(remove_tree);
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        snprintf(path, sizeof path, "%s/%s", root, folders[i]);
        mkdir(path, 0700);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", root, files[i]);
        close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    }
}

/* The next piece of the bytes, up to a zero. */
static int open_piece(const char *path)
{
    const uint8_t *end = left ? memchr(bytes, 0, left) : NULL;
    size_t len = end ? (size_t)(end - bytes) : left;
    int fd = memfd_create("piece", MFD_CLOEXEC);

    (void)path;
    require(fd >= 0 && write(fd, bytes, len) == (ssize_t)len && lseek(fd, 0, SEEK_SET) == 0);
    bytes += len + (end != NULL);
    left -= len + (end != NULL);
    return fd;
}

static int open_event(const struct perf_event_attr *attr, int cpu)
{
    (void)attr;
    (void)cpu;
    return open_piece(NULL);
}

static uint64_t now(void)
{
    return clock_ns += 100000000u;
}

static void fuzz_machine(void)
{
    static const struct vti_energy_hooks hooks = {now, now, open_piece, open_event};
    static char sys[64], proc[64];
    struct vt_energy_options options = {
        .size = sizeof options, .sysfs = sys, .procfs = proc, .nvml = "", .pid = -1};
    struct vt_energy_sum sum;
    vt_energy *meter;
    char why[128];

    snprintf(sys, sizeof sys, "%s/sys", root);
    snprintf(proc, sizeof proc, "%s/proc", root);
    meter = vti_energy_open(&options, &hooks, why, sizeof why);
    for (int i = 0; meter && i < 5; i++) {
        vt_energy_take(meter, &sum);
        require(sum.all.gross_j >= 0 || sum.all.how == VT_ENERGY_UNKNOWN);
    }
    vt_energy_close(meter);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int is_made;

    if (!is_made)
        make_tree();
    is_made = 1;
    bytes = data;
    left = size;
    if (take_number(1) < 8) /* the slow one seldom */
        fuzz_machine();
    else
        fuzz_counter();
    return 0;
}
