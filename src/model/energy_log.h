/*
 * energy_log.h - the ENERGY and THREAD_CPU blocks of a recording, in order of time.
 *
 * Loaded when somebody asks for them, not when the recording is opened. Nothing is worked out here: readings are
 * cumulative microjoules, CPU time stands where it was seen. What the user stated is in META (vti_recording_meta()):
 * "energy.country", "energy.intensity" (grams of CO2e a kWh), "energy.pue", "energy.wue", each as it was given.
 */
#ifndef VENTURI_MODEL_ENERGY_LOG_H
#define VENTURI_MODEL_ENERGY_LOG_H

#include "format/energy.h"
#include "model/model.h"

struct vti_energy_log_source {
    bool is_defined;
    uint32_t part, how; /* enum vt_energy_part, vt_energy_how */
    uint32_t inside;    /* number of the source that has it in it; VT_NONE: it is added up */
    double watts, idle_watts;
    char *name, *from, *note; /* owned, may be empty */
};

/* What is not in `known` is no value: neither 0 nor the one before. */
struct vti_energy_log_reading {
    uint64_t ticks; /* the same as that of the tree's reading in RESOURCES */
    int64_t time_ns;
    uint64_t known; /* bits 1 << number; the values: vti_energy_log_value() */
    uint64_t lost;  /* of them: what was used since it was known before is missing in the value */
    size_t first;   /* in the tree's values: those that are known, by number */
};

struct vti_energy_log_note {
    uint32_t about; /* enum vti_energy_note */
    char *text;     /* owned */
};

/* One meter: that of a recording, or of one input of a merged one. */
struct vti_energy_log_tree {
    uint32_t number;                       /* that of its tree in RESOURCES */
    uint32_t domain, host;                 /* ids */
    struct vti_energy_log_source *sources; /* owned; by number, some of them maybe not defined */
    uint32_t source_count;
    struct vti_energy_log_reading *readings; /* owned; by time */
    size_t reading_count, reading_room;
    uint64_t *values; /* owned; microjoules of all readings */
    size_t value_count, value_room;
    struct vti_energy_log_note *notes; /* owned */
    size_t note_count, note_room;
    bool has_baseline;
    double rest_watts; /* of the sources that are added up */
    uint32_t rest_how;
    uint64_t rest_for_ns;
    uint64_t memory_bytes; /* of the machine; 0: unknown */
    uint32_t cpus;
};

/* CPU time of a thread; see struct vti_cpu_fact. */
struct vti_cpu_point {
    int64_t begin_ns, time_ns; /* it was used in between; it was looked at time_ns */
    uint64_t cpu_ns;
    uint32_t flags, node, line;
};

struct vti_cpu_track {
    uint32_t track;               /* index */
    struct vti_cpu_point *points; /* owned; by time_ns */
    size_t count, room;
};

struct vti_energy_log {
    struct vti_energy_log_tree *trees; /* owned */
    size_t tree_count, tree_room;
    struct vti_ids tree_ids;      /* by number */
    struct vti_ids track_ids;     /* by track id, … */
    struct vti_cpu_track *tracks; /* … in order of appearance: owned; track_ids.count of them */
    size_t track_room;
};

/* 0 or a negative code; without --energy there are no trees and no tracks, which is no error. What does not parse is put
 * on the recording's list of damage. */
int vti_energy_log_load(struct vti_energy_log *log, vt_recording *recording);
void vti_energy_log_fini(struct vti_energy_log *log);

/* What a source has used since the meter was opened, in microjoules; false if that is not known at this reading. */
bool vti_energy_log_value(const struct vti_energy_log_tree *tree,
                          const struct vti_energy_log_reading *reading, uint32_t number,
                          uint64_t *microjoules);

/* Those of a track (an index), NULL if it used none. */
const struct vti_cpu_track *vti_cpu_track_of(const struct vti_energy_log *log,
                                             const vt_recording *recording, uint32_t track);

#endif
