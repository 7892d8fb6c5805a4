/* trace.h - what the files of `venturi trace` share: what is shown, and where it goes. */
#ifndef VENTURI_CLI_TRACE_H
#define VENTURI_CLI_TRACE_H

#include "analyze/traces.h"
#include "base/buf.h"
#include "base/file.h"

/* Text on its way to a file that appears when it is whole, or to standard output. */
struct vti_trace_output {
    struct vti_output *file;
    struct vti_buf text; /* what is not yet written */
    int code;            /* the first thing that went wrong */
};

/* Hands the text on once there is enough of it. */
void vti_trace_output_step(struct vti_trace_output *out);

struct vti_trace_view {
    const struct vti_traces *traces;
    const struct vti_trace *trace;
    const char *const *files; /* which the recordings were read from */
    struct vti_buf notes;     /* what the reader must know: texts, each ended by a zero byte */
    uint32_t depth;           /* levels to show */
};

/* Fills in the notes, which the caller frees. */
void vti_trace_notes(struct vti_trace_view *view, vt_recording *const *recordings,
                     size_t file_count);

/* Each writes one trace. What goes wrong is in out->code. */
void vti_trace_text(struct vti_trace_output *out, const struct vti_trace_view *view);
void vti_trace_json(struct vti_trace_output *out, const struct vti_trace_view *view);
void vti_trace_compat(struct vti_trace_output *out, const struct vti_trace_view *view);
void vti_trace_dot(struct vti_trace_output *out, const struct vti_trace_view *view);

/* The list of all traces, newest last; an exit code. */
int vti_trace_list(const struct vti_traces *traces, bool has_errors_only);
int vti_trace_list_json(const struct vti_traces *traces, bool has_errors_only);

/* What a span did in a few words, from the facts that web, database and function hooks leave: "GET /v1/tasks", "SELECT 1", "m.f". */
void vti_trace_detail(struct vti_buf *out, const struct vti_trace_span *span);

/* The services of a trace in the order of appearance, at most `most` of them by name. */
void vti_trace_services(struct vti_buf *out, const struct vti_traces *traces,
                        const struct vti_trace *trace, unsigned most);

#endif
