/* dask.h - the inside of following a cluster: the process that asks its scheduler, and what it said last. */
#ifndef VENTURI_LIVE_DASK_H
#define VENTURI_LIVE_DASK_H

#include "live/state.h"

struct vti_dask {
    pid_t pid; /* 0: none runs */
    int fd;    /* -1: none is open */
    int64_t started_ns;
    struct vti_buf line;
    bool is_connected;
    const char *id, *version, *error; /* of the live state's names, or literals */
};

/* One line of JSON. What it does not understand it steps over. 0 or VTI_E_NOMEM. */
int vti_dask_take(struct vti_live *live, const char *line, size_t len);

#endif
