/*
 * thread_cpu.h - the collector of THREAD_CPU blocks: when the recording threads use CPU time and where they are then, seen from
 * outside.
 *
 * A member of the drainer. It looks about a hundred times a second, less often where looking takes longer: it spends
 * at most a twentieth of one CPU. Never fails: what it cannot read is missing. All functions take NULL.
 */
#ifndef VENTURI_DRAIN_THREAD_CPU_H
#define VENTURI_DRAIN_THREAD_CPU_H

#include "drain/recorder.h"

struct vti_cpu_feed;
struct vti_cpu_threads;
struct vti_target;

struct vti_cpu_feed *vti_cpu_feed_create(struct vti_recorder *recorder);
void vti_cpu_feed_free(struct vti_cpu_feed *feed); /* after the processes that it looked at */

/* Looks at the threads of these processes if it is time, or at once, and writes what has gathered for a while. */
void vti_cpu_feed_tick(struct vti_cpu_feed *feed, struct vti_target *processes, uint64_t now_ns,
                       bool at_once);

/* When it is time; UINT64_MAX: never. */
uint64_t vti_cpu_feed_due_ns(const struct vti_cpu_feed *feed);

/* The thread of a slot is gone: what is left of it is written. Before its chunks are given back. */
void vti_cpu_thread_end(struct vti_cpu_threads *threads, uint32_t slot);
void vti_cpu_threads_free(struct vti_cpu_threads *threads);

#endif
