/* window.h - the recordings behind /api/window, /api/spans and /report. */
#ifndef VENTURI_SERVE_WINDOW_H
#define VENTURI_SERVE_WINDOW_H

#include "base/hash.h"
#include "serve/serve.h"

/* The path of the recording that is asked for, to be freed; NULL without memory or with *bad set. */
char *vti_asked_path(const struct vti_request *request, int64_t *number, const char **bad);

/* After the server has stopped. */
void vti_windows_fini(void);

#endif
