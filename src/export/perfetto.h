/*
 * perfetto.h - packets of a Perfetto trace, shared by perfetto.c (what to write) and
 * perfetto_packet.c, perfetto_slices.c (how). Field numbers are those of Perfetto's public messages; only what is used
 * here has a name.
 */
#ifndef VENTURI_EXPORT_PERFETTO_H
#define VENTURI_EXPORT_PERFETTO_H

#include "export/export.h"
#include "export/numbers.h"
#include "export/step_tracks.h"
#include "export/task_tracks.h"
#include "model/model.h"

enum vti_perfetto_type {
    VTI_PERFETTO_BEGIN = 1,
    VTI_PERFETTO_END,
    VTI_PERFETTO_INSTANT,
    VTI_PERFETTO_COUNTER,
};

struct vti_perfetto {
    vt_recording *recording; /* borrowed, as is the sink */
    const struct vti_sink *sink;
    struct vti_buf out;
    struct vti_buf interned;             /* entries that the packet at hand defines */
    struct vti_ids names, sources, keys; /* sites that were interned as such */
    int64_t epoch_ns;     /* added to times of the recording: they are written as wall clock */
    size_t packet, event; /* where they begin in `out` */
};

void vti_perfetto_init(struct vti_perfetto *perfetto, vt_recording *recording,
                       const struct vti_sink *sink);
void vti_perfetto_fini(struct vti_perfetto *perfetto);

/* The first packet: defaults of the sequence, and how its clock relates to others. */
void vti_perfetto_start(struct vti_perfetto *perfetto);

/* A packet with one track; *open is where its descriptor began, to be ended by _close_track. */
size_t vti_perfetto_open_track(struct vti_perfetto *perfetto, uint64_t uuid, uint64_t parent);
int vti_perfetto_close_track(struct vti_perfetto *perfetto, size_t open);

/* A packet with one event on a track. */
void vti_perfetto_open_event(struct vti_perfetto *perfetto, enum vti_perfetto_type type,
                             uint64_t uuid, int64_t time_ns);
int vti_perfetto_close_event(struct vti_perfetto *perfetto);

/* What an event may carry. The name of a site is interned, with its place in the source. */
void vti_perfetto_site(struct vti_perfetto *perfetto, uint32_t site);
void vti_perfetto_name(struct vti_perfetto *perfetto, const char *name);
void vti_perfetto_counter(struct vti_perfetto *perfetto, const struct vt_value *value);
void vti_perfetto_attr(struct vti_perfetto *perfetto, const struct vt_attr *attr);
void vti_perfetto_note_text(struct vti_perfetto *perfetto, const char *key, const char *text,
                            size_t len);
void vti_perfetto_note_number(struct vti_perfetto *perfetto, const char *key, int64_t number);
void vti_perfetto_note_double(struct vti_perfetto *perfetto, const char *key, double number);
void vti_perfetto_note_true(struct vti_perfetto *perfetto, const char *key);

/* Slices on tracks of their own, below the process `parent`; a track is described with its first one. */
int vti_perfetto_task(struct vti_perfetto *perfetto, const struct vti_task_slice *slice,
                      uint64_t uuid, uint64_t parent);
int vti_perfetto_step(struct vti_perfetto *perfetto, const struct vti_step_slice *slice,
                      uint64_t uuid, uint64_t parent);

#endif
