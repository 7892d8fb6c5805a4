/* body.c - the bodies of events that are more than a plain begin or end, written and read side by side. */
#include "format/body.h"

#include "format/facts.h"
#include "format/layout.h"

#include <string.h>

static uint32_t get_u32(struct vti_reader *in)
{
    return (uint32_t)vti_reader_count(in, UINT32_MAX);
}

static void put_text(struct vti_buf *out, struct vti_bytes text)
{
    if (text.len > VTI_BODY_TEXT_MOST)
        out->failed = true;
    else
        vti_bytes_put(out, text);
}

static void put_value(struct vti_buf *out, const struct vti_value *value)
{
    uint64_t bits;

    vti_buf_add_u8(out, (uint8_t)value->type);
    switch (value->type) {
    case VTI_VALUE_INT:
        vti_buf_add_signed(out, value->i);
        break;
    case VTI_VALUE_UINT:
        vti_buf_add_varint(out, value->u);
        break;
    case VTI_VALUE_DOUBLE:
        memcpy(&bits, &value->d, sizeof bits);
        vti_buf_add_u64(out, bits);
        break;
    case VTI_VALUE_TEXT:
        put_text(out, value->text);
        break;
    case VTI_VALUE_NONE:
        break;
    }
}

/* A type of value that this version does not know reads as none: its length is the body's. */
static void get_value(struct vti_reader *in, struct vti_value *value)
{
    uint64_t bits;

    value->type = VTI_VALUE_NONE;
    switch (vti_reader_u8(in)) {
    case VTI_VALUE_INT:
        value->type = VTI_VALUE_INT;
        value->i = vti_reader_signed(in);
        break;
    case VTI_VALUE_UINT:
        value->type = VTI_VALUE_UINT;
        value->u = vti_reader_varint(in);
        break;
    case VTI_VALUE_DOUBLE:
        value->type = VTI_VALUE_DOUBLE;
        bits = vti_reader_u64(in);
        memcpy(&value->d, &bits, sizeof bits);
        break;
    case VTI_VALUE_TEXT:
        value->type = VTI_VALUE_TEXT;
        value->text = vti_bytes_get(in);
        break;
    default:
        break;
    }
}

/* ---- ids of a trace -------------------------------------------------------------------------- */

static bool is_same(const uint8_t a[16], const uint8_t b[16])
{
    return memcmp(a, b, 16) == 0;
}

static unsigned how_of(const struct vti_trace_ids *ids, const struct vti_trace_before *before)
{
    unsigned how = 0;

    if (before->is_known && is_same(ids->base, before->ids.base))
        how |= VTI_TRACE_SAME_BASE;
    if (is_same(ids->parent, ids->base))
        how |= VTI_TRACE_PARENT_IS_BASE;
    else if (before->is_known && is_same(ids->parent, before->ids.span))
        how |= VTI_TRACE_PARENT_IS_SPAN;
    else if (before->is_known && is_same(ids->parent, before->ids.parent))
        how |= VTI_TRACE_SAME_PARENT;
    return how;
}

static void put_trace(struct vti_buf *out, const struct vti_trace_ids *ids,
                      const struct vti_trace_before *before)
{
    unsigned how = how_of(ids, before);

    vti_buf_add_varint(out, how);
    if (!(how & VTI_TRACE_SAME_BASE))
        vti_buf_add(out, ids->base, sizeof ids->base);
    vti_buf_add(out, ids->span, sizeof ids->span);
    if (!(how & ~(unsigned)VTI_TRACE_SAME_BASE))
        vti_buf_add(out, ids->parent, sizeof ids->parent);
}

static void get_id(struct vti_reader *in, uint8_t id[16])
{
    const uint8_t *bytes = vti_reader_bytes(in, 16);

    if (bytes)
        memcpy(id, bytes, 16);
}

static void get_trace(struct vti_reader *in, struct vti_trace_ids *ids,
                      struct vti_trace_before *before)
{
    uint64_t how = vti_reader_varint(in);
    uint64_t parent = how & ~(uint64_t)VTI_TRACE_SAME_BASE;
    bool is_alone = (how & ~(uint64_t)VTI_TRACE_PARENT_IS_BASE) == 0;

    if (how >= VTI_TRACE_SAME_PARENT << 1 || (parent & (parent - 1)) ||
        (!is_alone && !before->is_known)) {
        in->failed = true;
        return;
    }
    if (how & VTI_TRACE_SAME_BASE)
        memcpy(ids->base, before->ids.base, sizeof ids->base);
    else
        get_id(in, ids->base);
    get_id(in, ids->span);
    if (parent == VTI_TRACE_PARENT_IS_BASE)
        memcpy(ids->parent, ids->base, sizeof ids->parent);
    else if (parent == VTI_TRACE_PARENT_IS_SPAN)
        memcpy(ids->parent, before->ids.span, sizeof ids->parent);
    else if (parent == VTI_TRACE_SAME_PARENT)
        memcpy(ids->parent, before->ids.parent, sizeof ids->parent);
    else
        get_id(in, ids->parent);
    if (!in->failed)
        *before = (struct vti_trace_before){true, *ids};
}

/* ---- bodies ---------------------------------------------------------------------------------- */

uint8_t vti_body_put(struct vti_buf *body, const struct vti_event *event,
                     const struct vti_trace_before *before)
{
    vti_buf_clear(body);
    switch (event->kind) {
    case VTI_EVENT_END:
        vti_buf_add_varint(body, event->flags);
        return VTI_OTHER_END;
    case VTI_EVENT_BEGIN:
        vti_buf_add_varint(body, event->flags);
        vti_buf_add_varint(body, event->site);
        return VTI_OTHER_BEGIN;
    case VTI_EVENT_MARK:
        vti_buf_add_varint(body, event->site);
        return VTI_OTHER_MARK;
    case VTI_EVENT_COUNTER:
        vti_buf_add_varint(body, event->site);
        put_value(body, &event->value);
        return VTI_OTHER_COUNTER;
    case VTI_EVENT_ATTR:
        vti_buf_add_varint(body, event->site);
        put_value(body, &event->value);
        return VTI_OTHER_ATTR;
    case VTI_EVENT_ERROR:
        put_text(body, event->error_type);
        put_text(body, event->error_message);
        return VTI_OTHER_ERROR;
    case VTI_EVENT_ASYNC_BEGIN:
        vti_buf_add_varint(body, event->site);
        vti_buf_add_varint(body, event->async_id);
        if (!event->has_trace)
            return VTI_OTHER_ASYNC_BEGIN;
        put_trace(body, &event->trace, before);
        return VTI_OTHER_TRACE_BEGIN;
    case VTI_EVENT_ASYNC_END:
        vti_buf_add_varint(body, event->async_id);
        vti_buf_add_varint(body, event->flags);
        return VTI_OTHER_ASYNC_END;
    case VTI_EVENT_ASYNC_ATTR:
        vti_buf_add_varint(body, event->async_id);
        vti_buf_add_varint(body, event->site);
        put_value(body, &event->value);
        return VTI_OTHER_ASYNC_ATTR;
    case VTI_EVENT_LOSS:
        vti_buf_add_varint(body, event->loss_reason);
        vti_buf_add_varint(body, event->loss_events);
        vti_buf_add_varint(body, event->loss_ticks);
        return VTI_OTHER_LOSS;
    default:
        return 0;
    }
}

/* An event of an async span. No span has the id 0: it is skipped then. */
static int get_async(uint8_t type, struct vti_reader *body, struct vti_event *event,
                     struct vti_trace_before *before)
{
    bool is_begin = type == VTI_OTHER_ASYNC_BEGIN || type == VTI_OTHER_TRACE_BEGIN;

    event->kind = is_begin                      ? VTI_EVENT_ASYNC_BEGIN
                  : type == VTI_OTHER_ASYNC_END ? VTI_EVENT_ASYNC_END
                                                : VTI_EVENT_ASYNC_ATTR;
    if (is_begin)
        event->site = get_u32(body);
    event->async_id = vti_reader_varint(body);
    if (!event->async_id)
        return body->failed ? -1 : 0;
    event->has_trace = type == VTI_OTHER_TRACE_BEGIN;
    if (event->has_trace) {
        get_trace(body, &event->trace, before);
    } else if (type == VTI_OTHER_ASYNC_END) {
        event->flags = (uint8_t)vti_reader_varint(body);
    } else if (!is_begin) {
        event->site = get_u32(body);
        get_value(body, &event->value);
    }
    return body->failed ? -1 : 1;
}

int vti_body_get(uint8_t type, struct vti_reader *body, struct vti_event *event,
                 struct vti_trace_before *before)
{
    event->flags = 0;
    event->site = 0;
    switch (type) {
    case VTI_OTHER_END:
        event->kind = VTI_EVENT_END;
        event->flags = (uint8_t)vti_reader_varint(body);
        break;
    case VTI_OTHER_BEGIN:
        event->kind = VTI_EVENT_BEGIN;
        event->flags = (uint8_t)vti_reader_varint(body);
        event->site = get_u32(body);
        break;
    case VTI_OTHER_MARK:
        event->kind = VTI_EVENT_MARK;
        event->site = get_u32(body);
        break;
    case VTI_OTHER_COUNTER:
    case VTI_OTHER_ATTR:
        event->kind = type == VTI_OTHER_ATTR ? VTI_EVENT_ATTR : VTI_EVENT_COUNTER;
        event->site = get_u32(body);
        get_value(body, &event->value);
        break;
    case VTI_OTHER_ERROR:
        event->kind = VTI_EVENT_ERROR;
        event->error_type = vti_bytes_get(body);
        event->error_message = vti_bytes_get(body);
        break;
    case VTI_OTHER_ASYNC_BEGIN:
    case VTI_OTHER_TRACE_BEGIN:
    case VTI_OTHER_ASYNC_END:
    case VTI_OTHER_ASYNC_ATTR:
        return get_async(type, body, event, before);
    case VTI_OTHER_LOSS:
        event->kind = VTI_EVENT_LOSS;
        event->loss_reason = get_u32(body);
        event->loss_events = vti_reader_varint(body);
        event->loss_ticks = vti_reader_varint(body);
        break;
    default:
        return 0;
    }
    return body->failed ? -1 : 1;
}
