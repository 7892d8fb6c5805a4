/* number.c - numbers of files, with a point in every locale; and with units, as people read them: three digits. */
#include "base/number.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

double vti_number_read(const char *text, char **end)
{
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    double value;

    if (!plain) /* out of memory */
        return strtod(text, end);
    value = strtod_l(text, end, plain);
    freelocale(plain);
    return value;
}

/* Three digits and the first unit in which the value is below 1000; the last unit takes the
 * rest. */
static char *scaled(char *to, double value, const char *const *units, unsigned count)
{
    unsigned unit = 0;

    while (unit + 1 < count && (value >= 999.5 || value <= -999.5)) {
        value /= 1000;
        unit++;
    }
    if (unit == 0 || value >= 99.95 || value <= -99.95)
        snprintf(to, VTI_NUMBER_BYTES, "%.0f%s%s", value, *units[unit] ? " " : "", units[unit]);
    else
        snprintf(to, VTI_NUMBER_BYTES, "%.*f %s", value >= 9.995 || value <= -9.995 ? 1 : 2, value,
                 units[unit]);
    return to;
}

char *vti_text_duration(char to[VTI_NUMBER_BYTES], double ns)
{
    static const char *const units[] = {"ns", "us", "ms", "s"};

    return scaled(to, ns, units, 4);
}

char *vti_text_bytes(char to[VTI_NUMBER_BYTES], uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};

    return scaled(to, (double)bytes, units, 5);
}

char *vti_text_count(char to[VTI_NUMBER_BYTES], uint64_t count)
{
    static const char *const units[] = {"", "k", "M", "G"};

    return scaled(to, (double)count, units, 4);
}

/* What is not all of it, or not nothing, does not look so. */
char *vti_text_share(char to[VTI_NUMBER_BYTES], double share)
{
    double percent = share * 100;

    if (share < 1 && percent >= 99.5)
        snprintf(to, VTI_NUMBER_BYTES, "over 99 %%");
    else if (percent >= 9.95)
        snprintf(to, VTI_NUMBER_BYTES, "%.0f %%", percent);
    else if (percent >= 0.01 || !(percent > 0))
        snprintf(to, VTI_NUMBER_BYTES, "%.2g %%", percent > 0 ? percent : 0);
    else
        snprintf(to, VTI_NUMBER_BYTES, "below 0.01 %%");
    return to;
}
