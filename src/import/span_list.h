/*
 * span_list.h - spans of traces that an import has gathered, in no order, and how they become blocks.
 *
 * Each comes from one place (a process of the recording); all of a place are on one track. Facts about a span are JSON in the input.
 */
#ifndef VENTURI_IMPORT_SPAN_LIST_H
#define VENTURI_IMPORT_SPAN_LIST_H

#include "base/hash.h"
#include "import/target.h"

#define VTI_NO_END INT64_MIN

struct vti_listed_span {
    struct vti_trace_ids ids;
    int64_t begin_ns, end_ns; /* since 1970; VTI_NO_END: it did not end */
    uint32_t site;
    uint32_t process;    /* index */
    uint32_t order;      /* in which they were added */
    int64_t duration_ns; /* as its end was said to be; for who gathers them, below 0: not said */
    struct vti_bytes at_begin, at_end; /* objects of JSON, or empty; borrowed */
    bool has_failed;
};

struct vti_listed_process {
    const char *name, *project; /* borrowed; project: NULL if it is not known */
};

struct vti_span_list {
    struct vti_listed_span *spans; /* owned */
    size_t count, room;
    const char *prefix;                   /* in front of the keys of facts, "db" */
    struct vti_listed_process *processes; /* borrowed */
    struct vti_map *ids;                  /* owned: trace and span to index in `latest` */
    uint32_t *latest; /* owned: the span with these ids, plus one; 0: none that is open */
    size_t latest_room;
    uint64_t broken_facts; /* of how many begins and ends they are no JSON, once they are written */
};

/* 0 or a negative code, as all of these. */
int vti_span_list_init(struct vti_span_list *list);

/* Adds a span that has not ended. */
int vti_span_list_add(struct vti_span_list *list, struct vti_import_target *target,
                      const struct vti_trace_ids *ids, struct vti_bytes name, int64_t begin_ns);

/* The place that knows which span of these ids is open: its number from 1, or 0, for the caller to change. NULL without memory. */
uint32_t *vti_span_list_find(struct vti_span_list *list, const struct vti_trace_ids *ids);

/* "2020-02-27T08:04:25.961298", UTC: nanoseconds since 1970. False: that is no time. */
bool vti_span_time(const char *text, size_t len, int64_t *ns);

/* Leaves out spans so far from the others that no recording has room for both, and times before 1970; *count says how many. It
 * fails if none is left. */
int vti_span_list_trim(struct vti_span_list *list, uint64_t *count,
                       const struct vti_import_input *input);

/* All of a recording but its sites' first ones: clock, processes, tracks, events. Orders the spans anew. 0 or a negative code. */
int vti_span_list_write(struct vti_span_list *list, const struct vti_import_input *input,
                        struct vti_import_target *target);
void vti_span_list_fini(struct vti_span_list *list);

#endif
