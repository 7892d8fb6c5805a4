/*
 * entry.h - entries that say their type and length before their body: those of RESOURCES and TASKS.
 *
 * A reader steps over types that a later version has added.
 */
#ifndef VENTURI_FORMAT_ENTRY_H
#define VENTURI_FORMAT_ENTRY_H

#include "base/buf.h"
#include "base/bytes.h"

#include <stdbool.h>
#include <stdint.h>

void vti_entry_write(struct vti_buf *out, uint32_t type, const struct vti_buf *body);

/* The type, and a reader of the body; false if the entry is cut off. */
bool vti_entry_read(struct vti_reader *in, uint32_t *type, struct vti_reader *body);

/* A number that names something: never the largest, which stands for none. */
uint32_t vti_entry_id(struct vti_reader *in);

#endif
