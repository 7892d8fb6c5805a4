/* python_json.h - JSON as Python's json.dumps(…, indent=2, separators=(",", ": ")) writes it: in ASCII, a line for each member, or all on one. */
#ifndef VENTURI_EXPORT_PYTHON_JSON_H
#define VENTURI_EXPORT_PYTHON_JSON_H

#include "base/buf.h"
#include "format/event.h"

#include <stdbool.h>

struct vti_python_json {
    struct vti_buf *text; /* borrowed */
    unsigned level;       /* of the indent */
    bool
        is_line; /* all on one line, and JSON that every reader takes: null for what is no number */
};

/* A new line, with its indent. */
void vti_python_json_line(struct vti_python_json *json);

/* An object or array, by its sign; one that stays empty is the caller's to write. */
void vti_python_json_open(struct vti_python_json *json, char sign);
void vti_python_json_close(struct vti_python_json *json, char sign);

/* A key on a line of its own; *is_first until there was one. _begin: its text and what follows are the caller's. */
void vti_python_json_begin(struct vti_python_json *json, bool *is_first);
void vti_python_json_key(struct vti_python_json *json, bool *is_first, const char *key, size_t len);

/* Key and value; _maybe: null for "". */
void vti_python_json_member(struct vti_python_json *json, bool *is_first, const char *key,
                            const char *text);
void vti_python_json_maybe(struct vti_python_json *json, bool *is_first, const char *key,
                           const char *text);
void vti_python_json_number(struct vti_python_json *json, bool *is_first, const char *key,
                            int64_t number);

/* Values. _escaped: what stands between the quotes; bytes that are no UTF-8 become U+FFFD. */
void vti_python_json_text(struct vti_python_json *json, const char *text, size_t len);
void vti_python_json_escaped(struct vti_buf *out, const char *text, size_t len);
void vti_python_json_value(struct vti_python_json *json, const struct vti_value *value);

#endif
