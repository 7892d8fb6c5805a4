/*
 * lines.h - the lines of functions: how often each ran and how long it took.
 *
 * Filled from a recording or from a file of line_profiler (.lprof); everything that shows or exports lines
 * starts here. Times are in `unit_s`, as those files have them: what is read and shown again loses no digit.
 * Of a recording they are whole nanoseconds, our own cost already subtracted unless raw ones were asked for.
 */
#ifndef VENTURI_ANALYZE_LINES_H
#define VENTURI_ANALYZE_LINES_H

#include "analyze/durations.h"
#include "base/hash.h"
#include "format/lines.h"
#include "venturi/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What was called from a line. Texts are owned by the table, as all of them. */
struct vti_lines_callee {
    const char *name, *file;
    uint32_t line;
    uint64_t calls;
    double time;
};

struct vti_lines_line {
    uint32_t line;
    uint32_t statement; /* the first line of its statement: itself, where nothing else is known */
    uint32_t how;       /* enum vti_line_time: what its time is worth */
    uint64_t events;    /* how often it was reached */
    uint64_t hits;      /* how often a statement began there */
    uint64_t samples;   /* that the time was estimated from */
    double time;
    double error;    /* standard error of an estimate; 0: none */
    double measured; /* `time` with our own cost, 0: the same */
    bool is_mixed;   /* code of neighbouring lines stands between its own: the time is theirs too */
    double suspended; /* in none of the other times */
    uint64_t resumes;
    double shortest, longest;         /* of one execution of the statement; NaN: unknown */
    struct vti_durations *durations;  /* owned; NULL: unknown */
    struct vti_lines_callee *callees; /* owned */
    size_t callee_count, callee_room;
};

struct vti_lines_function {
    const char *name, *file, *language;
    const char *plain; /* of C: its name without types and parameters; "" */
    uint32_t line;
    uint32_t last_line;      /* 0: unknown */
    uint32_t process, track; /* ids, VT_NONE: all of them together */
    const char *thread;      /* which that is, for people; "" */
    uint32_t twin;           /* functions that share name, file and line: 0 is the first */
    uint64_t calls;
    double total;  /* time within it, counted once where it calls itself; NaN: unknown */
    double excess; /* of its lines over it, as measured: they overlap where it calls itself */
    struct vti_lines_line *lines; /* owned; by line once the table is finished */
    size_t line_count, line_room;
};

/* The text of a file as it was when the program ran. */
struct vti_lines_source {
    const char *file;
    char *text; /* owned */
    size_t len;
};

struct vti_lines {
    double unit_s;
    bool is_file; /* read from a .lprof: without calls, statements, cost; not from a recording */
    struct vti_lines_function *functions;
    size_t function_count, function_room;
    struct vti_lines_source *sources;
    size_t source_count, source_room;
    double cost_ns;       /* what was subtracted, in all: no more than was measured, … */
    double cost_event_ns; /* … and for one line event */
    uint64_t lost_lines;
    bool has_lines_on; /* lines were to be recorded */
    bool is_estimated; /* there are estimates among the times */
    bool is_timed;     /* there are measured ones */
    bool
        has_counts; /* how often lines of C ran was counted, for all threads of a process together */
    bool is_capped;        /* of a .lprof: numbers that were too large became the largest */
    bool has_nameless;     /* there are functions of C without debug info: they are left out */
    int64_t recorded_s;    /* when it was recorded, since 1970; 0: unknown */
    struct vti_map *known; /* owned, as `texts`: keys of functions */
    struct vti_map *texts;
};

struct vti_lines_options {
    bool is_raw;   /* do not subtract our own cost */
    bool is_apart; /* one function for each thread, not one for all */
    bool is_plain; /* functions that share name, file and line are one */
    bool
        is_compat; /* each line for itself, hits are line events; else statements stand on first lines */
};

/* A file of either kind; VTI_E_NOT_RECORDING has a message that says it is none. */
int vti_lines_open(struct vti_lines *lines, const char *path,
                   const struct vti_lines_options *options);
int vti_lines_load(struct vti_lines *lines, vt_recording *recording,
                   const struct vti_lines_options *options);

/* What line_profiler 1 to 5 write. `name` is for messages. */
int vti_lines_read_lprof(struct vti_lines *lines, const char *name, const void *bytes,
                         size_t count);

/* Whether the bytes could be such a file. */
bool vti_lines_is_lprof(const void *bytes, size_t count);

/* Adds functions and sources of `from`. The larger unit is that of the sum; times become whole. 0 or negative. */
int vti_lines_add(struct vti_lines *to, const struct vti_lines *from);

/* Whether it is known how often a line ran. Of C that is counted apart from its time, and may be missing. */
bool vti_lines_has_hits(const struct vti_lines_function *function,
                        const struct vti_lines_line *line);

/* Whether anything is known about the time of a function. Lines of C may have been counted only. */
bool vti_lines_has_time(const struct vti_lines_function *function);

/* Whether so much of what was measured of a line of C was our own cost that what is left is rough. */
bool vti_lines_is_rough(const struct vti_lines_function *function,
                        const struct vti_lines_line *line);

/* What the share of a line is taken from: the sum of all its lines, but no more than the function's own time. */
double vti_lines_total(const struct vti_lines_function *function);

/* Building one by hand: init, functions, lines, finish. _fini frees in every case. */
int vti_lines_init(struct vti_lines *lines, double unit_s);
void vti_lines_fini(struct vti_lines *lines);

/* The table's own copy of a text, up to a zero byte; NULL without memory. */
const char *vti_lines_text(struct vti_lines *lines, const char *text, size_t len);

/* The function of that name, file, line, twin, process and track, added if it is new; its index, or negative.
 * Its texts are copied, its numbers are not. */
int64_t vti_lines_function(struct vti_lines *lines, const struct vti_lines_function *function);

/* One more line, or numbers of one that is there already; NULL without memory. */
struct vti_lines_line *vti_lines_line(struct vti_lines_function *function, uint32_t line);

/* Takes a callee over, texts as they are. 0 or VTI_E_NOMEM. */
int vti_lines_callee(struct vti_lines_line *line, const struct vti_lines_callee *callee);

/* Puts the lines of each function in their order, one for each number, and lets times be whole. 0 or VTI_E_NOMEM. */
int vti_lines_finish(struct vti_lines *lines);

/* Puts the functions in the order of their files and lines. 0 or VTI_E_NOMEM. */
int vti_lines_sort(struct vti_lines *lines);

/* The stored text of a file, or NULL. */
const struct vti_lines_source *vti_lines_source(const struct vti_lines *lines, const char *file);
int vti_lines_keep_source(struct vti_lines *lines, const char *file, size_t file_len,
                          const char *text, size_t len);

#endif
