/* tick.h - the clock that work is bounded by. */
#ifndef VENTURI_LIVE_TICK_H
#define VENTURI_LIVE_TICK_H

#include <stdbool.h>
#include <stdint.h>

int64_t vti_tick_now(void);              /* monotonic nanoseconds, never 0 */
int64_t vti_tick_unix(void);             /* since 1970 */
bool vti_tick_is_over(int64_t until_ns); /* INT64_MAX: never */

#endif
