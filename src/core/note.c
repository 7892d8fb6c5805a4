/*
 * note.c - records that are no events, into the ring.
 *
 * As vti_event_put(), but for what happens without room: then nothing is written, counted or waited for.
 */
#include "core/note.h"

#include "core/clock.h"
#include "core/ring.h"
#include "core/runtime.h"
#include "core/site.h"
#include "core/thread.h"

uint64_t vti_note_ticks(uint64_t ticks)
{
    ticks &= ~VTI_PAYLOAD_BIT;
    return ticks ? ticks : 1;
}

__attribute__((noinline, cold)) static bool put_slowly(const struct vti_note *note,
                                                       struct vti_record *taken, unsigned count)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);
    bool is_done = !self && !slow.is_slotless;

    if (self) {
        vti_ring_return(self, taken, count);
        is_done = vti_runtime()->is_local;
    }
    if (self && !is_done && vti_ring_try(self, 1 + vti_payload_count(note->bytes))) {
        uint32_t id = note->site ? vti_site_id(self->arena, note->site) : 0;

        vti_ring_put(self, note->ticks, id, note->kind, note->flags, note->type, note->payload,
                     note->bytes);
        is_done = true;
    }
    if (self && !is_done)
        vti_runtime_check_drainer(self->arena);
    vti_slow_leave(&slow);
    return is_done;
}

bool vti_note_put(const struct vti_note *note)
{
    struct vti_thread *self = vti_self;
    unsigned count = 1 + vti_payload_count(note->bytes);
    uint32_t id = note->site ? __atomic_load_n(&note->site->id, __ATOMIC_RELAXED) : 0;
    struct vti_record *record;
    struct vti_record *base;
    struct vti_record *limit;

    if (vti_unlikely(!self || !self->top || (note->site && !id) ||
                     self->period != (vti_control_word() & ~VTI_CONTROL_KINDS)))
        return put_slowly(note, NULL, 0);
    if (vti_unlikely(self->is_losing || self->cursor + count > self->limit))
        return !vti_ring_is_out(self) && put_slowly(note, NULL, 0);
    base = self->base;
    limit = self->limit;
    record = vti_cursor_take(&self->cursor, count);
    if (vti_unlikely(record < base || record + count > limit))
        return put_slowly(note, record, count);
    vti_payload_put(record + 1, note->payload, note->bytes);
    record->id = id;
    record->tag = VTI_TAG(note->kind, count - 1, note->flags, note->type);
    vti_record_publish(record, note->ticks);
    return true;
}
