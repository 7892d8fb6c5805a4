/*
 * venturi/read.h - open a recording, walk through it, ask for a window or for statistics.
 *
 * Part of libventuri-read. A recording may be finished, still growing, or cut off by a crash;
 * damaged parts are skipped and reported, never trusted. Times are nanoseconds since the start of
 * the recording (vt_recording_info.start_realtime_ns tells when that was), already converted from
 * each clock domain. A recording is used by one thread at a time; several may be open at once. The
 * file is mapped: if another program cuts it off while it is open, reading what is missing raises
 * SIGBUS.
 *
 * Functions that can fail return 0 or a negative code; vt_read_error() then says what and where.
 */
#ifndef VENTURI_READ_H
#define VENTURI_READ_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VT_READ_API __attribute__((visibility("default")))

typedef struct vt_recording vt_recording;
typedef struct vt_cursor vt_cursor;

#define VT_NONE UINT32_MAX /* no such track, process or site; in a filter: all */

/* What went wrong in this thread's last call that failed, one line that names file and place. */
VT_READ_API const char *vt_read_error(void);
VT_READ_API const char *vt_read_hint(void); /* what to do about it, or "" */

/* ---- opening --------------------------------------------------------------------------------- */

VT_READ_API int vt_recording_open(vt_recording **recording, const char *path);
VT_READ_API void vt_recording_close(vt_recording *recording);

/* Takes in what was appended since; returns the number of new blocks, or a negative code.
 * Cursors must be closed before: one that is not only gives an error from then on. */
VT_READ_API int vt_recording_refresh(vt_recording *recording);

struct vt_recording_info {
    const char *path;
    uint8_t id[16];
    bool is_closed; /* has its end and index; else growing, or its writer was stopped */
    uint64_t file_bytes;
    uint64_t event_count; /* in intact blocks */
    uint64_t span_count;  /* of threads, in intact blocks; those open at the start of one too */
    uint64_t lost_events; /* as recorded: buffers full, disk full, … */
    uint64_t block_count;
    uint64_t unknown_blocks;   /* of kinds this version does not know; skipped */
    int64_t start_realtime_ns; /* since 1970 UTC */
    int64_t duration_ns;       /* first to last event or process boundary */
    uint32_t process_count;
    uint32_t track_count;
    uint32_t site_count;
    uint32_t host_count;
    uint32_t loss_count;
    uint32_t damage_count;
    const char *writer_version; /* "" if unknown */
    const char *policy;         /* "drop", "ring", "block" or "" */
    const char *directory;      /* where the command was started, or "" */
    const char *command;        /* shell-readable, or "" */
    const char *clock;          /* "tsc", "monotonic", "arm", of the first domain */
    double ticks_per_ns;        /* of the first domain */
};

VT_READ_API void vt_recording_info(const vt_recording *recording, struct vt_recording_info *info);

/* ---- facts: index from 0 to the count in the info; false past it ----------------------------- */

struct vt_host_info {
    uint32_t id;
    const char *name, *os, *cpu;
    uint32_t cpu_count;
    int64_t offset_ns; /* applied to this host's wall clock by clock links */
    int64_t error_ns;  /* uncertainty of that */
};

struct vt_process_info {
    uint32_t id;
    uint32_t host;
    uint32_t pid, parent_pid;
    uint32_t parent;          /* process id, or VT_NONE */
    int64_t start_ns, end_ns; /* end: that of its last event if it was not seen to end */
    enum { VT_END_UNKNOWN, VT_END_EXIT, VT_END_SIGNAL, VT_END_EXEC } how;
    uint32_t status; /* exit code or signal number */
    const char *name, *command;
    double pair_ns;  /* what one begin and end add to the surrounding span */
    double inner_ns; /* what an empty span shows */
};

struct vt_track_info {
    uint32_t id;
    uint32_t process;
    uint32_t tid;
    const char *name;
    int64_t start_ns, end_ns;
    uint64_t event_count, span_count, lost_events;
    uint32_t deepest;
};

enum vt_site_type {
    VT_SITE_SPAN,
    VT_SITE_COUNTER,
    VT_SITE_MARK,
    VT_SITE_KEY,
    VT_SITE_FUNCTION,
    VT_SITE_STEP /* name: its class, function: prefix of its index, unit: its survey */
};

struct vt_site_info {
    uint32_t id;
    enum vt_site_type type;
    const char *name, *function, *file, *unit;
    uint32_t line;
};

struct vt_loss_info {
    const char *reason;      /* "buffers full", … */
    uint32_t process, track; /* ids, or VT_NONE */
    uint64_t events;
    bool is_lower_bound;
    int64_t begin_ns, end_ns;
};

struct vt_damage_info {
    uint64_t begin_offset, end_offset; /* in the file */
    const char *what; /* "block checksum differs", "cut off in the middle of a block", … */
};

VT_READ_API bool vt_recording_host(const vt_recording *recording, uint32_t at,
                                   struct vt_host_info *host);
VT_READ_API bool vt_recording_process(const vt_recording *recording, uint32_t at,
                                      struct vt_process_info *process);
VT_READ_API bool vt_recording_track(const vt_recording *recording, uint32_t at,
                                    struct vt_track_info *track);
VT_READ_API bool vt_recording_site(const vt_recording *recording, uint32_t at,
                                   struct vt_site_info *site);
VT_READ_API bool vt_recording_loss(const vt_recording *recording, uint32_t at,
                                   struct vt_loss_info *loss);
VT_READ_API bool vt_recording_damage(const vt_recording *recording, uint32_t at,
                                     struct vt_damage_info *damage);

/* By id, as events carry it; an id nobody defined gives a made-up entry ("site 12") and true. */
VT_READ_API bool vt_recording_site_by_id(const vt_recording *recording, uint32_t id,
                                         struct vt_site_info *site);
VT_READ_API bool vt_recording_track_by_id(const vt_recording *recording, uint32_t id,
                                          struct vt_track_info *track);
VT_READ_API bool vt_recording_process_by_id(const vt_recording *recording, uint32_t id,
                                            struct vt_process_info *process);

/* ---- walking through ------------------------------------------------------------------------- */

struct vt_filter {
    int64_t from_ns; /* inclusive */
    int64_t to_ns;   /* exclusive; INT64_MAX: to the end */
    uint32_t track;  /* VT_NONE: all, in order of time */
};

enum vt_event_kind {
    VT_EVENT_BEGIN = 1,
    VT_EVENT_END,
    VT_EVENT_MARK,
    VT_EVENT_COUNTER,
    VT_EVENT_ATTR,
    VT_EVENT_ERROR,
    VT_EVENT_ASYNC_BEGIN,
    VT_EVENT_ASYNC_END,
    VT_EVENT_ASYNC_ATTR,
    VT_EVENT_LOSS
};

enum { VT_FLAG_IN_GAP = 1, VT_FLAG_ABANDONED = 2, VT_FLAG_FAILED = 4 };

struct vt_text {
    const char *data; /* not terminated; valid until the next call on the cursor */
    size_t len;
};

struct vt_value {
    enum { VT_VALUE_NONE, VT_VALUE_INT, VT_VALUE_UINT, VT_VALUE_DOUBLE, VT_VALUE_TEXT } type;
    int64_t i;
    uint64_t u;
    double d;
    struct vt_text text;
};

struct vt_event {
    int64_t time_ns;
    uint64_t ticks;
    enum vt_event_kind kind;
    unsigned flags;
    uint32_t track;
    uint32_t site;  /* for an end: the site of the span that ends */
    uint32_t depth; /* spans open around it */
    uint64_t async_id;
    struct vt_value value;
    struct vt_text error_type, error_message;
    const char *loss_reason;
    uint64_t loss_events;
    int64_t loss_ns; /* length of the gap that ends here */
    bool has_trace;  /* an async begin that has ids: */
    uint8_t trace_base[16], trace_span[16], trace_parent[16];
};

VT_READ_API int vt_cursor_open(vt_cursor **cursor, vt_recording *recording,
                               const struct vt_filter *filter);
VT_READ_API int vt_cursor_next(vt_cursor *cursor,
                               struct vt_event *event); /* 1, 0 at the end, negative */
VT_READ_API void vt_cursor_close(vt_cursor *cursor);

struct vt_attr {
    uint32_t key; /* site id of the key */
    struct vt_value value;
    bool is_of_begin; /* of an async span: said when it began, else while it ran or when it ended */
};

struct vt_span {
    uint32_t track;
    uint32_t site;
    uint32_t depth;
    unsigned flags; /* VT_FLAG_… */
    int64_t begin_ns;
    int64_t end_ns;       /* raw */
    int64_t self_ns;      /* raw: without the spans inside */
    int64_t corrected_ns; /* duration without our own cost */
    int64_t corrected_self_ns;
    uint64_t inside;   /* spans inside, at any depth */
    uint64_t async_id; /* 0: a span of a thread */
    bool is_finished;  /* false: no end was recorded; end_ns is that of its track */
    bool has_error;
    struct vt_text error_type, error_message;
    const struct vt_attr *attrs;
    uint32_t attr_count;
    uint32_t parent_site;   /* of the span around it, or VT_NONE */
    bool has_trace;         /* an async span of a trace; ids in the order of a UUID's digits: */
    uint8_t trace_base[16]; /* the trace */
    uint8_t trace_span[16]; /* the span itself */
    uint8_t trace_parent
        [16]; /* equal to the base: a root. The first half is zero where only a short id was known */
};

/* Calls `each` for every span that overlaps the filter, in the order in which they end, track by
 * track, then for async ones, in the order in which they end. What the span points at lives
 * during the call. Stops early when `each` returns non-zero and returns that. */
VT_READ_API int vt_recording_spans(vt_recording *recording, const struct vt_filter *filter,
                                   int (*each)(const struct vt_span *span, void *arg), void *arg);

/* ---- a picture of a window ------------------------------------------------------------------- */

struct vt_rect {
    uint32_t track;
    uint32_t depth;
    uint32_t site;  /* of the one span, or of the longest folded one */
    uint32_t count; /* 1: exactly this span; more: about so many short spans folded together */
    int64_t begin_ns;
    int64_t end_ns;
};

struct vt_window {
    int64_t from_ns, to_ns;
    uint32_t pixels;
    struct vt_rect
        *rects; /* by track, then depth, then time; times as recorded, but a span that lasts
                              well beyond the window may end with it */
    size_t rect_count;
    uint32_t track_count;
    uint32_t
        *tracks; /* ids of those that have something there, in the order of the rows of `busy` */
    float *busy; /* track_count x pixels: share of each pixel during which a span was open */
    uint64_t folded;      /* spans that are not drawn one by one */
    uint64_t lost_events; /* recorded losses that touch the window */
};

/* Spans of at least one pixel one by one, the rest folded. Cost depends on pixels, not on the
 * recording. Spans inside 64 others are only drawn where blocks are wider than a pixel, those
 * inside 1,024 and async ones never. */
VT_READ_API int vt_window_query(vt_recording *recording, int64_t from_ns, int64_t to_ns,
                                uint32_t pixels, struct vt_window *window);
VT_READ_API void vt_window_free(struct vt_window *window);

/* ---- statistics per site --------------------------------------------------------------------- */

struct vt_site_stats {
    uint32_t site;
    uint64_t count; /* finished and unfinished spans */
    uint64_t unfinished;
    uint64_t errors;
    int64_t total_ns, self_ns;         /* without our own cost */
    int64_t raw_total_ns, raw_self_ns; /* as measured */
    int64_t min_ns, max_ns, avg_ns;
    int64_t p50_ns, p90_ns, p99_ns; /* within 1 % */
};

struct vt_stats {
    struct vt_site_stats *sites; /* by total, largest first; total counts a recursive span once */
    size_t site_count;
    int64_t overhead_ns; /* our own cost that was subtracted, all tracks together */
    uint64_t span_count;
};

/* A span counts if it begins in the filter's time, and then with its whole duration. */
VT_READ_API int vt_stats_query(vt_recording *recording, const struct vt_filter *filter,
                               struct vt_stats *stats);
VT_READ_API void vt_stats_free(struct vt_stats *stats);

#ifdef __cplusplus
}
#endif

#endif
