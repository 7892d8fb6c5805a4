/* reading.h - what a profiler inside of the program is given of its own calls: those of threads that run and of those
 * that have ended. All of it with the runtime locked. */
#ifndef VENTURI_CORE_READING_H
#define VENTURI_CORE_READING_H

#include "core/thread.h"

#include <stddef.h>
#include <venturi/hook.h>

/* Of each kind how many there are, and as many of them as there is room for. */
struct vti_reading {
    struct vt_call_node *nodes;
    size_t node_room, node_count;
    struct vt_call_durations *durations;
    size_t duration_room, duration_count;
    struct vt_call_thread *threads;
    size_t thread_room, thread_count;
    uint64_t lost_calls;
    uint64_t now; /* ticks */
};

/* Adds one thread. */
void vti_reading_thread(struct vti_reading *reading, const struct vti_arena_control *arena,
                        const struct vti_slot *slot);

/* Adds the threads that have ended; forgets them. */
void vti_ended_read(struct vti_reading *reading);
void vti_ended_forget(void);

/* Keeps the numbers of a thread that ends now. `is_new`: nobody has read any of them before. */
void vti_ended_keep(const struct vti_thread *self, bool is_new);

#endif
