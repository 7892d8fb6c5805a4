/* program.c - what the test programs share. */
#include "program.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

void say(const char *key, ...)
{
    va_list args;
    const char *comma = "";

    va_start(args, key);
    printf("{");
    for (; key; key = va_arg(args, const char *)) {
        printf("%s\"%s\": %ld", comma, key, va_arg(args, long));
        comma = ", ";
    }
    printf("}\n");
    fflush(stdout);
    va_end(args);
}

long number(int argc, char **argv, int at, long fallback)
{
    return argc > at ? strtol(argv[at], NULL, 10) : fallback;
}

struct counters *map_counters(const char *path)
{
    int fd = open(path, O_RDWR | O_CREAT, 0600);
    void *at;

    if (fd < 0 || ftruncate(fd, sizeof(struct counters)))
        exit(3);
    at = mmap(NULL, sizeof(struct counters), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (at == MAP_FAILED)
        exit(3);
    close(fd);
    return at;
}
