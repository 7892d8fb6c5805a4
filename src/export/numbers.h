/*
 * numbers.h - process and thread numbers that are unique in a recording.
 *
 * Formats that know one machine at one time tell processes by pid and threads by tid alone. A
 * recording may hold several hosts, numbers that were used again, and none at all: the first keeps
 * its real number, the others get made-up ones above all that Linux gives out.
 */
#ifndef VENTURI_EXPORT_NUMBERS_H
#define VENTURI_EXPORT_NUMBERS_H

#include "venturi/read.h"

struct vti_numbers {
    const vt_recording *recording; /* borrowed */
    uint32_t *pids;                /* owned; one for each process in order, one for the unknown */
    uint32_t *tids;                /* owned; one for each track in order */
};

int vti_numbers_init(struct vti_numbers *numbers, const vt_recording *recording);
void vti_numbers_fini(struct vti_numbers *numbers);

/* By id, as spans and tracks carry it. */
uint32_t vti_numbers_pid(const struct vti_numbers *numbers, uint32_t process);
uint32_t vti_numbers_tid(const struct vti_numbers *numbers, uint32_t track);

#endif
