/* documents_extras.h - extra metrics of a step as members of its document: no name twice, and none of ours. */
#ifndef VENTURI_STORE_DOCUMENTS_EXTRAS_H
#define VENTURI_STORE_DOCUMENTS_EXTRAS_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vti_map;

/* Scratch, kept from document to document; all zero at first. */
struct vti_extras {
    struct vti_map *seen; /* names of the objects of one document that have many */
    struct vti_buf key, scoped;
    uint32_t objects; /* met in the document */
};

/* Adds the members (as vti_json_are_members() has them), each with a comma before it. `is_metrics`: names of measures are free. */
void vti_extras_add(struct vti_extras *extras, struct vti_buf *text, const char *members,
                    size_t len, bool is_metrics);
void vti_extras_fini(struct vti_extras *extras);

#endif
