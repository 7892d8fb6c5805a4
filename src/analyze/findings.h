/*
 * findings.h - what stands out in a recording, in sentences: found by rules, from its numbers alone.
 *
 * A rule is a function in one of the files findings_*.c and a line in findings.def. It says what the numbers say and
 * nothing beyond them. The page, the terminal and Python show the same findings.
 */
#ifndef VENTURI_ANALYZE_FINDINGS_H
#define VENTURI_ANALYZE_FINDINGS_H

#include "venturi/read.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many are shown where nobody asked for all. */
#define VTI_FINDINGS_SHOWN 8

/* What to say where there are none. */
#define VTI_FINDINGS_NONE "Nothing stands out."

enum vti_severity { VTI_SEVERITY_INFO, VTI_SEVERITY_NOTICE, VTI_SEVERITY_WARNING };

/* What a sentence is about, so that a view can go there. Texts come from the recording as they are: escape them. */
struct vti_evidence {
    const char *
        what; /* "function", "span", "line", "thread", "process", "counter", "trace", "tasks", "recording" */
    char *name;    /* owned; "" if it has none; of a trace its base id */
    char *file;    /* owned; "" unknown */
    uint32_t line; /* 0: unknown */
    uint32_t
        id; /* of the site (span, counter), track (thread) or process; which span of a trace, which run of tasks; else VT_NONE */
};

struct vti_finding {
    const char *kind; /* a word for programs: "self-time", "n-plus-one", … as in findings.def */
    enum vti_severity severity;
    double weight;          /* 0 … 1: how much of the whole it is about; orders equals */
    char *text;             /* owned; one English sentence, UTF-8, names clipped: escape it */
    const char *confidence; /* why it may be off ("estimated from samples"), or "" */
    struct vti_evidence evidence;
};

struct vti_findings {
    struct vti_finding *items; /* the gravest first; all of them, not only those to be shown */
    size_t count, capacity;
};

/* 0 or a negative code with the usual message. A recording in which nothing stands out is no error. */
int vti_findings_query(vt_recording *recording, struct vti_findings *findings);

/* The same for those who have gathered already what the rules look at. */
struct vti_study;
int vti_findings_make(const struct vti_study *study, struct vti_findings *findings);

/* What there is to say about the traces of several recordings. */
struct vti_traces;
int vti_findings_of_traces(const struct vti_traces *traces, struct vti_findings *findings);
void vti_findings_fini(struct vti_findings *findings);

/* "info", "notice", "warning". */
const char *vti_severity_text(enum vti_severity severity);

#endif
