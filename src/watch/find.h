/* find.h - the processes of the machine that belong to a tree and are not watched yet. */
#ifndef VENTURI_WATCH_FIND_H
#define VENTURI_WATCH_FIND_H

#include "watch/family.h"

/* Who gets processes whose parents have ended: 1, and those above us that may have asked for it. */
void vti_family_find_ancestors(struct vti_family *family);

/* Adds what is new since the last time: children of those watched, and orphans with our session in their environment, or
 * of our group. */
void vti_family_find_new(struct vti_family *family, pid_t last_pid, uint64_t now_ns);

#endif
