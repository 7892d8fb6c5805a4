/* json_check.h - whether a text is what it should be before it is put into JSON as it is. */
#ifndef VENTURI_BASE_JSON_CHECK_H
#define VENTURI_BASE_JSON_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether the text is the members of a JSON object without its braces ("" is), in UTF-8, on one line, nested less than
 * 256 deep. */
bool vti_json_are_members(const char *text, size_t len);

#endif
