/* ending.h - how a process ended that is not our child. */
#ifndef VENTURI_DRAIN_ENDING_H
#define VENTURI_DRAIN_ENDING_H

#include "format/facts.h"

#include <stdbool.h>
#include <sys/types.h>

/* Whether it has ended; its number is looked at if there is no pidfd (-1). */
bool vti_ending_has_come(int pidfd, pid_t pid);

/* Asked when it has ended; VTI_ENDED_UNKNOWN if nobody can tell any more, or if it goes on. */
enum vti_process_end vti_ending_find(int pidfd, pid_t pid, uint32_t *status);

#endif
