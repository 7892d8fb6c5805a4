/*
 * meter.h - the inside of a meter: its sources, the machine, and the program's part.
 *
 * For the files of this folder and its tests. Sources are found by one file for each kind; each adds what it finds.
 */
#ifndef VENTURI_ENERGY_METER_H
#define VENTURI_ENERGY_METER_H

#include "energy/counter.h"
#include "energy/share.h"
#include "watch/family.h"

#define VTI_COUNTERS_MOST 64
#define VTI_ADVICE_MOST 8
#define VTI_ADVICE_BYTES 768
#define VTI_ROOT_BYTES 128

struct vti_nvml;

struct vt_energy {
    struct vti_energy_hooks hooks;
    char sysfs[VTI_ROOT_BYTES], procfs[VTI_ROOT_BYTES];
    uint32_t flags;
    bool has_given_cpu, has_given_memory;
    double given_idle_watts;                         /* 0: none */
    struct vti_counter *counters[VTI_COUNTERS_MOST]; /* owned */
    size_t count;
    char *advice[VTI_ADVICE_MOST]; /* owned */
    size_t advice_count;
    struct vti_nvml *nvml;   /* owned, or NULL */
    double idle_guess_watts; /* of the processors, if nothing else is known of their rest */
    /* The machine and the program: */
    struct vti_proc_source source;
    struct vti_machine machine;
    struct vti_family family;
    bool has_program;
    bool
        is_self; /* the program is this process: our readings are in its CPU time, and are taken off */
    struct vti_share share;
    double own_s, busy_s, wall_s; /* since the first reading */
    double window_own_s, window_busy_s, window_wall_s, window_meter_s;
    double step_own_s, step_busy_s, step_wall_s; /* of the last reading; negative: unknown */
    double step_meter_s;
    uint64_t begin_ns;      /* the thread's CPU time when this reading began */
    uint64_t meter_ns;      /* CPU time of all readings that are over … */
    uint64_t last_meter_ns; /* … and of all until the program's was last read */
    uint64_t
        readings_before_ns; /* of all meters of this process, until the program's was first read */
    bool had_busy, had_own;
    uint64_t last_busy_ns, last_own_ns, resident_bytes;
    uint64_t taken_ns, looked_ns; /* looked: for sources that are new */
    uint64_t asleep_ns;           /* the machine's sleep until the last reading */
    uint64_t takes;
    bool is_looking;
    bool is_baseline;
    double baseline_begin_s, baseline_others_s; /* CPU time of others until it began */
};

/* As vt_energy_open(), with other hooks. */
vt_energy *vti_energy_open(const struct vt_energy_options *options,
                           const struct vti_energy_hooks *hooks, char *why, size_t room);

/* A new source with nothing in it; NULL without memory, if there are too many, or if nobody wants its part. */
struct vti_counter *vti_meter_add(vt_energy *meter, enum vt_energy_part part,
                                  enum vt_energy_how how, const char *from, const char *name);
/* … that is read from a file, whose name has the root in front. */
bool vti_meter_add_file(struct vti_counter *counter, const vt_energy *meter, const char *path);
/* Takes the last one away again. */
void vti_meter_drop(vt_energy *meter);

/* The number of a source of this name and kind, -1 if there is none. */
int vti_meter_find(const vt_energy *meter, const char *from, const char *name);
int vti_meter_index(const vt_energy *meter, const struct vti_counter *counter);

/* Whether there is a source of a part that is added up and tells by itself. */
bool vti_meter_has(const vt_energy *meter, enum vt_energy_part part);

/* Whether it counts for its part: it is in none, or in one of another part. */
bool vti_meter_is_of_part(const vt_energy *meter, const struct vti_counter *counter);

/* Looks for sources that have come since, now and then: after a reading, which was the last of what they replace. */
void vti_meter_look(vt_energy *meter, uint64_t now_ns);

void vti_meter_advise(vt_energy *meter, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What each kind finds. The first may be called again: it adds what is new. */
void vti_powercap_find(vt_energy *meter);
void vti_perf_find(vt_energy *meter);
void vti_hwmon_find(vt_energy *meter);
void vti_nvml_find(vt_energy *meter, const char *library);
void vti_nvml_free(struct vti_nvml *nvml);
void vti_estimate_find(vt_energy *meter, double given_watts);
/* What processors may use at rest, for counters that never were. */
double vti_estimate_idle(const vt_energy *meter);
void vti_memory_find(vt_energy *meter, double given_watts);

/* Who is in whom, as far as the names tell; who shows the same as another, between asking and step; and who cannot hold
 * what is said to be in it, after a step. */
void vti_nest_platform(vt_energy *meter);
void vti_nest_mirrors(vt_energy *meter);
void vti_nest_doubt(vt_energy *meter);

/* Watts at rest of a source, and how that is known. */
double vti_meter_rest(const vt_energy *meter, const struct vti_counter *counter, uint32_t *how);

/* The sums so far. */
void vti_meter_sum(const vt_energy *meter, struct vt_energy_sum *sum);

/* What may not be read, and the command that allows it. */
void vti_advice_powercap(vt_energy *meter, const char *path);
void vti_advice_perf(vt_energy *meter);
void vti_advice_none(vt_energy *meter, bool is_virtual);

#endif
