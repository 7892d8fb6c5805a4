/*
 * facts.h - entries of the small blocks: META, HOST, PROCESS, TRACK, CLOCK, CLOCK_LINK, SITES, LOSSES.
 *
 * _write appends one entry to a payload; _read takes one from a bounded reader and returns whether it
 * parsed. Strings that are read point into the payload and are not terminated.
 */
#ifndef VENTURI_FORMAT_FACTS_H
#define VENTURI_FORMAT_FACTS_H

#include "base/buf.h"
#include "base/bytes.h"
#include "format/event.h"

#include <stdbool.h>
#include <stdint.h>

struct vti_meta_fact {
    struct vti_bytes key;
    struct vti_bytes value;
};

#define VTI_HOST_IMPORTED                                                                          \
    "imported" /* the host of what came from another tool's file: none that is known */
#define VTI_TRACK_CARRIED "(carried over)" /* of what was open when a file of a spool began */
#define VTI_OS_LOG "trace log" /* its system, if that file is one: it tells few errors */

struct vti_host_fact {
    uint32_t host;
    struct vti_bytes name;
    struct vti_bytes os;
    struct vti_bytes cpu;
    uint32_t cpu_count;
};

enum vti_process_end { VTI_ENDED_UNKNOWN, VTI_ENDED_EXIT, VTI_ENDED_SIGNAL, VTI_ENDED_EXEC };

struct vti_process_fact {
    uint32_t process;
    uint32_t host;
    uint32_t domain;
    uint32_t pid;
    uint32_t parent_pid;
    uint32_t parent_plus_one;
    uint64_t start;
    uint64_t end;
    uint32_t how; /* enum vti_process_end */
    uint32_t status;
    struct vti_bytes name;
    struct vti_bytes command;
    uint64_t pair_millis;  /* thousandths of a tick */
    uint64_t inner_millis; /* thousandths of a tick */
};

struct vti_track_fact {
    uint32_t track;
    uint32_t process;
    uint32_t type;
    uint32_t tid;
    uint64_t start;
    uint64_t end;
    struct vti_bytes name;
};

enum vti_clock_type { VTI_CLOCK_TSC = 1, VTI_CLOCK_MONOTONIC_NS, VTI_CLOCK_ARM };

struct vti_anchor {
    uint64_t ticks;
    uint64_t monotonic_ns;
    uint64_t realtime_ns;
    uint32_t error_ns;
};

struct vti_clock_fact {
    uint32_t domain;
    uint32_t host;
    uint32_t type; /* enum vti_clock_type */
    uint32_t anchor_count;
    const struct vti_anchor *anchors; /* the caller's when writing; NULL when reading */
};

struct vti_clock_link_fact {
    uint32_t a;
    uint32_t b;
    int64_t offset_ns;
    uint64_t error_ns;
};

enum vti_site_type {
    VTI_SITE_SPAN,
    VTI_SITE_COUNTER,
    VTI_SITE_MARK,
    VTI_SITE_KEY,
    VTI_SITE_FUNCTION,
    VTI_SITE_STEP /* name: class, function: prefix of the index, unit: survey */
};

struct vti_site_fact {
    uint32_t site;
    uint32_t type; /* enum vti_site_type */
    struct vti_bytes name;
    struct vti_bytes function;
    struct vti_bytes file;
    uint32_t line;
    struct vti_bytes unit;
};

enum vti_loss_reason {
    VTI_LOSS_BUFFERS = 1,
    VTI_LOSS_THREADS,
    VTI_LOSS_DISK,
    VTI_LOSS_OVERWRITTEN,
    VTI_LOSS_WRITER,
    VTI_LOSS_DAMAGE,
    VTI_LOSS_SLICED,
    VTI_LOSS_DEPTH,
    VTI_LOSS_CALLS,
    VTI_LOSS_PROCESS,
    VTI_LOSS_LINES,
    VTI_LOSS_SOURCES,
    VTI_LOSS_STEPS,         /* that found no room in the buffers */
    VTI_LOSS_STEPS_DISK,    /* that the disk had no room for */
    VTI_LOSS_STEPS_SOURCES, /* of steps beyond those that a process may have */
};

struct vti_loss_fact {
    uint32_t reason; /* enum vti_loss_reason */
    uint32_t process_plus_one;
    uint32_t track_plus_one;
    uint64_t events;
    uint64_t first;
    uint64_t last;
    uint32_t flags; /* bit 0: the number is a lower bound */
};

void vti_meta_write(struct vti_buf *out, const struct vti_meta_fact *fact);
void vti_host_write(struct vti_buf *out, const struct vti_host_fact *fact);
void vti_process_write(struct vti_buf *out, const struct vti_process_fact *fact);
void vti_track_write(struct vti_buf *out, const struct vti_track_fact *fact);
void vti_clock_write(struct vti_buf *out, const struct vti_clock_fact *fact);
void vti_clock_link_write(struct vti_buf *out, const struct vti_clock_link_fact *fact);
void vti_site_write(struct vti_buf *out, const struct vti_site_fact *fact);
void vti_loss_write(struct vti_buf *out, const struct vti_loss_fact *fact);

bool vti_meta_read(struct vti_reader *in, struct vti_meta_fact *fact);
bool vti_host_read(struct vti_reader *in, struct vti_host_fact *fact);
bool vti_process_read(struct vti_reader *in, struct vti_process_fact *fact);
bool vti_track_read(struct vti_reader *in, struct vti_track_fact *fact);
bool vti_clock_read(struct vti_reader *in, struct vti_clock_fact *fact);
bool vti_anchor_read(struct vti_reader *in, struct vti_anchor *anchor); /* after a clock, each */
bool vti_clock_link_read(struct vti_reader *in, struct vti_clock_link_fact *fact);
bool vti_site_read(struct vti_reader *in, struct vti_site_fact *fact);
bool vti_loss_read(struct vti_reader *in, struct vti_loss_fact *fact);

struct vti_bytes vti_bytes_of(const char *text);                 /* NULL gives an empty one */
void vti_bytes_put(struct vti_buf *out, struct vti_bytes bytes); /* a string of the format */
struct vti_bytes vti_bytes_get(struct vti_reader *in);           /* data is never NULL */

#endif
