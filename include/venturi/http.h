/*
 * venturi/http.h - traces across services: headers in, headers out, for any HTTP server and client.
 *
 *     vt_keys *keys = vt_keys_new("secret_word");
 *     ...
 *     vt_http_accept(keys, find_header, request);     a request that carries the secret continues its caller's trace
 *     handle(request);                                 trace points in it: context.h
 *     vt_http_inject(keys, add_header, outgoing);      and whoever is called continues here
 *     vt_context_end();
 *
 * `X-Trace-Info` and `X-Trace-HMAC` are those of osprofiler, byte for byte; `traceparent` and `tracestate` are W3C's. In
 * libventuri-net, which needs libcrypto. Nothing here can fail or block; all of it may be used from any thread.
 */
#ifndef VENTURI_HTTP_H
#define VENTURI_HTTP_H

#include <venturi/context.h>

/* The secrets of a service. Not changed once made, so that threads may share it. */
typedef struct vt_keys vt_keys;

/* The value of a header by its name (in whatever case), or NULL. It has to last until the next call. */
typedef const char *vt_header_get(const char *name, void *arg);
typedef void vt_header_add(const char *name, const char *value, void *arg);

enum vt_accept {
    VT_ACCEPT_NONE,   /* no header of ours, or its sender does not record: served untraced */
    VT_ACCEPT_TRACED, /* this thread continues the caller's trace */
    VT_ACCEPT_REJECTED, /* a header that is forged or broken: served untraced, counted, logged once on stderr */
};

#ifndef VT_OFF

#ifdef __cplusplus
extern "C" {
#endif

/* "one, two" as in `hmac_keys`: blanks around them and empty ones do not count. NULL gives none. NULL if there is no memory. */
VT_API vt_keys *vt_keys_new(const char *list);
VT_API void vt_keys_free(vt_keys *keys);

/*
 * Whether a request is of a trace; if so it is current on this thread, if not nothing is.
 *
 * With keys: `X-Trace-Info` must be signed with one of them, and the one that fits signs what is sent on. The secret is the
 * trigger: `traceparent` alone does not start anything. With a list that holds no key nothing is ever accepted.
 * Without keys (NULL) `traceparent` is followed whoever sent it if its flags say "sampled", that is that its sender records, and
 * X-Trace-* is not looked at. A service that wants both calls it with its keys and, at VT_ACCEPT_NONE, once more with NULL.
 */
VT_API enum vt_accept vt_http_accept(const vt_keys *keys, vt_header_get *get, void *arg);

/* Requests that were rejected so far, in this process. */
VT_API uint64_t vt_http_rejected(void);

/* Headers of the current context, none if there is none: `traceparent`, `tracestate` if one came, and signed with the key that
 * the trace came with (the first one if it began here) `X-Trace-Info` and `X-Trace-HMAC`; without a key those are left out. */
VT_API void vt_http_inject(const vt_keys *keys, vt_header_add *add, void *arg);

#ifdef __cplusplus
}
#endif

#else /* VT_OFF */

#define vt_keys_new(list) ((void)sizeof(list), (vt_keys *)0)
#define vt_keys_free(keys) ((void)sizeof(keys))
#define vt_http_accept(keys, get, arg)                                                             \
    ((void)sizeof(keys), (void)(get), (void)sizeof(arg), VT_ACCEPT_NONE)
#define vt_http_rejected() ((uint64_t)0)
#define vt_http_inject(keys, add, arg) ((void)sizeof(keys), (void)(add), (void)sizeof(arg))

#endif
#endif
