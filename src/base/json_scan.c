/* json_scan.c - reads JSON piece by piece. Bounded by the input, without recursion. */
#include "base/json_scan.h"

#include <string.h>

char vti_json_peek(struct vti_json_scan *scan)
{
    while (scan->at < scan->end && memchr(" \t\r\n", *scan->at, 4))
        scan->at++;
    return scan->failed || scan->at == scan->end ? 0 : *scan->at;
}

bool vti_json_take(struct vti_json_scan *scan, char character)
{
    if (vti_json_peek(scan) != character || !character)
        return false;
    scan->at++;
    return true;
}

static bool fail(struct vti_json_scan *scan)
{
    scan->failed = true;
    return false;
}

bool vti_json_next_key(struct vti_json_scan *scan, bool *is_first, struct vti_buf *key)
{
    bool was_first = *is_first;

    *is_first = false;
    if (vti_json_take(scan, '}'))
        return false;
    if (!was_first && !vti_json_take(scan, ','))
        return fail(scan);
    if (!vti_json_scan_string(scan, key) || !vti_json_take(scan, ':'))
        return fail(scan);
    return true;
}

bool vti_json_next_item(struct vti_json_scan *scan, bool *is_first)
{
    bool was_first = *is_first;

    *is_first = false;
    if (vti_json_take(scan, ']'))
        return false;
    if (!was_first && !vti_json_take(scan, ','))
        return fail(scan);
    return vti_json_peek(scan) ? true : fail(scan);
}

/* ---- strings --------------------------------------------------------------------------------- */

static bool scan_hex(struct vti_json_scan *scan, uint32_t *unit)
{
    *unit = 0;
    if (scan->end - scan->at < 4)
        return fail(scan);
    for (int i = 0; i < 4; i++) {
        char c = *scan->at++;
        uint32_t digit = c >= '0' && c <= '9'   ? (uint32_t)(c - '0')
                         : c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10)
                         : c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10)
                                                : 16;

        if (digit == 16)
            return fail(scan);
        *unit = *unit << 4 | digit;
    }
    return true;
}

static void add_character(struct vti_buf *out, uint32_t c)
{
    if (c < 0x80) {
        vti_buf_add_u8(out, (uint8_t)c);
    } else if (c < 0x800) {
        vti_buf_add_u8(out, (uint8_t)(0xc0 | c >> 6));
        vti_buf_add_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
    } else if (c < 0x10000) {
        vti_buf_add_u8(out, (uint8_t)(0xe0 | c >> 12));
        vti_buf_add_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
        vti_buf_add_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
    } else {
        vti_buf_add_u8(out, (uint8_t)(0xf0 | c >> 18));
        vti_buf_add_u8(out, (uint8_t)(0x80 | (c >> 12 & 0x3f)));
        vti_buf_add_u8(out, (uint8_t)(0x80 | (c >> 6 & 0x3f)));
        vti_buf_add_u8(out, (uint8_t)(0x80 | (c & 0x3f)));
    }
}

static void add_half(struct vti_json_scan *scan, struct vti_buf *text)
{
    scan->has_half = true;
    add_character(text, 0xfffd);
}

/* \uXXXX, or two of them for one character; half of a pair becomes U+FFFD. */
static bool scan_unicode(struct vti_json_scan *scan, struct vti_buf *text)
{
    uint32_t unit;
    uint32_t low;

    if (!scan_hex(scan, &unit))
        return false;
    if (unit >= 0xd800 && unit < 0xdc00 && scan->end - scan->at >= 6 && scan->at[0] == '\\' &&
        scan->at[1] == 'u') {
        scan->at += 2;
        if (!scan_hex(scan, &low))
            return false;
        if (low >= 0xdc00 && low < 0xe000) {
            add_character(text, 0x10000 + ((unit - 0xd800) << 10) + (low - 0xdc00));
            return true;
        }
        add_half(scan, text);
        unit = low;
    }
    if (unit >= 0xd800 && unit < 0xe000)
        add_half(scan, text);
    else
        add_character(text, unit);
    return true;
}

static bool scan_escape(struct vti_json_scan *scan, struct vti_buf *text)
{
    static const char letters[] = "\"\\/bfnrt";
    static const char meanings[] = "\"\\/\b\f\n\r\t";
    const char *found;

    if (scan->at == scan->end)
        return fail(scan);
    if (*scan->at == 'u') {
        scan->at++;
        return scan_unicode(scan, text);
    }
    found = memchr(letters, *scan->at, sizeof letters - 1);
    if (!found)
        return fail(scan);
    scan->at++;
    vti_buf_add_u8(text, (uint8_t)meanings[found - letters]);
    return true;
}

bool vti_json_scan_string(struct vti_json_scan *scan, struct vti_buf *text)
{
    vti_buf_clear(text);
    if (!vti_json_take(scan, '"'))
        return fail(scan);
    while (scan->at < scan->end && *scan->at != '"') {
        const char *start = scan->at;

        while (scan->at < scan->end && *scan->at != '"' && *scan->at != '\\')
            scan->at++;
        vti_buf_add(text, start, (size_t)(scan->at - start));
        if (scan->at < scan->end && *scan->at == '\\') {
            scan->at++;
            if (!scan_escape(scan, text))
                return false;
        }
    }
    vti_buf_add_u8(text, 0);
    if (scan->at == scan->end || text->failed)
        return fail(scan);
    text->len--;
    scan->at++;
    return true;
}

/* ---- the rest -------------------------------------------------------------------------------- */

bool vti_json_scan_number(struct vti_json_scan *scan, const char **text, size_t *len)
{
    char first = vti_json_peek(scan);

    *text = scan->at;
    if (first != '-' && (first < '0' || first > '9'))
        return fail(scan);
    while (scan->at < scan->end && memchr("0123456789+-.eE", *scan->at, 15))
        scan->at++;
    *len = (size_t)(scan->at - *text);
    return true;
}

static void skip_string(struct vti_json_scan *scan)
{
    for (scan->at++; scan->at < scan->end && *scan->at != '"'; scan->at++)
        if (*scan->at == '\\' && scan->end - scan->at > 1)
            scan->at++;
    if (scan->at == scan->end)
        scan->failed = true;
    else
        scan->at++;
}

static void skip_word(struct vti_json_scan *scan)
{
    const char *start = scan->at;

    while (scan->at < scan->end && !memchr(",]}: \t\r\n\"[{", *scan->at, 11))
        scan->at++;
    if (scan->at == start)
        scan->failed = true;
}

void vti_json_skip(struct vti_json_scan *scan)
{
    size_t depth = 0;

    do {
        char next = vti_json_peek(scan);

        if (!next) {
            scan->failed = true;
        } else if (next == '"') {
            skip_string(scan);
        } else if (next == '{' || next == '[') {
            depth++;
            scan->at++;
        } else if (next == '}' || next == ']') {
            if (depth)
                depth--;
            else
                scan->failed = true;
            scan->at++;
        } else if ((next == ',' || next == ':') && depth) {
            scan->at++;
        } else {
            skip_word(scan);
        }
    } while (depth && !scan->failed);
}
