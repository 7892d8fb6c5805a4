/* traces_impl.h - the inside of traces, shared by the traces_*.c files, and by those that sum up over traces. */
#ifndef VENTURI_ANALYZE_TRACES_IMPL_H
#define VENTURI_ANALYZE_TRACES_IMPL_H

#include "analyze/traces.h"
#include "base/hash.h"

/* Memory that is given back all at once. */
struct vti_trace_chunk;

/* What was met, before it is a tree. Until then links of spans are indices into `spans` here. */
struct vti_trace_owned {
    struct vti_trace_chunk *chunks;
    struct vti_map *texts;   /* names, keys and the like, each once */
    struct vti_map *bases;   /* base id to index of the trace */
    struct vti_map *sources; /* recording and process to index in `processes` */
    struct vti_trace_span *spans;
    uint32_t *trace_of; /* beside the spans; VTI_NO_SPAN: left out */
    size_t span_count, span_room, trace_of_room;
    size_t trace_room, process_room;
    uint32_t
        *clock_of; /* beside the processes: which clock they read, the first one is the right one */
    size_t clock_room;
    struct vti_map *clocks;
    int64_t *clock_errors; /* by how much each of the clocks may be wrong for all that is known */
    size_t clock_error_room;
    const uint8_t *
        only; /* the trace that is asked for; spans of others tell of clocks. NULL: all; borrowed */
};

/* Makes `traces` empty, with its `owned`. All of these: 0 or a negative code. */
int vti_traces_start(struct vti_traces *traces);

/* The process with this key, a new one if there is none; its index. Texts are empty until the caller sets them. */
int64_t vti_traces_process(struct vti_traces *traces, uint32_t recording, uint32_t id,
                           bool *is_new);

/* Processes of one clock name read the same one, which may be wrong by so much. */
int vti_traces_clock(struct vti_traces *traces, uint32_t process, const char *name,
                     int64_t error_ns);

/* Enters a span of a trace; `span` is copied, its texts live as long as the traces. */
int vti_traces_span(struct vti_traces *traces, const uint8_t base[16],
                    const struct vti_trace_span *span);

/* A time that can be taken from any other without overflow: 146 years both ways. */
int64_t vti_traces_bounded(int64_t ns);

/* A text that lives as long as the traces, each once; NULL without memory. */
const char *vti_traces_text(struct vti_traces *traces, const char *text, size_t len);
void *vti_traces_alloc(struct vti_traces *traces, size_t bytes);

/* All that was entered becomes trees. */
int vti_traces_build(struct vti_traces *traces);

/* The traces of one recording without texts and facts; `pid` of a process is the id of the spans' track. Nothing is left to free if it
 * fails. */
int vti_traces_load_bare(struct vti_traces *traces, vt_recording *recording);

/* ---- parts of building ----------------------------------------------------------------------- */

/* Parents of all spans, duplicates left out, no circles (traces_link.c). */
int vti_traces_link(struct vti_traces *traces);

/* What processes say of themselves, of which spans enter them (traces_process.c). */
int vti_traces_say(struct vti_traces *traces);

/* Forgets all traces but one, and processes that have no part in it (traces_process.c). */
int vti_traces_keep(struct vti_traces *traces, const uint8_t base[16]);

/* Clocks of other hosts are moved so that no span begins before its parent (traces_skew.c). */
int vti_traces_align(struct vti_traces *traces);

/* Marks the critical path of a trace (traces_path.c). `scratch` has room for an index of each of its spans. */
void vti_trace_mark_path(struct vti_trace *trace, uint32_t *scratch);

#endif
