/*
 * rank.h - which trace names took the most time, from a trace log or a recording.
 *
 * A log is read as it comes, in pieces of any size: memory grows with the number of names and, for
 * the wide figures, of spans open at one time, never with the number of lines. Times are seconds.
 */
#ifndef VENTURI_ANALYZE_RANK_H
#define VENTURI_ANALYZE_RANK_H

#include "venturi/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VTI_LOG_LINE_MOST (1u << 20) /* longer lines are skipped */

struct vti_rank;

struct vti_rank_options {
    bool is_wide;   /* also min, p50, p99, self, unfinished */
    bool is_compat; /* log: repeat the mistakes of Mistral's script */
    bool is_raw;    /* recording: times as measured, our own cost left in */
};

struct vti_rank_row {
    const char *name; /* any bytes, terminated by one that len excludes; belongs to the rank */
    size_t len;
    uint64_t count; /* finished spans of a log, all spans of a recording */
    double total, max, avg;
    double min, p50, p99, self; /* wide; percentiles within 1 % */
    uint64_t unfinished;        /* wide: begun, not ended */
    uint64_t errors;            /* recordings */
};

/* What a log held. Line numbers begin with 1; 0: no such line. */
struct vti_rank_lines {
    uint64_t read, starts, stops; /* stops: those that were counted */
    uint64_t unusable, first_unusable;
    const char *reason;                /* why the first unusable line was; NULL if all were used */
    uint64_t negative, first_negative; /* durations below zero, left out */
    uint64_t orphans;                  /* wide: stops whose start is not in the log */
};

/* 0 or VTI_E_NOMEM. */
int vti_rank_create(struct vti_rank **rank, const struct vti_rank_options *options);
void vti_rank_free(struct vti_rank *rank);

/* Reads all of `path` ("-": standard input), whichever of the two it is. A file with nothing
 * usable in it is VTI_E_EMPTY; with is_compat a line on which the script fails is VTI_E_DAMAGED. */
int vti_rank_file(struct vti_rank *rank, const char *path);

/*
 * A log in pieces: room for at least one byte, how many were put there, the end. The end counts a
 * last line that has no newline. Failures: VTI_E_NOMEM, VTI_E_DAMAGED as above (messages name no
 * file).
 */
char *vti_rank_log_room(struct vti_rank *rank, size_t *room);
int vti_rank_log_filled(struct vti_rank *rank, size_t count);
int vti_rank_log_end(struct vti_rank *rank);

/* The same for a recording that is open; it stays the caller's. */
int vti_rank_opened(struct vti_rank *rank, vt_recording *recording);

/* A row that somebody else has summed up, a store for example; times that it does not know are NaN. Ranked as those of a recording. 0 or
 * VTI_E_NOMEM. */
int vti_rank_add(struct vti_rank *rank, const struct vti_rank_row *row);

bool vti_rank_is_recording(const struct vti_rank *rank);
void vti_rank_lines(const struct vti_rank *rank, struct vti_rank_lines *lines);

/* What a recording had to say about itself, for a warning: damaged ranges and lost events. */
struct vti_rank_trust {
    uint32_t damage_count;
    uint64_t damage_begin, damage_end; /* of the first, offsets in the file */
    uint64_t lost_events;
    uint64_t missing_processes;
    uint64_t overwritten_events; /* gave way as asked, with --ring */
    uint64_t untimed;            /* async spans, those of traces, that never ended: stats_timed.h */
};
void vti_rank_trust(const struct vti_rank *rank, struct vti_rank_trust *trust);

enum vti_rank_key {
    VTI_RANK_TOTAL,
    VTI_RANK_MAX,
    VTI_RANK_AVG,
    VTI_RANK_COUNT,
    VTI_RANK_NAME,
    VTI_RANK_MIN,
    VTI_RANK_P50,
    VTI_RANK_P99,
    VTI_RANK_SELF
};

/* Largest first (names: in order of their bytes); equal ones in the order in which they
 * appeared. */
int vti_rank_sort(struct vti_rank *rank, enum vti_rank_key key);

size_t vti_rank_count(const struct vti_rank *rank);
void vti_rank_row(const struct vti_rank *rank, size_t at, struct vti_rank_row *row);

#endif
