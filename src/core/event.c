/*
 * event.c - everything but plain spans: marks, counters, attributes, errors, async spans.
 *
 * These carry data and are less frequent; they all go through one function, straight into the ring
 * when there is room and by the slow path when there is not.
 */
#include "core/event.h"

#include "core/clock.h"
#include "core/ring.h"
#include "core/site.h"
#include "core/thread.h"

#include <string.h>

static uint64_t put_slowly(const struct vti_new_event *event, uint64_t ticks,
                           struct vti_record *taken, unsigned count)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 1);
    uint32_t id;

    if (self) {
        vti_ring_return(self, taken, count);
        id = event->site ? vti_site_id(self->arena, event->site) : 0;
        ticks = ticks ? ticks : vti_clock_read(self->clock);
        vti_ring_put(self, ticks, id, event->kind, event->flags, event->type, event->payload,
                     event->payload_bytes);
    }
    vti_slow_leave(&slow);
    return self ? ticks : 0;
}

/* As take() in span.c, for several records at once. */
uint64_t vti_event_put(const struct vti_new_event *event, uint64_t ticks)
{
    struct vti_thread *self = vti_self;
    unsigned count = 1 + vti_payload_count(event->payload_bytes);
    uint32_t id = event->site ? __atomic_load_n(&event->site->id, __ATOMIC_RELAXED) : 0;
    struct vti_record *record;
    struct vti_record *base;
    struct vti_record *limit;

    if (!self || !self->top || (event->site && !id) ||
        self->period != (vti_control_word() & ~VTI_CONTROL_KINDS) ||
        self->cursor + count > self->limit)
        return put_slowly(event, ticks, NULL, 0);
    base = self->base;
    limit = self->limit;
    record = vti_cursor_take(&self->cursor, count);
    if (record < base || record + count > limit)
        return put_slowly(event, ticks, record, count);
    vti_payload_put(record + 1, event->payload, event->payload_bytes);
    record->id = id;
    record->tag = VTI_TAG(event->kind, count - 1, event->flags, event->type);
    ticks = ticks ? ticks : vti_clock_read(self->clock);
    vti_record_publish(record, ticks);
    return ticks;
}

static void put(const struct vti_new_event *event)
{
    vti_event_put(event, 0);
}

size_t vti_text_kept(const char *text, size_t len)
{
    if (len <= VTI_TEXT_MAX)
        return len;
    for (len = VTI_TEXT_MAX; len > VTI_TEXT_MAX - 4 && (text[len] & 0xc0) == 0x80;)
        len--;
    return len;
}

static size_t text_length(const char *text)
{
    return text ? vti_text_kept(text, strnlen(text, VTI_TEXT_MAX + 1)) : 0;
}

void vt_mark_add(struct vt_site *site)
{
    put(&(struct vti_new_event){site, VTI_RECORD_MARK, 0, 0, NULL, 0});
}

void vt_counter_int(struct vt_site *site, int64_t value)
{
    put(&(struct vti_new_event){site, VTI_RECORD_COUNTER, 0, VTI_TYPE_INT, &value, sizeof value});
}

void vt_counter_uint(struct vt_site *site, uint64_t value)
{
    put(&(struct vti_new_event){site, VTI_RECORD_COUNTER, 0, VTI_TYPE_UINT, &value, sizeof value});
}

void vt_counter_double(struct vt_site *site, double value)
{
    put(&(struct vti_new_event){site, VTI_RECORD_COUNTER, 0, VTI_TYPE_DOUBLE, &value,
                                sizeof value});
}

void vt_attr_int(struct vt_site *key, int64_t value)
{
    put(&(struct vti_new_event){key, VTI_RECORD_ATTR, 0, VTI_TYPE_INT, &value, sizeof value});
}

void vt_attr_uint(struct vt_site *key, uint64_t value)
{
    put(&(struct vti_new_event){key, VTI_RECORD_ATTR, 0, VTI_TYPE_UINT, &value, sizeof value});
}

void vt_attr_double(struct vt_site *key, double value)
{
    put(&(struct vti_new_event){key, VTI_RECORD_ATTR, 0, VTI_TYPE_DOUBLE, &value, sizeof value});
}

void vt_attr_text(struct vt_site *key, const char *value)
{
    put(&(struct vti_new_event){key, VTI_RECORD_ATTR, 0, VTI_TYPE_TEXT, value, text_length(value)});
}

void vt_span_error(const char *type, const char *message)
{
    char payload[4 + 2 * VTI_TEXT_MAX];
    uint32_t type_len = type ? (uint32_t)strnlen(type, 255) : 0;
    size_t message_len = text_length(message);

    memcpy(payload, &type_len, 4);
    if (type_len)
        memcpy(payload + 4, type, type_len);
    if (message_len)
        memcpy(payload + 4 + type_len, message, message_len);
    put(&(struct vti_new_event){NULL, VTI_RECORD_ERROR, 0, 0, payload, 4 + type_len + message_len});
}

uint64_t vti_async_number(void)
{
    struct vti_thread *self = vti_self;
    struct vti_slow slow;

    if (!self || !self->slot) {
        self = vti_slow_enter(&slow, 0);
        vti_slow_leave(&slow);
    }
    return self ? ++self->async_next : 0;
}

uint64_t vt_async_start(struct vt_site *site)
{
    uint64_t id = vti_async_number();

    if (id)
        put(&(struct vti_new_event){site, VTI_RECORD_ASYNC_BEGIN, 0, 0, &id, sizeof id});
    return id;
}

/* As plain spans do: what has begun ends, also while recording is switched off, if this thread has somewhere to write to. */
static void end_while_off(uint64_t number, uint32_t flags)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_self;

    vti_slow_block(&slow);
    if (self && self->slot && self->top)
        vti_ring_put(self, vti_clock_read(self->clock), 0, VTI_RECORD_ASYNC_END, flags, 0, &number,
                     sizeof number);
    vti_slow_leave(&slow);
}

void vti_async_end(uint64_t number, uint32_t flags, uint64_t ticks)
{
    struct vti_new_event event = {NULL, VTI_RECORD_ASYNC_END, flags, 0, &number, sizeof number};

    if (!vt_is_on() || !vti_event_put(&event, ticks))
        end_while_off(number, flags);
}

void vt_async_stop(uint64_t id, int failed)
{
    vti_async_end(id, failed ? VTI_RECORD_FAILED : 0, 0);
}

uint64_t vti_async_attr_put(uint64_t number, struct vt_site *key, uint32_t type, const void *value,
                            size_t bytes, uint64_t ticks)
{
    uint8_t payload[sizeof number + VTI_TEXT_MAX];

    memcpy(payload, &number, sizeof number);
    if (bytes)
        memcpy(payload + sizeof number, value, bytes);
    return vti_event_put(&(struct vti_new_event){key, VTI_RECORD_ASYNC_ATTR, 0, type, payload,
                                                 sizeof number + bytes},
                         ticks);
}

static void put_async_attr(uint64_t id, struct vt_site *key, uint32_t type, const void *value,
                           size_t bytes)
{
    if (id && vt_is_on())
        vti_async_attr_put(id, key, type, value, bytes, 0);
}

void vt_async_attr_int(uint64_t id, struct vt_site *key, int64_t value)
{
    put_async_attr(id, key, VTI_TYPE_INT, &value, sizeof value);
}

void vt_async_attr_double(uint64_t id, struct vt_site *key, double value)
{
    put_async_attr(id, key, VTI_TYPE_DOUBLE, &value, sizeof value);
}

void vt_async_attr_text(uint64_t id, struct vt_site *key, const char *value)
{
    put_async_attr(id, key, VTI_TYPE_TEXT, value, text_length(value));
}
