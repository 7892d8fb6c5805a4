/* otlp.h - between the files of the store that speaks OTLP over HTTP. */
#ifndef VENTURI_STORE_OTLP_H
#define VENTURI_STORE_OTLP_H

#include "store/documents_traces.h"
#include "store/otlp_wire.h"

#define VTI_OTLP_SCOPE "venturi"

/* Which documents a request holds: indices into the batch. */
struct vti_otlp_picked {
    size_t *at; /* owned */
    size_t count, room;
};

/* Writes the spans of documents from `first` on, `count` of them, as ExportTraceServiceRequest. Reorders them by who they are of. */
int vti_otlp_spans(struct vti_buf *out, bool is_json, const struct vti_batch *batch, size_t *at,
                   size_t count);

/* What steps have done so far, in all batches that were acknowledged, and in this one. */
struct vti_otlp_sums;
int vti_otlp_sums_create(struct vti_otlp_sums **sums);
void vti_otlp_sums_free(struct vti_otlp_sums *sums);

/* Adds documents to what is under way and writes it all as ExportMetricsServiceRequest. It counts once _commit() says so; _forget() takes
 * back what was added since. */
int vti_otlp_metrics(struct vti_otlp_sums *sums, struct vti_buf *out, bool is_json,
                     const struct vti_batch *batch, const size_t *at, size_t count);
void vti_otlp_commit(struct vti_otlp_sums *sums);
void vti_otlp_forget(struct vti_otlp_sums *sums);

#endif
