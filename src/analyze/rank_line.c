/*
 * rank_line.c - takes one line of a trace log apart.
 *
 *   start: TIMESTAMP <8 blanks> BASE PARENT SPAN NAME-start[ {json}]
 *   stop:  TIMESTAMP DURATION BASE PARENT SPAN NAME-stop[  <- !!!][ {json}]
 *
 * Fields are joined by one blank, so ten blanks follow the timestamp of a start. Names may hold
 * blanks: where they end is told by the suffix. This reads every line; rank_scan.c reads the usual
 * ones faster and must agree. Never reads outside the line.
 */
#include "analyze/rank_impl.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define START_GAP 10       /* blanks between the timestamp of a start and its base id */
#define TIMESTAMP_LEAST 19 /* 2020-02-27T08:04:25 */
#define NUMBER_MOST 400    /* characters; longer is no duration */
#define EXACT_DIGITS 15    /* integers of so many digits are exact in a double */
#define EXACT_POWER 22     /* as are powers of ten up to this */

/* What the log writer puts behind the name of a span of more than half a second. */
static const struct vti_log_field slow_mark = {VTI_LOG_SLOW_MARK, sizeof VTI_LOG_SLOW_MARK - 1};

static const double powers[EXACT_POWER + 1] = {
    1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
    1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
};

static const char *take_digits(const char *at, const char *end, uint64_t *number)
{
    for (; at < end && *at >= '0' && *at <= '9'; at++)
        *number = *number * 10 + (uint64_t)(*at - '0');
    return at;
}

/* The part behind the digits: e, perhaps a sign, digits. Adds to *power. NULL if it has no
 * digits. */
static const char *take_exponent(const char *at, const char *end, int *power)
{
    bool is_negative = false;
    uint64_t exponent = 0;
    const char *begin;

    at++;
    if (at < end && (*at == '-' || *at == '+'))
        is_negative = *at++ == '-';
    begin = at;
    at = take_digits(at, end, &exponent);
    if (at == begin)
        return NULL;
    if (at - begin > 4)
        exponent = 9999; /* for strtod to decide */
    *power += is_negative ? -(int)exponent : (int)exponent;
    return at;
}

static bool slow_number(const char *at, size_t len, double *value)
{
    char text[NUMBER_MOST + 1];

    if (len > NUMBER_MOST)
        return false;
    memcpy(text, at, len);
    text[len] = 0;
    *value = strtod(text, NULL);
    return isfinite(*value);
}

const char *vti_log_number(const char *begin, const char *end, double *value)
{
    const char *at = begin;
    uint64_t mantissa = 0;
    bool is_negative = false;
    const char *whole;
    long digits;
    int power = 0;

    if (at < end && (*at == '-' || *at == '+'))
        is_negative = *at++ == '-';
    whole = at;
    at = take_digits(at, end, &mantissa);
    digits = at - whole;
    if (at < end && *at == '.') {
        const char *dot = at;

        at = take_digits(at + 1, end, &mantissa);
        if (at - dot > NUMBER_MOST)
            return NULL;
        power = -(int)(at - dot - 1);
        digits -= power;
    }
    if (digits == 0)
        return NULL;
    if (at < end && (*at == 'e' || *at == 'E') && !(at = take_exponent(at, end, &power)))
        return NULL;
    if (digits > EXACT_DIGITS || power > EXACT_POWER || power < -EXACT_POWER)
        return slow_number(begin, (size_t)(at - begin), value) ? at : NULL;
    /* Both operands are exact, so the one rounding is the right one. */
    *value = power < 0 ? (double)mantissa / powers[-power] : (double)mantissa * powers[power];
    if (is_negative)
        *value = -*value;
    return at;
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && *at == ' ')
        at++;
    return at;
}

static bool is_timestamp(const char *at, size_t len)
{
    return len > TIMESTAMP_LEAST && at[4] == '-' && at[7] == '-' && at[10] == 'T' &&
           at[13] == ':' && at[16] == ':';
}

static bool ends_with(const char *at, size_t len, const struct vti_log_field *suffix)
{
    return len >= suffix->len && !memcmp(at + len - suffix->len, suffix->at, suffix->len);
}

static bool begins_with(const char *at, const char *end, const char *text)
{
    size_t len = strlen(text);

    return (size_t)(end - at) >= len && !memcmp(at, text, len);
}

/*
 * Finds the name at the start of [at, end): it ends with the suffix at the end of the line, else
 * with the first one that is followed by what the log writer appends, else with the first one
 * before a blank.
 */
static bool find_name(struct vti_log_field *name, const char *at, const char *end,
                      const struct vti_log_field *suffix)
{
    const char *fallback = NULL;
    const char *from = at;
    const char *hit;

    name->at = at;
    name->len = (size_t)(end - at) - suffix->len;
    if (ends_with(at, (size_t)(end - at), suffix))
        return true;
    while ((hit = memmem(from, (size_t)(end - from), suffix->at, suffix->len))) {
        const char *after = hit + suffix->len;

        if (begins_with(after, end, " {") || begins_with(after, end, VTI_LOG_SLOW_MARK " {"))
            break;
        if (!fallback && begins_with(after, end, " "))
            fallback = hit;
        from = after;
    }
    if (!hit)
        hit = fallback;
    if (hit)
        name->len = (size_t)(hit - at);
    return hit != NULL;
}

static void take_rest(struct vti_log_line *line, const char *at, const char *end)
{
    if (begins_with(at, end, VTI_LOG_SLOW_MARK))
        at += slow_mark.len;
    at = skip_blanks(at, end);
    line->rest = (struct vti_log_field){at, (size_t)(end - at)};
}

static const char *name_line(struct vti_log_line *line, const char *at, const char *end)
{
    static const struct vti_log_field start = {"-start", 6};
    static const struct vti_log_field stop = {"-stop", 5};
    const struct vti_log_field *suffix = line->is_stop ? &stop : &start;

    if (ends_with(at, (size_t)(end - at), &slow_mark))
        end -= slow_mark.len;
    if (find_name(&line->name, at, end, suffix)) {
        take_rest(line, line->name.at + line->name.len + suffix->len, end);
        return NULL;
    }
    if (!find_name(&line->name, at, end, line->is_stop ? &start : &stop))
        return "has a name that ends neither in -start nor in -stop";
    return line->is_stop ? "has a duration but ends in -start" : "has no duration that can be read";
}

const char *vti_log_line_parse(struct vti_log_line *line, const char *text, size_t len)
{
    struct vti_log_field *ids[] = {&line->base, &line->parent, &line->span};
    const char *end = text + len;
    const char *at;
    const char *after;

    while (end > text && (end[-1] == ' ' || end[-1] == '\r' || end[-1] == '\t'))
        end--;
    if (end == text)
        return "is blank";
    if (!is_timestamp(text, (size_t)(end - text)))
        return "does not begin with a timestamp";
    after = memchr(text + TIMESTAMP_LEAST, ' ', (size_t)(end - text) - TIMESTAMP_LEAST);
    if (!after)
        return "ends after the timestamp";
    line->when = (struct vti_log_field){text, (size_t)(after - text)};
    at = skip_blanks(after, end);
    line->is_stop = false;
    if (at - after < START_GAP && (after = vti_log_number(at, end, &line->duration)) &&
        after < end && *after == ' ') {
        line->is_stop = true;
        at = skip_blanks(after, end);
    }
    for (unsigned i = 0; i < 3; i++) {
        after = memchr(at, ' ', (size_t)(end - at));
        if (!after)
            return "ends before its name";
        *ids[i] = (struct vti_log_field){at, (size_t)(after - at)};
        at = skip_blanks(after, end);
    }
    return name_line(line, at, end);
}
