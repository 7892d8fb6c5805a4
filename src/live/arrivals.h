/*
 * arrivals.h - files that appear in a folder, named by the kernel as they do: also those that are gone before anybody looks.
 */
#ifndef VENTURI_LIVE_ARRIVALS_H
#define VENTURI_LIVE_ARRIVALS_H

struct vti_arrivals;

/* NULL: the kernel tells nothing of this folder, or there is no memory; it has to be looked through. */
struct vti_arrivals *vti_arrivals_open(const char *folder);
void vti_arrivals_close(struct vti_arrivals *arrivals); /* NULL is fine */
int vti_arrivals_fd(const struct vti_arrivals *arrivals);

/* The name of the next file that appeared, in this order, valid until the next call; NULL: no more for now. */
const char *vti_arrivals_next(struct vti_arrivals *arrivals);

#endif
