/* report.h - report pages that are being made. */
#ifndef VENTURI_SERVE_REPORT_H
#define VENTURI_SERVE_REPORT_H

#include "serve/serve.h"

/* Gives up what is being made; who waits for it is answered. Before the server is stopped. */
void vti_reports_end(struct vti_serve *serve);

#endif
