/*
 * counter.h - one source of energy: what it said last, and what that makes in joules.
 *
 * A counter that cannot be read, or says what cannot be, leaves time unknown: it never gives nothing for it, nor a wrap that
 * was none. What it counted meanwhile is not lost if it comes back.
 */
#ifndef VENTURI_ENERGY_COUNTER_H
#define VENTURI_ENERGY_COUNTER_H

#include "energy/files.h"
#include "energy/rest.h"
#include <venturi/energy.h>

enum vti_counter_kind {
    VTI_COUNTER_COUNTS, /* steps of joules, added up */
    VTI_COUNTER_WATTS,  /* power as it is now */
    VTI_COUNTER_LOAD    /* from idle_watts to watts, by what of the machine is busy */
};

/* A reading that joules are counted from. */
struct vti_mark {
    bool is_set, was_still; /* was_still: it has shown it again since, and had moved before */
    uint64_t value;
    double open_s;   /* since then … */
    double asleep_s; /* … and how much of that the machine slept */
};

struct vti_counter {
    struct vt_energy_source source;
    enum vti_counter_kind kind;
    double unit;       /* joules or watts of one step */
    uint64_t range;    /* steps after which it begins anew; 0: never, or not known */
    double most_watts; /* more is not credible */
    bool (*read)(struct vti_counter *counter, uint64_t *value);
    /* The program's part since the last time, for what CPU time says nothing of; negative: unknown. */
    double (*own_part)(const vt_energy *meter, struct vti_counter *counter);
    char id[32]; /* of a zone of powercap, else empty */
    struct vti_number_file file;
    void *device; /* NVML: of whom, and through what */
    const void *library;
    unsigned long long seen_us; /* the newest that the card told of processes */
    /* Since the last reading: */
    bool has_value;
    uint64_t value, taken_ns; /* taken_ns: when it was asked last; 0: never */
    double asleep_s;          /* of the time since then: the machine was */
    struct vti_mark last;     /* credible: since then is unknown unless it comes back … */
    struct vti_mark odd;      /* … and one after it that was not */
    double lost_s;            /* unknown for good … */
    double covered_s;         /* … of which an estimate stood for it */
    double step_j, step_s;    /* what the last reading added, for how long; 0: nothing known */
    double parts_j;           /* of what is in it, since its own last step */
    unsigned doubts;          /* times in a row that it was less than its parts … */
    double doubts_s;          /* … and for how long */
    bool is_mirror;           /* of the one that it is inside … */
    unsigned apart;           /* … which showed another value so many times in a row */
    /* The program's: */
    double window_j, window_s, share_j, share_s;
    double charged_s; /* time for which its part is known */
    double meter_j;   /* of the readings themselves */
    struct vti_rest rest;
    double begin_j, begin_unknown_s; /* of a baseline */
    double baseline_watts;           /* negative: none */
};

/* Asks it: has_value, value. */
void vti_counter_ask(struct vti_counter *counter);

/* What was asked becomes joules; `load` is the busy part of the machine since the last time, negative if unknown. */
void vti_counter_step(struct vti_counter *counter, uint64_t now_ns, double load);

/* Its numbers in a file, for `read`. */
bool vti_counter_read_file(struct vti_counter *counter, uint64_t *value);

#endif
