/*
 * headers.c - a request's headers become the current context, and that becomes the headers of another. What is forged or broken
 * leaves a request untraced and is counted; it must never fail a request, and nothing but stderr hears of it.
 */
#include "net/keys.h"
#include "net/say.h"
#include "net/sign.h"

#include <stdio.h>
#include <string.h>

#define PARENT_MOST 256 /* room for later versions of `traceparent` */
#define BLANKS " \t\n\r\v\f"

static uint64_t rejected;

uint64_t vt_http_rejected(void)
{
    return __atomic_load_n(&rejected, __ATOMIC_RELAXED);
}

static enum vt_accept reject(const char *why)
{
    if (!__atomic_fetch_add(&rejected, 1, __ATOMIC_RELAXED))
        vti_say("trace headers of a request are not accepted: %s; it is served untraced, further "
                "ones are only counted",
                why);
    return VT_ACCEPT_REJECTED;
}

/* ---- in -------------------------------------------------------------------------------------- */

/* What is left of a text without the blanks around it, and how long that is. The set is Python's, whatever the locale. */
static const char *trim(const char *text, size_t *len)
{
    text += strspn(text, BLANKS);
    *len = strlen(text);
    while (*len && strchr(BLANKS, text[*len - 1]))
        (*len)--;
    return text;
}

/* A header's value without blanks around it into `to`, because it lasts only until the next one is asked for; false if it is too
 * long. NULL is "". */
static bool copy_header(char *to, size_t room, const char *value)
{
    size_t len;

    to[0] = 0;
    if (!value)
        return true;
    value = trim(value, &len);
    if (len >= room)
        return false;
    memcpy(to, value, len);
    to[len] = 0;
    return true;
}

static bool is_there(const char *value)
{
    return value && *value;
}

/* False if there is a `traceparent` that is broken; *found says whether there is one. */
static bool read_w3c(struct vt_context *context, vt_header_get *get, void *arg, bool *found)
{
    const char *value = get("traceparent", arg);
    char parent[PARENT_MOST];
    const char *state;

    *found = false;
    if (!is_there(value))
        return true;
    if (!copy_header(parent, sizeof parent, value))
        return false;
    state = get("tracestate", arg);
    if (state && strnlen(state, VTI_TRACE_INFO_MOST + 1) > VTI_TRACE_INFO_MOST)
        state = NULL;
    *found = vt_context_parse_w3c(context, parent, state);
    return *found;
}

static enum vt_accept accept_w3c(struct vt_context *context, vt_header_get *get, void *arg)
{
    bool found;

    if (!read_w3c(context, get, arg, &found))
        return reject("a traceparent that is none");
    /* Its key is VT_KEY_NONE: nobody has shown a secret, so nothing that goes on may claim one. A sender that does not record its
     * trace asks for none here. */
    return found && context->flags & 1 ? VT_ACCEPT_TRACED : VT_ACCEPT_NONE;
}

static bool unpack(struct vt_context *context, const char *text, size_t len)
{
    struct vti_trace_info info = {0};
    bool is_good = vti_trace_info_unpack(&info, text, len);

    if (is_good) {
        vt_id_parse(&context->base, (const char *)info.base.data, info.base.len);
        context->span = context->base;
        if (info.has_parent)
            vt_id_parse(&context->span, (const char *)info.parent.data, info.parent.len);
        context->flags = 1;
    }
    vti_trace_info_fini(&info);
    return is_good;
}

/* What only W3C's headers have, if they are of the same trace: they are not signed. */
static void add_w3c(struct vt_context *context, vt_header_get *get, void *arg)
{
    struct vt_context other;
    bool found;

    memset(&other, 0, sizeof other);
    if (!read_w3c(&other, get, arg, &found) || !found || !vt_id_equal(&other.base, &context->base))
        return;
    context->flags = other.flags;
    memcpy(context->tracestate, other.tracestate, sizeof context->tracestate);
}

static enum vt_accept accept_signed(struct vt_context *context, const vt_keys *keys,
                                    vt_header_get *get, void *arg)
{
    const char *value;
    char signature[VTI_SIGNATURE];
    bool is_short;
    bool is_signed;
    size_t len;

    if (!keys->count)
        return VT_ACCEPT_NONE;
    value = get("X-Trace-HMAC", arg);
    is_signed = is_there(value);
    is_short = copy_header(signature, sizeof signature, value);
    value = get("X-Trace-Info", arg);
    if (!is_signed && !is_there(value))
        return VT_ACCEPT_NONE;
    if (!is_signed || !is_there(value))
        return reject("one of X-Trace-Info and X-Trace-HMAC is missing");
    value = trim(value, &len);
    if (len > VTI_TRACE_INFO_MOST)
        return reject("X-Trace-Info is too long");
    context->key = is_short ? vti_keys_match(keys, signature, strlen(signature), value, len) : 0;
    if (!context->key)
        return reject("they are signed with no key of this service");
    if (!unpack(context, value, len))
        return reject("X-Trace-Info is not what osprofiler packs");
    add_w3c(context, get, arg);
    return VT_ACCEPT_TRACED;
}

enum vt_accept vt_http_accept(const vt_keys *keys, vt_header_get *get, void *arg)
{
    struct vt_context context;
    enum vt_accept answer;

    memset(&context, 0, sizeof context);
    answer = keys ? accept_signed(&context, keys, get, arg) : accept_w3c(&context, get, arg);
    if (answer == VT_ACCEPT_TRACED)
        vt_context_begin(&context);
    else
        vt_context_end(); /* a thread that served a traced request before must not go on with it */
    return answer;
}

/* ---- out ------------------------------------------------------------------------------------- */

/* The key that signs: the one that the trace came with; the first if it began here. */
static const struct vti_key *choose_key(const vt_keys *keys, const struct vt_context *context)
{
    if (!keys || context->key == VT_KEY_NONE)
        return NULL;
    if (context->key > keys->count || !keys->count)
        return NULL;
    return &keys->keys[context->key ? context->key - 1 : 0];
}

void vt_http_inject(const vt_keys *keys, vt_header_add *add, void *arg)
{
    struct vt_context context;
    const struct vti_key *key;
    char parent[VT_TRACEPARENT];
    char info[VTI_TRACE_INFO_IDS];
    char signature[VTI_SIGNATURE];

    if (!vt_context_get(&context))
        return;
    vt_context_traceparent(&context, parent);
    add("traceparent", parent, arg);
    if (context.tracestate[0])
        add("tracestate", context.tracestate, arg);
    key = choose_key(keys, &context);
    if (key && vti_sign_ids(info, signature, key->text, key->len, &context.base, &context.span)) {
        add("X-Trace-Info", info, arg);
        add("X-Trace-HMAC", signature, arg);
    }
}
