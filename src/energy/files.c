/*
 * files.c - small files of sysfs and procfs, and the numbers in them.
 *
 * A kept file costs 1 us to be read again, one that is opened each time 5. Text that is no number is no reading.
 */
#include "energy/files.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t vti_energy_thread_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t boot_ns(void)
{
    return clock_ns(CLOCK_BOOTTIME);
}

static uint64_t awake_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

static int open_file(const char *path)
{
    return open(path, O_RDONLY | O_CLOEXEC);
}

static int open_event(const struct perf_event_attr *attr, int cpu)
{
    return (int)syscall(SYS_perf_event_open, attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

const struct vti_energy_hooks vti_energy_hooks_default = {boot_ns, awake_ns, open_file, open_event};

bool vti_energy_parse_number(const char *text, uint64_t *value)
{
    uint64_t number = 0;
    const char *at = text;

    for (; *at >= '0' && *at <= '9'; at++) {
        uint64_t digit = (uint64_t)(*at - '0');

        if (number > (UINT64_MAX - digit) / 10)
            return false;
        number = number * 10 + digit;
    }
    if (at == text || at[strspn(at, " \n")])
        return false;
    *value = number;
    return true;
}

size_t vti_energy_read_text(const struct vti_energy_hooks *hooks, const char *path, char *to,
                            size_t room)
{
    int fd = hooks->open(path);
    size_t len = 0;
    ssize_t got = fd < 0 ? -1 : 1;

    while (got > 0 && len < room - 1) {
        got = read(fd, to + len, room - 1 - len);
        len += got > 0 ? (size_t)got : 0;
    }
    to[len] = 0;
    if (len && to[len - 1] == '\n')
        to[--len] = 0;
    if (fd >= 0)
        close(fd);
    return len;
}

bool vti_energy_read_number(const struct vti_energy_hooks *hooks, const char *path, uint64_t *value)
{
    char text[32];

    return vti_energy_read_text(hooks, path, text, sizeof text) < sizeof text - 1 &&
           vti_energy_parse_number(text, value);
}

bool vti_energy_path(char *to, size_t room, const char *format, ...)
{
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(to, room, format, args);
    va_end(args);
    return len >= 0 && (size_t)len < room;
}

void vti_number_file_close(struct vti_number_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* Files of sysfs change in place; others may be replaced by whoever writes them. */
static void open_anew(struct vti_number_file *file)
{
    struct stat now;

    if (file->fd >= 0 && fstat(file->fd, &now) == 0 && now.st_nlink)
        return;
    vti_number_file_close(file);
    file->fd = file->hooks->open(file->path);
    file->error = file->fd < 0 ? errno : 0;
    file->is_gone = file->error == ENOENT || file->error == ENODEV || file->error == ENXIO;
}

bool vti_number_file_read(struct vti_number_file *file, uint64_t *value)
{
    char text[32];
    ssize_t got;

    open_anew(file);
    if (file->fd < 0)
        return false;
    got = pread(file->fd, text, sizeof text - 1, 0);
    if (got < 0) {
        file->error = errno;
        file->is_gone = errno == ENODEV;
        vti_number_file_close(file);
        return false;
    }
    text[got] = 0;
    file->error = 0;
    return vti_energy_parse_number(text, value);
}
