/* quantity.c - sizes and durations as people type them. */
#include "cli/quantity.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A plain non-negative decimal at the start of `text`; what follows it, or NULL. */
static const char *leading_number(const char *text, double *value)
{
    char *end;

    if (!isdigit((unsigned char)text[0]) && text[0] != '.')
        return NULL;
    errno = 0;
    *value = strtod(text, &end);
    return errno || end == text || !isfinite(*value) ? NULL : end;
}

bool vti_parse_bytes(const char *text, uint64_t *bytes)
{
    static const char units[] = "kMG";
    double value;
    const char *unit = leading_number(text, &value);
    const char *found;

    if (!unit)
        return false;
    if (*unit) {
        found = strchr(units, *unit == 'K' ? 'k' : *unit == 'm' ? 'M' : *unit == 'g' ? 'G' : *unit);
        if (!found || (unit[1] && strcmp(unit + 1, "B") && strcmp(unit + 1, "iB")))
            return false;
        value = ldexp(value, 10 * (int)(found - units + 1));
    }
    if (value >= 9e18)
        return false;
    *bytes = (uint64_t)value;
    return true;
}

bool vti_parse_duration(const char *text, int64_t *ns)
{
    static const struct {
        const char *name;
        double ns;
    } units[] = {{"", 1e9},  {"ns", 1},   {"us", 1e3},   {"ms", 1e6},
                 {"s", 1e9}, {"m", 60e9}, {"min", 60e9}, {"h", 3600e9}};
    double value;
    const char *unit = leading_number(text, &value);

    for (unsigned i = 0; unit && i < sizeof units / sizeof *units; i++) {
        if (strcmp(unit, units[i].name) || value * units[i].ns >= 9e18)
            continue;
        *ns = (int64_t)llround(value * units[i].ns);
        return true;
    }
    return false;
}
