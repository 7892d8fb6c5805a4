/* files.h - small files of sysfs and procfs, and the numbers in them; opened in a way that tests can replace. */
#ifndef VENTURI_ENERGY_FILES_H
#define VENTURI_ENERGY_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perf_event_attr;

/* What is asked of the system; tests have their own. */
struct vti_energy_hooks {
    uint64_t (*now_ns)(void);   /* of a clock that goes on while the machine sleeps … */
    uint64_t (*awake_ns)(void); /* … and of one that does not */
    int (*open)(const char *path);
    int (*open_event)(const struct perf_event_attr *attr, int cpu);
};

extern const struct vti_energy_hooks vti_energy_hooks_default;

/* CPU time of this thread: what a reading takes is the difference of two. */
uint64_t vti_energy_thread_ns(void);

/* A file that holds a number, kept open. */
struct vti_number_file {
    const struct vti_energy_hooks *hooks; /* borrowed */
    char path[256];
    int fd;       /* -1: not open */
    bool is_gone; /* there is no such file any more */
    int error;    /* why it could not be read */
};

/* False if it does not hold just a number of 64 bits; a file that was replaced or has come back is opened anew. */
bool vti_number_file_read(struct vti_number_file *file, uint64_t *value);
void vti_number_file_close(struct vti_number_file *file);

/* As text without the line's end, cut off where there is no room; how many bytes, 0 if there are none (errno says why). */
size_t vti_energy_read_text(const struct vti_energy_hooks *hooks, const char *path, char *to,
                            size_t room);
bool vti_energy_read_number(const struct vti_energy_hooks *hooks, const char *path,
                            uint64_t *value);

/* Digits and nothing else but the line's end. */
bool vti_energy_parse_number(const char *text, uint64_t *value);

/* False, and nothing usable in `to`, if it does not fit. */
bool vti_energy_path(char *to, size_t room, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
