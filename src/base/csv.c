/* csv.c - fields of comma-separated values, as RFC 4180 has them. */
#include "base/csv.h"

#include "base/json.h"
#include "base/utf8.h"

#include <math.h>
#include <string.h>

static bool is_formula(const char *text, size_t len)
{
    return len && memchr("=+-@\t\r", text[0], 6);
}

static bool needs_quotes(const char *text, size_t len)
{
    if (len == 0 || text[0] == ' ' || text[len - 1] == ' ')
        return len != 0;
    return memchr(text, ',', len) || memchr(text, '"', len) || memchr(text, '\n', len) ||
           memchr(text, '\r', len);
}

void vti_csv_text(struct vti_buf *out, const char *text, size_t len)
{
    const char *guard = is_formula(text, len) ? "'" : "";
    const char *quote;

    if (!needs_quotes(text, len)) {
        vti_buf_add_text(out, guard);
        vti_utf8_repair(out, text, len);
        return;
    }
    vti_buf_add_u8(out, '"');
    vti_buf_add_text(out, guard);
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

void vti_csv_double(struct vti_buf *out, double value)
{
    char number[32];

    if (isfinite(value))
        vti_buf_add(out, number, (size_t)vti_double_text(number, value));
}
