/* tiny_http.h - as much of HTTP as the example needs: small requests, small answers, one at a time, on this machine only. */
#ifndef TINY_HTTP_H
#define TINY_HTTP_H

#include <stddef.h>

#define HTTP_MOST 8192 /* bytes of a message */

struct http_request {
    char text[HTTP_MOST + 1];
    const char *path;
    const char
        *headers; /* lines behind the first one; each ends with a zero, an empty one is the end */
};

/* A socket that listens on a free port of 127.0.0.1, or -1. */
int http_listen(int *port);

/* The next request on a connection: 0, or -1 if it is none that we understand. */
int http_read(int connection, struct http_request *request);

/* The value of a header, or NULL. Fits vt_header_get of <venturi/http.h>. */
const char *http_header(const char *name, void *request);

void http_answer(int connection, int status, const char *body);

/* Asks another service on this machine. `headers` are whole lines. Returns the status, -1 if there is no answer. */
int http_get(int port, const char *path, const char *headers, char *body, size_t room);

#endif
