/* base64.c - base64 on its way to a sink, in one line: the alphabet with + and /, padded. */
#include "page/base64.h"

#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void encode_group(char to[4], const uint8_t from[3])
{
    uint32_t bits = (uint32_t)from[0] << 16 | (uint32_t)from[1] << 8 | from[2];

    to[0] = alphabet[bits >> 18];
    to[1] = alphabet[bits >> 12 & 63];
    to[2] = alphabet[bits >> 6 & 63];
    to[3] = alphabet[bits & 63];
}

static int write_groups(struct vti_base64 *base64, const uint8_t *bytes, size_t count)
{
    size_t at;
    size_t len = 0;

    for (at = 0; at < count; at += 3, len += 4)
        encode_group(base64->text + len, bytes + at);
    return len ? base64->to->write(base64->to->arg, base64->text, len) : 0;
}

int vti_base64_write(void *arg, const void *bytes, size_t count)
{
    struct vti_base64 *base64 = arg;
    const uint8_t *at = bytes;
    int code = 0;

    while (base64->left_count && base64->left_count < 3 && count) {
        base64->left[base64->left_count++] = *at++;
        count--;
    }
    if (base64->left_count == 3) {
        code = write_groups(base64, base64->left, 3);
        base64->left_count = 0;
    }
    while (!code && count >= 3) {
        size_t piece = count < VTI_BASE64_PIECE ? count / 3 * 3 : VTI_BASE64_PIECE;

        code = write_groups(base64, at, piece);
        at += piece;
        count -= piece;
    }
    if (code || !count)
        return code;
    memcpy(base64->left, at, count);
    base64->left_count = count;
    return 0;
}

int vti_base64_finish(struct vti_base64 *base64)
{
    size_t count = base64->left_count;
    char text[4];

    if (!count)
        return 0;
    memset(base64->left + count, 0, 3 - count);
    encode_group(text, base64->left);
    memset(text + 1 + count, '=', 3 - count);
    base64->left_count = 0;
    return base64->to->write(base64->to->arg, text, sizeof text);
}
