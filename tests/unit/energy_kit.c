/* energy_kit.c - a machine made of files, with a clock that goes when a test says so, for tests of the energy meter. */
#include "energy_kit.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define EVENTS_MOST 8

static char root[64];
static const char *refused;
static uint64_t clock_ns, asleep_ns;
static int events[EVENTS_MOST][2]; /* pipes: an event cannot be read at an offset */
static size_t event_count;
int kit_event_error;
double kit_reading_cost_s;

static uint64_t now(void)
{
    return clock_ns;
}

void kit_burn(double seconds)
{
    uint64_t end_ns = vti_energy_thread_ns() + (uint64_t)(seconds * 1e9);

    while (vti_energy_thread_ns() < end_ns)
        ;
}

static uint64_t awake(void)
{
    kit_burn(kit_reading_cost_s);
    return clock_ns - asleep_ns;
}

static int open_path(const char *path)
{
    if (refused && strstr(path, refused)) {
        errno = EACCES;
        return -1;
    }
    return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_event(const struct perf_event_attr *attr, int cpu)
{
    (void)attr;
    (void)cpu;
    if (kit_event_error || event_count == EVENTS_MOST) {
        errno = kit_event_error;
        return -1;
    }
    assert_int_equal(pipe2(events[event_count], O_NONBLOCK | O_CLOEXEC), 0);
    return events[event_count++][0];
}

static const struct vti_energy_hooks hooks = {now, awake, open_path, open_event};

void kit_put(const char *path, const char *format, ...)
{
    char full[256];
    va_list args;
    int len;
    int fd;

    snprintf(full, sizeof full, "%s/%s", root, path);
    for (char *at = strchr(full + strlen(root) + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = 0;
        mkdir(full, 0755);
        *at = '/';
    }
    /* Not cut to nothing first: some file systems then write it to the disk at once. */
    fd = open(full, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    assert_true(fd >= 0);
    va_start(args, format);
    len = vdprintf(fd, format, args);
    va_end(args);
    assert_true(len >= 0 && ftruncate(fd, len) == 0);
    close(fd);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void)st;
    (void)type;
    (void)ftw;
    return remove(path);
}

void kit_remove(const char *path)
{
    char full[256];

    snprintf(full, sizeof full, "%s/%s", root, path);
    nftw(full, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

void kit_refuse(const char *part)
{
    refused = part;
}

void kit_zone(const char *id, const char *name, double joules)
{
    char path[256];

    snprintf(path, sizeof path, "sys/class/powercap/%s/name", id);
    kit_put(path, "%s\n", name);
    snprintf(path, sizeof path, "sys/class/powercap/%s/max_energy_range_uj", id);
    kit_put(path, "%llu\n", (unsigned long long)KIT_RANGE);
    kit_energy(id, joules);
}

void kit_energy(const char *id, double joules)
{
    char path[256];

    snprintf(path, sizeof path, "sys/class/powercap/%s/energy_uj", id);
    kit_put(path, "%llu\n", (unsigned long long)(joules * 1e6 + 0.5));
}

void kit_busy(double seconds)
{
    kit_put("proc/stat",
            "cpu  %llu 0 0 99999 50 0 0 70 0 0\ncpu0 1 1\ncpu1 1 1\ncpu2 1 1\ncpu3 1 1\n"
            "intr 5 0\n",
            (unsigned long long)(seconds * 100 + 0.5));
}

void kit_process(pid_t pid, pid_t parent, uint64_t start, double cpu_s, double reaped_s,
                 unsigned pages)
{
    char path[64];

    snprintf(path, sizeof path, "proc/%d/stat", (int)pid);
    kit_put(path, "%d (x) S %d 1 1 0 -1 0 0 0 0 0 %llu 0 %llu 0 20 0 1 0 %llu 0 %u 0 0\n", (int)pid,
            (int)parent, (unsigned long long)(cpu_s * 100 + 0.5),
            (unsigned long long)(reaped_s * 100 + 0.5), (unsigned long long)start, pages);
    kit_put("proc/loadavg", "0 0 0 1/99 %d\n", 0);
}

void kit_event(size_t at, uint64_t count)
{
    assert_int_equal(write(events[at][1], &count, sizeof count), sizeof count);
}

void kit_pass(double seconds)
{
    clock_ns += (uint64_t)(seconds * 1e9 + 0.5);
}

void kit_sleep(double seconds)
{
    kit_pass(seconds);
    asleep_ns += (uint64_t)(seconds * 1e9 + 0.5);
}

vt_energy *kit_open_with(struct vt_energy_options *options)
{
    static char sys[80], proc[80];
    char why[256] = "";
    vt_energy *meter;

    snprintf(sys, sizeof sys, "%s/sys", root);
    snprintf(proc, sizeof proc, "%s/proc", root);
    options->size = sizeof *options;
    options->sysfs = sys;
    if (!options->procfs)
        options->procfs = proc;
    if (!options->nvml)
        options->nvml = "";
    meter = vti_energy_open(options, &hooks, why, sizeof why);
    if (!meter)
        fail_msg("no meter: %s", why);
    return meter;
}

vt_energy *kit_open(pid_t pid)
{
    struct vt_energy_options options = {.pid = pid};

    return kit_open_with(&options);
}

struct vt_energy_sum kit_take(vt_energy *meter)
{
    struct vt_energy_sum sum;

    vt_energy_take(meter, &sum);
    return sum;
}

const struct vt_energy_source *kit_source(const vt_energy *meter, const char *name)
{
    for (size_t i = 0; i < vt_energy_source_count(meter); i++)
        if (!strcmp(vt_energy_source_get(meter, i)->name, name))
            return vt_energy_source_get(meter, i);
    fail_msg("no source %s", name);
    return NULL;
}

void kit_assert_near(double value, double expected, double tolerance, const char *file, int line)
{
    if (!(value >= expected - tolerance && value <= expected + tolerance)) {
        print_error("%g is not %g +- %g\n", value, expected, tolerance);
        _fail(file, line);
    }
}

int kit_set_up(void **state)
{
    (void)state;
    snprintf(root, sizeof root, "/tmp/venturi-energy-XXXXXX");
    assert_non_null(mkdtemp(root));
    refused = NULL;
    kit_reading_cost_s = 0;
    kit_event_error = ENOENT;
    event_count = 0;
    clock_ns = 1000000000000u;
    kit_busy(0);
    kit_put("proc/meminfo", "MemTotal: %d kB\nMemFree: 9 kB\nMemAvailable: 9 kB\n", 16 << 20);
    kit_put("proc/cpuinfo",
            "processor : 0\nmodel name\t: Intel(R) Xeon(R) CPU E5-2680 v4 @ 2.40GHz\n"
            "physical id\t: 0\nflags\t: fpu vme\n");
    return 0;
}

int kit_tear_down(void **state)
{
    (void)state;
    for (size_t i = 0; i < event_count; i++)
        close(events[i][1]); /* the other end is the meter's */
    nftw(root, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    return 0;
}
