/* span_time.c - the timestamps that osprofiler writes. */
#include "import/span_list.h"

#define NS_PER_SECOND 1000000000

static bool take_number(const char *text, unsigned digits, unsigned *number)
{
    *number = 0;
    for (unsigned i = 0; i < digits; i++) {
        if (text[i] < '0' || text[i] > '9')
            return false;
        *number = *number * 10 + (unsigned)(text[i] - '0');
    }
    return true;
}

/* Days since 1970, of a calendar that begins in March. */
static int64_t days_of(unsigned year, unsigned month, unsigned day)
{
    unsigned y = year - (month <= 2);
    unsigned days = (153 * (month + (month > 2 ? -3u : 9u)) + 2) / 5 + day - 1;

    return (int64_t)y * 365 + y / 4 - y / 100 + y / 400 + days - 719468;
}

bool vti_span_time(const char *at, size_t len, int64_t *ns)
{
    unsigned year, month, day, hour, minute, second;
    int64_t unit = NS_PER_SECOND / 10;

    if (len < 19 || !take_number(at, 4, &year) || !take_number(at + 5, 2, &month) ||
        !take_number(at + 8, 2, &day) || !take_number(at + 11, 2, &hour) ||
        !take_number(at + 14, 2, &minute) || !take_number(at + 17, 2, &second) || year < 1970 ||
        year > 2200 || month < 1 || month > 12 || day < 1 || day > 31 || hour > 23 || minute > 59 ||
        second > 60)
        return false;
    *ns = ((days_of(year, month, day) * 24 + hour) * 60 + minute) * 60 + second;
    *ns *= NS_PER_SECOND;
    if (len < 20 || at[19] != '.')
        return true;
    for (size_t i = 20; i < len && at[i] >= '0' && at[i] <= '9'; i++, unit /= 10)
        *ns += unit * (at[i] - '0');
    return true;
}
