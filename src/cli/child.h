/* child.h - the program that `run` starts: its signals, its end, and how its end becomes ours. */
#ifndef VENTURI_CLI_CHILD_H
#define VENTURI_CLI_CHILD_H

#include "cli/group.h"

#include <signal.h>
#include <stdbool.h>
#include <sys/resource.h>
#include <sys/types.h>

struct vti_child {
    pid_t pid;
    int signal_fd; /* readable when a signal came for us, SIGCHLD included */
    int status;    /* wait4's, as is what it has used: once it was reaped */
    struct rusage usage;
    sigset_t old_mask;
    struct vti_group group;
};

/* Starts the program. 0, or an exit code (126, 127, 125) after one line on stderr. */
int vti_child_start(struct vti_child *child, char **program);

/* Passes signals on; true once the program has ended. It can be looked at until it is reaped. */
bool vti_child_check(struct vti_child *child);
void vti_child_reap(struct vti_child *child);

/* The program's exit code. If a signal killed it, the same signal kills us, as our caller expects. */
int vti_child_exit(struct vti_child *child);

#endif
