/*
 * proc.c - what the kernel says of a process and of the machine.
 *
 * Measured: a kept file read again takes 3 us for stat and 2 us for io, opened each time 8 and 5; the clock of a process
 * 0.35 us. The clock counts in nanoseconds where stat counts in steps of 10 ms; stat is for how it divides.
 */
#include "watch/proc.h"

#include "base/bytes.h"
#include "base/number.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000u
#define ENVIRONMENT_MOST (256u << 10)

/* Fields of stat behind the name, counted from 0. */
enum {
    STATE,
    PARENT,
    GROUP,
    SESSION,
    USER = 11,
    SYSTEM,
    REAPED_USER,
    REAPED_SYSTEM,
    THREADS = 17,
    START = 19,
    MEMORY = 21,
    FIELDS
};

/* The kernel's own number for the CPU clock of a process: needs no permission and no file. */
static bool process_clock(pid_t pid, uint64_t *ns)
{
    struct timespec time;

    if (clock_gettime((clockid_t)(~(unsigned)pid << 3 | 2), &time))
        return false;
    *ns = (uint64_t)time.tv_sec * SECOND_NS + (uint64_t)time.tv_nsec;
    return true;
}

void vti_proc_source_init(struct vti_proc_source *source)
{
    source->root = "/proc";
    source->cpu_ns = process_clock;
    source->clock_hz = sysconf(_SC_CLK_TCK);
    source->page_bytes = sysconf(_SC_PAGESIZE);
    source->without_io = false;
}

/* A file of a process, or of the machine (0). */
static int open_file(const struct vti_proc_source *source, pid_t pid, const char *name)
{
    char path[512];

    if (pid)
        snprintf(path, sizeof path, "%s/%ld/%s", source->root, (long)pid, name);
    else
        snprintf(path, sizeof path, "%s/%s", source->root, name);
    return open(path, O_RDONLY | O_CLOEXEC);
}

/* As text; how many bytes, 0 if there are none. *fd is opened if it is not, and closed again unless it is to be kept. */
static size_t read_file(const struct vti_proc_source *source, pid_t pid, const char *name, int *fd,
                        bool is_kept, char *to, size_t room)
{
    ssize_t got;

    if (*fd < 0)
        *fd = open_file(source, pid, name);
    got = *fd < 0 ? -1 : pread(*fd, to, room - 1, 0);
    to[got > 0 ? got : 0] = 0;
    if (*fd >= 0 && !is_kept) {
        close(*fd);
        *fd = -1;
    }
    return got > 0 ? (size_t)got : 0;
}

static uint64_t clock_ns(const struct vti_proc_source *source, uint64_t ticks)
{
    uint64_t each = SECOND_NS / (uint64_t)(source->clock_hz > 0 ? source->clock_hz : 100);

    return ticks > UINT64_MAX / each ? UINT64_MAX : ticks * each;
}

/* The name may hold anything, brackets and line ends too; behind the last bracket are numbers. */
static bool parse_stat(const struct vti_proc_source *source, char *line,
                       struct vti_proc_reading *reading)
{
    char *name = strchr(line, '(');
    char *at = strrchr(line, ')');
    uint64_t fields[FIELDS] = {0};
    uint64_t user;
    uint64_t system;

    if (!name || !at || at < name || at[1] != ' ' || !at[2])
        return false;
    *at = 0;
    snprintf(reading->name, sizeof reading->name, "%s", name + 1);
    reading->state = at[2];
    at += 3;
    for (unsigned i = PARENT; i < FIELDS; i++) {
        char *end;

        fields[i] = strtoull(at, &end, 10);
        if (end == at)
            return false;
        at = end;
    }
    user = clock_ns(source, fields[USER]);
    system = clock_ns(source, fields[SYSTEM]);
    reading->parent = (pid_t)fields[PARENT];
    reading->group = (pid_t)fields[GROUP];
    reading->session = (pid_t)fields[SESSION];
    reading->start_clock = fields[START];
    reading->reaped.user_ns = clock_ns(source, fields[REAPED_USER]);
    reading->reaped.all_ns = vti_add_capped(reading->reaped.user_ns,
                                            clock_ns(source, fields[REAPED_SYSTEM]));
    reading->threads = fields[THREADS];
    reading->memory_bytes = reading->state == 'Z' ? 0
                                                  : fields[MEMORY] * (uint64_t)source->page_bytes;
    if (!reading->has_cpu)
        reading->cpu.all_ns = vti_add_capped(user, system);
    reading->has_cpu = true;
    /* Steps of the same clock: their proportion holds for the whole. */
    reading->cpu.user_ns = user + system ? (uint64_t)((double)reading->cpu.all_ns * (double)user /
                                                      ((double)user + (double)system))
                                         : reading->cpu.all_ns;
    return true;
}

static bool parse_io(const char *text, struct vti_proc_reading *reading)
{
    static const char *const names[VTI_IO_COUNT] = {[VTI_IO_READ] = "rchar: ",
                                                    [VTI_IO_WRITTEN] = "wchar: ",
                                                    [VTI_IO_DISK_READ] = "\nread_bytes: ",
                                                    [VTI_IO_DISK_WRITTEN] = "\nwrite_bytes: "};

    for (unsigned i = 0; i < VTI_IO_COUNT; i++) {
        const char *at = strstr(text, names[i]);

        if (!at)
            return false;
        reading->io[i] = strtoull(at + strlen(names[i]), NULL, 10);
    }
    return true;
}

bool vti_proc_take(const struct vti_proc_source *source, pid_t pid, struct vti_proc_files *files,
                   bool is_kept, struct vti_proc_reading *reading)
{
    bool was_open = files->stat_fd >= 0;
    char text[1024];

    memset(reading, 0, sizeof *reading);
    reading->has_cpu = source->cpu_ns && source->cpu_ns(pid, &reading->cpu.all_ns);
    reading->has_stat = read_file(source, pid, "stat", &files->stat_fd, is_kept, text,
                                  sizeof text) &&
                        parse_stat(source, text, reading);
    /* A kept file belongs to the process that it was opened for, the number and its clock may not. */
    if (!reading->has_stat && (was_open || !reading->has_cpu))
        return false;
    if (reading->has_stat && !source->without_io)
        reading->has_io = read_file(source, pid, "io", &files->io_fd, is_kept, text, sizeof text) &&
                          parse_io(text, reading);
    return true;
}

bool vti_proc_kin_of(const struct vti_proc_source *source, pid_t pid, struct vti_proc_kin *kin)
{
    struct vti_proc_reading reading = {0};
    char text[1024];
    int fd = -1;
    bool is_there = read_file(source, pid, "stat", &fd, false, text, sizeof text) &&
                    parse_stat(source, text, &reading);

    *kin = (struct vti_proc_kin){reading.parent, reading.group, reading.session,
                                 reading.start_clock};
    return is_there;
}

void vti_proc_files_close(struct vti_proc_files *files)
{
    if (files->stat_fd >= 0)
        close(files->stat_fd);
    if (files->io_fd >= 0)
        close(files->io_fd);
    files->stat_fd = files->io_fd = -1;
}

/* "NAME:   1234 kB" on a line of its own. */
static bool find_kilobytes(const char *text, const char *name, uint64_t *bytes)
{
    const char *at = strstr(text, name);

    if (!at)
        return false;
    *bytes = strtoull(at + strlen(name), NULL, 10) * 1024;
    return true;
}

uint64_t vti_proc_peak(const struct vti_proc_source *source, pid_t pid)
{
    uint64_t bytes = 0;
    char text[4096];
    int fd = -1;

    if (read_file(source, pid, "status", &fd, false, text, sizeof text))
        find_kilobytes(text, "\nVmHWM:", &bytes);
    return bytes;
}

size_t vti_proc_command(const struct vti_proc_source *source, pid_t pid, char *to, size_t room)
{
    int fd = -1;
    size_t len = read_file(source, pid, "cmdline", &fd, false, to, room);

    return len && !to[len - 1] ? len - 1 : len;
}

bool vti_proc_has_variable(const struct vti_proc_source *source, pid_t pid, const char *name,
                           const char *value)
{
    size_t name_len = strlen(name);
    char *text = malloc(ENVIRONMENT_MOST);
    bool is_found = false;
    int fd = -1;
    size_t len = text ? read_file(source, pid, "environ", &fd, false, text, ENVIRONMENT_MOST) : 0;

    for (size_t at = 0; at < len && !is_found; at += strlen(text + at) + 1)
        is_found = !strncmp(text + at, name, name_len) && text[at + name_len] == '=' &&
                   !strcmp(text + at + name_len + 1, value);
    free(text);
    return is_found;
}

/* ---- the machine -------------------------------------------------------------------------------- */

/* Another tree has its own number of CPUs: a line each. */
static long count_cpus(const struct vti_proc_source *source)
{
    char text[16384];
    int fd = -1;
    long count = 0;

    if (!strcmp(source->root, "/proc") ||
        !read_file(source, 0, "stat", &fd, false, text, sizeof text))
        return sysconf(_SC_NPROCESSORS_ONLN);
    for (const char *at = text; (at = strstr(at, "\ncpu")); at += 4)
        count += at[4] >= '0' && at[4] <= '9';
    return count;
}

void vti_machine_init(struct vti_machine *machine, const struct vti_proc_source *source,
                      bool is_kept)
{
    long count = count_cpus(source);

    *machine = (struct vti_machine){.source = source,
                                    .is_kept = is_kept,
                                    .load_fd = -1,
                                    .stat_fd = -1,
                                    .uptime_fd = -1,
                                    .memory_fd = -1,
                                    .cpu_count = count > 0 ? (uint32_t)count : 1};
}

static size_t read_machine(const struct vti_machine *machine, const char *name, int *fd, char *to,
                           size_t room)
{
    return read_file(machine->source, 0, name, fd, machine->is_kept, to, room);
}

void vti_machine_fini(struct vti_machine *machine)
{
    if (machine->load_fd >= 0)
        close(machine->load_fd);
    if (machine->stat_fd >= 0)
        close(machine->stat_fd);
    if (machine->uptime_fd >= 0)
        close(machine->uptime_fd);
    if (machine->memory_fd >= 0)
        close(machine->memory_fd);
}

/* "cpu  USER NICE SYSTEM IDLE IOWAIT IRQ SOFTIRQ STEAL …": who waits for a disk does not work, nor does a machine that is
 * given to others meanwhile. */
static bool parse_busy(const struct vti_machine *machine, const char *text, uint64_t *busy_ns)
{
    static const bool is_busy[] = {true, true, true, false, false, true, true};
    uint64_t clock = 0;
    const char *at = text + 4;

    if (strncmp(text, "cpu ", 4))
        return false;
    for (unsigned i = 0; i < sizeof is_busy / sizeof *is_busy; i++) {
        char *end;
        uint64_t value = strtoull(at, &end, 10);

        if (end == at)
            return false;
        clock = is_busy[i] ? vti_add_capped(clock, value) : clock;
        at = end;
    }
    *busy_ns = clock_ns(machine->source, clock);
    return true;
}

/* Uptime less what all CPUs together were idle: where the better file is not to be had. */
static bool parse_uptime(const struct vti_machine *machine, const char *text, uint64_t *busy_ns)
{
    char *end;
    double up = vti_number_read(text, &end);
    double busy = (up * machine->cpu_count - vti_number_read(end, NULL)) * SECOND_NS;

    if (!(busy >= 0 && busy < 1e19))
        return false;
    *busy_ns = (uint64_t)busy;
    return true;
}

/* What they count begins at different times: the first that can be read is the one for ever. */
static void take_busy(struct vti_machine *machine)
{
    bool has_stat = machine->busy_from == VTI_BUSY_STAT;
    char text[256];

    machine->has_busy = false;
    if (machine->busy_from != VTI_BUSY_UPTIME)
        machine->has_busy = read_machine(machine, "stat", &machine->stat_fd, text, sizeof text) &&
                            parse_busy(machine, text, &machine->busy_ns);
    if (machine->has_busy)
        machine->busy_from = VTI_BUSY_STAT;
    if (machine->has_busy || has_stat)
        return;
    machine->has_busy = read_machine(machine, "uptime", &machine->uptime_fd, text, sizeof text) &&
                        parse_uptime(machine, text, &machine->busy_ns);
    if (machine->has_busy)
        machine->busy_from = VTI_BUSY_UPTIME;
}

void vti_machine_take(struct vti_machine *machine, bool with_memory)
{
    char text[4096];
    const char *last = NULL;

    take_busy(machine);
    if (read_machine(machine, "loadavg", &machine->load_fd, text, sizeof text))
        last = strrchr(text, ' ');
    machine->last_pid = last ? (pid_t)strtol(last, NULL, 10) : 0;
    if (!with_memory)
        return;
    machine->has_available = read_machine(machine, "meminfo", &machine->memory_fd, text,
                                          sizeof text) &&
                             find_kilobytes(text, "MemAvailable:", &machine->available_bytes);
    find_kilobytes(text, "MemTotal:", &machine->memory_bytes);
}
