/* target.h - one measured process: its arena, its sites, its threads. */
#ifndef VENTURI_DRAIN_TARGET_H
#define VENTURI_DRAIN_TARGET_H

#include "drain/carried.h"
#include "drain/gifts.h"
#include "drain/recorder.h"
#include "drain/steps.h"
#include "drain/stream.h"
#include "drain/tasks.h"
#include "drain/thread_cpu.h"
#include "share/arena.h"

#include <stdbool.h>
#include <sys/types.h>

/* What was told of a sum of losses that grows, and up to which tick. */
struct vti_told_loss {
    uint64_t events, until;
};

struct vti_target {
    struct vti_target *next;
    struct vti_recorder *recorder; /* borrowed */
    pid_t pid;
    int pidfd; /* -1 once the process has ended */
    int arena_fd;
    bool is_announced; /* its fact is written: it has recorded something */
    bool is_left;      /* alive when the recording was closed */
    bool is_over;      /* all that it recorded is written */
    bool is_finished;  /* and the process is gone */
    struct vti_arena_control *arena;
    uint64_t arena_bytes;
    uint32_t block_count; /* our own copy: the program could change the arena's */
    uint32_t *sites;      /* owned: file-wide id of each of the program's sites, [0] unused */
    uint32_t site_count, site_room;
    uint32_t *twins; /* owned: how many functions of the process have the texts of a site */
    uint32_t twin_room;
    uint64_t site_bytes;        /* of the site log that were read */
    struct vti_stream *streams; /* owned: one for each slot that was ever used */
    uint32_t stream_count;
    uint64_t spans;
    uint64_t calls;
    uint64_t traced; /* spans of traces */
    uint64_t line_events;
    uint64_t task_count, action_count; /* that computed; what else was done for them */
    struct vti_task_lanes *tasks;      /* owned: of task graphs; NULL: none so far */
    struct vti_step_lane *steps;       /* owned: messages of steps; NULL: none so far */
    uint64_t step_count;
    struct vti_told_loss lost_steps, sourceless_steps;
    uint64_t lost_steps_ns;      /* when those were last looked at */
    struct vti_carried *carried; /* owned: async spans that are open; NULL: none, or no spool */
    struct vti_gift *gifts;      /* owned: what it handed over */
    struct vti_cpu_threads *cpu; /* owned: CPU time of its threads; NULL: nobody looks at it */
    uint64_t thread_ticks;       /* lifetimes of its threads … */
    double cost_ticks;           /* … and what of them was our cost, of none more than all */
    uint64_t noted_ns;           /* when it was last noted which threads live */
    uint64_t
        told_millis[VTI_LANGUAGES]; /* what calls cost, as it stands in this file; 0: not yet */
    uint64_t image;                 /* changes when it executes another program; 0: unknown */
    uint64_t image_ns;              /* when that was last looked at */
    struct vti_process_fact fact;
    struct vti_sampling_fact sampling; /* once it has ended */
    char name[64];
    char command[4096];
    size_t command_len;
};

/* Makes an arena for process `pid`; its descriptor is to be sent to it. */
int vti_target_create(struct vti_target **process, struct vti_recorder *recorder, pid_t pid,
                      const struct vti_drain_options *options, uint32_t control_word);
void vti_target_free(struct vti_target *process);

/* The file-wide id of one of its sites; reads on in the site log when needed. That of "(unknown)" if there is no
 * such site, 0 when memory is short. */
uint32_t vti_target_site(struct vti_target *process, uint32_t id);

/* What the calls, line events and spans of a thread have cost it, in ticks: at the price of the dearest language, zero if
 * no hook said it. */
double vti_target_cost(const struct vti_target *process, const struct vti_stream *stream);

/* One round over all its threads. Returns the number of records read. */
uint64_t vti_target_read(struct vti_target *process, uint64_t now_ns, bool cut);

/* The process has ended (or recording does): reads all that is left and writes its end. */
void vti_target_finish(struct vti_target *process, uint64_t now_ns, enum vti_process_end how,
                       uint32_t status);

/* A file of a spool is to be closed: what belongs into it. The next one has begun: who this is, its threads, what is open. */
void vti_target_leave_file(struct vti_target *process);
void vti_target_enter_file(struct vti_target *process);

void vti_target_set_word(struct vti_target *process, uint32_t control_word);

#endif
