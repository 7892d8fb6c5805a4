/*
 * venturi/context.h - traces: work that goes through several threads, processes and services, and its trace points.
 *
 *     vt_http_accept(keys, get_header, request);     a request that carries the secret continues its caller's trace
 *     {
 *         VT_TRACE("charge-card");                   ends with the scope; a child of what is open around it
 *         VT_TRACE_ATTR("amount", amount);
 *         ...
 *         vt_http_inject(keys, add_header, outgoing);   and whoever is called continues here
 *     }
 *     vt_context_end();
 *
 * A trace has an id (the base), each of its spans another; as text they are UUIDs. Each thread has at most one
 * current context: which trace, and which of its spans is innermost. Outside of a trace a trace point is a plain span
 * (span.h); in one it has ids, whether somebody records or not. Nothing here can fail or block but where it says so. Not for
 * signal handlers. Headers of requests are in venturi/http.h, a service's settings in venturi/service.h.
 */
#ifndef VENTURI_CONTEXT_H
#define VENTURI_CONTEXT_H

#include <venturi/span.h>

#include <stddef.h>
#include <stdint.h>

/* ---- ids ------------------------------------------------------------------------------------- */

/* 128 bits, in the order of the digits. The last 64 are the short form that W3C and OTLP have for spans. */
struct vt_id {
    uint8_t bytes[16];
};

#define VT_ID_TEXT 37  /* room for "f12e75d5-5d59-4cbc-b74d-357f19290dd7" */
#define VT_ID_HEX 33   /* room for "f12e75d55d594cbcb74d357f19290dd7" */
#define VT_ID_SHORT 17 /* room for "b74d357f19290dd7" */

/* ---- the current context --------------------------------------------------------------------- */

#define VT_TRACESTATE_MAX 512
#define VT_KEY_NONE UINT32_MAX /* nobody has shown a secret: W3C headers only */
#define VT_PROCESS_HERE UINT64_MAX

struct vt_context {
    struct vt_id base;
    struct vt_id span; /* the innermost one; equal to `base`: none yet */
    uint32_t key;      /* that signs what is sent on: its place + 1; 0: the first; or VT_KEY_NONE */
    uint32_t flags;    /* those of `traceparent`; bit 0: sampled */
    uint64_t
        process; /* which one it was taken in by vt_context_get(); 0: it came from elsewhere; or VT_PROCESS_HERE */
    char tracestate[VT_TRACESTATE_MAX + 1]; /* passed on as it came */
};

#define VT_TRACEPARENT 56 /* room for "00-" and 32, "-" and 16, "-" and 2 digits */

/* Told of every trace point of a trace when it opens and closes (duration -1: it opens); on the thread it happens on. */
struct vt_trace_news {
    const char *name;
    const struct vt_id *base, *parent, *span;
    int64_t realtime_ns; /* of this event, since 1970 */
    int64_t duration_ns;
    const char *error_type, *error_message; /* NULL: it did not fail */
};
typedef void vt_trace_listener(const struct vt_trace_news *news, void *arg);

/* A fact about a span. */
struct vt_trace_fact {
    struct vt_site *key;
    enum { VT_FACT_INT = 1, VT_FACT_UINT, VT_FACT_DOUBLE, VT_FACT_TEXT } type;
    union {
        int64_t i;
        uint64_t u;
        double d;
        struct {
            const char *data;
            size_t len;
        } text;
    } value;
};

struct vt_trace_ids {
    struct vt_id base, span, parent;
};

/* What a thread was in before vt_context_enter(): its place is the caller's, its contents are ours. */
struct vt_context_before {
    const void *thread, *here;
    uint32_t number, is_entering;
    struct vt_id entered;
    struct vt_context context;
};

#ifndef VT_OFF

#ifdef __cplusplus
extern "C" {
#endif

/* ---- functions on both ------------------------------------------------------------------------ */

VT_API void vt_id_new(struct vt_id *id); /* a fresh UUID of version 4; never fails, quick */
VT_API void vt_id_text(const struct vt_id *id, char text[VT_ID_TEXT]);
VT_API void vt_id_hex(const struct vt_id *id, char text[VT_ID_HEX]);
VT_API void vt_id_short_hex(const struct vt_id *id, char text[VT_ID_SHORT]);
VT_API uint64_t vt_id_short(const struct vt_id *id);
VT_API void vt_id_from_short(struct vt_id *id, uint64_t value); /* the upper half is zero */

/* Any text becomes an id: a UUID with or without dashes, braces, "urn:uuid:", in either case, is itself; 16 hex digits are a
 * short id; anything else the same id each time, so that links hold. Returns 1 if it was itself, 0 if it was made from the text. */
VT_API int vt_id_parse(struct vt_id *id, const char *text, size_t len);
VT_API int vt_id_equal(const struct vt_id *a, const struct vt_id *b);
VT_API int vt_id_is_zero(const struct vt_id *id);

/* A trace begins on this thread, or one is continued that came from elsewhere: a value that may be copied and handed over as any other. NULL: a
 * new one. What was current before is forgotten; trace points that are open go on to belong to their own trace. */
VT_API void vt_context_begin(const struct vt_context *from);
VT_API void vt_context_end(void);

/* 1 and the current context, or 0 if this thread is in no trace. For another thread or process to begin with. */
VT_API int vt_context_get(struct vt_context *context);

/* W3C: 1 if `traceparent` was understood. `tracestate` may be NULL. A text of 55 characters and its zero. */
VT_API int vt_context_parse_w3c(struct vt_context *context, const char *traceparent,
                                const char *tracestate);
VT_API void vt_context_traceparent(const struct vt_context *context, char text[VT_TRACEPARENT]);

/* Continues the trace that the environment names (TRACEPARENT, TRACESTATE); 1 if there is one. Its key is 0: the first signs. */
VT_API int vt_context_from_environment(void);

/* ---- trace points ---------------------------------------------------------------------------- */

/* One that is open; its place is the caller's, its contents are ours. */
struct vt_trace_point {
    uint32_t state; /* 0: not open */
    struct vt_scope scope;
};

/* NULL: this thread is in no trace. */
extern VT_API __thread const void *vt_context_here __attribute__((tls_model("initial-exec")));

VT_API void vt_trace_open(struct vt_trace_point *point, struct vt_site *site, const void *frame);
VT_API void vt_trace_close(struct vt_trace_point *point);

/* Whether a trace point has anything to do: all that stands between the program and no cost. */
VT_INLINE int vt_is_tracing(void)
{
    return vt_is_on() || __builtin_expect(vt_context_here != NULL, 0);
}

VT_INLINE void vt_trace_leave(struct vt_trace_point *point)
{
    if (__builtin_expect(point->state != 0, 0))
        vt_trace_close(point);
}

#define VT_TRACE(name) VT_TRACE_(name, __COUNTER__)
#define VT_TRACE_(name, number)                                                                    \
    struct vt_trace_point VT_JOIN(vt_point_, number)                                               \
        __attribute__((cleanup(vt_trace_leave), unused));                                          \
    VT_JOIN(vt_point_, number).state = 0;                                                          \
    do {                                                                                           \
        if (vt_is_tracing()) {                                                                     \
            static struct vt_site vt_site_here = VT_SITE(name, "", 0);                             \
            vt_trace_open(&VT_JOIN(vt_point_, number), &vt_site_here, __builtin_frame_address(0)); \
        }                                                                                          \
    } while (0)

/* By hand, as osprofiler's start() and stop(): a stop without a start is ignored. */
VT_API void vt_trace_start(const char *name);
VT_API void vt_trace_stop(void);

/* Of the innermost open trace point of this thread: a fact about it, and that it failed (either text may be NULL). It still has to end. */
VT_API void vt_trace_attr_int(struct vt_site *key, int64_t value);
VT_API void vt_trace_attr_uint(struct vt_site *key, uint64_t value);
VT_API void vt_trace_attr_double(struct vt_site *key, double value);
VT_API void vt_trace_attr_text(struct vt_site *key, const char *value);
VT_API void vt_trace_error(const char *type, const char *message);

#ifdef __cplusplus
} /* extern "C" */

extern "C++" {
template <typename T> inline void vt_trace_attr_any(vt_site *key, T value)
{
    if (static_cast<T>(-1) < static_cast<T>(1))
        vt_trace_attr_int(key, static_cast<int64_t>(value));
    else
        vt_trace_attr_uint(key, static_cast<uint64_t>(value));
}
inline void vt_trace_attr_any(vt_site *key, double value)
{
    vt_trace_attr_double(key, value);
}
inline void vt_trace_attr_any(vt_site *key, float value)
{
    vt_trace_attr_double(key, value);
}
inline void vt_trace_attr_any(vt_site *key, bool value)
{
    vt_trace_attr_int(key, value);
}
inline void vt_trace_attr_any(vt_site *key, const char *value)
{
    vt_trace_attr_text(key, value);
}
inline void vt_trace_attr_any(vt_site *key, char *value)
{
    vt_trace_attr_text(key, value);
}
}
extern "C" {
#define VT_TRACE_ATTR_(key, value) vt_trace_attr_any(key, value)
#else
#define VT_TRACE_ATTR_(key, value)                                                                 \
    _Generic((value), float                                                                        \
             : vt_trace_attr_double, double                                                        \
             : vt_trace_attr_double, char *                                                        \
             : vt_trace_attr_text, const char *                                                    \
             : vt_trace_attr_text, unsigned long                                                   \
             : vt_trace_attr_uint, unsigned long long                                              \
             : vt_trace_attr_uint, default                                                         \
             : vt_trace_attr_int)(key, value)
#endif
#define VT_TRACE_ATTR(key, value)                                                                  \
    do {                                                                                           \
        if (vt_is_tracing()) {                                                                     \
            static struct vt_site vt_site_here = VT_SITE(key, "", 3);                              \
            VT_TRACE_ATTR_(&vt_site_here, value);                                                  \
        }                                                                                          \
    } while (0)

/* NULL: nobody. Trace points in the listener are none: they neither open nor end anything, and what is said there is said of nothing. */
VT_API void vt_trace_listen(vt_trace_listener *listener, void *arg);

/* What the program is, for those who read what several recorded; NULL or "": not said. To be said before the first trace. */
VT_API void vt_trace_service(const char *project, const char *service, const char *host);

/* ---- for those who keep contexts themselves: a binding of a language -------------------------- */

/* As vt_context_begin() and vt_context_end(), but then everything is as it was: trace points that were open go on. On another thread than
 * that which entered, leaving does nothing. */
VT_API void vt_context_enter(const struct vt_context *from, struct vt_context_before *before);
VT_API void vt_context_leave(const struct vt_context_before *before);

/* Records that a span begins, ends; facts have its very time. Returns its number for the end, 0 if nobody records. `ids` NULL: of no trace.
 * A base of zeros is no trace either, but the parent is known: zeros, or the span of another with such a base. */
VT_API uint64_t vt_trace_record(struct vt_site *site, const struct vt_trace_ids *ids,
                                const struct vt_trace_fact *facts, size_t count);
VT_API void vt_trace_record_end(uint64_t number, int failed, const struct vt_trace_fact *facts,
                                size_t count);

#ifdef __cplusplus
}
#endif

#else /* VT_OFF: no trace ever begins; values are not even computed */

#define VT_TRACE(name) ((void)0)
#define VT_TRACE_ATTR(key, value) ((void)sizeof(value))
#define vt_trace_start(name) ((void)sizeof(name))
#define vt_trace_stop() ((void)0)
#define vt_trace_error(type, message) ((void)sizeof(type), (void)sizeof(message))
#define vt_trace_listen(listener, arg) ((void)(listener), (void)(arg))
#define vt_trace_service(project, service, host)                                                   \
    ((void)sizeof(project), (void)sizeof(service), (void)sizeof(host))
#define vt_is_tracing() 0
#define vt_context_begin(from) ((void)sizeof(from))
#define vt_context_end() ((void)0)
#define vt_context_get(context) ((void)sizeof(context), 0)
#define vt_context_from_environment() 0
#define vt_context_parse_w3c(context, traceparent, tracestate)                                     \
    ((void)sizeof(context), (void)sizeof(traceparent), (void)sizeof(tracestate), 0)
#define vt_context_traceparent(context, text) ((void)sizeof(context), (void)((text)[0] = 0))

#endif
#endif
