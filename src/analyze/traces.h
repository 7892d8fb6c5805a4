/*
 * traces.h - the traces of several recordings, each as one tree of spans.
 *
 * Spans are linked by their ids within a trace; parents that came in a `traceparent` are found by the 64 bits that it has. Times are
 * nanoseconds since 1970, on the clock of the first recording's first host as far as that is known.
 */
#ifndef VENTURI_ANALYZE_TRACES_H
#define VENTURI_ANALYZE_TRACES_H

#include "format/event.h"
#include "venturi/read.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_NO_SPAN UINT32_MAX

/* A fact about a span. */
struct vti_trace_attr {
    const char *key;
    struct vti_value value; /* its text is owned by the traces */
    bool is_of_begin;       /* said when the span began, else while it ran or when it ended */
};

/* One place that spans come from: a process. */
struct vti_trace_process {
    const char *service,
        *project; /* what the program said, else the name of the process or of the log; project may be "" */
    const char *host;
    bool has_project; /* it was said, and may be "" */
    uint32_t pid;
    uint32_t recording; /* index */
    bool is_imported;   /* from a file of another tool: no pid, and a clock that may be any */
    bool is_log;        /* from a trace log, which does not tell errors but those of databases */
    int64_t
        skew_ns; /* what was added to its times so that no span begins before its parent; 0: nothing */
};

struct vti_trace_span {
    uint8_t id[16], parent_id[16];
    const char *name;
    uint32_t site;    /* of its recording, which has the name */
    uint32_t process; /* index */
    const char *thread;
    int64_t begin_ns, end_ns;               /* skew applied */
    int64_t self_ns;                        /* without the union of its children's time */
    const char *error_type, *error_message; /* "" : none */
    const struct vti_trace_attr *attrs;
    uint32_t attr_count;
    uint32_t parent, first_child, next; /* indices into the trace's spans; VTI_NO_SPAN: none */
    uint32_t depth;
    uint64_t order; /* in which those of its recording began, of such that began at the same time */
    bool is_finished, has_error;
    bool is_critical; /* on the critical path of its trace */
    bool
        is_orphan; /* its parent is named and in none of the files; a root whose parent is the base is none */
    bool is_own_parent; /* an orphan that names itself, or a span inside of it, as its parent */
    bool is_cut; /* it did not end, for all that is known: what came next of its process was lost */
};

struct vti_trace {
    uint8_t base[16];
    int64_t begin_ns, end_ns;
    struct vti_trace_span *spans; /* depth first, children in order of time; owned by the traces */
    uint32_t span_count;
    uint32_t error_count, unfinished_count, orphan_count;
    uint32_t service_count, host_count; /* hosts: those that are known */
    bool knows_errors;                  /* false: all of it is from logs, and those do not tell */
};

struct vti_traces {
    struct vti_trace *traces; /* by begin */
    size_t trace_count;
    struct vti_trace_process *processes;
    size_t process_count;
    uint64_t untraced_spans;  /* trace points outside of any trace */
    uint64_t duplicate_spans; /* the same span in two files: left out */
    void *owned;
};

/* `only` NULL: all traces; else that base id alone (16 bytes). 0 or a negative code. */
int vti_traces_load(struct vti_traces *traces, vt_recording *const *recordings, size_t count,
                    const uint8_t *only);
void vti_traces_fini(struct vti_traces *traces);

/* The one that took the longest, the first of several; NULL: there is none. */
const struct vti_trace *vti_traces_slowest(const struct vti_traces *traces);

/* The ids of all traces, by begin; the caller frees `list`. 0 or a negative code, and then there is none. */
struct vti_trace_base {
    uint8_t base[16];
    int64_t begin_ns; /* as recorded */
};

struct vti_trace_bases {
    struct vti_trace_base *list;
    size_t count;
};

int vti_traces_bases(struct vti_trace_bases *bases, vt_recording *const *recordings, size_t count);

#endif
