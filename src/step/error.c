/* error.c - one line about the last failure of a step in this thread, whoever of us or of the step's author said it. */
#include "base/error.h"
#include "step/step.h"

#include <stdarg.h>
#include <stdio.h>

static _Thread_local int last; /* 0: none */

int vti_step_said(int code)
{
    if (code < 0 && code != VT_CONSUMER_END)
        last = code;
    return code;
}

bool vti_step_is_said(void)
{
    return last != 0;
}

void vti_step_forget(void)
{
    last = 0;
}

const char *vt_step_error(void)
{
    return last ? vti_error_message(last) : "";
}

int vt_step_fail(const char *format, ...)
{
    char line[512];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return vti_step_said(vti_fail(-1, "%s", line));
}
