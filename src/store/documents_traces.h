/*
 * documents_traces.h - trace points as documents: what stores that do not take osprofiler's JSON as it is need to know of them.
 *
 * A span gives two documents, its begin and its end, in osprofiler's words; one that failed a third, for the index of errors. They are made when it
 * has ended; what has not ended is told when the recording does.
 */
#ifndef VENTURI_STORE_DOCUMENTS_TRACES_H
#define VENTURI_STORE_DOCUMENTS_TRACES_H

#include "format/event.h"
#include "store/documents.h"

enum vti_trace_part { VTI_TRACE_BEGIN, VTI_TRACE_END, VTI_TRACE_ERROR };

/* Texts stand behind the struct, each ended by a zero byte, at these offsets from its begin. */
struct vti_trace_detail {
    struct vti_trace_ids ids;
    uint32_t part;            /* enum vti_trace_part */
    bool is_open, has_failed; /* is_open: a begin whose end will not come */
    int64_t begin_ns, end_ns; /* since 1970 UTC; end: of one that ended */
    uint64_t recording;       /* which process of which recording, as a number */
    uint32_t pid;
    uint32_t name, service, project, host, error_type, error_message;
    uint32_t begin_info; /* JSON: what was said at the begin */
    uint32_t end_info;   /* and at the end; both are objects */
};

const struct vti_trace_detail *vti_trace_detail_of(const struct vti_batch *batch,
                                                   const struct vti_document *document);
const char *vti_trace_detail_text(const struct vti_trace_detail *detail, uint32_t offset);

/* base_id in the index of errors, and so on: "osprofiler-notifications" and this. */
#define VTI_TRACE_INDEX "osprofiler-notifications"
#define VTI_TRACE_ERROR_INDEX VTI_TRACE_INDEX "-error"

#endif
