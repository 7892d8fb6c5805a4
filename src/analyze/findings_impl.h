/* findings_impl.h - what the rules look at and how they say it; between the files findings*.c. */
#ifndef VENTURI_ANALYZE_FINDINGS_IMPL_H
#define VENTURI_ANALYZE_FINDINGS_IMPL_H

#include "analyze/findings.h"
#include "analyze/study.h"
#include "base/buf.h"
#include "base/number.h"

/* A function or the spans of one place: most rules ask the same of both. */
struct vti_subject {
    const char *what; /* "function" or "span" */
    const char *name; /* texts are borrowed from the study */
    const char *file;
    uint32_t line, id;      /* as in struct vti_evidence */
    uint32_t row;           /* in its profile, VT_NONE: not there */
    uint64_t count, errors; /* calls or spans */
    double total_ns, self_ns;
    double p50_ns, p99_ns; /* NaN: unknown */
    double suspended_ns;
    bool is_async;     /* spans beside the threads: they overlap, and are no part of any sum */
    const char *doubt; /* why its numbers may be off, or "" */
};

/* All functions, or all spans. */
struct vti_world {
    const char *what, *call; /* how one is called, and one run of it: "call", "span" */
    const struct vti_profile *profile;
    struct vti_subject *subjects; /* owned; by own time, largest first */
    size_t count;
    double self_ns; /* all of them, without async ones: the time that shares are of */
    double cost_ns; /* of recording one of them; 0: unknown */
};

enum { VTI_WORLD_FUNCTIONS, VTI_WORLD_SPANS, VTI_WORLDS };

struct vti_finder {
    const struct vti_study *study;
    struct vti_world worlds[VTI_WORLDS];
    struct vti_findings *findings;
    const char *kind; /* of the rule at work */
    int code;         /* the first failure */
};

/* A rule: says what it finds, if anything. */
typedef void vti_rule(struct vti_finder *finder);

/* Says a sentence, about `evidence` (texts are copied, those that are NULL are ""). Of the format's arguments names
 * must have been through vti_clip(). */
void vti_finding_say(struct vti_finder *finder, enum vti_severity severity, double weight,
                     const struct vti_evidence *evidence, const char *doubt, const char *format,
                     ...) __attribute__((format(printf, 6, 7)));

/* A name, or its beginning and end if it is too long for a sentence: "name", then " (file:line)" without folders if
 * there is one. */
#define VTI_CLIP_BYTES 192
char *vti_clip(char to[VTI_CLIP_BYTES], const char *name, const char *file, uint32_t line);
char *vti_subject_text(char to[VTI_CLIP_BYTES], const struct vti_subject *subject);
struct vti_evidence vti_subject_evidence(const struct vti_subject *subject);

/* The subject of a row of the world's profile, or NULL. */
const struct vti_subject *vti_subject_of_row(const struct vti_world *world, uint32_t row);

/* "once", "12 times", "1.20 M times". */
#define VTI_TIMES_BYTES 48
char *vti_text_times(char to[VTI_TIMES_BYTES], uint64_t count);

/* " in 12 calls", " in 1.20 M calls"; "" for none, as of what samples met. */
char *vti_text_in_calls(char to[VTI_TIMES_BYTES], uint64_t count, const char *call);

/* findings_worlds.c: 0 or VTI_E_NOMEM. */
int vti_worlds_make(struct vti_finder *finder);
void vti_worlds_fini(struct vti_finder *finder);

#define VTI_RULE(kind, function) vti_rule function;
#include "analyze/findings.def"
#undef VTI_RULE

#endif
