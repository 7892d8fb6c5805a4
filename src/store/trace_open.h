/*
 * trace_open.h - the spans of traces that are open at one place of a recording, with what was said of them so far.
 *
 * Texts are copied: they outlive a refresh of the recording. How many there are, and how much is said of each, is bounded.
 */
#ifndef VENTURI_STORE_TRACE_OPEN_H
#define VENTURI_STORE_TRACE_OPEN_H

#include "analyze/traces.h"
#include "base/buf.h"
#include "format/event.h"
#include "model/model.h"

/* A process: who its spans are of. What the first of them says counts. */
struct vti_trace_place {
    uint32_t process; /* id */
    uint32_t pid;
    uint64_t number; /* the same for one process of one recording, on every machine */
    char *service, *project, *host; /* owned; "" unknown */
    bool has_project, is_service_said, is_host_said;
};

struct vti_trace_open {
    uint32_t process, track;
    uint64_t id;
    struct vti_trace_ids ids;
    const char *name;         /* of the recording's facts, which stay */
    int64_t begin_ns, end_ns; /* since 1970 UTC */
    uint64_t begin_ticks;
    uint64_t order; /* in which they were met */
    bool has_begin, has_end, has_trace, has_failed, is_carried;
    struct vti_trace_place *place;
    struct vti_buf facts; /* owned; see vti_trace_open_fact() */
};

struct vti_trace_opens {
    vt_recording *recording;       /* borrowed */
    struct vti_trace_open **slots; /* owned: a table by process and id */
    size_t slot_count, count;
    uint64_t met;
    struct vti_trace_place **places; /* owned */
    size_t place_count, place_room;
    struct vti_trace_open *pending; /* its end came first, and its begin last: facts may follow */
};

int vti_trace_opens_init(struct vti_trace_opens *opens, vt_recording *recording);
void vti_trace_opens_fini(struct vti_trace_opens *opens);

/* Takes an event of an async span in; done[0] and done[1] are what it made complete, or NULL: to be removed by the caller. 0 or
 * a negative code. */
int vti_trace_opens_take(struct vti_trace_opens *opens, const struct vti_event *event,
                         uint32_t process, uint32_t track, struct vti_clock *clock, bool is_carried,
                         struct vti_trace_open *done[2]);
void vti_trace_opens_remove(struct vti_trace_opens *opens, struct vti_trace_open *open);

/* Those of traces that have begun, in the order in which they did; the list is the caller's, who frees it. */
int vti_trace_opens_list(const struct vti_trace_opens *opens, struct vti_trace_open ***list,
                         size_t *count);

/* What was said, from *at on, which moves; false at the end. Texts are the span's. */
bool vti_trace_open_fact(const struct vti_trace_open *open, size_t *at,
                         struct vti_trace_attr *attr);

/* The last text that was said under a key after the begin; "" none. */
const char *vti_trace_open_text(const struct vti_trace_open *open, const char *key);

/* Whether a fact is about the process, and stands elsewhere. */
bool vti_trace_open_is_said(const struct vti_trace_attr *attr);

#endif
