/*
 * runtime.h - the process's one runtime: whether it records, where, and how it gets there.
 *
 *     armed     the environment (or vt_session_start) asks for a recording; the control word says "on",
 *               so that the first trace point comes by the slow path and attaches
 *     attached  the control word is the one in the arena, which the drainer switches
 *     off       nobody asked, or attaching failed: the control word is a zero of our own
 *
 * The state lies in a page that the kernel wipes in a forked child, which is thereby armed again.
 */
#ifndef VENTURI_CORE_RUNTIME_H
#define VENTURI_CORE_RUNTIME_H

#include "share/arena.h"

#include <stdbool.h>
#include <stdint.h>

struct vti_thread;

struct vti_runtime {
    uint32_t lock; /* 0 free, 1 held, 2 held and waited for */
    bool is_attached;
    struct vti_arena_control *arena;
    bool is_local; /* nobody drains it: threads that end give back what they had there */
    uint64_t attached_ticks, attached_ns; /* one instant on both clocks */
    struct vti_thread *free_threads;
    struct vti_thread *late_threads; /* registered when nobody would tell of their end any more */
    uint64_t drainer_checked_ns;
    uint64_t epoch;     /* of vti_epoch(); 0: not yet */
    uint32_t task_runs; /* numbered so far */
    bool sees_drainer;  /* its pid means something here: it is in our pid namespace */
};

/* NULL if the page could not be had; then nothing is ever recorded. */
struct vti_runtime *vti_runtime(void);

/* For the slow path only, with signals blocked; never held while recording. */
void vti_runtime_lock(void);
void vti_runtime_unlock(void);

/* The arena, after attaching if that is still to be done. NULL: not recording. */
struct vti_arena_control *vti_runtime_arena(void);

/* Stops recording in this process for good (until a session is started again). */
void vti_runtime_switch_off(void);

/* Whether the drainer exists, or, where that cannot be seen, has been heard of lately. */
bool vti_drainer_is_alive(const struct vti_arena_control *arena);

/* At most ten times a second: switches off if the drainer is gone. */
void vti_runtime_check_drainer(const struct vti_arena_control *arena);

/* Private zeroed memory that is zeroed again in a forked child; NULL if there is none. */
void *vti_private_map(size_t bytes);

/* How this process records, from the environment or from vt_session_start. */
struct vti_settings {
    char session[96]; /* name of the session's socket, without the leading zero byte; "": none */
    char
        output[4096]; /* where a helper would write; "": none. Of a spool: what names its session */
    char spool[4096]; /* the folder of recordings that it would write instead; "": none */
    uint64_t spool_limit;
    bool force;
    bool
        is_from_environment; /* nobody looks at a return code: say on stderr why nothing is recorded */
    uint64_t buffer_bytes;
    uint32_t ring_seconds;
    uint32_t block_ms;
    char trouble
        [160]; /* the first setting that makes no sense, for which the default holds; "": none */
};

extern struct vti_settings vti_settings __attribute__((visibility("hidden")));

/* From the environment. */
void vti_settings_read(void);

/* Sets the output, made absolute so that a later chdir() does not matter; "" if it is too long. */
void vti_settings_output(const char *path);

/* The same for a spool; its folder names the session, or with `is_own` a session of this process alone. */
void vti_settings_spool(const char *path, bool is_own);

/* Armed: the next trace point attaches. */
void vti_runtime_arm(void);

#endif
