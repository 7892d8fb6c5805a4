/*
 * message.c - one line on stderr, whatever the parts of the message hold.
 *
 * File names and error texts may come from hostile input: they are made harmless here, once.
 */
#include "base/error.h"
#include "cli/cmd.h"
#include "cli/render.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MESSAGE_BYTES 4096

static void say(const char *command, const char *kind, const char *text, const char *hint)
{
    struct vti_buf line = {0};

    vti_buf_add_text(&line, command ? "venturi " : "venturi");
    if (command)
        vti_text_safe(&line, command, strlen(command));
    vti_buf_add_text(&line, ": ");
    vti_buf_add_text(&line, kind);
    vti_text_safe(&line, text, strlen(text));
    if (*hint)
        vti_buf_printf(&line, " (%s)", hint);
    vti_buf_add_text(&line, "\n");
    fflush(stdout); /* so that what was said first also appears first */
    if (line.failed)
        fputs("venturi: out of memory\n", stderr);
    else
        fwrite(line.data, 1, line.len, stderr);
    vti_buf_fini(&line);
}

static void say_format(const char *command, const char *kind, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

static void say_format(const char *command, const char *kind, const char *format, va_list args)
{
    char text[MESSAGE_BYTES];

    vsnprintf(text, sizeof text, format, args);
    say(command, kind, text, "");
}

int vti_cmd_fail(const char *command, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_format(command, "", format, args);
    va_end(args);
    return VTI_EXIT_BAD;
}

int vti_cmd_error(const char *command, int code)
{
    say(command, "", vti_error_message(code), vti_error_hint(code));
    return VTI_EXIT_BAD;
}

void vti_cmd_say(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_format(NULL, "", format, args);
    va_end(args);
}

void vti_cmd_warn(const char *command, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    say_format(command, "warning: ", format, args);
    va_end(args);
}
