/* accept.h - which of the two formats a client wants: its header Accept, as RFC 9110 has it. */
#ifndef VENTURI_LIVE_ACCEPT_H
#define VENTURI_LIVE_ACCEPT_H

#include "live/exposition.h"

/* OpenMetrics if it is asked for by name (1.0.0 or any version) and text is not liked better; else text, also for NULL and for
 * what cannot be read: a client that sees something can say more than one that is turned away. */
enum vti_exposition vti_accept_choose(const char *accept);

#endif
