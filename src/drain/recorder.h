/*
 * recorder.h - the recording as the drainer sees it: file-wide ids, facts, event blocks, the flight recorder.
 */
#ifndef VENTURI_DRAIN_RECORDER_H
#define VENTURI_DRAIN_RECORDER_H

#include "drain/c_lines.h"
#include "drain/drain.h"
#include "drain/weight.h"
#include "format/calls.h"
#include "format/lines.h"

struct vti_recorder;

int vti_recorder_create(struct vti_recorder **recorder, const struct vti_drain_options *options);
void vti_recorder_free(struct vti_recorder *recorder);

/* The file-wide id of a site, written to the file when it is new. 0 when memory is short. Sites that differ
 * only in `twin` are different ones all the same. */
uint32_t vti_recorder_site(struct vti_recorder *recorder, struct vti_site_fact *site,
                           uint32_t twin);

/* The sites so far, ids from 1 to vti_recorder_site_count(); and one of them again, with a better
 * description: that is the one that counts. */
uint32_t vti_recorder_site_count(const struct vti_recorder *recorder);
bool vti_recorder_get_site(const struct vti_recorder *recorder, uint32_t id,
                           struct vti_site_fact *site);
void vti_recorder_put_site(struct vti_recorder *recorder, const struct vti_site_fact *site);

/* Kept for whoever asks before it is closed; borrowed. */
struct vti_weights *vti_recorder_weights(struct vti_recorder *recorder);
struct vti_c_lines *vti_recorder_c_lines(struct vti_recorder *recorder);

uint32_t vti_recorder_new_process(struct vti_recorder *recorder);
uint32_t vti_recorder_new_track(struct vti_recorder *recorder);
void vti_recorder_process(struct vti_recorder *recorder, const struct vti_process_fact *fact);
void vti_recorder_track(struct vti_recorder *recorder, const struct vti_track_fact *fact);
void vti_recorder_loss(struct vti_recorder *recorder, const struct vti_loss_fact *loss);

/* What is recorded, arguments separated by zero bytes, unless that was known from the start. */
void vti_recorder_command(struct vti_recorder *recorder, struct vti_bytes command);

/* A block of a kind that belongs to a track. */
void vti_recorder_owned(struct vti_recorder *recorder, enum vti_kind kind, uint32_t track,
                        const struct vti_buf *payload, uint32_t count, uint64_t ticks);

/* A block with a header of its own, checksum and length aside. A flight recorder keeps one that is `forgettable` as it keeps events. */
void vti_recorder_block(struct vti_recorder *recorder, struct vti_block_header *header,
                        const struct vti_buf *payload, bool forgettable);
void vti_recorder_cost(struct vti_recorder *recorder, const struct vti_cost_fact *fact);
void vti_recorder_sampling(struct vti_recorder *recorder, const struct vti_sampling_fact *fact);

void vti_recorder_source(struct vti_recorder *recorder, const struct vti_source_fact *fact);

/* Cuts the encoder's waiting events into a block. */
void vti_recorder_events(struct vti_recorder *recorder, struct vti_encoder *encoder);

/* Clock: which one programs use, its ticks now; anchors are taken about once a second. */
uint32_t vti_recorder_clock(const struct vti_recorder *recorder);
uint64_t vti_recorder_ticks(const struct vti_recorder *recorder);
double vti_recorder_ticks_per_ns(const struct vti_recorder *recorder);

/* This moment on the clock of programs and on the machine's, and how long a tick is. */
void vti_recorder_moment(const struct vti_recorder *recorder, uint64_t *ticks, int64_t *realtime_ns,
                         double *ns_per_tick);

/* Once a round: anchors when due, the file written when enough has gathered or when forced. */
void vti_recorder_tick(struct vti_recorder *recorder, uint64_t now_ns, bool force);

/* ---- spool (opening.c) ---- */

/* The number of the file that is being written, from 1; 0: this is no spool. */
uint64_t vti_recorder_file(const struct vti_recorder *recorder);

/* Whether the file is large or old enough. */
bool vti_recorder_is_full(const struct vti_recorder *recorder, uint64_t now_ns);

/* Closes the file and goes on in another one, which the caller fills with what processes have to say again and then shows. A
 * negative code: it could not be begun, and the file before goes on. */
int vti_recorder_rotate(struct vti_recorder *recorder, uint64_t now_ns);
void vti_recorder_show(struct vti_recorder *recorder);

/* The file is taken away again. */
void vti_recorder_drop(struct vti_recorder *recorder);

/* Cuts a block of events that were told in an earlier file: they count once. */
void vti_recorder_carried(struct vti_recorder *recorder, struct vti_encoder *encoder);

/* Descriptions of vti_recorder_put_site() go into later files too; whether a site has got one. */
void vti_recorder_keep_name(struct vti_recorder *recorder, const struct vti_site_fact *site);
bool vti_recorder_is_named(const struct vti_recorder *recorder, uint32_t id);

/* Asks the kernel now and then to write the file out, and does not wait for it. */
void vti_recorder_sync(struct vti_recorder *recorder, uint64_t now_ns);

void vti_recorder_stats(const struct vti_recorder *recorder, struct vti_drain_stats *stats);
int vti_recorder_close(struct vti_recorder *recorder, struct vti_drain_stats *stats);

#endif
