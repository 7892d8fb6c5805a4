/*
 * live.h - what a program is doing now: a recording, a folder of them, a spool, a process or a dask cluster, followed while it
 * grows.
 *
 * vti_live_refresh() takes in what is new, in bounded time; everything else only reads, and what it gives lives until the next
 * refresh. Sums are since the beginning of what is followed; rates are of the last second. A live state is used by one thread at a
 * time (whoever shares it locks it). Texts are UTF-8 or not: they come from the program. Nothing here prints, and nothing here
 * reaches into the measured program.
 *
 * Times called `…_unix_ns` are nanoseconds since 1970 UTC, 0: unknown. What is not known is NaN, or VTI_LIVE_UNKNOWN: show it so,
 * never as 0.
 */
#ifndef VENTURI_LIVE_LIVE_H
#define VENTURI_LIVE_LIVE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_LIVE_UNKNOWN UINT64_MAX
#define VTI_LIVE_NONE UINT32_MAX /* no index */

struct vti_live;

enum vti_live_kind {
    VTI_LIVE_FILE, /* one recording, finished or growing */
    VTI_LIVE_FOLDER, /* recordings of several programs in one folder; new ones are taken in as they appear */
    VTI_LIVE_SPOOL, /* rotated recordings of one program (run --spool): one after the other, as if they were one */
    VTI_LIVE_PROCESS, /* a process that nobody records: seen from outside only */
    VTI_LIVE_DASK     /* a scheduler of dask.distributed */
};

struct vti_live_options {
    uint32_t stream_max; /* tasks that are kept in the stream; 0: 20,000 */
};

/*
 * Opens FILE, a folder, a spool, the number of a process ("4711": the recording that it or one of its parents writes, else the
 * process seen from outside), or tcp://HOST:PORT of a dask scheduler. 0 or a negative code with a message. `options` may be NULL.
 */
int vti_live_open(struct vti_live **live, const char *target,
                  const struct vti_live_options *options);
void vti_live_close(struct vti_live *live);

/* Takes in what is new, for about `budget_ns` at most (0: all of it, as long as it takes). 1: something changed; 0: nothing did; or
 * a negative code, after which what was there before still holds. Pointers that were given before are not valid any more. */
int vti_live_refresh(struct vti_live *live, int64_t budget_ns);

/* Sums and rates begin anew now; identities stay. What `venturi top` does on `r`. */
void vti_live_reset(struct vti_live *live);

/* ---- the whole ------------------------------------------------------------------------------- */

struct vti_live_summary {
    enum vti_live_kind kind;
    const char *target; /* as it was given */
    const char *path;   /* of the recording or folder that was found; "" of a process or cluster */
    const char *title;  /* the program, for people: "pipeline.py" */
    const char *command, *directory; /* or "" */
    bool is_growing;                 /* somebody still writes, as far as can be seen */
    bool is_caught_up;               /* everything that is in the file has been summed up … */
    double caught_up;                /* … or so much of it, 0 to 1 */
    int64_t start_unix_ns;           /* of the first recording */
    int64_t since_unix_ns;  /* when what is summed up begins: of a spool, whose oldest files
                                        may be gone, the first thing that is left; else the start */
    int64_t now_unix_ns;    /* of this refresh */
    int64_t last_unix_ns;   /* of the newest thing that was taken in */
    int64_t duration_ns;    /* from the start to the newest thing */
    uint64_t events, spans; /* summed up so far, of threads and async */
    uint64_t errors;        /* spans that failed */
    uint64_t file_bytes;    /* of all recordings that are open */
    double events_per_s, spans_per_s, bytes_per_s;
    uint64_t lost_events;
    uint64_t damage;    /* places of the files that could not be used */
    uint32_t cpu_count; /* of the machine where the program runs, 0 unknown */
    uint64_t refreshes;
    uint32_t
        replaced; /* how often another recording took the place of what was shown: all sums are of the newest */
    bool
        is_partial; /* of a spool: what came before since_unix_ns was gone before it could be read */
    const char *notice; /* what is not as it should be, in one line; "" */
};

void vti_live_summary(const struct vti_live *live, struct vti_live_summary *summary);

/* ---- lists: `count` items in an array that lives until the next refresh ------------------------ */

struct vti_live_usage {
    double cpu; /* cores in use, over the last second: 0.8 is 80 % of one; NaN unknown */
    uint64_t cpu_ns, user_ns; /* so far; VTI_LIVE_UNKNOWN, as all that follow */
    uint64_t memory_bytes, peak_bytes;
    uint64_t threads;
    uint64_t read_bytes, written_bytes, disk_read_bytes, disk_written_bytes;
    double read_per_s, written_per_s; /* bytes; NaN unknown */
};

/* A process, whether it records or is only seen from outside; a worker of a cluster is none of them. */
struct vti_live_process {
    uint32_t recording; /* number of the recording; VTI_LIVE_NONE */
    uint32_t id;        /* in that recording; VTI_LIVE_NONE: it records nothing */
    uint32_t pid, parent_pid;
    const char *name, *command, *host;
    bool is_running;
    int64_t start_unix_ns, end_unix_ns; /* end 0: it goes on */
    int how;                            /* as vt_process_info.how */
    uint32_t status;
    uint64_t events, spans, lost_events;
    struct vti_live_usage usage;
};

const struct vti_live_process *vti_live_processes(const struct vti_live *live, size_t *count);

struct vti_live_thread {
    uint32_t recording, track; /* number, and id in it */
    uint32_t process;          /* index in the list of processes, or VTI_LIVE_NONE */
    uint32_t tid;
    const char *name; /* or "" */
    bool is_running;
    uint64_t events, spans, lost_events;
    double spans_per_s;
    uint32_t depth;        /* spans that are open now */
    uint32_t open;         /* the innermost of them: index in the list of spans; VTI_LIVE_NONE */
    int64_t open_since_ns; /* how long it has been open by now */
    double cpu;            /* cores over the last second; NaN unknown (known with --energy only) */
};

const struct vti_live_thread *vti_live_threads(const struct vti_live *live, size_t *count);

/* Upper bounds, in nanoseconds, of the buckets that durations are counted in: 1, 2.5, 5 from 1 us to 1,000 s. */
#define VTI_LIVE_BUCKETS 29
extern const int64_t vti_live_bounds[VTI_LIVE_BUCKETS - 1]; /* the last bucket has none */

struct vti_live_times {
    uint64_t count;
    int64_t sum_ns, min_ns, max_ns; /* min and max 0 if there are none */
    uint64_t buckets
        [VTI_LIVE_BUCKETS]; /* not cumulative: those up to and including its bound, above the one before */
    int64_t p50_ns, p90_ns,
        p99_ns; /* of all, within 2 %; recent: of what ended in the last minute or so */
    int64_t recent_p50_ns, recent_p99_ns;
};

/* Spans of one name and place, of all processes together, of threads and async. */
struct vti_live_span {
    const char *name, *function, *file; /* function and file may be "" */
    uint32_t line;
    uint64_t count;   /* that have ended */
    uint64_t running; /* open now */
    uint64_t errors;
    int64_t self_ns; /* own time, without the spans inside */
    double per_s, errors_per_s;
    double
        busy; /* threads inside of it, on average over the last second (time that ended spans and open ones took, for each second) */
    struct vti_live_times times; /* of those that ended; our own cost is still in there */
};

/* By total time, the largest first. At most 4,096 different ones: what comes then is counted as "(others)". */
const struct vti_live_span *vti_live_spans(const struct vti_live *live, size_t *count);

/* Functions that are counted by call (not recorded as spans): from the trees of calls, the most own time first; at most 1,000. */
struct vti_live_function {
    const char *name, *file, *language;
    uint32_t line;
    uint64_t calls;
    double self_ns, total_ns;
    double calls_per_s; /* NaN unknown */
    double
        self_share; /* of the last second: own time of one second, all threads together; NaN unknown */
};

/* Read on demand: costs more than the others (the trees are summed up anew, at most once a second). */
const struct vti_live_function *vti_live_functions(struct vti_live *live, size_t *count);

/* ---- tasks ----------------------------------------------------------------------------------- */

#define VTI_LIVE_TASK_STATES                                                                       \
    7 /* ended ones by enum vt_task_state (venturi/task.h), from 0: unknown */

struct vti_live_task_group {
    const char *name;
    uint64_t states[VTI_LIVE_TASK_STATES]; /* that have ended */
    uint64_t retried;                      /* tries that failed, and another was made */
    uint64_t waiting, ready,
        running; /* now; a recording knows none of them by name: VTI_LIVE_UNKNOWN, a cluster all */
    double per_s;
    uint64_t bytes; /* of results, as far as known */
    struct vti_live_times times;
};

/* By time, the largest first; at most 1,024, then "(others)". */
const struct vti_live_task_group *vti_live_task_groups(const struct vti_live *live, size_t *count);

struct vti_live_task_run {
    const char *scheduler, *error; /* error "": none so far */
    uint32_t process;              /* index or VTI_LIVE_NONE */
    uint64_t planned;              /* 0 unknown */
    uint64_t ended, failed, lost;
    uint32_t workers;
    bool is_running;
    int64_t begin_unix_ns, end_unix_ns;
};

/* In order of their begin, the last 256. */
const struct vti_live_task_run *vti_live_task_runs(const struct vti_live *live, size_t *count);

struct vti_live_worker {
    const char *label, *host; /* of a cluster's worker: its name and address */
    uint32_t run;             /* index of its run; VTI_LIVE_NONE: left the list, or a cluster's */
    uint64_t pid, tid;        /* 0 unknown */
    uint32_t slots;           /* tasks that it does at once; 0 unknown */
    bool is_running;          /* its run is, or it is one of the cluster now */
    uint64_t ended, failed;
    uint64_t running, ready; /* now; VTI_LIVE_UNKNOWN */
    double
        busy; /* share of the last second in which it computed, 0 to 1 (or its slots); NaN unknown */
    uint64_t memory_bytes, memory_limit_bytes, managed_bytes, spilled_bytes; /* VTI_LIVE_UNKNOWN */
    double cpu;                                                              /* cores; NaN */
    int64_t seen_unix_ns; /* when it last said something; 0 */
    uint32_t seen_order;  /* its number in the stream of tasks */
};

/* Those that are running first; at most 1,024. */
const struct vti_live_worker *vti_live_workers(const struct vti_live *live, size_t *count);

/* One thing that a worker did, in the order in which they were told. */
struct vti_live_task {
    uint64_t number; /* 1, 2, 3 … without gaps */
    uint32_t group;  /* a number of its name, which never changes: vti_live_task_name() */
    uint32_t worker; /* a number of its worker, likewise: vti_live_worker_name(); VTI_LIVE_NONE */
    uint8_t state, action; /* enum vt_task_state, vt_task_action */
    int64_t start_unix_ns, end_unix_ns;
    uint64_t bytes;
    const char *key;
};

/* The first task kept whose number is above `after`; NULL if there is none. `count` tasks follow each other in memory: call again
 * with the last number for the rest. */
const struct vti_live_task *vti_live_stream(const struct vti_live *live, uint64_t after,
                                            size_t *count);
uint64_t vti_live_stream_last(const struct vti_live *live); /* the newest number, 0: none yet */
const char *vti_live_task_name(const struct vti_live *live, uint32_t group);
const char *vti_live_worker_name(const struct vti_live *live, uint32_t worker);

/* ---- steps ----------------------------------------------------------------------------------- */

struct vti_live_phase {
    uint64_t count;
    int64_t sum_ns, max_ns;
};

struct vti_live_step {
    const char *source, *prefix, *survey; /* survey "" if none */
    uint64_t count;                       /* of messages or batches that were dealt with … */
    uint64_t messages;                    /* … and the messages in them */
    uint64_t failed;                      /* messages of those that failed */
    uint64_t metrics;                     /* documents sent by hand */
    uint32_t processes;
    double per_s, messages_per_s, failed_per_s;
    struct vti_live_times execute; /* APF's execution_time */
    struct vti_live_phase pre, post, produce;
    struct vti_live_phase lag; /* of those whose lag is known; may be negative in sum */
    int64_t last_lag_ns;       /* INT64_MIN unknown */
    uint32_t largest_batch;
    int64_t last_unix_ns; /* when the last one was done */
};

const struct vti_live_step *vti_live_steps(const struct vti_live *live, size_t *count);

/* ---- items ----------------------------------------------------------------------------------- */

/* Work that the program counted (VT_ITEMS, venturi.items), of all processes together; `venturi report` says the same of a recording
 * that is over. */
struct vti_live_items {
    bool is_counted, has_effective; /* false also of what is no amount, as less than 0 */
    double raw;
    double effective; /* those that ran to the end; NaN: nobody said */
    double most,
        most_effective; /* that they have ever been, for counters that must not go back; NaN */
    double raw_per_s, effective_per_s; /* over the last second */
    double wall_s;                     /* that they took; NaN: of several programs */
    double joules_per_1000;            /* of the program's share; NaN */
};

void vti_live_items(const struct vti_live *live, struct vti_live_items *items);

/* ---- machine, energy, losses, cost, shipper ---------------------------------------------------- */

struct vti_live_resources {
    bool is_known;               /* something is */
    struct vti_live_usage usage; /* of all processes of the program together */
    uint64_t processes;          /* alive now; VTI_LIVE_UNKNOWN */
    double
        machine_busy; /* cores of the machine in use over the last second, ours among them; NaN */
    uint64_t available_bytes; /* memory that the machine could give */
};

void vti_live_resources(const struct vti_live *live, struct vti_live_resources *resources);

#define VTI_LIVE_PARTS 8 /* at least as many as enum vt_energy_part has */

struct vti_live_energy_part {
    bool is_known;
    const char *name; /* "cpu", "memory", … */
    const char *how;  /* "measured", "modelled", "estimated" … */
    double joules;    /* of the machine so far */
    double watts;     /* over the last readings; NaN */
};

struct vti_live_energy {
    bool is_known; /* recorded with --energy */
    size_t part_count;
    struct vti_live_energy_part parts[VTI_LIVE_PARTS];
    double joules, watts; /* of the machine, all that is added up */
    double own_joules,
        own_watts;    /* the program's share of it, as `venturi energy` has it; NaN unknown */
    double grams;     /* CO2e of the program's share, NaN: no intensity was stated */
    double intensity; /* grams a kWh; NaN */
};

void vti_live_energy(const struct vti_live *live, struct vti_live_energy *energy);

struct vti_live_loss {
    const char *reason;
    uint64_t events; /* or steps, tasks, whatever the reason says */
    bool is_lower_bound;
    bool is_wanted; /* cut away or overwritten as asked for */
};

const struct vti_live_loss *vti_live_losses(const struct vti_live *live, size_t *count);

/* What watching costs. */
struct vti_live_cost {
    double program_ns; /* what recording added to the measured program so far, by calibration; … */
    double
        program_share; /* … of its threads' time. NaN unknown: what counting calls costs is, until functions were asked for */
    double drainer_cpu; /* cores of who writes the recording; NaN unknown */
    double own_cpu;     /* cores of the calling process (server, top), over the last second */
    uint64_t own_cpu_ns, own_memory_bytes;
    int64_t refresh_ns; /* the last refresh took so long */
};

void vti_live_cost(const struct vti_live *live, struct vti_live_cost *cost);

/* What a shipper that follows the same spool says of itself (its status file); is_known false if there is none. */
struct vti_live_ship {
    bool is_known, is_running;
    const char *store; /* where it sends to, without secrets */
    uint64_t waiting, shipped, retried, dead, lost;
    uint64_t spool_bytes, spool_limit_bytes; /* VTI_LIVE_UNKNOWN */
    const char *error;                       /* last one, or "" */
};

void vti_live_ship(const struct vti_live *live, struct vti_live_ship *ship);

/* A cluster that is shown; is_known false if it is none. */
struct vti_live_cluster {
    bool is_known, is_connected;
    const char *address, *id, *version;
    const char *error; /* why it is not connected, or "" */
};

void vti_live_cluster(const struct vti_live *live, struct vti_live_cluster *cluster);

/* Recordings that are followed; those of a spool that were summed up long ago are not in the list any more. */
struct vti_live_recording {
    uint32_t number;  /* what `recording` is elsewhere */
    const char *path; /* whole */
    const char *name; /* its last part */
    bool is_closed;
    uint64_t file_bytes;
};

const struct vti_live_recording *vti_live_recordings(const struct vti_live *live, size_t *count);

#endif
