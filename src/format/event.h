/* event.h - one event as the encoder takes it and the decoder gives it. */
#ifndef VENTURI_FORMAT_EVENT_H
#define VENTURI_FORMAT_EVENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum vti_event_kind {
    VTI_EVENT_BEGIN = 1,
    VTI_EVENT_END,
    VTI_EVENT_MARK,
    VTI_EVENT_COUNTER,
    VTI_EVENT_ATTR,
    VTI_EVENT_ERROR,
    VTI_EVENT_ASYNC_BEGIN,
    VTI_EVENT_ASYNC_END,
    VTI_EVENT_ASYNC_ATTR,
    VTI_EVENT_LOSS,
};

enum vti_event_flags {
    VTI_FLAG_IN_GAP = 1,    /* the true time lies in a gap of lost events */
    VTI_FLAG_ABANDONED = 2, /* left without ending: longjmp, thread or process ended */
    VTI_FLAG_FAILED = 4,    /* async span that failed */
};

enum vti_value_type {
    VTI_VALUE_NONE,
    VTI_VALUE_INT,
    VTI_VALUE_UINT,
    VTI_VALUE_DOUBLE,
    VTI_VALUE_TEXT
};

/* Bytes are borrowed: from the caller when encoding, from the payload when decoding; not terminated. */
struct vti_bytes {
    const char *data;
    size_t len;
};

struct vti_value {
    enum vti_value_type type;
    union {
        int64_t i;
        uint64_t u;
        double d;
        struct vti_bytes text;
    };
};

/* What makes an async span one of a trace: the trace, the span itself, the span that it is a part of. A root's parent
 * is the base. In the order of the digits of a UUID. */
struct vti_trace_ids {
    uint8_t base[16];
    uint8_t span[16];
    uint8_t parent[16];
};

struct vti_event {
    uint64_t ticks;
    uint8_t kind;  /* enum vti_event_kind */
    uint8_t flags; /* enum vti_event_flags */
    uint32_t site; /* begin, mark, counter, async begin: the site; attributes: the key */
    uint64_t async_id;
    bool has_trace; /* async begin: `trace` is set */
    struct vti_trace_ids trace;
    struct vti_value value;         /* counter, attributes */
    struct vti_bytes error_type;    /* error */
    struct vti_bytes error_message; /* error */
    uint32_t loss_reason;           /* loss */
    uint64_t loss_events;
    uint64_t loss_ticks; /* length of the gap that ends at `ticks` */
};

#endif
