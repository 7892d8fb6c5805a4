/* energy_kit.h - a machine made of files, with a clock that goes when a test says so, for tests of the energy meter. */
#ifndef VENTURI_TESTS_ENERGY_KIT_H
#define VENTURI_TESTS_ENERGY_KIT_H

#include "energy/meter.h"

#define KIT_RANGE 262143328850u
/* A module of memory uses less on ARM. */
#ifdef __aarch64__
#define KIT_MODULES 0.3
#else
#define KIT_MODULES 1.0
#endif
#define KIT_NEW ((uint64_t)1 << 40) /* a process that began after all meters were opened */

/* cmocka's set-up and tear-down: an empty machine of 4 CPUs and 16 GiB. */
int kit_set_up(void **state);
int kit_tear_down(void **state);

/* A file below the machine's root ("sys/…", "proc/…"), written in place; its folders are made. */
void kit_put(const char *path, const char *format, ...) __attribute__((format(printf, 2, 3)));
void kit_remove(const char *path); /* with all that is below */

/* Opening of paths with this in them is refused; NULL: of none. */
void kit_refuse(const char *part);

/* Zones of powercap, in joules. */
void kit_zone(const char *id, const char *name, double joules);
void kit_energy(const char *id, double joules);

/* The machine was busy for so long in all; a process. */
void kit_busy(double seconds);
void kit_process(pid_t pid, pid_t parent, uint64_t start, double cpu_s, double reaped_s,
                 unsigned pages);

/* The next perf event that is opened reads this file, into which counts are put. */
extern int kit_event_error; /* errno of opening one; 0: none */
void kit_event(size_t at, uint64_t count);

/* CPU time of this thread: that a reading takes, and now. */
extern double kit_reading_cost_s;
void kit_burn(double seconds);

void kit_pass(double seconds);
void kit_sleep(double seconds); /* … and the machine did meanwhile */

/* A meter of this machine; fails the test if there is none. */
vt_energy *kit_open(pid_t pid);
vt_energy *kit_open_with(struct vt_energy_options *options);
struct vt_energy_sum kit_take(vt_energy *meter);

/* The source of this name; fails the test if there is none. */
const struct vt_energy_source *kit_source(const vt_energy *meter, const char *name);

void kit_assert_near(double value, double expected, double tolerance, const char *file, int line);
#define assert_near(value, expected, tolerance)                                                    \
    kit_assert_near(value, expected, tolerance, __FILE__, __LINE__)

#endif
