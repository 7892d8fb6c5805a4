/*
 * log_format.c - a record becomes a line in the way of Python's logging.Formatter with style "%". The attributes that name a place in
 * Python code are the program's. A format comes from a file: no part of it reaches printf unless it was checked.
 */
#include "net/log_format.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct output {
    char *to;
    size_t room;
    size_t len;
};

/* What an attribute is: a text or a number. */
struct value {
    bool is_text;
    double number;
    char room[128];
    const char *text;
};

/* One "%(name)-8.3s" of a format. */
struct part {
    const char *name;
    size_t name_len;
    bool is_left;
    bool is_zero; /* filled up with zeros */
    int width;
    int precision; /* -1: none was said */
    char type;
};

static void put(struct output *out, const char *text, size_t len)
{
    size_t left = out->room - 1 - out->len;

    if (len > left)
        len = left;
    memcpy(out->to + out->len, text, len);
    out->len += len;
    out->to[out->len] = 0;
}

static void local_time(int64_t realtime_ns, struct tm *tm)
{
    time_t seconds = (time_t)(realtime_ns / 1000000000);

    memset(tm, 0, sizeof *tm);
    localtime_r(&seconds, tm);
}

static void set_asctime(struct value *value, const char *date, int64_t realtime_ns)
{
    bool is_own = !date || !*date;
    struct tm tm;
    size_t len;

    local_time(realtime_ns, &tm);
    len = strftime(value->room, sizeof value->room, is_own ? "%Y-%m-%d %H:%M:%S" : date, &tm);
    value->room[len] = 0;
    if (is_own)
        snprintf(value->room + len, sizeof value->room - len, ",%03d",
                 (int)(realtime_ns / 1000000 % 1000));
}

#define IS(text) (part->name_len == sizeof(text) - 1 && !memcmp(part->name, text, part->name_len))

static bool text_value(struct value *value, const struct part *part, const char *date,
                       const struct vti_log_record *record)
{
    value->is_text = true;
    value->text = value->room;
    if (IS("message"))
        value->text = record->message;
    else if (IS("name"))
        value->text = record->logger;
    else if (IS("levelname"))
        value->text = "INFO";
    else if (IS("asctime"))
        set_asctime(value, date, record->realtime_ns);
    else if (IS("pathname"))
        value->text = program_invocation_name;
    else if (IS("filename") || IS("module"))
        value->text = program_invocation_short_name;
    else if (IS("funcName"))
        value->text = "(unknown function)"; /* Python's own words */
    else if (IS("processName"))
        value->text = "MainProcess";
    else if (IS("threadName"))
        pthread_getname_np(pthread_self(), value->room, sizeof value->room);
    else
        return false;
    return true;
}

static bool number_value(struct value *value, const struct part *part,
                         const struct vti_log_record *record)
{
    value->is_text = false;
    if (IS("levelno"))
        value->number = VTI_LOG_INFO;
    else if (IS("lineno"))
        value->number = 0;
    else if (IS("created"))
        value->number = (double)(record->realtime_ns / 1000) / 1e6;
    else if (IS("msecs"))
        value->number = (double)(record->realtime_ns / 1000000 % 1000);
    else if (IS("process"))
        value->number = getpid();
    else if (IS("thread"))
        value->number = (double)(uintptr_t)pthread_self(); /* 47 bits: a double holds them */
    else
        return false;
    return true;
}

#undef IS

/* A number of at most three digits; 0 if there is none. */
static int parse_number(const char **at)
{
    int number = 0;

    for (int i = 0; i < 3 && isdigit((unsigned char)**at); i++)
        number = 10 * number + *(*at)++ - '0';
    return number;
}

/* The part at `at`, a '%': false if it is none that has a meaning. */
static bool parse_part(const char *at, struct part *part, const char **next)
{
    const char *end = at[1] == '(' ? strchr(at, ')') : NULL;

    if (!end)
        return false;
    *part = (struct part){.name = at + 2, .name_len = (size_t)(end - at - 2), .precision = -1};
    at = end + 1;
    for (; *at && strchr("-+ #0", *at); at++) {
        part->is_left |= *at == '-';
        part->is_zero |= *at == '0';
    }
    part->width = parse_number(&at);
    if (*at == '.') {
        at++;
        part->precision = parse_number(&at);
    }
    part->type = *at;
    if (!part->type || !strchr("sdif", part->type))
        return false;
    *next = at + 1;
    return true;
}

static void put_value(struct output *out, const struct part *part, const struct value *value)
{
    char *to = out->to + out->len;
    size_t room = out->room - out->len;
    int width = part->is_left ? -part->width : part->width;
    bool is_whole = value->number == (double)(int64_t)value->number;
    int len;

    if (value->is_text)
        len = snprintf(to, room, "%*.*s", width, part->precision, value->text);
    else if (part->type == 'f' || (part->type == 's' && !is_whole))
        len = snprintf(to, room, part->is_zero ? "%0*.*f" : "%*.*f", width, part->precision,
                       value->number);
    else
        len = snprintf(to, room, part->is_zero ? "%0*" PRId64 : "%*" PRId64, width,
                       (int64_t)value->number);
    if (len > 0)
        out->len += (size_t)len < room ? (size_t)len : room - 1;
}

size_t vti_log_format(char *to, size_t room, const char *format, const char *date,
                      const struct vti_log_record *record)
{
    struct output out = {.to = to, .room = room};

    to[0] = 0;
    while (*format) {
        size_t plain = strcspn(format, "%");
        struct value value;
        struct part part;

        put(&out, format, plain);
        format += plain;
        if (!*format)
            break;
        memset(&value, 0, sizeof value);
        if (format[1] == '%') {
            put(&out, "%", 1);
            format += 2;
        } else if (!parse_part(format, &part, &format)) {
            put(&out, "?", 1);
            format++;
        } else if (text_value(&value, &part, date, record) || number_value(&value, &part, record)) {
            put_value(&out, &part, &value);
        } else {
            put(&out, "?", 1);
        }
    }
    return out.len;
}

const char *vti_log_format_check(const char *format, size_t *len)
{
    const struct vti_log_record record = {.logger = "", .message = ""};

    while ((format = strchr(format, '%'))) {
        const char *start = format;
        struct value value;
        struct part part;

        if (format[1] == '%') {
            format += 2;
            continue;
        }
        if (!parse_part(start, &part, &format)) {
            *len = 1;
            return start;
        }
        if (!text_value(&value, &part, NULL, &record) && !number_value(&value, &part, &record)) {
            *len = (size_t)(format - start);
            return start;
        }
    }
    return NULL;
}
