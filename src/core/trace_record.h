/* trace_record.h - the end of a span of a trace, for src/context. */
#ifndef VENTURI_CORE_TRACE_RECORD_H
#define VENTURI_CORE_TRACE_RECORD_H

#include <venturi/context.h>

/* As vt_trace_record_end(), with VTI_RECORD_FAILED or VTI_RECORD_ABANDONED. */
void vti_trace_record_end(uint64_t number, uint32_t flags, const struct vt_trace_fact *facts,
                          size_t count);

#endif
