/* interpose.h - what stands in front of libc for the sampler. */
#ifndef VENTURI_COLLECT_INTERPOSE_H
#define VENTURI_COLLECT_INTERPOSE_H

#include <signal.h>

/* libc's own. */
int vti_libc_sigaction(int number, const struct sigaction *action, struct sigaction *before);

#endif
