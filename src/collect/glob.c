/*
 * glob.c - patterns with * and ?. Not fnmatch(): that one allocates, which is not allowed where this is used.
 */
#include "collect/glob.h"

#define PLAIN __attribute__((no_instrument_function))

PLAIN bool vti_glob_fits(const char *pattern, size_t len, const char *text)
{
    const char *end = pattern + len;
    const char *star = NULL; /* the last one, and the text that it has not taken yet */
    const char *rest = NULL;

    while (*text) {
        if (pattern < end && *pattern == '*') {
            star = pattern++;
            rest = text;
        } else if (pattern < end && (*pattern == '?' || *pattern == *text)) {
            pattern++;
            text++;
        } else if (star) {
            pattern = star + 1;
            text = ++rest;
        } else {
            return false;
        }
    }
    while (pattern < end && *pattern == '*')
        pattern++;
    return pattern == end;
}
