/*
 * state.h - the inside of a live state: what is summed up, and the recordings that it comes from.
 *
 * For the files of this folder. A source is one recording that is followed; what is found in it goes to the tables here, which are of
 * all sources together. Everything that comes from a file is untrusted: numbers index nothing before they were looked up, tables are
 * bounded.
 */
#ifndef VENTURI_LIVE_STATE_H
#define VENTURI_LIVE_STATE_H

#include "analyze/energy.h"
#include "format/energy.h"
#include "format/resources.h"
#include "format/tasks.h"
#include "live/charge.h"
#include "live/live.h"
#include "live/metrics_exemplars.h"
#include "live/names.h"
#include "live/rate.h"
#include "live/selves.h"
#include "live/times.h"
#include "model/match.h"
#include "model/step_log.h"
#include "watch/family.h"

#include <sys/stat.h>

#define VTI_LIVE_SPANS_MOST 4096
#define VTI_LIVE_GROUPS_MOST 1024
#define VTI_LIVE_RUNS_MOST 256
#define VTI_LIVE_WORKERS_MOST 1024
#define VTI_LIVE_STEPS_MOST 1024
#define VTI_LIVE_STEP_PROCESSES_MOST 100000 /* of all steps together: beyond, nobody counts */
#define VTI_LIVE_SOURCES_MOST 1024          /* of a folder; what is left of the oldest are sums */
#define VTI_LIVE_OPEN_MOST 32               /* recordings that are done and still open */
#define VTI_LIVE_READ_MOST 64               /* that are summed up at once; the others wait */
#define VTI_LIVE_ASYNC_MOST 1000000         /* open at once, of one recording */
#define VTI_LIVE_READINGS 16
#define VTI_LIVE_FOLDER_LOOK_NS 500000000 /* between two looks into a folder */

/* ---- tables of the state ----------------------------------------------------------------------- */

struct vti_live_group { /* of spans */
    const char *name, *function, *file;
    uint32_t line;
    uint64_t errors, running;
    int64_t self_ns;
    uint32_t shown_at; /* place in the list of spans plus one */
    int64_t open_ns;   /* of what is open now: how long so far, all together */
    struct vti_times times;
    struct vti_exemplars *exemplars; /* owned, or NULL: of those of traces */
    struct vti_rate count_rate, error_rate, busy_rate;
};

struct vti_live_tasks { /* of one name */
    const char *name;
    uint64_t states[VTI_LIVE_TASK_STATES];
    uint64_t retried, ended, bytes;
    uint64_t waiting, ready, running;
    struct vti_times times;
    struct vti_rate rate;
};

struct vti_live_run {
    uint32_t source, process, number; /* index; ids */
    const char *scheduler, *error;
    uint64_t planned, ended, failed, lost;
    uint32_t workers;
    int64_t begin_unix_ns, end_unix_ns;
    bool has_ended;
};

struct vti_live_seat { /* a worker */
    uint64_t owner;    /* source and process */
    uint32_t run; /* the last one: a number that goes up, runs that left the list keep theirs */
    uint32_t number;
    const char *label, *host;
    const char
        *lane; /* of a cluster: a thread of its worker, which only the stream knows; else "" */
    uint64_t pid, tid;
    uint64_t ended, failed, running, ready;
    uint64_t busy_ns; /* of tasks that it ended */
    uint64_t memory_bytes, memory_limit_bytes, managed_bytes, spilled_bytes;
    uint32_t slots;
    double cpu;
    bool is_there; /* of a cluster */
    int64_t seen_unix_ns;
    struct vti_rate busy_rate;
};

struct vti_live_step_sum {
    const char *source, *prefix, *survey;
    uint64_t count, messages, failed, metrics;
    struct vti_times execute;
    struct vti_live_phase pre, post, produce, lag;
    int64_t last_lag_ns, last_unix_ns;
    uint32_t largest_batch;
    uint32_t processes;
    struct vti_rate count_rate, message_rate, failed_rate;
};

struct vti_live_tally { /* of items */
    bool is_counted;
    double sum, most; /* now, and the largest that it has been */
    struct vti_rate rate;
};

/* A list that is made anew by each refresh. */
struct vti_live_list {
    void *items; /* owned */
    size_t count, room;
};

/* ---- a source ---------------------------------------------------------------------------------- */

/* Readings of a process or tree, the newest last. */
struct vti_readings {
    struct {
        int64_t time_ns;
        uint64_t cpu_ns, read, written, machine_ns;
    } ring[VTI_LIVE_READINGS];
    unsigned at, count;
    uint32_t known;
    uint64_t values[VTI_RESOURCE_COUNT];
    uint64_t peak_bytes;
    int64_t last_ns;
};

struct vti_watched_process { /* what RESOURCES says of one */
    uint32_t tree, number, pid, parent, process_plus_one;
    const char *name, *command;
    uint64_t start, end; /* ticks */
    struct vti_readings readings;
};

struct vti_energy_now { /* of one meter */
    uint32_t tree, domain;
    uint64_t memory_bytes; /* that the machine has; 0: unknown */
    struct {
        bool is_defined, has_last;
        uint32_t part, how, inside_plus_one;
        uint64_t microjoules; /* as last known */
        double joules;        /* from the first reading on */
    } sources[VTI_ENERGY_SOURCES_MAX];
    struct vti_charge charge; /* the program's part of them, … */
    double own_joules;        /* … as it was shown last: a counter never becomes less */
    struct {
        int64_t time_ns;
        double joules, own_joules, parts[VTI_LIVE_PARTS];
    } ring[VTI_LIVE_READINGS];
    unsigned at, count;
};

struct vti_source_track {
    struct vti_matcher *matcher; /* owned; NULL: no block has come, or none will */
    uint64_t next_block;
    uint32_t *groups; /* owned; of the matcher's slots, plus one */
    size_t group_room, group_count;
    uint64_t events, spans;
    uint64_t cpu_ns;
    bool has_cpu;
    struct vti_rate span_rate, cpu_rate;
};

struct vti_source {
    struct vti_live *live;   /* borrowed */
    vt_recording *recording; /* owned; NULL: it is gone, or its sums are all that is kept */
    char *path;              /* owned */
    int fd;                  /* owned: the file also when its name is gone; -1 */
    uint32_t number;
    bool is_caught_up;
    uint8_t head[VTI_FILE_HEADER_BYTES]; /* of the file: says which recording it is */
    struct stat about;                   /* of the file of that name, at the last look at it … */
    bool is_replaced, is_cut_off; /* … which showed another recording, or less of this one */
    bool is_growing, is_done;     /* is_done: nothing more will come, all is summed up */
    pid_t writer;                 /* 0: unknown */
    int64_t looked_ns, grown_ns;  /* when its writer was looked for; when it last grew */
    uint64_t file_bytes;
    int64_t now_ns;   /* since its start; while it grows */
    uint64_t fact_at; /* where blocks of facts go on: an offset, or a place in END's list */
    uint64_t blocks_done, blocks_all;
    struct vti_source_track **tracks; /* owned; beside those of the recording */
    size_t track_count, track_room;
    struct vti_asyncs asyncs;
    struct vti_ids async_sites;
    uint32_t *async_groups; /* owned; of the sites above, plus one */
    size_t async_room;
    struct vti_step_log steps;
    bool has_steps;
    struct vti_task_codec codec;
    struct vti_watched_process *watched; /* owned */
    size_t watched_count, watched_room;
    struct vti_map *watched_map; /* owned: by tree and number */
    uint32_t *watched_at;        /* owned: of the recording's processes, plus one … */
    size_t watched_at_room;
    size_t shown_first;                /* … and where those are in what is shown */
    struct vti_readings total;         /* of the first tree that was met … */
    uint32_t total_tree, total_domain; /* … which has this number, and this clock */
    bool has_total;
    int64_t read_from_unix_ns, read_to_unix_ns; /* its first and last reading; 0: none */
    struct vti_charge_points *points;           /* owned, or NULL: of the same tree */
    struct vti_footing footing;                 /* what was stated of its power … */
    bool has_footing;                           /* … once somebody asked */
    struct vti_energy_now *meters;              /* owned */
    size_t meter_count, meter_room;
    uint64_t lost_steps;
    int64_t trees_unix_ns; /* when the newest trees of calls were made; 0: there are none */
    uint64_t lost_events, damage;
};

struct vti_arrivals;
struct vti_dask;
struct vti_function_table;

struct vti_live {
    enum vti_live_kind kind;
    char *target, *path; /* owned */
    const char *title;   /* one of `names`, or the above */
    uint32_t stream_max;
    struct vti_names names;
    struct vti_source **sources; /* owned, each too */
    size_t source_count, source_room;
    uint64_t gone_lost_events, gone_damage; /* of sources that have left the list */
    uint32_t source_number;
    int64_t folder_looked_ns;
    struct vti_map *seen; /* owned: files of a folder that were opened, or could not be */
    bool is_of_process;   /* the path was found, not given */
    uint32_t replaced;    /* how often another recording has taken the place of what was shown */
    char notice[300];     /* what is not as it should be, in one line; "" */
    bool is_partial;      /* the run had files before those that were read */
    bool has_waiting;     /* files that have not been opened yet */
    struct vti_arrivals *arrivals; /* owned, or NULL: tells of new files in the folder */
    char **awaited; /* owned, each too: names of files that have not been opened yet */
    size_t awaited_count, awaited_room;
    uint64_t missed, shown_missed; /* files that were gone before they could be opened */
    struct vti_beat beat;
    int64_t now_ns, now_unix_ns, turned_ns; /* monotonic; of the clock; when recent times turned */
    unsigned older;
    bool is_caught_up;
    double caught_up;
    uint64_t refreshes;
    int64_t refresh_ns;
    int64_t last_unix_ns, start_unix_ns;
    int64_t first_unix_ns; /* of what was summed up, once all that was there is; then it stays */
    bool has_first;
    uint64_t events, spans, errors, file_bytes, tasks_ended;
    double program_ns,
        program_wall_ns;    /* what recording cost the program, and how long its threads ran */
    double program_life_ns; /* how long they have lived */
    uint32_t cpu_count;
    struct vti_rate event_rate, span_rate, byte_rate;
    /* Sums: */
    struct vti_selves *selves; /* owned, or NULL: spans of traces whose own time is not known yet */
    struct vti_map *group_map;
    struct vti_live_group *groups;
    size_t group_count, group_room;
    struct vti_map *task_map;
    struct vti_live_tasks *tasks;
    size_t task_count, task_room;
    struct vti_live_run *runs;
    size_t run_count, run_room;
    uint32_t first_run; /* number of runs[0] */
    struct vti_live_seat *seats;
    size_t seat_count, seat_room;
    struct vti_live_task *stream; /* owned ring */
    char **keys;                  /* owned; beside it */
    uint64_t stream_last;
    struct vti_map *step_map;
    struct vti_live_step_sum *steps;
    size_t step_count, step_room;
    struct vti_map *step_processes; /* owned: a step and a process that it was seen in */
    uint64_t step_documents;
    struct vti_live_tally items, effective;
    int64_t items_since_unix_ns; /* when these began anew, 0: never; and what had been used then */
    double items_since_joules;
    /* What is shown: */
    struct vti_live_list processes, threads, span_list, functions, task_groups, task_runs, workers,
        step_list, losses, recordings;
    struct vti_live_resources resources;
    struct vti_live_energy energy;
    struct vti_live_cost cost;
    struct vti_live_ship ship;
    int64_t losses_ns, ship_ns;
    bool had_drainer;
    struct vti_function_table *function_table; /* owned; functions.c */
    uint64_t own_cpu_ns;
    struct vti_rate own_cpu_rate, drainer_rate;
    /* A process that nobody records: */
    struct vti_proc_source proc;
    struct vti_family family;
    struct vti_machine machine;
    bool has_family;
    struct vti_source *outside; /* owned: readings of it */
    pid_t pid;
    int64_t
        boot_unix_ns; /* when the machine was started, asked once: starts of processes stay what they were */
    struct vti_dask *dask; /* owned, or NULL */
};

/* ---- between the files ------------------------------------------------------------------------- */

/* source.c */
int vti_source_open(struct vti_source **source, struct vti_live *live, const char *path);
void vti_source_close(struct vti_source *source);
void vti_source_rest(
    struct vti_source
        *source); /* one that is done: its recording is closed, what was shown of it goes */
int vti_source_refresh(struct vti_source *source); /* takes the file in; sums nothing up */

/* Sums up until `until_ns` (monotonic; INT64_MAX: to the end). 1: it is caught up; 0: not yet; or a negative code. */
int vti_source_sum(struct vti_source *source, int64_t until_ns);
int64_t vti_source_unix(const struct vti_source *source, int64_t ns);

/* Whether both are files of one run of a spool. */
bool vti_source_is_same_run(const struct vti_source *a, const struct vti_source *b);

/* source_spans.c */
int vti_source_take_block(struct vti_source *source, uint32_t track_at);
struct vti_source_track *vti_source_track_at(struct vti_source *source, uint32_t at);
void vti_source_tracks_fini(struct vti_source *source);
void vti_source_settle_track(struct vti_source *source, uint32_t at);
void vti_source_count_open(struct vti_source *source);
void vti_live_settle_selves(struct vti_live *live);

/* source_facts.c: a block of facts. 0 or VTI_E_NOMEM */
int vti_source_take_fact(struct vti_source *source, const struct vti_block_header *header,
                         const uint8_t *payload);
int vti_source_take_tasks(struct vti_source *source, const struct vti_block_header *header,
                          struct vti_reader *in);
int vti_source_take_resources(struct vti_source *source, const struct vti_block_header *header,
                              struct vti_reader *in);
int vti_source_take_energy(struct vti_source *source, const struct vti_block_header *header,
                           struct vti_reader *in);
/* Whether a source counts for its part: it is in none, or in one of another part. */
bool vti_meter_is_of_part(const struct vti_energy_now *meter, unsigned number);

/* After the last block of a recording that is over. */
int vti_source_settle_energy(struct vti_source *source);
int vti_source_take_cpu(struct vti_source *source, const struct vti_block_header *header,
                        struct vti_reader *in);
int vti_source_take_steps(struct vti_source *source, int64_t until_ns);
int64_t vti_source_ns(const struct vti_source *source, uint32_t domain, uint64_t ticks);

/* items.c */
void vti_source_take_counter(struct vti_source *source, const struct vti_event *event);
uint64_t vti_tally_whole(const struct vti_live_tally *tally); /* for its rate */
void vti_live_items_reset(struct vti_live *live);

/* readings.c */
void vti_readings_add(struct vti_readings *readings, int64_t time_ns, uint32_t known,
                      const uint64_t *values);
/* `tree`: of all processes together, which is read also when this one did nothing (the same: it is that). */
void vti_readings_usage(const struct vti_readings *readings, const struct vti_readings *tree,
                        bool is_now, struct vti_live_usage *usage);
double vti_readings_machine(const struct vti_readings *readings); /* cores in use; NaN */
void vti_usage_unknown(struct vti_live_usage *usage);

/* groups.c: tables of sums. Index, or a negative code. */
int64_t vti_live_group(struct vti_live *live, const char *name, const char *function,
                       const char *file, uint32_t line);
int64_t vti_live_task_group_at(struct vti_live *live, const char *name, size_t len);
int64_t vti_live_step_at(struct vti_live *live, const char *source, const char *prefix,
                         const char *survey);
struct vti_live_run *vti_live_run_at(struct vti_live *live, uint32_t source, uint32_t process,
                                     uint32_t number);
struct vti_live_seat *vti_live_seat_at(struct vti_live *live, const struct vti_live_run *run,
                                       uint32_t number, uint32_t *at);
int vti_live_stream_add(struct vti_live *live, const struct vti_live_task *task, const char *key,
                        size_t key_len);
void vti_live_note_times(struct vti_live *live, int64_t begin_unix_ns, int64_t end_unix_ns);
void vti_live_tables_fini(struct vti_live *live);
void vti_live_tables_reset(struct vti_live *live);

/* show.c: lists from sums */
int vti_live_show(struct vti_live *live);
int vti_live_show_machine(struct vti_live *live);                 /* show_machine.c */
int vti_live_show_tasks(struct vti_live *live);                   /* show_tasks.c */
void *vti_live_list_add(struct vti_live_list *list, size_t item); /* zeroed, or NULL */

/* replaced.c */
/* Looks whether the name of a file, or of one in a folder, has become that of another recording. 1: all has begun anew with that,
 * or there is something new to be said about it; 0; VTI_E_NOMEM. */
int vti_live_follow_name(struct vti_live *live);
bool vti_live_is_replaced(struct vti_live *live); /* and nobody has begun anew yet */
bool vti_live_is_young(const char *path);         /* it was written to a moment ago */

/* target.c */
int vti_live_find_target(struct vti_live *live);
int vti_live_look_at_folder(struct vti_live *live);
void vti_live_folder_fini(struct vti_live *live);

/* outside.c: a process that nobody records */
int vti_live_outside_open(struct vti_live *live, pid_t pid);
void vti_live_outside_close(struct vti_live *live);
int vti_live_outside_refresh(struct vti_live *live);
int vti_live_outside_show(struct vti_live *live);

/* functions.c */
void vti_live_functions_fini(struct vti_live *live);
void vti_live_functions_reset(struct vti_live *live);
/* What counting calls costs is added; NaN where nobody has asked for functions yet. */
void vti_live_functions_cost(const struct vti_live *live, struct vti_live_cost *cost);

/* dask.c */
int vti_live_dask_open(struct vti_live *live);
void vti_live_dask_close(struct vti_live *live);
int vti_live_dask_refresh(struct vti_live *live, int64_t budget_ns);

#endif
