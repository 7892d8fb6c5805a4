/* json_value.h - values of JSON as values of attributes. */
#ifndef VENTURI_IMPORT_JSON_VALUE_H
#define VENTURI_IMPORT_JSON_VALUE_H

#include "base/json_scan.h"
#include "format/event.h"

/* The value that stands next; false for null. What is neither text nor number is its own text, which `text` holds. */
bool vti_json_scan_value(struct vti_json_scan *scan, struct vti_buf *text, struct vti_value *value);

/* Each value of the object that stands next, with its key; keys of objects inside are joined by dots: "db.statement". Those very far inside are their
 * own text. 0, or what `each` returned, which ends it; what is no JSON ends it too. */
int vti_json_flatten(struct vti_json_scan *scan, const char *prefix,
                     int (*each)(const char *key, size_t len, const struct vti_value *value,
                                 void *arg),
                     void *arg);

#endif
