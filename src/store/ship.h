/*
 * ship.h - follows a recording or a spool (docs/spool.md) and sends what is in it to a store: nothing is lost, nothing is sent twice
 * under another id, whenever this or the store is killed.
 *
 * Where it is, is written down (ship_state.c) after the store has acknowledged a batch and the dead of it are in their file. What was
 * sent and not yet written down is sent again, under the same ids.
 */
#ifndef VENTURI_STORE_SHIP_H
#define VENTURI_STORE_SHIP_H

#include "store/store.h"

struct vti_ship_options {
    const char *source; /* a recording or a folder of them */
    const struct vti_store_type *type;
    const struct vti_store_settings *settings;
    struct vti_maker_options maker;
    uint32_t kinds;        /* to be sent, of those that the store can keep */
    const char *state_dir; /* where state and dead letters go; NULL: beside the source */
    bool is_once;          /* what is there, then end */
    bool keeps_files;      /* those of a spool that are sent are not deleted */
    unsigned every_ms;     /* how often a growing recording is looked at */
    unsigned retry_ms;     /* longest wait between tries */
    unsigned
        give_up_ms; /* with is_once, and after the first request to stop: without progress for so long it ends */
    struct vti_batch_limits limits;
    void (*begun)(
        void); /* NULL, or told when nothing more is in the way: the store may still be away */
    void (*say)(const char *line); /* for people: one line, without its end */
};

/* What happened since the state was begun. */
struct vti_ship_counts {
    uint64_t shipped;  /* documents that the store has */
    uint64_t repeated; /* of them: were there already */
    uint64_t retried;  /* times that a document was sent again */
    uint64_t dead;     /* dead letters */
    uint64_t lost;     /* never came to be documents: buffers, disk or spool were full */
    uint64_t unsent;   /* steps or traces that this kind of store does not take */
    uint64_t outside;  /* spans of no trace that are still in their recording: in this run only */
    uint64_t lost_events; /* of span and trace events that gave way to the spool's limit */
    uint64_t bytes, requests;
};

/* What no store has a place for. */
struct vti_ship_beyond {
    uint64_t outside; /* spans of no trace */
    uint32_t
        kinds; /* of blocks, bits 1 << VTI_CALL_TREE and so on: those of vti_ship_beyond_text() */
};

/* "5 spans outside of any trace, functions, resources"; "" if there is nothing. */
void vti_ship_beyond_text(const struct vti_ship_beyond *beyond, char *to, size_t room);

struct vti_ship_result {
    struct vti_ship_counts now; /* in this run: shipped, repeated, retried, dead, bytes, requests */
    struct vti_ship_counts all;
    uint64_t deleted;            /* files of a spool, in this run, … */
    uint64_t kept;               /* … and those that stay because nothing of them was sent */
    struct vti_ship_beyond gone; /* what was deleted with them */
    bool has_rest;               /* it ended with documents that could have been sent */
    uint64_t bad_lines;          /* of dead letters to send again: they are none */
    bool is_held;                /* because the store did not let us in: see why */
    char why[400];
    char dead_path[1024]; /* "" if there is none */
};

/* Runs until it is told to stop, or, for a single recording or with is_once, until all of it is sent. 0 also if something is left:
 * see `result`. */
int vti_ship_run(const struct vti_ship_options *options, struct vti_ship_result *result);

/* Sends dead letters again, those of `path`, which stays as it is; what dies again goes to PATH.dead. */
int vti_ship_replay(const struct vti_ship_options *options, const char *path,
                    struct vti_ship_result *result);

/* For signal handlers. Soft: no more will come, send what there is and end (SIGTERM); hard: end after the batch that is being sent, so that
 * what the store has taken is written down (SIGINT). A second request of either kind: end at once. */
void vti_ship_stop(bool is_hard);
bool vti_ship_is_stopped_hard(void);

/* Whether a request that still runs is to be left: after a second stop, or 10 s after a soft one in which nothing was taken. */
bool vti_ship_gives_up(void);

#endif
