/*
 * history.h - what a live state has shown in the past day, in SQLite: 10 minutes in steps of 100 ms, 2 hours of 1 s, 24 hours of 10 s.
 *
 * Its size is bounded by these. One thread at a time.
 */
#ifndef VENTURI_LIVE_HISTORY_H
#define VENTURI_LIVE_HISTORY_H

#include "base/json.h"
#include "live/live.h"

struct vti_history;

/* NULL: in memory, gone with the process. A file is made if it is not there; one that is no history of ours is an error and is left as
 * it is. */
int vti_history_open(struct vti_history **history, const char *path);
void vti_history_close(struct vti_history *history);

/* Takes what the state shows now; more often than every 100 ms is no use, and does nothing. 0 or a negative code. */
int vti_history_add(struct vti_history *history, const struct vti_live *live);

struct vti_history_question {
    int64_t from_ms, to_ms; /* since 1970 */
    unsigned points;        /* at most so many */
    const char *names;      /* separated by commas; NULL: all */
};

/* Members of an object that is open: from_ms, to_ms, step_ms, times_ms, series. 0, VTI_E_USAGE (a name that is none of ours), or another
 * code. */
int vti_history_write(struct vti_history *history, const struct vti_history_question *question,
                      struct vti_json *json);

#endif
