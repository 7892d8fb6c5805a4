/*
 * from_store.h - `--from URL`: traces in a store where a command takes files.
 *
 * The network is another program's (venturi-fetch). What it brings is a recording like any other, or, where the store sums up by itself, rows.
 */
#ifndef VENTURI_CLI_FROM_STORE_H
#define VENTURI_CLI_FROM_STORE_H

#include "analyze/rank.h"
#include "analyze/traces.h"
#include "base/buf.h"

#include <limits.h>

struct vti_from_store {
    const char *command; /* for messages */
    const char *action;  /* list, show, rank */
    const char *url;
    const char *const *options; /* of venturi-fetch, ended by NULL */
};

struct vti_fetched {
    vt_recording *recording; /* the caller closes it; NULL: rows */
    struct vti_buf rows;     /* JSON, terminated by a zero byte that its length leaves out */
    char shown[256];         /* the URL without credentials */
};

/* An exit code; when it is not 0 a line has been written to stderr. _fini leaves the recording alone. */
int vti_from_store(const struct vti_from_store *from, struct vti_fetched *fetched);
void vti_fetched_fini(struct vti_fetched *fetched);

/* The file that a URL file://PATH names; NULL: it names none. */
const char *vti_from_file(const char *url);

/* Rows of traces; what stands in them can be listed and no more: there are as many spans as services, whatever span_count says. 0 or a
 * negative code. */
int vti_rows_traces(struct vti_traces *traces, const struct vti_buf *rows);

/* Rows of names. 0 or a negative code. */
int vti_rows_rank(struct vti_rank *rank, const struct vti_buf *rows);

#endif
