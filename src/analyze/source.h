/*
 * source.h - the text of a source file, line by line, and which lines belong to one function.
 */
#ifndef VENTURI_ANALYZE_SOURCE_H
#define VENTURI_ANALYZE_SOURCE_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vti_source_line {
    const char *text; /* in the text, not terminated, without its end of line */
    size_t len;
};

struct vti_source_text {
    struct vti_buf text;           /* UTF-8 */
    struct vti_source_line *lines; /* owned; line 1 is the first */
    size_t count;
};

/*
 * From bytes as they stand in a file. Those that are not UTF-8 are read in the encoding that one of the first
 * two lines names, as Python has it. 0, or a negative code with a message that begins with `name`.
 */
int vti_source_text_read(struct vti_source_text *source, const char *name, const char *bytes,
                         size_t count);
void vti_source_text_fini(struct vti_source_text *source);

/* The last line of the function that begins at `first`, decorators included: as inspect.getblock() of Python
 * finds it, and by braces for C. `first` itself where nothing is found; 0 where that is beyond the end. */
uint32_t vti_source_python_end(const struct vti_source_text *source, uint32_t first);
uint32_t vti_source_c_end(const struct vti_source_text *source, uint32_t first);

/* Whether the name of a file is one of C or C++. */
bool vti_source_is_c(const char *file);

#endif
