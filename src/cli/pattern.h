/*
 * pattern.h - the regular expressions of Python, as far as they can be said in those of POSIX: what only
 * matters to a search that asks whether, not where.
 */
#ifndef VENTURI_CLI_PATTERN_H
#define VENTURI_CLI_PATTERN_H

#include <regex.h>

/* 0, VTI_E_USAGE (it is not one), VTI_E_LIMIT (POSIX has no such thing: looking around, back
 * references) or VTI_E_NOMEM, with a message but for the first. regfree() after 0. */
int vti_pattern_compile(regex_t *regex, const char *python);

#endif
