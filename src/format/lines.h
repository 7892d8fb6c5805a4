/* lines.h - the payloads of LINES, LINE_DURATIONS, LINE_CALLEES and SOURCES blocks (docs/format.md). */
#ifndef VENTURI_FORMAT_LINES_H
#define VENTURI_FORMAT_LINES_H

#include "format/calls.h"

/* The name of a track that has what was counted for all threads of a process together. */
#define VTI_TRACK_OF_COUNTERS "(all threads)"

/* How the time of a line is known. Mixed: timed, but code of neighbouring lines stands between its own. */
enum vti_line_time { VTI_LINE_UNTIMED, VTI_LINE_TIMED, VTI_LINE_SAMPLED, VTI_LINE_MIXED };

/*
 * A snapshot: a later one of the same track and node takes the place of an earlier one. One without events and hits
 * and resumes is none.
 *
 * A statement that takes several lines has an entry of its own beside those of its lines: `line` is its first line,
 * `statement` is 0, `events` too. Its time is that of the whole statement, each moment once; the times of its lines
 * may overlap when the function calls itself, so that they are no sum. A statement on one line has no such entry.
 */
struct vti_line_fact {
    uint64_t node;
    uint32_t site;
    uint32_t line;      /* 0: the function as a whole; `hits` are its calls … */
    uint32_t statement; /* first line of its statement; … and this is its last line */
    uint32_t time;      /* enum vti_line_time */
    uint64_t events;
    uint64_t hits;
    uint64_t total; /* ticks; of sampled ones nanoseconds */
    uint64_t inner; /* line events inside of that time; of sampled ones: samples */
    uint64_t suspended;
    uint64_t resumes;
    uint64_t shortest_plus_one;
    uint64_t
        longest; /* of sampled ones: nanoseconds of `total` without those of other lines inside */
    uint64_t open_plus_one; /* ticks since it was reached and not left; 0: it is not open */
};

/* How long executions of a statement took. The node is that of its own entry, else that of its line; of one that
 * has ended once there is none: its shortest is its longest. */
struct vti_line_durations_fact {
    uint64_t node;
    struct vti_durations_fact durations;
};

struct vti_line_callee_fact {
    uint64_t node; /* of the line */
    uint32_t site;
    uint64_t calls;
    uint64_t total;
};

/* The text of a source file as it was when the program ran. */
struct vti_source_fact {
    uint32_t process_plus_one; /* 0: of all */
    const char *file;          /* as sites name it */
    size_t file_len;
    const char *text;
    size_t text_len;
};

void vti_line_write(struct vti_buf *out, const struct vti_line_fact *fact);
void vti_line_durations_write(struct vti_buf *out, const struct vti_line_durations_fact *fact);
void vti_line_callee_write(struct vti_buf *out, const struct vti_line_callee_fact *fact);
void vti_source_write(struct vti_buf *out, const struct vti_source_fact *fact);

bool vti_line_read(struct vti_reader *in, struct vti_line_fact *fact);
bool vti_line_durations_read(struct vti_reader *in, struct vti_line_durations_fact *fact);
bool vti_line_callee_read(struct vti_reader *in, struct vti_line_callee_fact *fact);
bool vti_source_read(struct vti_reader *in, struct vti_source_fact *fact);

#endif
