/* drain_state.h - what drain.c and requests.c know of the drainer. For these two only. */
#ifndef VENTURI_DRAIN_DRAIN_STATE_H
#define VENTURI_DRAIN_DRAIN_STATE_H

#include "drain/clients.h"
#include "drain/drain.h"
#include "drain/recorder.h"
#include "drain/sources.h"
#include "drain/target.h"

struct vti_drain {
    struct vti_drain_options options;
    struct vti_recorder *recorder; /* owned */
    struct vti_watch *watch;       /* owned; NULL: no resources */
    struct vti_cpu_feed *cpu;      /* owned; NULL: nobody asked for it */
    struct vti_target *processes;  /* owned, newest first */
    struct vti_sources sources;
    struct vti_clients clients;
    char session[96];
    char path[256];
    uint32_t control_word; /* what attached programs get; the period counts up */
    uint32_t period;
    uint64_t spans; /* of processes that ended */
    double cost_ticks;
    double thread_ticks;
    uint64_t checked_ns;
    bool was_used;
    bool is_closed;
    bool is_busy; /* the last round found records */
    int error;
    struct vti_drain_stats stats;
};

/* Recording on or off, in all processes. */
void vti_drain_switch(struct vti_drain *drain, bool on);

/* A process that wants to be recorded gets its memory. */
void vti_drain_attach(struct vti_drain *drain, int client, pid_t pid, uint32_t arena_version);

/* One round over all processes; `cut`: what has gathered is written, too. */
void vti_drain_read_all(struct vti_drain *drain, bool cut);

/* The recording is closed while the program goes on. */
void vti_drain_stop(struct vti_drain *drain);

/* Takes in who has come, and serves those who have spoken. */
void vti_drain_see_clients(struct vti_drain *drain);

#endif
