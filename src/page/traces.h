/*
 * traces.h - traces across services on a page: as tables of a report, or as a page of their own.
 */
#ifndef VENTURI_PAGE_TRACES_H
#define VENTURI_PAGE_TRACES_H

#include "analyze/traces.h"
#include "base/buf.h"
#include "export/export.h"

/* A page with nothing but traces. `files`: what they come from. `title` NULL: the name of the only one's first span, or how many there
 * are. 0 or a negative code with the usual message. */
int vti_page_traces(const struct vti_traces *traces, const char *const *files, size_t file_count,
                    const struct vti_buf *title, const struct vti_sink *sink);

#endif
