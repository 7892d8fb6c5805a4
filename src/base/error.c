/* error.c - the texts of the error list and one message per thread. */
#include "base/error.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

struct last_error {
    int code;
    char text[512];
};

static _Thread_local struct last_error last;

static const struct {
    int code;
    const char *text;
    const char *hint;
} errors[] = {
#define X(name, value, text, hint) {value, text, hint},
    VTI_ERRORS(X)
#undef X
};

static int find(int code)
{
    for (unsigned i = 0; i < sizeof errors / sizeof *errors; i++)
        if (errors[i].code == code)
            return (int)i;
    return -1;
}

int vti_fail(int code, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(last.text, sizeof last.text, format, args);
    va_end(args);
    last.code = code;
    return code;
}

int vti_fail_errno(int code, const char *format, ...)
{
    int saved = errno;
    va_list args;
    size_t used;

    va_start(args, format);
    vsnprintf(last.text, sizeof last.text, format, args);
    va_end(args);
    used = strlen(last.text);
    snprintf(last.text + used, sizeof last.text - used, ": %s", strerror(saved));
    last.code = code;
    return code;
}

const char *vti_error_message(int code)
{
    int at = find(code);

    if (last.code == code && last.text[0])
        return last.text;
    return at >= 0 ? errors[at].text : "unknown error";
}

const char *vti_error_hint(int code)
{
    int at = find(code);

    return at >= 0 ? errors[at].hint : "";
}
