/* note.h - records that are no events: what schedulers and steps say. Without room nothing is counted: that is up to whoever says it. */
#ifndef VENTURI_CORE_NOTE_H
#define VENTURI_CORE_NOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <venturi/span.h>

/* What a record is made of. */
struct vti_note {
    struct vt_site *site; /* NULL: none */
    uint64_t ticks;
    uint32_t kind, flags, type; /* enum vti_record_kind */
    const uint8_t *payload;
    size_t bytes;
};

/* As a record can have it: neither 0 nor a payload. */
uint64_t vti_note_ticks(uint64_t ticks);

/* Puts it into the ring of this thread, without waiting whatever the session says of events. False: there is no room. */
bool vti_note_put(const struct vti_note *note);

#endif
