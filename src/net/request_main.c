/*
 * request_main.c - venturi-request: sends one request with the secret, so that the services that it goes through trace it.
 *
 * Behind `venturi trace request`, a program of its own so that the tool does not load a network library. The answer goes to
 * standard output byte for byte, and what there is to know about the trace to standard error.
 */
#include "net/request.h"

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "net/say.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char help[] =
    "Usage: venturi trace request --profile KEY [options] URL\n"
    "\n"
    "Sends an HTTP request whose signed headers start a trace in the services that it\n"
    "goes through. The answer goes to standard output, the trace's id to standard\n"
    "error. Only http and https; redirects are not followed. Exit code: 0 for an\n"
    "answer of 2xx or 3xx, 1 for 4xx and 5xx, 2 if there is no answer.\n"
    "\n"
    "Options:\n"
    "      --profile KEY       the secret, one of the service's hmac_keys; of several\n"
    "                          with commas between them the first signs (OS_PROFILE)\n"
    "  -X, --request METHOD    instead of GET, or POST with -d\n"
    "  -d, --data BODY         the body; @FILE: what a file holds, @-: standard input\n"
    "  -H, --header LINE       another header, 'Name: value'\n"
    "      --base-id ID        the trace's id; a text that is no UUID becomes one,\n"
    "                          always the same\n"
    "  -i, --include           the answer's headers too\n"
    "  -o, --output FILE       write the answer to FILE\n"
    "  -f, --force             replace FILE if it exists\n"
    "      --timeout S         give up after so many seconds\n"
    "  -h, --help              show this\n";

static void say_failure(const struct vti_request *request, const struct vti_answer *answer,
                        int code)
{
    const char *hint = vti_error_hint(code);
    char id[VTI_UUID_TEXT];
    char text[1900];

    vti_uuid_text(request->id, id);
    snprintf(text, sizeof text, "%s%s%s%s%s%s%s", vti_error_message(code), *hint ? " (" : "", hint,
             *hint ? ")" : "", answer->was_asked ? " (trace " : "", answer->was_asked ? id : "",
             answer->was_asked ? ")" : "");
    vti_say_harmless(text, strlen(text)); /* words that the user or the server chose */
    fprintf(stderr, "venturi trace request: %s\n", text);
}

/* What the answer left behind on the terminal that we are about to write to. */
static void end_line(const struct vti_answer *answer)
{
    struct stat out, err;

    if (answer->is_mid_line && isatty(STDOUT_FILENO) && isatty(STDERR_FILENO) &&
        !fstat(STDOUT_FILENO, &out) && !fstat(STDERR_FILENO, &err) && out.st_rdev == err.st_rdev)
        fputc('\n', stderr);
}

static void say_trace(const struct vti_request *request, const struct vti_answer *answer)
{
    char id[VTI_UUID_TEXT];
    char bytes[VTI_NUMBER_BYTES];
    char took[VTI_NUMBER_BYTES];

    vti_uuid_text(request->id, id);
    fprintf(stderr, "venturi: trace %s, status %ld, %s in %s\n", id, answer->status,
            vti_text_bytes(bytes, answer->body_bytes), vti_text_duration(took, answer->took_ns));
    fprintf(stderr, "venturi: next  venturi trace show %s FILE...\n", id);
}

int main(int argc, char **argv)
{
    struct vti_request request;
    struct vti_answer answer = {0};
    int status = 2;
    int code;

    vti_file_hold_standard();
    code = vti_request_parse(&request, argc, argv);
    if (!code && request.wants_help) {
        status = fputs(help, stdout) < 0 || fflush(stdout) ? 2 : 0;
        goto out;
    }
    if (!code)
        code = vti_request_send(&request, &answer);
    end_line(&answer);
    if (code) {
        say_failure(&request, &answer, code);
        goto out;
    }
    say_trace(&request, &answer);
    status = answer.status < 400 ? 0 : 1;
out:
    vti_request_fini(&request);
    return status;
}
