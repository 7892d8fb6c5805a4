/* utf8.c - one character at a time from bytes that claim to be UTF-8. */
#include "base/utf8.h"

#include "base/bytes.h"

#include <string.h>

size_t vti_utf8_get(const uint8_t *at, size_t left, uint32_t *character)
{
    static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t bytes = at[0] < 0x80 ? 1 : at[0] < 0xc2 ? 0 : at[0] < 0xe0 ? 2 : at[0] < 0xf0 ? 3 : 4;

    if (bytes == 0 || bytes > left || at[0] > 0xf4)
        return 0;
    *character = bytes == 1 ? at[0] : at[0] & (0x7fu >> bytes);
    for (size_t i = 1; i < bytes; i++) {
        if ((at[i] & 0xc0) != 0x80)
            return 0;
        *character = *character << 6 | (at[i] & 0x3fu);
    }
    if (*character < smallest[bytes] || *character > 0x10ffff ||
        (*character >= 0xd800 && *character <= 0xdfff))
        return 0;
    return bytes;
}

size_t vti_utf8_good(const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t good = 0;
    uint32_t character;

    while (good < len) {
        size_t step = at[good] < 0x80 ? 1 : vti_utf8_get(at + good, len - good, &character);

        if (step == 0)
            break;
        good += step;
    }
    return good;
}

void vti_utf8_repair(struct vti_buf *out, const char *text, size_t len)
{
    while (len) {
        size_t good = vti_utf8_good(text, len);

        vti_buf_add(out, text, good);
        text += good;
        len -= good;
        if (len == 0)
            break;
        vti_buf_add_text(out, "\xef\xbf\xbd");
        text++;
        len--;
    }
}

void vti_utf8_repair_sized(struct vti_buf *out, const char *text)
{
    size_t at = out->len;

    vti_buf_add_u32(out, 0);
    vti_utf8_repair(out, text, strlen(text));
    if (!out->failed)
        vti_put_u32(out->data + at, (uint32_t)(out->len - at - 4));
}
