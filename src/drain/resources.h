/*
 * resources.h - the collector of CPU, memory and I/O of all processes of a recording, from outside.
 *
 * A member of the drainer. Never fails: what it cannot do is missing from the recording. All functions but _create take NULL.
 */
#ifndef VENTURI_DRAIN_RESOURCES_H
#define VENTURI_DRAIN_RESOURCES_H

#include "drain/recorder.h"
#include "watch/proc.h"

#include <sys/resource.h>

struct vti_energy_feed;
struct vti_watch;

struct vti_watch_options {
    struct vti_recorder *recorder;        /* borrowed */
    const struct vti_proc_source *source; /* copied; NULL: the kernel's */
    bool has_energy;                      /* is read with each reading */
    const char *session;                  /* borrowed */
    uint32_t hz;                          /* readings a second; 0: no collector */
    uint64_t ring_ns;                     /* keep those of the last so many nanoseconds; 0: all */
};

/* NULL when memory is short or nothing is asked for. Times of the tree count from here. */
struct vti_watch *vti_watch_create(const struct vti_watch_options *options);
void vti_watch_free(struct vti_watch *watch);

/* The meter; NULL: none was asked for. */
struct vti_energy_feed *vti_watch_energy(const struct vti_watch *watch);

/* A process to watch, with all that it starts; one that is watched already records as `process_plus_one`, if not 0. */
void vti_watch_add(struct vti_watch *watch, pid_t pid, uint32_t process_plus_one);

/* Takes readings if it is time, or at once. */
void vti_watch_tick(struct vti_watch *watch, uint64_t now_ns, bool at_once);

/* What wait4() said of a process: the truth of it and of all that it waited for. */
void vti_watch_waited(struct vti_watch *watch, pid_t pid, const struct rusage *usage);

/* The last readings; all is handed to the recorder. */
/* A spool has begun its next file: all processes and their readings are told again. */
void vti_watch_enter_file(struct vti_watch *watch);

void vti_watch_close(struct vti_watch *watch);

#endif
