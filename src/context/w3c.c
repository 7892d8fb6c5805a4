/*
 * w3c.c - a context as W3C's Trace Context has it: the text of `traceparent` and `tracestate`.
 *
 * What comes is hostile: it is copied only after every character of it was looked at, because it goes into the headers of other requests.
 */
#include "base/uuid.h"
#include "context/state.h"

#include <stdio.h>
#include <string.h>

#define TRACE_AT 3
#define SPAN_AT 36
#define FLAGS_AT 53
#define FLAGS_KNOWN 3 /* sampled, random */

/* Lower case only, as the specification has it. */
static int digit_of(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Stops at the end of the text: its zero is no digit. */
static bool get_bytes(uint8_t *to, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        int high = digit_of(text[2 * i]);
        int low = high < 0 ? -1 : digit_of(text[2 * i + 1]);

        if (low < 0)
            return false;
        to[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* 00 is just this long; a later version may go on behind another dash. */
static bool has_form(const char *text, uint8_t version)
{
    size_t len = strnlen(text, VT_TRACEPARENT);

    if (len < VT_TRACEPARENT - 1 || text[2] != '-' || text[SPAN_AT - 1] != '-' ||
        text[FLAGS_AT - 1] != '-' || version == 0xff)
        return false;
    return len == VT_TRACEPARENT - 1 || (version && text[VT_TRACEPARENT - 1] == '-');
}

/* Without blanks around it, and whole entries as far as they fit; nothing if a character does not belong into a header. */
static void keep_state(char to[VT_TRACESTATE_MAX + 1], const char *from)
{
    static const char blanks[] = " \t\n\r\v\f";
    size_t len;
    size_t fits = 0;

    to[0] = 0;
    if (!from)
        return;
    from += strspn(from, blanks);
    len = strlen(from);
    while (len && strchr(blanks, from[len - 1]))
        len--;
    for (size_t i = 0; i < len; i++) {
        if (from[i] < 0x20 || from[i] > 0x7e)
            return;
        if (from[i] == ',' && i <= VT_TRACESTATE_MAX)
            fits = i;
    }
    if (len <= VT_TRACESTATE_MAX)
        fits = len;
    memcpy(to, from, fits);
    to[fits] = 0;
}

int vt_context_parse_w3c(struct vt_context *context, const char *traceparent,
                         const char *tracestate)
{
    struct vt_id trace;
    struct vt_id span = {{0}};
    uint8_t version;
    uint8_t flags;

    if (!traceparent || !get_bytes(&version, traceparent, 1) || !has_form(traceparent, version) ||
        !get_bytes(trace.bytes, traceparent + TRACE_AT, 16) ||
        !get_bytes(span.bytes + 8, traceparent + SPAN_AT, 8) ||
        !get_bytes(&flags, traceparent + FLAGS_AT, 1) || vt_id_is_zero(&trace) ||
        vt_id_is_zero(&span))
        return 0;
    /* Whoever has no span yet sends the end of the trace's own id. */
    context->base = trace;
    context->span = memcmp(trace.bytes + 8, span.bytes + 8, 8) == 0 ? trace : span;
    context->key = VT_KEY_NONE;
    context->flags = flags & FLAGS_KNOWN;
    context->process = 0;
    keep_state(context->tracestate, tracestate);
    return 1;
}

void vt_context_traceparent(const struct vt_context *context, char text[VT_TRACEPARENT])
{
    char trace[VTI_UUID_HEX];
    char span[VTI_UUID_HEX];
    bool has_short = vt_id_short(&context->span) != 0;

    vti_uuid_hex(context->base.bytes, trace);
    vti_uuid_hex(context->span.bytes, span);
    /* Zero would be no id: an odd one has its other half. */
    snprintf(text, VT_TRACEPARENT, "00-%s-%.16s-%02x", trace, span + (has_short ? 16 : 0),
             context->flags & FLAGS_KNOWN);
}
