/*
 * http.h - requests to a store, for those that speak HTTP: one connection that is kept, credentials and TLS as the
 * settings say.
 */
#ifndef VENTURI_STORE_HTTP_H
#define VENTURI_STORE_HTTP_H

#include "store/store.h"

struct vti_http; /* a connection that is kept */

struct vti_http_request {
    const char *method; /* "GET", "POST", "PUT", "HEAD" */
    const char *path;   /* with query, after the settings' own path */
    const char *type;   /* Content-Type, NULL: no body */
    const void *body;
    size_t body_bytes;
    bool has_gzip; /* the body is sent compressed; compressing is http.c's */
};

struct vti_http_answer {
    long status;    /* 0: no answer */
    long wait_ms;   /* Retry-After */
    bool was_asked; /* bytes went out: it may have arrived */
    bool
        is_settings; /* no answer, and trying again cannot help: certificate refused, unknown CA file … */
    struct vti_buf body; /* terminated by a zero byte that its length leaves out; cut at `most` */
    char why[300];       /* of a request without an answer */
    size_t sent_bytes;   /* of the body, as it went out */
};

/* The scheme of the connection comes from settings->is_tls. */
int vti_http_open(struct vti_http **http, const struct vti_store_settings *settings, unsigned port);
int vti_http_ask(struct vti_http *http, const struct vti_http_request *request,
                 struct vti_http_answer *answer); /* 0 also without an answer; VTI_E_NOMEM */
void vti_http_answer_fini(struct vti_http_answer *answer);
void vti_http_close(struct vti_http *http);

#endif
