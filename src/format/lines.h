/* lines.h - the payloads of LINES, LINE_DURATIONS, LINE_CALLEES and SOURCES blocks (docs/format.md). */
#ifndef VENTURI_FORMAT_LINES_H
#define VENTURI_FORMAT_LINES_H

#include "format/calls.h"

/* How the time of a line is known. */
enum vti_line_time { VTI_LINE_UNTIMED, VTI_LINE_TIMED, VTI_LINE_SAMPLED };

/* A snapshot: a later one of the same track and node takes the place of an earlier one. */
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
    uint64_t longest;
    uint64_t open_plus_one; /* ticks since it was reached and not left; 0: it is not open */
};

struct vti_line_durations_fact {
    uint64_t node; /* of the line */
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

#endif
