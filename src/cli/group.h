/* group.h - whether a signal that reached us was sent to our whole process group. */
#ifndef VENTURI_CLI_GROUP_H
#define VENTURI_CLI_GROUP_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>

/*
 * A signal does not say whom it was sent to. A second process in our group can tell: what reaches it too was sent
 * to all, the program that we run included. It does nothing else, and ends with us.
 */
struct vti_group {
    pid_t witness; /* 0: there is none, and nothing is known */
    int asked;
};

/* `signals` are those that will be asked for. */
void vti_group_watch(struct vti_group *group, const sigset_t *signals);

/* To be asked once for each signal that came; false also if nobody knows. */
bool vti_group_got(const struct vti_group *group, int number);

void vti_group_end(struct vti_group *group);

#endif
