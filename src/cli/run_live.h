/*
 * run_live.h - `run --live`: a dashboard beside the program, for as long as it runs.
 *
 * The program has nothing to do with the server: neither its streams nor its signals nor its end.
 */
#ifndef VENTURI_CLI_RUN_LIVE_H
#define VENTURI_CLI_RUN_LIVE_H

#include <stdbool.h>
#include <sys/types.h>

struct vti_run_live {
    bool is_on;
    const char *port; /* NULL: the usual one */
    pid_t server;     /* 0: none runs */
};

/* Starts venturi-serve for the recording or folder, which is there already, before the environment becomes the program's, and says
 * its address. VTI_EXIT_SETUP after one line. */
int vti_run_live_start(struct vti_run_live *live, const char *path);

/* Whether the server is still there is looked up now and then: that it is not is said at once. Never waits. */
void vti_run_live_watch(struct vti_run_live *live);

/* All is recorded, or nothing was started. */
void vti_run_live_finish(struct vti_run_live *live);

#endif
