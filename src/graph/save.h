/* save.h - flat values and texts in the bytes of a saved graph. */
#ifndef VENTURI_GRAPH_SAVE_H
#define VENTURI_GRAPH_SAVE_H

#include "base/buf.h"
#include "base/bytes.h"

#include <venturi/graph.h>

#define VTI_SAVE_MAGIC "VTGRAPH1"
#define VTI_SAVE_HAS_SPECIAL 0x10 /* with the type of a node */

/* Negative: it is an object. */
int vti_value_put(struct vti_buf *buf, const struct vt_datum *value);

/* Negative: it is none, or there is no memory. Bytes are copied. */
int vti_value_get(struct vti_reader *reader, struct vt_datum *value);

/* A copy that belongs to the caller: NULL, no memory. */
int vti_value_copy(const struct vt_datum *value, struct vt_datum *copy);

#endif
