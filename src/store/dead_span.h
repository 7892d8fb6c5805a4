/* dead_span.h - what a dead letter of a trace says beyond its document. */
#ifndef VENTURI_STORE_DEAD_SPAN_H
#define VENTURI_STORE_DEAD_SPAN_H

#include "base/json.h"
#include "store/documents_traces.h"

struct vti_dead_span {
    uint32_t pid;
    bool is_open;
    struct vti_bytes begin_info; /* an object of JSON; empty: not said */
};

/* Members of the letter's object, which the writer is in. */
void vti_dead_span_write(struct vti_json *json, const struct vti_trace_detail *detail);

/* Gives a document that is in the batch the detail that it was made with. 0 or a negative code; one that is no notification gets none. */
int vti_dead_span_read(struct vti_batch *batch, struct vti_document *document,
                       const struct vti_dead_span *more);

#endif
