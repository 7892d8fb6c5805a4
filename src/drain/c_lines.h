/*
 * c_lines.h - lines of C: what processes have left of them until the recording is closed, and what becomes of it
 * then: counters and places in functions are looked up by venturi-symbols and become lines.
 */
#ifndef VENTURI_DRAIN_C_LINES_H
#define VENTURI_DRAIN_C_LINES_H

#include "base/buf.h"
#include "base/hash.h"
#include "format/facts.h"

struct vti_recorder;
struct vti_target;

/* A place of a tree of samples. */
struct vti_c_sample {
    uint32_t track;
    uint32_t unit, parent; /* 0: none */
    uint32_t site;         /* file-wide, of the function by its address */
    uint64_t offset;       /* in the function */
    uint64_t samples, ns;
};

/* Zeroed: nothing. */
struct vti_c_lines {
    struct vti_buf samples; /* struct vti_c_sample each; those of a track together, parents first */
    struct vti_buf counters;  /* as venturi-symbols wants them: number, bytes, what was given */
    struct vti_buf tracks;    /* u32 each: to which track the counters of a number belong */
    struct vti_buf timed;     /* u32 each: sites whose lines were timed on a track */
    struct vti_map *named;    /* functions by name, file and line; … */
    struct vti_buf named_ids; /* … u32 each: their sites */
    uint32_t lost;            /* gifts that there was no room for */
    uint64_t hits;            /* lines that were counted, without those that are events too */
};

void vti_c_lines_fini(struct vti_c_lines *lines);

/* A thread has ended, its chunks are still there; all threads of a process have. */
void vti_c_lines_take_thread(struct vti_c_lines *lines, struct vti_target *process, uint32_t slot,
                             uint32_t track);
void vti_c_lines_take_counters(struct vti_c_lines *lines, struct vti_target *process);

/* A function has got its name: its lines are to be shown for the same site as its calls. */
void vti_c_lines_note(struct vti_c_lines *lines, const struct vti_site_fact *site);

/* The place of a function in `named`, by its name, file and line; negative: none. Without `is_new` it is only looked for. */
int64_t vti_c_lines_name(struct vti_c_lines *lines, const struct vti_site_fact *site, int *is_new);

/* Looks all of it up and writes it. */
void vti_c_lines_write(struct vti_c_lines *lines, struct vti_recorder *recorder);

#endif
