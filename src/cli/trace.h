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
    bool has_attrs;           /* as text: facts, process and thread below each span */
};

/* Fills in the notes, which the caller frees. */
void vti_trace_notes(struct vti_trace_view *view, vt_recording *const *recordings,
                     size_t file_count);

/* Each writes one trace. What goes wrong is in out->code. */
void vti_trace_text(struct vti_trace_output *out, const struct vti_trace_view *view);
void vti_trace_json(struct vti_trace_output *out, const struct vti_trace_view *view);
void vti_trace_compat(struct vti_trace_output *out, const struct vti_trace_view *view);
void vti_trace_dot(struct vti_trace_output *out, const struct vti_trace_view *view);

/* The id that a word stands for: "last", "slowest", the beginning of one, or any text that a program used as one. An exit code. */
int vti_trace_find(uint8_t base[16], const char *word, vt_recording *const *recordings,
                   size_t count);

/* The list of traces; an exit code. */
struct vti_trace_list {
    const struct vti_traces *traces;
    bool has_errors_only;
    const char *sort; /* "begin": newest last; "time", "spans", "errors": the largest first */
    uint32_t limit;   /* the newest, or the largest */
};

int vti_trace_list_text(const struct vti_trace_list *list);
int vti_trace_list_json(const struct vti_trace_list *list);

struct vti_json;
void vti_trace_json_value(struct vti_json *json, const struct vti_value *value);

/* The key "errors" and how many there are; null where only logs could tell. */
void vti_trace_json_errors(struct vti_json *json, const struct vti_trace *trace);

/* What a span did in a few words, from the facts that web, database and function hooks leave: "GET /v1/tasks", "SELECT 1", "m.f". */
void vti_trace_detail(struct vti_buf *out, const struct vti_trace_span *span);

#endif
