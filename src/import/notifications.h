/*
 * notifications.h - osprofiler's notifications, one at a time and in any order, become spans of traces.
 *
 * A notification is an object of JSON: name (ending in -start or -stop), base_id, trace_id, parent_id, timestamp, info, project, service, and where
 * Venturi wrote it, duration_ns. What cannot be used is counted.
 */
#ifndef VENTURI_IMPORT_NOTIFICATIONS_H
#define VENTURI_IMPORT_NOTIFICATIONS_H

#include "base/json_scan.h"
#include "import/span_list.h"

struct vti_notifications {
    struct vti_import_target *target;
    bool keeps_facts; /* what is read goes away: facts are copied */
    const uint8_t
        *only; /* the trace that is wanted, 16 bytes; NULL: all; others are counted in `foreign` */
    uint64_t unusable, foreign;

    struct vti_span_list list;
    struct vti_map *places; /* service, project and host to index of the process */
    struct vti_listed_process *processes;
    size_t process_room;
    struct vti_buf key, name, base, id, parent, time, project, service, host;
    int64_t duration_ns;           /* -1: not said */
    bool has_project;              /* "" is one, null is none */
    struct vti_fact_chunk *chunks; /* owned: copied facts */
};

/* 0 or a negative code, as all of these; _fini in every case. */
int vti_notifications_init(struct vti_notifications *all, struct vti_import_target *target);

/* The one that stands next. What is no JSON sets scan->failed, and is not counted: that is the caller's. */
int vti_notifications_take(struct vti_notifications *all, struct vti_json_scan *scan);

/* A text that should be one and nothing else; what is not is counted as unusable. */
int vti_notifications_text(struct vti_notifications *all, const char *text, size_t len);

/* Writes the recording, and notes what was left out. At least one span must be there. */
int vti_notifications_write(struct vti_notifications *all, const struct vti_import_input *input);
void vti_notifications_fini(struct vti_notifications *all);

#endif
