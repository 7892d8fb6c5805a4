/*
 * run_spool.h - `run --spool` and `run --ship`: recordings in a folder, and the program beside us that sends them on.
 *
 * The measured program has nothing to do with that one: neither its streams nor its signals nor its end.
 */
#ifndef VENTURI_CLI_RUN_SPOOL_H
#define VENTURI_CLI_RUN_SPOOL_H

#include "drain/drain.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>

struct vti_run_spool {
    const char *asked; /* --spool; NULL: with --ship a name is made from the title */
    char *url;         /* --ship, owned; NULL: nobody sends it on */
    uint64_t limit;    /* --spool-limit; 0: not said */
    bool keeps;        /* --keep: what is sent is not deleted */
    bool is_on;
    char folder[PATH_MAX];
    pid_t shipper; /* 0: none runs */
};

/* The URL of --ship, an argument in which its login is then overwritten: everybody can read a command line. False after one line on stderr. */
bool vti_run_spool_take_url(struct vti_run_spool *spool, const char *argument);

/* All options are known: 0 with `drain` and the folder's name set up (is_on false: none of it was asked for), or
 * VTI_EXIT_BAD or _SETUP after one line on stderr. `output` is what -o says. */
int vti_run_spool_prepare(struct vti_run_spool *spool, struct vti_drain_options *drain,
                          const char *title, const char *output);

/* Starts venturi-ship, before the environment becomes the program's. VTI_EXIT_SETUP after one line. */
int vti_run_spool_start(struct vti_run_spool *spool);

/* Whether the shipper is still there is looked up now and then: that it is not is said at once. Never waits. */
void vti_run_spool_watch(struct vti_run_spool *spool);

/* The program could not be started: the shipper ends, the folder that was made goes. */
void vti_run_spool_drop(struct vti_run_spool *spool);

/* All is recorded: waits for the shipper, within limits or until a signal comes for us, and says what is left. */
void vti_run_spool_finish(struct vti_run_spool *spool, const struct vti_drain_stats *stats,
                          int signal_fd, bool is_quiet);

#endif
