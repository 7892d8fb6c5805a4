/* c_lines_files.h - files that lines of C are in. */
#ifndef VENTURI_DRAIN_C_LINES_FILES_H
#define VENTURI_DRAIN_C_LINES_FILES_H

#include "base/hash.h"
#include "format/event.h"

#include <stdbool.h>

struct vti_recorder;

/* What the system brought with it is nobody's to improve: templates of the standard library would be most of all lines. */
bool vti_c_lines_is_of_system(struct vti_bytes file);

/* Writes the texts of those that can be read. */
void vti_c_lines_write_sources(struct vti_recorder *recorder, const struct vti_map *files);

#endif
