/* chart.h - small pictures made of characters: bars and sparklines, in blocks or, where the locale is not UTF-8, ASCII. */
#ifndef VENTURI_CLI_CHART_H
#define VENTURI_CLI_CHART_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>

/* Whether LC_ALL, LC_CTYPE or LANG, the first that is set, name a UTF-8 locale. */
bool vti_locale_is_utf8(void);

/* A bar of `share` (0 … 1) of `width` columns, without blanks behind it; what is above zero but too short to be seen
 * gets the thinnest one. */
void vti_chart_bar(struct vti_buf *out, double share, unsigned width);

/* One column for each value, the largest full height. What is no number, or below zero, is a blank. */
void vti_chart_spark(struct vti_buf *out, const double *values, size_t count);

#endif
