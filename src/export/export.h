/*
 * export.h - what an exporter is.
 *
 * To add one: write src/export/NAME.c that defines `const struct vti_exporter vti_export_NAME`, add
 * one line to exporters.def and to meson.build. `venturi export --list`, its help and its tests
 * take it from there. An exporter only encodes: it reads the recording and writes to a sink, in
 * pieces, so that its memory does not grow with the number of events.
 */
#ifndef VENTURI_EXPORT_EXPORT_H
#define VENTURI_EXPORT_EXPORT_H

#include "base/buf.h"
#include "venturi/read.h"

/* Where the bytes go: a file, standard output, memory. */
struct vti_sink {
    int (*write)(void *arg, const void *bytes, size_t count); /* 0 or a negative code */
    void *arg;
};

struct vti_export_options {
    struct vt_filter range; /* what overlaps it is exported whole */
    bool is_compat;         /* of lines: count line events, not statements */
};

struct vti_exporter {
    const char *name;
    const char *summary;   /* one line for --list */
    const char *extension; /* "json" */
    bool is_binary;        /* not for a terminal */
    bool is_of_events;     /* of a recording without any nothing is left … */
    bool is_of_tasks;      /* … but tasks, if it has some … */
    bool is_of_steps;      /* … or steps */
    int (*run)(vt_recording *recording, const struct vti_export_options *options,
               const struct vti_sink *sink);
};

extern const struct vti_exporter *const vti_exporters[]; /* ended by NULL */

const struct vti_exporter *vti_exporter_find(const char *name); /* or NULL */

/* Hands what has gathered in `buf` to the sink once it is worth it; _flush does so in any case.
 * Text goes over in whole lines. 0 or a negative code. */
int vti_sink_offer(const struct vti_sink *sink, struct vti_buf *buf);
int vti_sink_flush(const struct vti_sink *sink, struct vti_buf *buf);

#endif
