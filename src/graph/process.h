/*
 * process.h - the executor of processes, inside: a crew of lanes, each with a worker, and what was sent to whom.
 *
 * Tasks that only wait for what the same worker is about to do may be sent behind it, before the central loop says that they are ready
 * ("early"): a chain then costs no wake-up for each of its links. What comes back of them is kept until the central loop asks for it.
 */
#ifndef VENTURI_GRAPH_PROCESS_H
#define VENTURI_GRAPH_PROCESS_H

#include "graph/process_memory.h"
#include "graph/run.h"

#include <sys/types.h>

#define VTI_NOWHERE UINT32_MAX
#define VTI_CREW_FRONTIER 16u

/* What the caller knows of a slot that is in use. */
struct vti_sent {
    uint32_t task, try_;
    bool is_used;
    bool is_early;      /* the central loop has not asked for it yet */
    bool is_over;       /* it has come back; kept if it is early, or pinned */
    bool is_taken_back; /* it went elsewhere */
    bool is_expired;
    uint8_t pins; /* early ones behind it that use its result */
    uint8_t need_count;
    uint16_t needs[VTI_SLOT_ARGS]; /* slots that this one pins */
    uint64_t args, user;           /* blocks of the caller, 0: none */
    struct vti_done done;          /* what came of an early one */
};

/* A lane, and the worker in it. */
struct vti_crew {
    struct vti_lane *lane;
    pid_t pid; /* 0: there is no worker */
    int pidfd, control;
    uint32_t worker;     /* its number in the run */
    unsigned in_flight;  /* sent down and not come up */
    unsigned early;      /* slots that hold early ones */
    unsigned taken_back; /* of those in flight */
    bool has_worked;     /* since the worker was started */
    bool is_killed;      /* by us */
    bool is_bad_start;   /* it ended by itself before it could take any task */
    unsigned free_count; /* of slots */
    uint16_t free[VTI_LANE_SLOTS];
    uint32_t frontier[VTI_CREW_FRONTIER]; /* tasks behind which more could be sent early */
    unsigned frontier_count;
    struct vti_sent sent[VTI_LANE_SLOTS];
};

struct vti_processes {
    struct vti_executor executor;
    struct vti_memory *memory;
    struct vti_crew *crews;
    unsigned crew_count;
    uint32_t next_worker;
    uint32_t *where;       /* for each task: crew << 16 | slot, or VTI_NOWHERE */
    int event;             /* wakes us */
    bool is_eager;         /* tasks may be sent early */
    double task_ns;        /* what a task takes, smoothed */
    double result_bytes;   /* and what it leaves */
    double queue_bytes;    /* that a worker may leave before we look again */
    uint64_t cancelled_at; /* 0: it is not */
    unsigned deaths;       /* of workers in a row that did nothing */
    unsigned bad_starts;   /* of workers that ended by themselves before they could take any task */
    unsigned looks;        /* collects so far */
    unsigned dispatches;   /* and how often something was sent */
    bool is_tight;         /* memory is, as of a while ago */
    bool must_look;        /* a worker may have died */
    bool is_broken;        /* something is lost for want of memory */

    struct vti_job *waiting; /* no worker has room for them */
    size_t waiting_count, waiting_room;
    struct vti_done *kept; /* to be collected next */
    size_t kept_first, kept_count, kept_room;

    const struct vt_datum **args; /* of one task */
    size_t arg_room;
    struct vti_names *names; /* what was copied for started workers */
};

/* ---- process_lane.c: workers ------------------------------------------------------------------ */

/* Starts the worker of a crew. 0 or a negative code. */
int vti_crew_start(struct vti_processes *all, unsigned crew);

/* Wakes it if it sleeps. */
void vti_crew_wake(struct vti_crew *crew);

void vti_crew_kill(struct vti_crew *crew);

/* Whether its worker has ended; then it is reaped, and *why is a line about it (malloc, or NULL). */
bool vti_crew_has_ended(struct vti_crew *crew, char **why);

/* All workers end; those that do not within a second are killed. */
void vti_crews_stop(struct vti_processes *all);

/* ---- process_send.c: what goes down ----------------------------------------------------------- */

/* Sends jobs that wait, as far as there is room, and what can go early behind them. */
void vti_processes_dispatch(struct vti_processes *all);

int vti_processes_wait_for_room(struct vti_processes *all, struct vti_job job);

unsigned vti_processes_room(const struct vti_processes *all);

/* ---- process_steal.c: what is taken back ------------------------------------------------------ */

/* Takes what has not begun from the busiest, for those who have nothing to do. Returns whether there was any. */
bool vti_processes_steal(struct vti_processes *all);

/* Whether there may be something to take in a moment, if nothing else happens. */
bool vti_processes_may_steal(const struct vti_processes *all);

/* At most so many of what was queued last; they wait for room then. */
unsigned vti_crew_take_back(struct vti_processes *all, struct vti_crew *crew, unsigned most);

/* Nothing new is to be begun: what waits or is queued is given up. */
void vti_processes_give_up(struct vti_processes *all);

/* ---- process_flat.c: arguments ---------------------------------------------------------------- */

/* Fills function, user and arguments of a slot. Negative: it cannot be sent, with vti_fail(). */
int vti_processes_fill(struct vti_processes *all, struct vti_crew *crew, uint32_t number);
void vti_names_free(struct vti_names *names);

/* ---- process_back.c: what comes up ------------------------------------------------------------ */

/* Takes what has come up from a lane, and keeps it for the central loop. */
void vti_crew_pull(struct vti_processes *all, unsigned crew);

/* Its worker is dead: what ran is lost, what was queued goes elsewhere; then the lane is as new. */
void vti_crew_bury(struct vti_processes *all, unsigned crew, const char *why);

/* A slot is of no use any more, but for those that use its result. */
void vti_crew_let_go(struct vti_processes *all, struct vti_crew *crew, uint32_t place);

void vti_crew_clear(struct vti_crew *crew); /* nothing was sent */

/* The central loop asks for one that was sent early. */
void vti_crew_claim(struct vti_processes *all, struct vti_job job);

/* Keeps one for the next collect(). */
void vti_processes_keep(struct vti_processes *all, const struct vti_done *done);

#endif
