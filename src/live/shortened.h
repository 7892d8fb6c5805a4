/* shortened.h - a recording that somebody cuts off or writes over while it is looked at does not end who looks. */
#ifndef VENTURI_LIVE_SHORTENED_H
#define VENTURI_LIVE_SHORTENED_H

/* From now on what a mapped file does not have any more reads as zeros, which no block is: it becomes damage, and the next refresh finds that the
 * file is shorter. For programs that look on; what handled SIGBUS before still gets its other causes. */
void vti_survive_shortening(void);

#endif
