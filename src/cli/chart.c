/* chart.c - bars and sparklines of characters. */
#include "cli/chart.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define EIGHTHS 8

bool vti_locale_is_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *value = getenv(names[i]);
        const char *dot;

        if (!value || !*value)
            continue;
        dot = strchr(value, '.');
        return dot && (!strncasecmp(dot + 1, "utf-8", 5) || !strncasecmp(dot + 1, "utf8", 4));
    }
    return false;
}

void vti_chart_bar(struct vti_buf *out, double share, unsigned width)
{
    static const char *const eighths[] = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
    bool is_utf8 = vti_locale_is_utf8();
    unsigned parts = is_utf8 ? EIGHTHS : 1;
    unsigned filled;

    if (!(share > 0))
        return;
    filled = (unsigned)lround(fmin(share, 1) * width * parts);
    if (!filled && is_utf8)
        filled = 1;
    for (unsigned i = 0; i < filled / parts; i++)
        vti_buf_add_text(out, is_utf8 ? "█" : "#");
    if (is_utf8)
        vti_buf_add_text(out, eighths[filled % parts]);
}

void vti_chart_spark(struct vti_buf *out, const double *values, size_t count)
{
    static const char *const blocks[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const signs[] = {"_", ".", "-", "~", "=", "+", "*", "#"};
    const char *const *steps = vti_locale_is_utf8() ? blocks : signs;
    double most = 0;

    for (size_t i = 0; i < count; i++)
        if (isfinite(values[i]))
            most = fmax(most, values[i]);
    for (size_t i = 0; i < count; i++) {
        double part = most > 0 ? values[i] / most : 0;

        if (!isfinite(values[i]) || values[i] < 0)
            vti_buf_add_text(out, " ");
        else
            vti_buf_add_text(out, steps[(size_t)fmin(part * EIGHTHS, EIGHTHS - 1)]);
    }
}
