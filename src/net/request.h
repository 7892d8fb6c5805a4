/* request.h - one HTTP request that starts a trace: what was asked for, and what came back. */
#ifndef VENTURI_NET_REQUEST_H
#define VENTURI_NET_REQUEST_H

#include "base/buf.h"
#include "base/uuid.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_REQUEST_HEADERS 64

struct vti_request {
    const char *url;
    const char *method; /* NULL: GET, or POST with a body */
    const char *base;   /* text that becomes the trace's id, or NULL: a fresh one */
    const char *output; /* a file, or NULL: standard output */
    char *keys;         /* owned; the first of the list signs */
    const char *headers[VTI_REQUEST_HEADERS]; /* "Name: value" */
    size_t header_count;
    struct vti_buf body;
    bool has_body;
    bool shows_headers;
    bool force;
    bool wants_help;
    long timeout_ms; /* 0: as long as it takes */
    uint8_t id[VTI_UUID];
};

struct vti_answer {
    long status;
    uint64_t body_bytes;
    double took_ns;
    bool is_mid_line; /* what went to standard output does not end with a line */
    bool was_asked;   /* the request left, so that there may be a trace even without an answer */
};

/* Fills `request` from the command line and the environment, and checks it. 0 or a negative code. The key does not stay in argv, where
 * every user of the machine could read it. */
int vti_request_parse(struct vti_request *request, int argc, char **argv);
void vti_request_fini(struct vti_request *request);

/* Sends it with the headers that continue the trace, and writes the answer as it comes. 0 for any answer, whatever its status, or a negative code. */
int vti_request_send(const struct vti_request *request, struct vti_answer *answer);

#endif
