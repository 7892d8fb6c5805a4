/* event.h - one event that is no plain span, as whoever makes it says it; event.c puts it into the ring. */
#ifndef VENTURI_CORE_EVENT_H
#define VENTURI_CORE_EVENT_H

#include <stddef.h>
#include <stdint.h>
#include <venturi/span.h>

enum {
    VTI_TYPE_INT = 1,
    VTI_TYPE_UINT,
    VTI_TYPE_DOUBLE,
    VTI_TYPE_TEXT
}; /* as enum vti_value_type */

struct vti_new_event {
    struct vt_site *site; /* NULL: none */
    uint32_t kind;        /* enum vti_record_kind */
    uint32_t flags;
    uint32_t type; /* of its value */
    const void *payload;
    size_t payload_bytes;
};

/* Puts it at `ticks`, 0: now. Its ticks, or 0 if nothing is recorded. */
uint64_t vti_event_put(const struct vti_new_event *event, uint64_t ticks);

/* A number for an async span, unique in this process; 0 if nothing is recorded. */
uint64_t vti_async_number(void);

/* It ends, with VTI_RECORD_FAILED or VTI_RECORD_ABANDONED; at `ticks` if it is recorded now, 0: now. */
void vti_async_end(uint64_t number, uint32_t flags, uint64_t ticks);

/* An attribute of an async span, as _put. The value has at most VTI_TEXT_MAX bytes. */
uint64_t vti_async_attr_put(uint64_t number, struct vt_site *key, uint32_t type, const void *value,
                            size_t bytes, uint64_t ticks);

/* What is kept of a text of so many bytes: no more than VTI_TEXT_MAX, and no half of a character. */
size_t vti_text_kept(const char *text, size_t len);

#endif
