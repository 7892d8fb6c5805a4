/*
 * trace_info.c - ids become JSON becomes base64 and back. The JSON is what Python's default dump writes, the base64 has the
 * alphabet for URLs and padding. Unpacking takes no more than osprofiler does, and what propagation.py takes to the last byte; it
 * must never crash, whoever signed the text.
 */
#include "net/trace_info.h"

#include "base/json_scan.h"
#include "base/utf8.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/* ---- packing --------------------------------------------------------------------------------- */

struct packer {
    char *to;
    size_t room;
    size_t len;
    uint32_t bits; /* of a group that is not whole yet */
    unsigned count;
};

/* What does not fit is counted, so that the end finds out. */
static void put(struct packer *packer, char c)
{
    if (packer->len < packer->room)
        packer->to[packer->len] = c;
    packer->len++;
}

static void put_group(struct packer *packer)
{
    uint32_t bits = packer->bits << 8 * (3 - packer->count);

    for (unsigned i = 0; i < 4; i++)
        put(packer, i <= packer->count ? alphabet[bits >> (18 - 6 * i) & 63] : '=');
    packer->bits = 0;
    packer->count = 0;
}

static void pack(struct packer *packer, const char *text)
{
    for (; *text; text++) {
        packer->bits = packer->bits << 8 | (uint8_t)*text;
        if (++packer->count == 3)
            put_group(packer);
    }
}

/* One character as Python's json writes it with ensure_ascii. */
static void pack_character(struct packer *packer, uint32_t c)
{
    static const char plain[] = "\"\\\b\f\n\r\t";
    static const char letters[] = "\"\\bfnrt";
    const char *found = c && c < 0x80 ? strchr(plain, (int)c) : NULL;
    char text[16];

    if (found)
        snprintf(text, sizeof text, "\\%c", letters[found - plain]);
    else if (c >= 0x20 && c < 0x7f)
        snprintf(text, sizeof text, "%c", (int)c);
    else if (c < 0x10000)
        snprintf(text, sizeof text, "\\u%04x", (unsigned)c);
    else
        snprintf(text, sizeof text, "\\u%04x\\u%04x", (unsigned)(0xd800 + ((c - 0x10000) >> 10)),
                 (unsigned)(0xdc00 + ((c - 0x10000) & 0x3ff)));
    pack(packer, text);
}

static void pack_text(struct packer *packer, const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text;

    pack(packer, "\"");
    while (len) {
        uint32_t character = 0xfffd;
        size_t bytes = vti_utf8_get(at, len, &character);

        pack_character(packer, bytes ? character : 0xfffd);
        bytes += !bytes;
        at += bytes;
        len -= bytes;
    }
    pack(packer, "\"");
}

size_t vti_trace_info_pack(char *to, size_t room, const char *base, size_t base_len,
                           const char *parent, size_t parent_len)
{
    struct packer packer = {.to = to, .room = room};

    pack(&packer, "{\"base_id\": ");
    pack_text(&packer, base, base_len);
    if (parent) {
        pack(&packer, ", \"parent_id\": ");
        pack_text(&packer, parent, parent_len);
    }
    pack(&packer, "}");
    if (packer.count)
        put_group(&packer);
    if (packer.len >= room)
        return 0;
    to[packer.len] = 0;
    return packer.len;
}

/* ---- unpacking ------------------------------------------------------------------------------- */

/* The six bits of a character, in either alphabet, as Python reads them; 64 for any other. */
static uint32_t six_bits(char c)
{
    if (c >= 'A' && c <= 'Z')
        return (uint32_t)(c - 'A');
    if (c >= 'a' && c <= 'z')
        return (uint32_t)(c - 'a' + 26);
    if (c >= '0' && c <= '9')
        return (uint32_t)(c - '0' + 52);
    return c == '-' || c == '+' ? 62 : c == '_' || c == '/' ? 63 : 64;
}

/* How many bytes it was, at most three for four characters; 0 if it is no base64. */
static size_t decode(uint8_t *to, const char *text, size_t len)
{
    size_t padding = 0;
    size_t count = 0;

    if (!len || len % 4)
        return 0;
    while (padding < 2 && text[len - 1 - padding] == '=')
        padding++;
    for (size_t at = 0; at < len; at += 4) {
        uint32_t bits = 0;

        for (size_t i = at; i < at + 4; i++) {
            uint32_t six = i < len - padding ? six_bits(text[i]) : 0;

            if (six == 64)
                return 0;
            bits = bits << 6 | six;
        }
        to[count++] = (uint8_t)(bits >> 16);
        to[count++] = (uint8_t)(bits >> 8);
        to[count++] = (uint8_t)bits;
    }
    return count - padding;
}

static bool is_key(const struct vti_buf *key, const char *name)
{
    return key->len == strlen(name) && !memcmp(key->data, name, key->len);
}

/* Neither too long nor with a character that does something to a log or a terminal. */
static bool is_id(const struct vti_buf *text)
{
    size_t characters = 0;

    for (size_t i = 0; i < text->len; i++) {
        if (text->data[i] < 0x20 || text->data[i] == 0x7f)
            return false;
        characters += (text->data[i] & 0xc0) != 0x80;
    }
    return characters <= VTI_TRACE_INFO_ID_MOST;
}

static bool take_null(struct vti_json_scan *scan)
{
    if (vti_json_peek(scan) != 'n' || scan->end - scan->at < 4 || memcmp(scan->at, "null", 4) != 0)
        return false;
    scan->at += 4;
    return true;
}

/* A text into `text`; null is an empty one. */
static bool scan_id(struct vti_json_scan *scan, struct vti_buf *text)
{
    vti_buf_clear(text);
    return take_null(scan) || (vti_json_scan_string(scan, text) && is_id(text));
}

static bool scan_ids(struct vti_trace_info *info, struct vti_json_scan *scan, struct vti_buf *key)
{
    bool is_first = true;
    bool has_base = false;
    bool has_parent = false;

    if (!vti_json_take(scan, '{'))
        return false;
    while (vti_json_next_key(scan, &is_first, key)) {
        bool is_base = is_key(key, "base_id");
        bool *seen = is_base ? &has_base : &has_parent;

        if ((!is_base && !is_key(key, "parent_id")) || *seen)
            return false;
        if (!scan_id(scan, is_base ? &info->base : &info->parent))
            return false;
        *seen = true;
    }
    info->has_parent = has_parent && info->parent.len;
    vti_json_peek(scan); /* blanks at the end */
    return has_base && info->base.len && !scan->failed && !scan->has_half && scan->at == scan->end;
}

bool vti_trace_info_unpack(struct vti_trace_info *info, const char *text, size_t len)
{
    uint8_t json[VTI_TRACE_INFO_MOST / 4 * 3];
    struct vti_json_scan scan = {.at = (const char *)json};
    struct vti_buf key = {0};
    bool is_good;

    info->has_parent = false;
    if (len > VTI_TRACE_INFO_MOST)
        return false;
    len = decode(json, text, len);
    scan.end = scan.at + len;
    is_good = len && vti_utf8_good(scan.at, len) == len && scan_ids(info, &scan, &key);
    vti_buf_fini(&key);
    return is_good;
}

void vti_trace_info_fini(struct vti_trace_info *info)
{
    vti_buf_fini(&info->base);
    vti_buf_fini(&info->parent);
}
