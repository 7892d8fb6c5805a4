/*
 * tasks.h - entries of TASKS and EDGES blocks: runs of task graphs, their workers and tasks, and what each task waited for.
 *
 * Entries say how they differ from those before them in their block, so each block is written, and read, by a codec of its own. A
 * block belongs to one process: its owner.
 */
#ifndef VENTURI_FORMAT_TASKS_H
#define VENTURI_FORMAT_TASKS_H

#include "base/buf.h"
#include "base/bytes.h"
#include "format/event.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_TASK_KEY_BYTES 2048 /* longest key; the rest is cut off */
#define VTI_TASK_KEYS 64        /* names whose last key is remembered */
#define VTI_TASK_UNKNOWN UINT64_MAX

enum vti_task_entry { VTI_TASK_RUN = 1, VTI_TASK_WORKER, VTI_TASK_TASK, VTI_TASK_RUN_END };

/* One entry of TASKS. Times are ticks, 0: unknown. */
struct vti_task_fact {
    uint32_t type; /* enum vti_task_entry; an unknown one was stepped over */
    uint32_t run;
    struct vti_bytes text; /* run: scheduler; worker: label; end: error, "" if it ended well */
    uint64_t ticks;        /* run: begin; end: end */
    /* A run: */
    uint32_t parent;           /* run that started it, 0: none */
    uint64_t planned, workers; /* how many it began with */
    /* A worker, or a task: */
    uint32_t number;
    /* A worker: */
    uint64_t pid, tid;
    /* A task: */
    uint32_t site;            /* of its name */
    uint32_t worker_plus_one; /* 0: none */
    uint32_t retries;
    uint8_t state, action; /* enum vt_task_state, vt_task_action of venturi/task.h */
    bool cpu_is_estimated;
    uint64_t ready, start, end, freed;
    uint64_t cpu_ns, bytes; /* or VTI_TASK_UNKNOWN */
    struct vti_bytes key;   /* read: valid until the next entry */
    /* The end of a run: */
    uint64_t lost;
};

/* What an entry refers to; zeroed it begins a block. */
struct vti_task_codec {
    uint64_t ticks; /* of the last time */
    uint32_t run, number;
    struct vti_buf keys[VTI_TASK_KEYS]; /* last key of names, by site modulo the number of them */
    struct vti_buf body;                /* scratch: an entry, or its dependencies */
};

/* Another block begins; and all memory is given back. */
void vti_task_codec_clear(struct vti_task_codec *codec);
void vti_task_codec_fini(struct vti_task_codec *codec);

/* Appends one entry; takes one, false if it does not parse. */
void vti_task_write(struct vti_buf *out, struct vti_task_codec *codec,
                    const struct vti_task_fact *fact);
bool vti_task_read(struct vti_reader *in, struct vti_task_codec *codec, struct vti_task_fact *fact);

/* One entry of EDGES: tasks of the same run that a task depends on. */
struct vti_edges_fact {
    uint32_t run, number;
    uint64_t before; /* how many others of this task stand before them, in entries of their own */
    const uint32_t *dependencies; /* read: valid until the next entry */
    uint32_t count;
};

void vti_edges_write(struct vti_buf *out, struct vti_task_codec *codec,
                     const struct vti_edges_fact *fact);
bool vti_edges_read(struct vti_reader *in, struct vti_task_codec *codec,
                    struct vti_edges_fact *fact);

#endif
