/* gzip.h - output that is compressed on its way to a sink. */
#ifndef VENTURI_EXPORT_GZIP_H
#define VENTURI_EXPORT_GZIP_H

#include "export/export.h"

struct vti_gzip;

int vti_gzip_create(struct vti_gzip **gzip, const struct vti_sink *sink); /* sink: borrowed */
void vti_gzip_free(struct vti_gzip *gzip);                                /* NULL is fine */

/* As vti_sink_offer() and vti_sink_flush(); after _finish nothing more can be written. */
int vti_gzip_offer(struct vti_gzip *gzip, struct vti_buf *buf);
int vti_gzip_finish(struct vti_gzip *gzip, struct vti_buf *buf);

#endif
