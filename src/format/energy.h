/*
 * energy.h - entries of ENERGY blocks: the meter's sources, readings of them, rest, and what else it said; and those of
 * THREAD_CPU blocks: when threads used CPU time, and where they were.
 *
 * They hold facts and no shares. A reading lies at the very tick of a reading of the tree in RESOURCES, which has the CPU
 * time of the program (VTI_RESOURCE_CPU_NS of number 0) and of the machine (VTI_RESOURCE_MACHINE_NS).
 */
#ifndef VENTURI_FORMAT_ENERGY_H
#define VENTURI_FORMAT_ENERGY_H

#include "base/buf.h"
#include "base/bytes.h"
#include "format/event.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_ENERGY_SOURCES_MAX 64 /* of one tree: a reading knows them by the bits of a number */

enum vti_energy_type {
    VTI_ENERGY_FACT_SOURCE = 1,
    VTI_ENERGY_FACT_READING,
    VTI_ENERGY_FACT_BASELINE,
    VTI_ENERGY_FACT_NOTE,
    VTI_ENERGY_FACT_MACHINE
};

/* What a text of a NOTE is about. */
enum vti_energy_note {
    VTI_ENERGY_NOTE_FAILED = 1, /* there is no meter: why */
    VTI_ENERGY_NOTE_ADVICE,     /* what could be better, and how */
    VTI_ENERGY_NOTE_LIMIT       /* what the recording could not take in */
};

/* One entry. The tree is the one of RESOURCES; a merged recording has several. */
struct vti_energy_fact {
    uint32_t type; /* enum vti_energy_type; an unknown one was stepped over */
    uint32_t tree;
    /* A source; defined again it has the later meaning: */
    uint32_t number; /* from 0, less than VTI_ENERGY_SOURCES_MAX */
    uint32_t part;   /* enum vt_energy_part of venturi/energy.h … */
    uint32_t how;    /* … and vt_energy_how; of a baseline too */
    uint32_t
        inside_plus_one; /* 0: it is added up; else 1 + number of the source that has it in it or that it mirrors */
    uint64_t milliwatts;      /* of an estimate or a model at full load, else 0 … */
    uint64_t idle_milliwatts; /* … and at rest */
    struct vti_bytes name, from, note;
    /* A reading: */
    uint64_t ticks; /* since the reading before it in the block; of the first: all */
    uint64_t known; /* bits 1 << number; others could not be read, and their values are 0 */
    uint64_t microjoules[VTI_ENERGY_SOURCES_MAX]; /* since the meter was opened, wraps added */
    uint64_t
        lost; /* bits of known ones: what was used since it was known before is missing in its value */
    /* Rest: */
    uint64_t microwatts; /* of the sources that are added up */
    uint64_t for_ns;     /* it was measured so long; 0: it was not */
    /* A note, one line: */
    uint32_t about; /* enum vti_energy_note */
    struct vti_bytes text;
    /* The machine, before all else of its tree; without it host and domain are 0: */
    uint32_t host, domain; /* the domain is the clock of the readings */
    uint32_t cpus;         /* 0: unknown */
    uint64_t memory_bytes; /* that it has; 0: unknown */
};

void vti_energy_fact_write(struct vti_buf *out, const struct vti_energy_fact *fact);

/* False if it does not parse. Texts lie in what is read. */
bool vti_energy_fact_read(struct vti_reader *in, struct vti_energy_fact *fact);

/* "cpu", "memory", "gpu", "platform"; "measured", "modelled", "estimated", "given"; else "unknown". */
const char *vti_energy_part_name(uint32_t part);
const char *vti_energy_how_name(uint32_t how);

/* ---- THREAD_CPU ------------------------------------------------------------------------------ */

enum vti_cpu_flags {
    VTI_CPU_RUNNING = 1, /* it was seen running: node and line are what was open there */
    VTI_CPU_COARSE = 2   /* its CPU time came in steps of the kernel's clock (10 ms) */
};

/*
 * CPU time that a thread used in the `span` ticks before `ticks`. All of a thread's CPU time is in exactly one entry, from when it
 * was first seen; spans of one thread do not overlap. With VTI_CPU_RUNNING it is charged to where the thread was seen running, at
 * `ticks` or, if it was asleep by then, at the look before; without, to nothing: what it used before it ended.
 */
struct vti_cpu_fact {
    uint64_t ticks; /* since the entry before it in the block; of the first: all */
    uint64_t span;
    uint64_t cpu_ns;
    uint32_t flags; /* enum vti_cpu_flags */
    uint32_t node;  /* innermost open call: a node of the track's CALL_TREE; 0: none was open */
    uint32_t line;  /* innermost open line: a node of the track's LINES; 0: none was open */
};

void vti_cpu_fact_write(struct vti_buf *out, const struct vti_cpu_fact *fact);
bool vti_cpu_fact_read(struct vti_reader *in, struct vti_cpu_fact *fact);

#endif
