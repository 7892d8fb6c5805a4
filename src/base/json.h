/*
 * json.h - writes JSON into a buffer: commas, quoting and nesting are taken care of.
 *
 * Strings may be any bytes: valid UTF-8 is kept, control characters are escaped, anything else
 * becomes U+FFFD, so the output is always valid JSON. Numbers never come out as NaN or Infinity
 * (null instead).
 */
#ifndef VENTURI_BASE_JSON_H
#define VENTURI_BASE_JSON_H

#include "base/buf.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_JSON_DEPTH 64

struct vti_json {
    struct vti_buf *out; /* borrowed */
    uint64_t has_member; /* one bit a level: a comma is due before the next value */
    unsigned depth;
    bool after_key;
};

void vti_json_init(struct vti_json *json, struct vti_buf *out);
void vti_json_object(struct vti_json *json);
void vti_json_object_end(struct vti_json *json);
void vti_json_array(struct vti_json *json);
void vti_json_array_end(struct vti_json *json);
void vti_json_key(struct vti_json *json, const char *key);
void vti_json_key_bytes(struct vti_json *json, const char *key, size_t len);
void vti_json_string(struct vti_json *json, const char *text); /* NULL gives null */
void vti_json_bytes(struct vti_json *json, const char *text, size_t len);
void vti_json_int(struct vti_json *json, int64_t value);
void vti_json_uint(struct vti_json *json, uint64_t value);
void vti_json_double(struct vti_json *json,
                     double value); /* shortest text that reads back the same */
void vti_json_bool(struct vti_json *json, bool value);
void vti_json_null(struct vti_json *json);

/* A member of an object: key and value. */
void vti_json_add_string(struct vti_json *json, const char *key, const char *text);
void vti_json_add_int(struct vti_json *json, const char *key, int64_t value);
void vti_json_add_uint(struct vti_json *json, const char *key, uint64_t value);
void vti_json_add_double(struct vti_json *json, const char *key, double value);
void vti_json_add_bool(struct vti_json *json, const char *key, bool value);
void vti_json_add_null(struct vti_json *json, const char *key);

/* The first part of a value that the caller writes himself, such as a number with fixed decimals. */
void vti_json_raw(struct vti_json *json, const char *text);

/* Shortest decimal text that reads back as `value`; returns its length. Fits in 32 bytes. */
int vti_double_text(char *to, double value);

#endif
