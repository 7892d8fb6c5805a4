/*
 * energy.h - the collector of ENERGY blocks: a meter (venturi/energy.h) whose readings go into the recording.
 *
 * A member of the drainer, read in the same moment as the resources (resources.h), so that of each interval both are known. Where
 * there is no meter the recording says why. Never fails. All functions take NULL.
 */
#ifndef VENTURI_DRAIN_ENERGY_H
#define VENTURI_DRAIN_ENERGY_H

#include "drain/recorder.h"

struct vti_energy_feed;

/* Opens the meter and writes what it is. NULL when memory is short. */
struct vti_energy_feed *vti_energy_feed_create(struct vti_recorder *recorder);
/* What readings are of is told again, in the next file of a spool. */
void vti_energy_feed_again(struct vti_energy_feed *feed);
void vti_energy_feed_free(struct vti_energy_feed *feed);

/* Nothing runs yet: what the machine uses now is rest. To be called again and again between the two. */
void vti_energy_feed_rest_begin(struct vti_energy_feed *feed);
void vti_energy_feed_rest(struct vti_energy_feed *feed);
/* What there is to say of it, or NULL; borrowed. */
const char *vti_energy_feed_rest_end(struct vti_energy_feed *feed, uint64_t for_ns);

/* One reading, at a time in ticks that a reading of the resources has too. */
void vti_energy_feed_take(struct vti_energy_feed *feed, uint64_t ticks);

/* Writes the readings so far as a block. */
void vti_energy_feed_cut(struct vti_energy_feed *feed);

/* The last block, and the sources as they are known by now. */
void vti_energy_feed_close(struct vti_energy_feed *feed);

#endif
