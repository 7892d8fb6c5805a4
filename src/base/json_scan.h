/*
 * json_scan.h - reads JSON piece by piece, where it lies, without building anything from it.
 *
 * A caller asks for what it expects and skips what it does not want. After the first thing that is not
 * JSON `failed` stays set, and every further question is answered with nothing.
 */
#ifndef VENTURI_BASE_JSON_SCAN_H
#define VENTURI_BASE_JSON_SCAN_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vti_json_scan {
    const char *at;
    const char *end;
    bool failed;
    bool has_half; /* half of a pair of surrogates was met, and became U+FFFD */
};

/* The character that the next value begins with (blanks are stepped over): one of {["-tfn or a digit; 0 at
 * the end. */
char vti_json_peek(struct vti_json_scan *scan);

/* Whether the next character is this one; steps over it if so. */
bool vti_json_take(struct vti_json_scan *scan, char character);

/* In an object after '{' or a value: the next key into `key`, or false at the '}' (stepped over). */
bool vti_json_next_key(struct vti_json_scan *scan, bool *is_first, struct vti_buf *key);

/* In an array after '[' or a value: whether another value follows; false at the ']' (stepped over). */
bool vti_json_next_item(struct vti_json_scan *scan, bool *is_first);

/* A string, decoded to UTF-8, into `text`, which is cleared before; terminated by a zero byte that its length
 * leaves out. */
bool vti_json_scan_string(struct vti_json_scan *scan, struct vti_buf *text);

/* The text of a number, in place. */
bool vti_json_scan_number(struct vti_json_scan *scan, const char **text, size_t *len);

/* Steps over a value of any kind and depth; its text is between `at` before and after. */
void vti_json_skip(struct vti_json_scan *scan);

#endif
