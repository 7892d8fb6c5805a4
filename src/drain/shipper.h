/*
 * shipper.h - venturi-ship beside a drainer: for services whose connection_string names a store (VENTURI_SHIP in their environment).
 *
 * The program knows nothing of it, and the drainer no network: it starts the shipper when its spool is there, and tells it when that is whole.
 */
#ifndef VENTURI_DRAIN_SHIPPER_H
#define VENTURI_DRAIN_SHIPPER_H

#include <sys/types.h>

/* Starts one for the spool if VENTURI_SHIP names a store; 0 if not, or if it cannot be, which stderr says. Another one that follows the same
 * spool is as good. */
pid_t vti_shipper_start(const char *spool);

/* Nothing more will come: it sends what there is and ends, within so many seconds or by force. */
void vti_shipper_end(pid_t shipper);

#endif
