/* body.h - the bodies of events that are more than a plain begin or end (VTI_CODE_OTHER). */
#ifndef VENTURI_FORMAT_BODY_H
#define VENTURI_FORMAT_BODY_H

#include "base/buf.h"
#include "base/bytes.h"
#include "format/event.h"

#define VTI_BODY_TEXT_MOST                                                                         \
    (1u << 24) /* longer text is not written: the block would not stay small */

/* The event of a trace that the next one in the same block may refer to. */
struct vti_trace_before {
    bool is_known;
    struct vti_trace_ids ids;
};

/* Clears `body` and fills it; returns the type (enum vti_other), 0 for a kind that does not exist. Text
 * that is too long leaves the body failed, as does a lack of memory. */
uint8_t vti_body_put(struct vti_buf *body, const struct vti_event *event,
                     const struct vti_trace_before *before);

/* Sets the fields of *event that the type has, all but its ticks. 1, 0 for a type this version does not
 * know, -1 if the body does not parse. Bytes after the known fields are left alone. An event of a trace becomes *before. */
int vti_body_get(uint8_t type, struct vti_reader *body, struct vti_event *event,
                 struct vti_trace_before *before);

#endif
