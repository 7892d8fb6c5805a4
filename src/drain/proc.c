/* proc.c - what /proc says of another process. */
#include "drain/proc.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

size_t vti_proc_read(pid_t pid, const char *file, char *to, size_t room)
{
    char path[64];
    ssize_t got = -1;
    int fd;

    snprintf(path, sizeof path, "/proc/%ld/%s", (long)pid, file);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, to, room - 1);
        close(fd);
    }
    to[got > 0 ? got : 0] = 0;
    return got > 0 ? (size_t)got : 0;
}

const char *vti_proc_field(char line[VTI_PROC_LINE_BYTES], pid_t pid, unsigned at)
{
    const char *field;

    vti_proc_read(pid, "stat", line, VTI_PROC_LINE_BYTES);
    field = strrchr(line, ')');
    for (unsigned i = 0; field && i <= at; i++)
        field = strchr(field + 1, ' ');
    return field ? field + 1 : NULL;
}

uint32_t vti_proc_parent(pid_t pid)
{
    char line[VTI_PROC_LINE_BYTES];
    const char *field = vti_proc_field(line, pid, VTI_PROC_PARENT);
    long parent = field ? strtol(field, NULL, 10) : 0;

    return parent > 0 ? (uint32_t)parent : 0;
}

uint64_t vti_proc_image(pid_t pid)
{
    char line[VTI_PROC_LINE_BYTES];
    const char *field = vti_proc_field(line, pid, VTI_PROC_STACK);

    return field ? strtoull(field, NULL, 10) : 0;
}
