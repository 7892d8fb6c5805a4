/* csv.c - fields of comma-separated values, as RFC 4180 has them. */
#include "base/csv.h"

#include "base/utf8.h"

#include <string.h>

static bool needs_quotes(const char *text, size_t len)
{
    if (len == 0 || text[0] == ' ' || text[len - 1] == ' ')
        return len != 0;
    return memchr(text, ',', len) || memchr(text, '"', len) || memchr(text, '\n', len) ||
           memchr(text, '\r', len);
}

void vti_csv_field(struct vti_buf *out, const char *text, size_t len)
{
    const char *quote;

    if (!needs_quotes(text, len)) {
        vti_utf8_repair(out, text, len);
        return;
    }
    vti_buf_add_u8(out, '"');
    while (len && (quote = memchr(text, '"', len))) {
        size_t part = (size_t)(quote - text) + 1;

        vti_utf8_repair(out, text, part);
        vti_buf_add_u8(out, '"');
        text += part;
        len -= part;
    }
    vti_utf8_repair(out, text, len);
    vti_buf_add_u8(out, '"');
}
