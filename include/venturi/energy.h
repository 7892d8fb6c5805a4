/*
 * energy.h - what a machine uses, and what part of it is a program's: joules from counters where they can be read, else
 * from a model or an estimate, and always said which.
 *
 * Library libventuri-energy, needs libc only. A meter finds the sources of the machine once; each vt_energy_take() reads
 * them and the CPU time of a process with all that it started, and adds what lies between two readings. What could not be
 * read is unknown, which is neither zero nor a counter's wrap. Call it at least once a minute, so that no counter
 * wraps twice; ten times a second costs nothing to speak of. A meter is for one thread at a time.
 */
#ifndef VENTURI_ENERGY_H
#define VENTURI_ENERGY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef VT_API
#define VT_API __attribute__((visibility("default")))
#endif

/* How a number came about. Of several, the worst counts. */
enum vt_energy_how {
    VT_ENERGY_UNKNOWN,
    VT_ENERGY_MEASURED,  /* a counter of the hardware */
    VT_ENERGY_MODELLED,  /* from facts of this machine: modules of memory, integrated power */
    VT_ENERGY_ESTIMATED, /* from CPU time and a table of processors */
    VT_ENERGY_GIVEN      /* from watts that the user stated */
};

enum vt_energy_part {
    VT_ENERGY_CPU,
    VT_ENERGY_MEMORY,
    VT_ENERGY_GPU,
    VT_ENERGY_PLATFORM, /* the whole machine, the others included */
    VT_ENERGY_PART_COUNT
};

/* One counter. */
struct vt_energy_source {
    char name[64];  /* "package-0" */
    char from[32];  /* "powercap", "perf", "hwmon", "nvml", "tdp", "modules", "given" */
    char note[128]; /* what else there is to say: a processor as the table has it, a mirror of … */
    uint32_t part;  /* enum vt_energy_part */
    uint32_t how;   /* enum vt_energy_how */
    /* The source that has this one in it, or that this one mirrors; -1: it is added up. May change: mirrors are found
     * when they move alike. */
    int32_t inside;
    double watts;         /* of an estimate or a model: at full load; else 0 … */
    double idle_watts;    /* … and at rest; of a counter: as a baseline has it, else 0 */
    double joules;        /* since the meter was opened */
    double unknown_s;     /* time for which it said nothing, or nothing credible, or stood still */
    uint64_t wraps, gaps; /* wraps that were added, readings that were not there or not credible */
    uint32_t is_known;    /* 1: the last reading was there, and had moved */
    uint32_t is_over;     /* 1: another source has taken its place; what it had counts */
};

/* What was used since the meter was opened, of one part or of all. Negative: not known. */
struct vt_energy_use {
    double gross_j; /* the machine */
    /* Of it the program's, by CPU time of all that was busy; memory by what is resident; GPUs by what they say of processes,
     * and not in the sum of all if they say nothing. A machine at rest, with less than a tenth of one CPU busy, is
     * nobody's. */
    double share_j;
    double dynamic_j; /* the same of what goes beyond rest */
    uint32_t how;     /* enum vt_energy_how */
};

struct vt_energy_sum {
    struct vt_energy_use parts[VT_ENERGY_PART_COUNT], all;
    double wall_s, unknown_s;
    double own_cpu_s, busy_cpu_s; /* the program's, and that of the machine */
    double idle_watts;            /* at rest, of what is added up; negative: not known … */
    /* … MODELLED from the lowest tenth, ESTIMATED, GIVEN; by a baseline: as the sources that it was measured with. */
    uint32_t idle_how;
    uint64_t resident_bytes; /* of the program, now */
    uint64_t takes;
};

struct vt_energy_options {
    size_t size;        /* sizeof(struct vt_energy_options) */
    const char *sysfs;  /* "/sys"; NULL: $VENTURI_SYSFS or that */
    const char *procfs; /* "/proc"; NULL: $VENTURI_PROCFS or that */
    const char *nvml;   /* "libnvidia-ml.so.1"; NULL: $VENTURI_NVML or that; "": none */
    pid_t pid;          /* the program; 0: this process; -1: none, shares are not known */
    double cpu_watts;   /* of all processors at full load, instead of counters; 0: none given */
    double memory_watts;
    double idle_watts; /* known from a baseline of another time; 0: none */
    uint32_t flags;
};

#define VT_ENERGY_NO_COUNTERS 0x1u /* as if there were none */
#define VT_ENERGY_NO_MEMORY 0x2u
#define VT_ENERGY_NO_GPU 0x4u

typedef struct vt_energy vt_energy;

/* NULL without memory, or if not even an estimate can be made; `why` says so in one line. */
VT_API vt_energy *vt_energy_open(const struct vt_energy_options *options, char *why, size_t room);
VT_API void vt_energy_close(vt_energy *meter);

/* Reads all; the first time begins the sums. `sum` may be NULL. Never fails: what is not known is said so. */
VT_API void vt_energy_take(vt_energy *meter, struct vt_energy_sum *sum);

/* What the readings of this meter took themselves: CPU seconds, and joules by the same rule as the shares (negative: not
 * known). Of a program that measures itself this is neither in own_cpu_s nor in its shares, and nor is what the readings of
 * its other meters took: each states its own. To open one is the program's work. Either may be NULL. */
VT_API void vt_energy_cost(const vt_energy *meter, double *cpu_s, double *joules);

/* What was used from now on counts as rest, until vt_energy_baseline_end(): nothing of the program should run, nor of
 * others, of whom there is advice if they do. */
VT_API void vt_energy_baseline_begin(vt_energy *meter);
VT_API double vt_energy_baseline_end(vt_energy *meter); /* watts; negative: not known */

VT_API size_t vt_energy_source_count(const vt_energy *meter);
VT_API const struct vt_energy_source *vt_energy_source_get(const vt_energy *meter, size_t at);

/* What could be better and how: counters that may not be read, with the command that allows it. NULL: nothing more. */
VT_API const char *vt_energy_advice(const vt_energy *meter, size_t at);

/* Grams of CO2e for a kWh in a country (three letters, two or a name); 0 if it is not known, else its year is set.
 * `vt_grid_source` is whom to name. */
VT_API double vt_grid_intensity(const char *country, const char **iso3, const char **name,
                                int *year);
VT_API const char *vt_grid_source(void);

#ifdef __cplusplus
}
#endif

#endif
