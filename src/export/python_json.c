/* python_json.c - JSON as Python's json.dumps(…, indent=2, separators=(",", ": ")) writes it, byte for byte. */
#include "export/python_json.h"

#include "base/utf8.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vti_python_json_line(struct vti_python_json *json)
{
    size_t blanks = 2 * (size_t)json->level;
    uint8_t *to = json->is_line ? NULL : vti_buf_reserve(json->text, blanks + 1);

    if (!to)
        return;
    to[0] = '\n';
    memset(to + 1, ' ', blanks);
    json->text->len += blanks + 1;
}

void vti_python_json_open(struct vti_python_json *json, char sign)
{
    vti_buf_add_u8(json->text, (uint8_t)sign);
    json->level++;
}

void vti_python_json_close(struct vti_python_json *json, char sign)
{
    json->level--;
    vti_python_json_line(json);
    vti_buf_add_u8(json->text, (uint8_t)sign);
}

static void add_character(struct vti_buf *out, uint32_t character)
{
    static const char named[] = {['\b'] = 'b', ['\t'] = 't', ['\n'] = 'n', ['\f'] = 'f',
                                 ['\r'] = 'r', ['"'] = '"',  ['\\'] = '\\'};

    if (character < sizeof named && named[character]) {
        vti_buf_add_u8(out, '\\');
        vti_buf_add_u8(out, (uint8_t)named[character]);
    } else if (character > 0xffff) {
        character -= 0x10000;
        vti_buf_printf(out, "\\u%04x\\u%04x", 0xd800 + (character >> 10),
                       0xdc00 + (character & 0x3ff));
    } else {
        vti_buf_printf(out, "\\u%04x", character);
    }
}

static bool is_plain(uint8_t byte)
{
    return byte >= 0x20 && byte < 0x7f && byte != '"' && byte != '\\';
}

/* What stands between quotes; each byte that is no UTF-8 becomes U+FFFD. */
void vti_python_json_escaped(struct vti_buf *out, const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)text;
    size_t i = 0;

    while (i < len) {
        uint32_t character = 0;
        size_t plain = i;
        size_t step;

        while (plain < len && is_plain(at[plain]))
            plain++;
        vti_buf_add(out, at + i, plain - i);
        i = plain;
        if (i == len)
            break;
        step = at[i] < 0x80 ? 1 : vti_utf8_get(at + i, len - i, &character);
        if (at[i] < 0x80)
            character = at[i];
        add_character(out, step ? character : 0xfffd);
        i += step ? step : 1;
    }
}

void vti_python_json_text(struct vti_python_json *json, const char *text, size_t len)
{
    vti_buf_add_u8(json->text, '"');
    vti_python_json_escaped(json->text, text, len);
    vti_buf_add_u8(json->text, '"');
}

/* A key on a line of its own; `is_first` until there was one. */
void vti_python_json_begin(struct vti_python_json *json, bool *is_first)
{
    if (!*is_first)
        vti_buf_add_u8(json->text, ',');
    *is_first = false;
    vti_python_json_line(json);
    vti_buf_add_u8(json->text, '"');
}

void vti_python_json_key(struct vti_python_json *json, bool *is_first, const char *key, size_t len)
{
    vti_python_json_begin(json, is_first);
    vti_python_json_escaped(json->text, key, len);
    vti_buf_add(json->text, "\": ", 3);
}

void vti_python_json_member(struct vti_python_json *json, bool *is_first, const char *key,
                            const char *text)
{
    vti_python_json_key(json, is_first, key, strlen(key));
    vti_python_json_text(json, text, strlen(text));
}

void vti_python_json_maybe(struct vti_python_json *json, bool *is_first, const char *key,
                           const char *text)
{
    vti_python_json_key(json, is_first, key, strlen(key));
    if (*text)
        vti_python_json_text(json, text, strlen(text));
    else
        vti_buf_add(json->text, "null", 4);
}

void vti_python_json_number(struct vti_python_json *json, bool *is_first, const char *key,
                            int64_t number)
{
    vti_python_json_key(json, is_first, key, strlen(key));
    vti_buf_add_decimal(json->text, number);
}

/* Writes the fewest digits that read back as the same number: "1.5e-07" has 15 and an exponent of -7. */
static int find_digits(double value, char text[40])
{
    /* As many as any number of 15 digits keeps; a number next to zero has fewer. */
    for (int digits = fabs(value) < DBL_MIN ? 1 : DBL_DIG; digits <= 17; digits++) {
        snprintf(text, 40, "%.*e", digits - 1, value);
        if (strtod(text, NULL) == value)
            break;
    }
    return (int)strtol(strchr(text, 'e') + 1, NULL, 10);
}

/* As repr() has it: an exponent where the point is far away. */
static void add_double(struct vti_buf *out, double value)
{
    char text[40];
    char plain[64];
    int exponent;
    int count = 0;

    if (!isfinite(value)) {
        vti_buf_add_text(out, isnan(value) ? "NaN" : value > 0 ? "Infinity" : "-Infinity");
        return;
    }
    exponent = find_digits(value, text);
    for (const char *at = text; *at != 'e'; at++)
        count += *at >= '0' && *at <= '9';
    while (count > 1 && text[strcspn(text, "e") - 1] == '0') { /* those that say nothing */
        char *end = strchr(text, 'e');

        memmove(end - 1, end, strlen(end) + 1);
        count--;
    }
    if (exponent >= -4 && exponent < 16) {
        int decimals = count - 1 - exponent;

        snprintf(plain, sizeof plain, "%.*f", decimals > 1 ? decimals : 1, value);
        vti_buf_add_text(out, plain);
        return;
    }
    if (count == 1 && strchr(text, '.')) /* "1.e+22" */
        memmove(strchr(text, '.'), strchr(text, 'e'), strlen(strchr(text, 'e')) + 1);
    vti_buf_add_text(out, text);
}

void vti_python_json_value(struct vti_python_json *json, const struct vti_value *value)
{
    switch (value->type) {
    case VTI_VALUE_INT:
        vti_buf_add_decimal(json->text, value->i);
        break;
    case VTI_VALUE_UINT:
        vti_buf_add_decimal_u(json->text, value->u);
        break;
    case VTI_VALUE_DOUBLE:
        if (json->is_line && !isfinite(value->d))
            vti_buf_add(json->text, "null", 4);
        else
            add_double(json->text, value->d);
        break;
    case VTI_VALUE_TEXT:
        vti_python_json_text(json, value->text.data, value->text.len);
        break;
    case VTI_VALUE_NONE:
        vti_buf_add(json->text, "null", 4);
        break;
    }
}
