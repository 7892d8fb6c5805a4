/*
 * copy.h - recordings into a new recording: what merge and slice have in common.
 *
 * All ids are given anew. Facts are copied entry by entry, events are decoded and encoded again;
 * sites are written when they are first used, equal ones once. The result appears under its name
 * when it is whole, else not at all.
 */
#ifndef VENTURI_EXPORT_COPY_H
#define VENTURI_EXPORT_COPY_H

#include "base/file.h"
#include "format/write.h"
#include "model/model.h"

struct vti_copy {
    const char *path;          /* borrowed; of the result */
    bool (*is_stopped)(void);  /* the user wants to stop; or NULL */
    struct vti_output *output; /* owned */
    struct vti_writer *writer; /* owned */
    struct vti_map *sites;     /* owned: description -> new id - 1 */
    struct vti_buf new_sites;  /* entries that wait for the next event block */
    uint32_t new_site_count;
    struct vti_map *sources;     /* owned: files whose text is that of all processes, … */
    struct vti_buf source_texts; /* … and the hash of each */
    struct vti_buf entry;        /* scratch */
    struct vti_buf key;          /* scratch */
    uint32_t host_count, domain_count, process_count, track_count, tree_count;
    uint64_t overwritten; /* events that gave way as asked, in losses written so far */
};

/* Old ids to new ones, which are the next free ones of the copy. */
struct vti_renumber {
    struct vti_ids ids;
    uint32_t *numbers; /* owned; beside the ids */
    size_t capacity;
    uint32_t *next; /* borrowed; the next free one */
    bool failed;    /* memory was short */
};

/* Sites of an input and their new numbers. */
struct vti_copy_sites {
    struct vti_ids ids;
    uint32_t *numbers; /* owned; beside the ids */
    size_t capacity;
};

/* What all ids of an input have become. Files of one run of a spool have one: their ids are those of the run. */
struct vti_copy_numbers {
    struct vti_renumber hosts, domains, processes, tracks, trees;
    struct vti_copy_sites sites;
};

/* What a slice begins with: async spans that are open there, and what was said when they began. Text is the recording's. */
struct vti_carried {
    uint32_t track;
    struct vti_event event; /* without its time */
};

/* One recording that is copied. Zero it, set what comes first, then call _input_start. */
struct vti_copy_input {
    vt_recording *recording; /* borrowed */
    int64_t from_ns, to_ns;  /* what overlaps is copied; INT64_MIN and INT64_MAX: all */
    bool is_alone;           /* its first clock domain is the result's */
    /* Spans that were open when a file of a spool began are told again there; up to this tick they are in an input before. */
    uint64_t told_until;
    struct vti_copy_numbers *numbers; /* borrowed, of an input before; or NULL: its own */
    struct vti_copy_numbers own;
    uint32_t first_host;            /* hosts below were written for earlier inputs */
    struct vti_buf carried;         /* of struct vti_carried */
    uint64_t copied;                /* events */
    uint64_t cut_before, cut_after; /* events outside of the range */
    uint64_t damaged;               /* events known to be in damaged blocks */
};

int vti_copy_open(struct vti_copy *copy, const char *path, bool force, bool (*is_stopped)(void));

int vti_copy_input_start(struct vti_copy *copy, struct vti_copy_input *input);
void vti_copy_input_fini(struct vti_copy_input *input);

uint32_t vti_renumber(struct vti_renumber *renumber, uint32_t id);

/* Gives an id that was not asked for yet a number that is in use already. */
void vti_renumber_as(struct vti_renumber *renumber, uint32_t id, uint32_t number);

bool vti_copy_is_carried(const struct vti_copy_input *input,
                         uint32_t track); /* an async span of it */

/* In this order: all facts but META and sites, then the events of all tracks. */
int vti_copy_facts(struct vti_copy *copy, struct vti_copy_input *input);
int vti_copy_events(struct vti_copy *copy, struct vti_copy_input *input);

/* The new number of a site, described if it is new; those descriptions are written by _sites_write, which must
 * come before the first block that uses them. */
int vti_copy_site(struct vti_copy *copy, struct vti_copy_input *input, uint32_t old, uint32_t *id);
int vti_copy_sites_write(struct vti_copy *copy);

/* A block of a new track from the entries that have gathered in copy->entry, if there are any, after the sites. */
int vti_copy_owned_write(struct vti_copy *copy, enum vti_kind kind, uint32_t track, uint64_t last,
                         uint32_t *count);

/* What belongs to one track, entry by entry: each is put into copy->entry, and counted by _add, which writes a block when it
 * is full; the last one is written by _end. */
struct vti_copy_track {
    struct vti_copy *copy;
    struct vti_copy_input *input;
    uint32_t track; /* new */
    uint64_t last;  /* ticks */
};
void vti_copy_track_start(struct vti_copy_track *to, uint32_t at); /* of the input's facts */
int vti_copy_track_add(const struct vti_copy_track *to, enum vti_kind kind, uint32_t *count);
int vti_copy_track_end(const struct vti_copy_track *to, enum vti_kind kind, uint32_t *count);

/* Trees of calls and what they cost; not of a slice. After the facts. */
int vti_copy_calls(struct vti_copy *copy, struct vti_copy_input *input);

/* Lines and sources; likewise. */
int vti_copy_lines(struct vti_copy *copy, struct vti_copy_input *input);

/* Imported function tables; likewise. */
int vti_copy_profile(struct vti_copy *copy, struct vti_copy_input *input);

/* Readings of resources, of the time that is copied. After the facts. */
int vti_copy_resources(struct vti_copy *copy, struct vti_copy_input *input);

/* Readings of the meter and CPU time of threads, likewise; after the resources, whose trees they are of. */
int vti_copy_energy(struct vti_copy *copy, struct vti_copy_input *input);

/* Runs of task graphs, their tasks of the time that is copied. After the facts; the tasks count as copied. */
int vti_copy_tasks(struct vti_copy *copy, struct vti_copy_input *input);

/* Messages of steps, likewise. */
int vti_copy_steps(struct vti_copy *copy, struct vti_copy_input *input);

int vti_copy_meta(struct vti_copy *copy, const struct vti_meta_fact *meta);
int vti_copy_link(struct vti_copy *copy, const struct vti_clock_link_fact *link);

/* A loss as it is written: those that `slice` makes count in no total. */
int vti_copy_loss(struct vti_copy *copy, const struct vti_loss_fact *loss);

/* Ends the recording and gives it its name; frees everything in every case. Lost events in `stats`
 * are without those that gave way as asked. */
int vti_copy_commit(struct vti_copy *copy, struct vti_writer_stats *stats);
void vti_copy_abandon(struct vti_copy *copy);

#endif
