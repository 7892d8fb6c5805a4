/*
 * drain.h - the writer: takes arenas over the session socket, turns their records into blocks, appends.
 *
 * Used by `venturi run`, which drains for its own child, and by venturi-drain, the helper of programs
 * that record on their own. One thread. Nothing that a measured program writes is trusted.
 */
#ifndef VENTURI_DRAIN_DRAIN_H
#define VENTURI_DRAIN_DRAIN_H

#include "drain/clock.h"
#include "drain/spool.h"
#include "format/write.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#define VTI_RESOURCES_HZ 10       /* what is asked for if nobody says otherwise, … */
#define VTI_RESOURCES_MOST_HZ 100 /* … and what can be: without records we look every 10 ms */

struct vti_drain_options {
    const char *output;
    const char *spool;    /* a folder of recordings instead of it; NULL: one file */
    uint64_t spool_limit; /* bytes of all of them; 0: 1 GiB */
    int *held; /* gets a descriptor of the file, the caller's to close; NULL: not wanted */
    bool force;
    const char *session;       /* name of the socket; NULL: one nobody can guess */
    uint64_t buffer_bytes;     /* for each process; 0: 64 MiB */
    uint64_t ring_ns;          /* keep only the last so many nanoseconds; 0: all */
    uint64_t ring_bytes;       /* … and at most so many bytes of them; 0: 256 MiB */
    uint32_t block_ms;         /* full buffers: wait up to so long before dropping; 0: drop */
    bool starts_off;           /* recording waits for VTI_REQUEST_ON */
    uint32_t kinds;            /* what is recorded: bits of the control word; 0: spans */
    uint32_t resources_hz;     /* readings of CPU, memory and I/O a second; 0: none */
    bool has_energy;           /* with each of them one of the energy; and CPU time of threads */
    const char *const *stated; /* keys and values of META beside ours, NULL at the end; or NULL */
    char *const *command;      /* what is recorded, NULL-terminated, or NULL */
};

struct vti_drain_stats {
    struct vti_writer_stats file;
    uint64_t spans;
    uint64_t traced;               /* spans of traces */
    uint64_t calls;                /* of functions */
    uint64_t line_events;          /* lines that were reached */
    uint64_t tasks;                /* of task graphs */
    uint64_t task_actions;         /* what was done for these beside computing: transfers, disk */
    uint64_t steps;                /* messages, or batches of them, of steps */
    uint64_t sourceless_steps;     /* lost: of steps beyond those that a process may have */
    uint32_t counters_lost;        /* modules whose counters of lines found no room */
    uint64_t samples, samples_cut; /* of native stacks; those that were not followed to their end */
    uint32_t sampling_stopped;     /* processes that needed the signal themselves */
    uint32_t processes;
    uint32_t tracks;
    uint32_t still_running; /* processes that were alive when the recording was closed */
    uint32_t refused;       /* processes that asked to be recorded and could not be */
    uint32_t unlike;        /* processes that asked with a libventuri of another version */
    uint32_t unheard;       /* processes that got their memory and never used it */
    uint32_t gave_up;       /* processes that waited in vain for our answer, or ended meanwhile */
    uint32_t nameless;      /* C functions that stay addresses: no venturi-symbols to ask */
    struct vti_clock_doubts clock;
    bool was_stopped;     /* closed by VTI_REQUEST_STOP, while the program went on */
    double cost_share;    /* our cost in the recorded threads, as a share of their time */
    uint64_t overwritten; /* events that gave way in a flight recorder */
    uint64_t spool_files; /* recordings that were written; 0: it was no spool */
    struct vti_spool_sum spool_lost; /* recordings that gave way to its limit */
};

struct vti_drain;
struct vti_energy_feed;

/* Creates the file (refusing an existing one unless forced), or the first one of a spool, and listens. */
int vti_drain_create(struct vti_drain **drain, const struct vti_drain_options *options);

/* The meter, for a baseline before anything runs; NULL: none was asked for. */
struct vti_energy_feed *vti_drain_energy(const struct vti_drain *drain);

/* The name to put into VENTURI_SESSION. */
const char *vti_drain_session(const struct vti_drain *drain);

/* Waits until there is something to do (at most some milliseconds, or until `wake_fd` is readable; -1:
 * none), does it, returns. Errors of the file are kept for the end: recording never stops the program. */
void vti_drain_step(struct vti_drain *drain, int wake_fd);

/* Processes that are attached and alive, and whether one ever was. */
uint32_t vti_drain_alive(const struct vti_drain *drain);
bool vti_drain_was_used(const struct vti_drain *drain);
bool vti_drain_is_closed(const struct vti_drain *drain); /* by VTI_REQUEST_STOP */

/* Nobody can attach any more; the name is free for another drainer. */
void vti_drain_leave(struct vti_drain *drain);

/* The program: its resources and those of all that it starts are watched. Processes that attach are in any case. */
void vti_drain_watch(struct vti_drain *drain, pid_t pid);

/* A process has ended and can still be asked: to be called before it is waited for. */
void vti_drain_note_end(struct vti_drain *drain);

/* How a process ended, if the caller is its parent and knows (from wait4). */
void vti_drain_note_exit(struct vti_drain *drain, pid_t pid, int wait_status,
                         const struct rusage *usage);

/* Takes in what is left, closes the recording. The first error of the file, or 0. May be called once. */
int vti_drain_close(struct vti_drain *drain, struct vti_drain_stats *stats);

/* Nothing was recorded: the file of a spool is taken away again. Closed it is, too. */
void vti_drain_drop(struct vti_drain *drain);

/* Everything is freed; if it was not closed before, the file stays as after a crash. */
void vti_drain_free(struct vti_drain *drain);

#endif
