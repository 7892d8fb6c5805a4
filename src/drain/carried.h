/*
 * carried.h - async spans of a process that are open when a spool begins its next file: they are told again there.
 *
 * Only a spool needs them. They are told on a track of their own, which is called VTI_TRACK_CARRIED.
 */
#ifndef VENTURI_DRAIN_CARRIED_H
#define VENTURI_DRAIN_CARRIED_H

#include "format/event.h"

struct vti_carried;
struct vti_target;

/* An async span of the process begins, ends, or gets an attribute: kept as long as it is open. Threads are read one after the other,
 * so an end may come before its begin. */
void vti_carried_note(struct vti_target *process, const struct vti_event *event);

/* The next file has begun: writes all that are open into it. */
void vti_carried_write(struct vti_target *process);

/* The file ends, or the process: what is open there has lasted until now. */
void vti_carried_leave(struct vti_target *process);

void vti_carried_free(struct vti_carried *carried);

#endif
