/*
 * trace_record.c - spans that whoever keeps the contexts of traces has begun and ended.
 *
 * What is said about a span at its begin or end has its very time: that is how a reader tells it from
 * what was said in between.
 */
#include "core/trace_record.h"

#include "core/event.h"
#include "share/record.h"

#include <string.h>

static uint64_t put_fact(uint64_t number, const struct vt_trace_fact *fact, uint64_t ticks)
{
    const void *value = &fact->value;
    size_t bytes = sizeof(uint64_t); /* of a number of any type */

    if (fact->type == VT_FACT_TEXT) {
        value = fact->value.text.data;
        bytes = vti_text_kept(fact->value.text.data, fact->value.text.len);
    }
    return vti_async_attr_put(number, fact->key, (uint32_t)fact->type, value, bytes, ticks);
}

uint64_t vt_trace_record(struct vt_site *site, const struct vt_trace_ids *ids,
                         const struct vt_trace_fact *facts, size_t count)
{
    struct vti_new_event event = {site, VTI_RECORD_ASYNC_BEGIN, 0, 0, NULL, sizeof(uint64_t)};
    uint8_t payload[sizeof(uint64_t) + sizeof *ids];
    uint64_t number = vt_is_on() ? vti_async_number() : 0;
    uint64_t ticks;

    if (!number)
        return 0;
    memcpy(payload, &number, sizeof number);
    if (ids) {
        memcpy(payload + sizeof number, ids, sizeof *ids);
        event.kind = VTI_RECORD_TRACE_BEGIN;
        event.payload_bytes = sizeof payload;
    }
    event.payload = payload;
    ticks = vti_event_put(&event, 0);
    for (size_t i = 0; i < count && ticks; i++)
        put_fact(number, &facts[i], ticks);
    return ticks ? number : 0;
}

void vti_trace_record_end(uint64_t number, uint32_t flags, const struct vt_trace_fact *facts,
                          size_t count)
{
    uint64_t ticks = 0;

    if (!number)
        return;
    for (size_t i = 0; i < count && vt_is_on(); i++)
        ticks = put_fact(number, &facts[i], ticks);
    vti_async_end(number, flags, ticks);
}

void vt_trace_record_end(uint64_t number, int failed, const struct vt_trace_fact *facts,
                         size_t count)
{
    vti_trace_record_end(number, failed ? VTI_RECORD_FAILED : 0, facts, count);
}
