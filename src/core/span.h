/* span.h - calls of functions as spans, for --timeline: what call.c hands on to the span's hot path. */
#ifndef VENTURI_CORE_SPAN_H
#define VENTURI_CORE_SPAN_H

#include <stdint.h>

/* `frame` 0: the caller does not know. */
void vti_span_enter(uint32_t id, uintptr_t frame, uint32_t mark);

/* Ends the innermost span of that function, and those above it. The thread is registered. */
void vti_span_leave(uint32_t id, uintptr_t frame, uint64_t ticks);

/* Ends those whose frames lie below: they were jumped over. The thread is registered. */
void vti_span_jump(uintptr_t frame, uint64_t ticks);

#endif
