/* rank_impl.h - the inside of a rank, shared by the rank_*.c files and nobody else. */
#ifndef VENTURI_ANALYZE_RANK_IMPL_H
#define VENTURI_ANALYZE_RANK_IMPL_H

#include "analyze/histogram.h"
#include "analyze/log_line.h"
#include "analyze/rank.h"
#include "base/hash.h"

/* ---- open spans (rank_open.c) ---------------------------------------------------------------- */

struct vti_open_span {
    uint64_t key[2]; /* both zero: a free place */
    double inside;   /* time of finished children, seconds */
    uint32_t row;
};

struct vti_open_spans {
    struct vti_open_span *places; /* owned, a power of two of them */
    size_t place_count, used;
};

/* The key of a span id, whatever text that is. */
void vti_open_key(uint64_t key[2], const char *id, size_t len);
int vti_open_init(struct vti_open_spans *open); /* 0 or VTI_E_NOMEM, as the next */
/* Enters a span. One of the same key that was open is handed back in *replaced (its row, else
 * -1). */
int vti_open_add(struct vti_open_spans *open, const uint64_t key[2], uint32_t row,
                 int64_t *replaced);
struct vti_open_span *vti_open_find(const struct vti_open_spans *open, const uint64_t key[2]);
void vti_open_remove(struct vti_open_spans *open, struct vti_open_span *span);
void vti_open_fini(struct vti_open_spans *open);

/* ---- rows (rank.c) --------------------------------------------------------------------------- */

#define VTI_SCAN_NAME 64 /* bytes of a name that are compared at once */

struct vti_rank_entry { /* what every line needs first, in two cache lines */
    const char *name;   /* the key in the map */
    size_t len;
    double total, max, min;
    uint64_t count;
    double self;
    char head[VTI_SCAN_NAME]; /* of the name, once more where it is compared */
    double avg, p50, p99;     /* filled at the end */
    uint64_t unfinished, errors;
    struct vti_histogram *durations; /* owned; wide, in nanoseconds */
};

#define VTI_RANK_RECENT 1024u

struct vti_rank {
    struct vti_rank_options options;
    bool is_recording;
    struct vti_rank_lines lines;
    struct vti_rank_trust trust;

    struct vti_map *names;          /* owned: name to index in entries */
    struct vti_rank_entry *entries; /* owned */
    uint32_t entry_count, entry_capacity;
    uint32_t recent[VTI_RANK_RECENT]; /* indices that were asked for last, by a hint in the name */
    uint32_t *order; /* owned; indices in the order asked for, NULL before vti_rank_sort() */
    size_t shown;    /* how many of them */

    struct vti_open_spans open; /* wide */

    char *buffer;     /* owned, of a log: the part of it that is not yet taken apart */
    size_t begun;     /* bytes of a line that is not yet whole */
    bool is_skipping; /* inside a line that is too long */
};

/* The entry of a name, made if new. A negative code when memory is short. */
int64_t vti_rank_entry(struct vti_rank *rank, const char *name, size_t len);

/* Notes a duration for the percentiles; reads them. 0 or VTI_E_NOMEM. */
int vti_rank_note(struct vti_rank_entry *entry, double duration);
int vti_rank_percentiles(struct vti_rank_entry *entry);
void vti_rank_entry_fini(struct vti_rank_entry *entry);

/* Counts a line that cannot be used; its number is lines.read. */
void vti_rank_refuse(struct vti_rank *rank, const char *reason);

/* ---- counting (rank_scan.c, rank_log.c) ------------------------------------------------------ */

/* Bytes behind the first one of a line, and behind a name, at which rank_scan.c may look. */
#define VTI_SCAN_ROOM 256

/* Counts usual lines from *at on, as far as they go or VTI_SCAN_ROOM bytes before `end`; *at is
 * then at the first line that was not counted. 0 or VTI_E_NOMEM, as all of these. */
int vti_rank_scan(struct vti_rank *rank, const char **at, const char *end);

/* The entry of a name that stands in the buffer: behind it VTI_SCAN_NAME bytes can be read. */
int64_t vti_rank_find(struct vti_rank *rank, const struct vti_log_field *name);
void vti_rank_entry_add(struct vti_rank_entry *entry, double duration);

/* Counts any line. */
int vti_rank_count_line(struct vti_rank *rank, const struct vti_log_line *line);

/* One line as Mistral's script sees it (rank_compat.c): 0, VTI_E_DAMAGED where the script fails,
 * VTI_E_NOMEM. */
int vti_rank_compat_line(struct vti_rank *rank, const char *text, size_t len);

/* All of a recording (rank_recording.c). */
int vti_rank_recording(struct vti_rank *rank, const char *path);

#endif
