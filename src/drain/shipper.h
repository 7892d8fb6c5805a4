/*
 * shipper.h - venturi-ship beside a drainer: for services whose connection_string names a store. VENTURI_SHIP in the drainer's environment says by which
 * descriptor the URL comes, as base/secret.h has it.
 *
 * The program knows nothing of it, and the drainer no network: it starts the shipper when its spool is there, and tells it when that is whole.
 */
#ifndef VENTURI_DRAIN_SHIPPER_H
#define VENTURI_DRAIN_SHIPPER_H

#include <sys/types.h>

/* The URL, which the caller frees; NULL: none. Asked first of all: descriptors that are not known are closed then. Nobody who is started later has it. */
char *vti_shipper_take_url(void);

/* Starts one for the spool; 0 without a URL, or if it cannot be, which stderr says. Another one that follows the same spool is as good. */
pid_t vti_shipper_start(const char *spool, const char *url);

/* Nothing more will come: it sends what there is and ends, within so many seconds or by force. */
void vti_shipper_end(pid_t shipper);

#endif
