/* stats_timed.h - statistics per site that time only what has ended, for rankings. */
#ifndef VENTURI_ANALYZE_STATS_TIMED_H
#define VENTURI_ANALYZE_STATS_TIMED_H

#include "venturi/read.h"

/*
 * As vt_stats_query(), but async spans, those of traces among them, that never ended are in no figure but `unfinished` and `errors`; *untimed says how many
 * those are. No thread says how long they took at most: one of a crash of last week would last until the newest trace of the store ends.
 */
int vti_stats_timed(vt_recording *recording, const struct vt_filter *filter, struct vt_stats *stats,
                    uint64_t *untimed);

#endif
