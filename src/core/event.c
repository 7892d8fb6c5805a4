/*
 * event.c - everything but plain spans: marks, counters, attributes, errors, async spans.
 *
 * These carry data and are less frequent; they all go through one function, straight into the ring
 * when there is room and by the slow path when there is not.
 */
#include "core/clock.h"
#include "core/ring.h"
#include "core/site.h"
#include "core/thread.h"

#include <string.h>
#include <venturi/span.h>

enum { TYPE_INT = 1, TYPE_UINT, TYPE_DOUBLE, TYPE_TEXT }; /* as enum vti_value_type */

struct event {
    struct vt_site *site; /* NULL: none */
    uint32_t kind;
    uint32_t flags;
    uint32_t type;
    const void *payload;
    size_t payload_bytes;
};

static void put_slowly(const struct event *event, struct vti_record *taken, unsigned count)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 1);
    uint32_t id;

    if (self) {
        vti_ring_return(self, taken, count);
        id = event->site ? vti_site_id(self->arena, event->site) : 0;
        vti_ring_put(self, vti_clock_read(self->clock), id, event->kind, event->flags, event->type,
                     event->payload, event->payload_bytes);
    }
    vti_slow_leave(&slow);
}

/* As take() in span.c, for several records at once. */
static void put(const struct event *event)
{
    struct vti_thread *self = vti_self;
    unsigned count = 1 + vti_payload_count(event->payload_bytes);
    uint32_t id = event->site ? __atomic_load_n(&event->site->id, __ATOMIC_RELAXED) : 0;
    struct vti_record *record;
    struct vti_record *base;
    struct vti_record *limit;

    if (!self || !self->top || (event->site && !id) ||
        self->period != (vti_control_word() & ~VTI_CONTROL_KINDS) ||
        self->cursor + count > self->limit) {
        put_slowly(event, NULL, 0);
        return;
    }
    base = self->base;
    limit = self->limit;
    record = vti_cursor_take(&self->cursor, count);
    if (record < base || record + count > limit) {
        put_slowly(event, record, count);
        return;
    }
    vti_payload_put(record + 1, event->payload, event->payload_bytes);
    record->id = id;
    record->tag = VTI_TAG(event->kind, count - 1, event->flags, event->type);
    vti_record_publish(record, vti_clock_read(self->clock));
}

static size_t text_length(const char *text)
{
    return text ? strnlen(text, VTI_TEXT_MAX) : 0;
}

void vt_mark_add(struct vt_site *site)
{
    put(&(struct event){site, VTI_RECORD_MARK, 0, 0, NULL, 0});
}

void vt_counter_int(struct vt_site *site, int64_t value)
{
    put(&(struct event){site, VTI_RECORD_COUNTER, 0, TYPE_INT, &value, sizeof value});
}

void vt_counter_uint(struct vt_site *site, uint64_t value)
{
    put(&(struct event){site, VTI_RECORD_COUNTER, 0, TYPE_UINT, &value, sizeof value});
}

void vt_counter_double(struct vt_site *site, double value)
{
    put(&(struct event){site, VTI_RECORD_COUNTER, 0, TYPE_DOUBLE, &value, sizeof value});
}

void vt_attr_int(struct vt_site *key, int64_t value)
{
    put(&(struct event){key, VTI_RECORD_ATTR, 0, TYPE_INT, &value, sizeof value});
}

void vt_attr_uint(struct vt_site *key, uint64_t value)
{
    put(&(struct event){key, VTI_RECORD_ATTR, 0, TYPE_UINT, &value, sizeof value});
}

void vt_attr_double(struct vt_site *key, double value)
{
    put(&(struct event){key, VTI_RECORD_ATTR, 0, TYPE_DOUBLE, &value, sizeof value});
}

void vt_attr_text(struct vt_site *key, const char *value)
{
    put(&(struct event){key, VTI_RECORD_ATTR, 0, TYPE_TEXT, value, text_length(value)});
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
    put(&(struct event){NULL, VTI_RECORD_ERROR, 0, 0, payload, 4 + type_len + message_len});
}

uint64_t vt_async_start(struct vt_site *site)
{
    struct vti_thread *self;
    struct vti_slow slow;
    uint64_t id = 0;

    self = vti_self;
    if (!self || !self->slot) {
        self = vti_slow_enter(&slow, 0);
        vti_slow_leave(&slow);
    }
    if (!self)
        return 0;
    id = ++self->async_next;
    put(&(struct event){site, VTI_RECORD_ASYNC_BEGIN, 0, 0, &id, sizeof id});
    return id;
}

void vt_async_stop(uint64_t id, int failed)
{
    uint32_t flags = failed ? VTI_RECORD_FAILED : 0;

    if (vt_is_on())
        put(&(struct event){NULL, VTI_RECORD_ASYNC_END, flags, 0, &id, sizeof id});
}

static void put_async_attr(uint64_t id, struct vt_site *key, uint32_t type, const void *value,
                           size_t bytes)
{
    uint8_t payload[sizeof id + VTI_TEXT_MAX];

    if (!id || !vt_is_on())
        return;
    memcpy(payload, &id, sizeof id);
    if (bytes)
        memcpy(payload + sizeof id, value, bytes);
    put(&(struct event){key, VTI_RECORD_ASYNC_ATTR, 0, type, payload, sizeof id + bytes});
}

void vt_async_attr_int(uint64_t id, struct vt_site *key, int64_t value)
{
    put_async_attr(id, key, TYPE_INT, &value, sizeof value);
}

void vt_async_attr_double(uint64_t id, struct vt_site *key, double value)
{
    put_async_attr(id, key, TYPE_DOUBLE, &value, sizeof value);
}

void vt_async_attr_text(uint64_t id, struct vt_site *key, const char *value)
{
    put_async_attr(id, key, TYPE_TEXT, value, text_length(value));
}
