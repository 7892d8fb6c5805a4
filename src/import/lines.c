/* lines.c - a text line by line, where it lies. */
#include "import/lines.h"

#include <string.h>

bool vti_next_line(struct vti_bytes *left, struct vti_bytes *line)
{
    const char *newline = left->len ? memchr(left->data, '\n', left->len) : NULL;
    size_t len = newline ? (size_t)(newline - left->data) : left->len;

    if (!left->len)
        return false;
    *line = (struct vti_bytes){left->data, len};
    left->data += len + (newline != NULL);
    left->len -= len + (newline != NULL);
    return true;
}
