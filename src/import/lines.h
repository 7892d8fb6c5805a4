/* lines.h - a text line by line, where it lies. */
#ifndef VENTURI_IMPORT_LINES_H
#define VENTURI_IMPORT_LINES_H

#include "format/event.h"

#include <stdbool.h>

/* Takes the next line, without its end, off what is left; false: nothing is. The last one may have no end. */
bool vti_next_line(struct vti_bytes *left, struct vti_bytes *line);

#endif
