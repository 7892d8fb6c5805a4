/* json.c - writes JSON into a buffer. */
#include "base/json.h"

#include "base/utf8.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vti_json_init(struct vti_json *json, struct vti_buf *out)
{
    memset(json, 0, sizeof *json);
    json->out = out;
}

static void before_value(struct vti_json *json)
{
    uint64_t bit = (uint64_t)1 << (json->depth % VTI_JSON_DEPTH);

    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->has_member & bit)
        vti_buf_add_u8(json->out, ',');
    json->has_member |= bit;
}

static void open_level(struct vti_json *json, char bracket)
{
    before_value(json);
    vti_buf_add_u8(json->out, (uint8_t)bracket);
    json->depth++;
    json->has_member &= ~((uint64_t)1 << (json->depth % VTI_JSON_DEPTH));
}

static void close_level(struct vti_json *json, char bracket)
{
    json->depth--;
    vti_buf_add_u8(json->out, (uint8_t)bracket);
}

void vti_json_object(struct vti_json *json)
{
    open_level(json, '{');
}

void vti_json_object_end(struct vti_json *json)
{
    close_level(json, '}');
}

void vti_json_array(struct vti_json *json)
{
    open_level(json, '[');
}

void vti_json_array_end(struct vti_json *json)
{
    close_level(json, ']');
}

static void add_escaped(struct vti_buf *out, uint8_t byte)
{
    static const char short_forms[] = "\b\bb\t\tt\n\nn\f\ff\r\rr";
    const char *found;

    if (byte == '"' || byte == '\\') {
        vti_buf_add_u8(out, '\\');
        vti_buf_add_u8(out, byte);
        return;
    }
    found = memchr(short_forms, byte, sizeof short_forms - 1);
    if (found && byte < 0x20)
        vti_buf_printf(out, "\\%c", found[2]);
    else
        vti_buf_printf(out, "\\u%04x", byte);
}

static void add_quoted(struct vti_buf *out, const char *text, size_t len)
{
    const uint8_t *at = (const uint8_t *)(text ? text : ""); /* nothing of nothing has no address */
    const uint8_t *end = at + len;
    const uint8_t *plain = at;

    vti_buf_add_u8(out, '"');
    while (at < end) {
        uint32_t character = 0;
        size_t step;

        if (*at >= 0x20 && *at < 0x7f && *at != '"' && *at != '\\') {
            at++;
            continue;
        }
        step = *at < 0x80 ? 0 : vti_utf8_get(at, (size_t)(end - at), &character);
        if (step && character >= 0xa0) {
            at += step;
            continue;
        }
        vti_buf_add(out, plain, (size_t)(at - plain));
        if (*at < 0x80)
            add_escaped(out, *at);
        else if (step)
            add_escaped(out, (uint8_t)character); /* a C1 control, which terminals obey */
        else
            vti_buf_add_text(out, "\xef\xbf\xbd");
        plain = at += step ? step : 1;
    }
    vti_buf_add(out, plain, (size_t)(at - plain));
    vti_buf_add_u8(out, '"');
}

void vti_json_key_bytes(struct vti_json *json, const char *key, size_t len)
{
    before_value(json);
    add_quoted(json->out, key, len);
    vti_buf_add_u8(json->out, ':');
    json->after_key = true;
}

void vti_json_key(struct vti_json *json, const char *key)
{
    vti_json_key_bytes(json, key, strlen(key));
}

void vti_json_bytes(struct vti_json *json, const char *text, size_t len)
{
    before_value(json);
    add_quoted(json->out, text, len);
}

void vti_json_string(struct vti_json *json, const char *text)
{
    if (text)
        vti_json_bytes(json, text, strlen(text));
    else
        vti_json_null(json);
}

void vti_json_int(struct vti_json *json, int64_t value)
{
    before_value(json);
    vti_buf_add_decimal(json->out, value);
}

void vti_json_uint(struct vti_json *json, uint64_t value)
{
    before_value(json);
    vti_buf_add_decimal_u(json->out, value);
}

int vti_double_text(char *to, double value)
{
    int len = 0;

    for (int digits = 15; digits <= 17; digits++) {
        len = snprintf(to, 32, "%.*g", digits, value);
        if (strtod(to, NULL) == value)
            break;
    }
    return len;
}

void vti_json_double(struct vti_json *json, double value)
{
    char text[32];

    if (!isfinite(value)) {
        vti_json_null(json);
        return;
    }
    before_value(json);
    vti_buf_add(json->out, text, (size_t)vti_double_text(text, value));
}

void vti_json_bool(struct vti_json *json, bool value)
{
    before_value(json);
    vti_buf_add_text(json->out, value ? "true" : "false");
}

void vti_json_null(struct vti_json *json)
{
    before_value(json);
    vti_buf_add_text(json->out, "null");
}

void vti_json_raw(struct vti_json *json, const char *text)
{
    before_value(json);
    vti_buf_add_text(json->out, text);
}

void vti_json_add_string(struct vti_json *json, const char *key, const char *text)
{
    vti_json_key(json, key);
    vti_json_string(json, text);
}

void vti_json_add_int(struct vti_json *json, const char *key, int64_t value)
{
    vti_json_key(json, key);
    vti_json_int(json, value);
}

void vti_json_add_uint(struct vti_json *json, const char *key, uint64_t value)
{
    vti_json_key(json, key);
    vti_json_uint(json, value);
}

void vti_json_add_double(struct vti_json *json, const char *key, double value)
{
    vti_json_key(json, key);
    vti_json_double(json, value);
}

void vti_json_add_bool(struct vti_json *json, const char *key, bool value)
{
    vti_json_key(json, key);
    vti_json_bool(json, value);
}

void vti_json_add_null(struct vti_json *json, const char *key)
{
    vti_json_key(json, key);
    vti_json_null(json);
}
