/*
 * request_options.c - the command line of venturi-request.
 *
 * Everything that can be refused is refused here, before anything is sent. Must never say the key.
 */
#include "net/request.h"

#include "base/error.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

#define BODY_MOST (256u << 20)
#define TIMEOUT_MOST_S 1e6

/* RFC 9110's token, as methods and names of headers are. */
static size_t token_length(const char *text)
{
    size_t len = 0;

    while (isalnum((unsigned char)text[len]) || (text[len] && strchr("!#$%&'*+-.^_`|~", text[len])))
        len++;
    return len;
}

static int take_header(struct vti_request *request, const char *text)
{
    static const char *const ours[] = {"X-Trace-Info", "X-Trace-HMAC", "traceparent"};
    size_t len = token_length(text);

    if (!len || text[len] != ':' || strpbrk(text, "\r\n"))
        return vti_fail(VTI_E_USAGE, "-H '%.100s': not a header, which is 'Name: value'", text);
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (len == strlen(ours[i]) && !strncasecmp(text, ours[i], len))
            return vti_fail(VTI_E_USAGE, "-H '%.100s': this header is made from --profile", text);
    if (request->header_count == VTI_REQUEST_HEADERS)
        return vti_fail(VTI_E_USAGE, "-H: more than %d headers", VTI_REQUEST_HEADERS);
    request->headers[request->header_count++] = text;
    return 0;
}

static int read_body(struct vti_buf *body, int fd, const char *name)
{
    for (;;) {
        uint8_t *room = vti_buf_reserve(body, 65536);
        ssize_t got = room ? read(fd, room, 65536) : 0;

        if (!room)
            return vti_fail(VTI_E_NOMEM, "%s: out of memory", name);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return vti_fail_errno(VTI_E_READ, "%s: cannot read", name);
        if (!got)
            return 0;
        body->len += (size_t)got;
        if (body->len > BODY_MOST)
            return vti_fail(VTI_E_LIMIT, "%s: a body of more than %u bytes", name, BODY_MOST);
    }
}

/* As curl has it: @FILE, @- for standard input, several become one with & between them. Unlike curl's, a file is sent as it is. */
static int take_body(struct vti_request *request, const char *text)
{
    int code;
    int fd;

    if (request->has_body)
        vti_buf_add_u8(&request->body, '&');
    request->has_body = true;
    if (text[0] != '@') {
        vti_buf_add_text(&request->body, text);
        return request->body.failed ? vti_fail(VTI_E_NOMEM, "-d: out of memory") : 0;
    }
    if (!strcmp(text, "@-"))
        return read_body(&request->body, STDIN_FILENO, "standard input");
    fd = open(text + 1, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot open", text + 1);
    code = read_body(&request->body, fd, text + 1);
    close(fd);
    return code;
}

static int take_timeout(struct vti_request *request, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end || !(seconds > 0) || seconds > TIMEOUT_MOST_S)
        return vti_fail(VTI_E_USAGE, "--timeout %.100s: not a number of seconds", text);
    request->timeout_ms = (long)ceil(seconds * 1000);
    return 0;
}

static int take_keys(struct vti_request *request, const char *text)
{
    free(request->keys);
    request->keys = strdup(text);
    return request->keys ? 0 : vti_fail(VTI_E_NOMEM, "--profile: out of memory");
}

static int take_option(struct vti_request *request, int letter)
{
    switch (letter) {
    case 'p':
        if (take_keys(request, optarg))
            return VTI_E_NOMEM;
        memset(optarg, 'x', strlen(optarg));
        return 0;
    case 'X':
        request->method = optarg;
        return 0;
    case 'd':
        return take_body(request, optarg);
    case 'H':
        return take_header(request, optarg);
    case 'b':
        request->base = optarg;
        return 0;
    case 'i':
        request->shows_headers = true;
        return 0;
    case 'o':
        request->output = optarg;
        return 0;
    case 'f':
        request->force = true;
        return 0;
    case 't':
        return take_timeout(request, optarg);
    default:
        request->wants_help = true;
        return 0;
    }
}

static int take_options(struct vti_request *request, int argc, char **argv)
{
    static const struct option table[] = {
        {"profile", required_argument, NULL, 'p'}, {"request", required_argument, NULL, 'X'},
        {"data", required_argument, NULL, 'd'},    {"header", required_argument, NULL, 'H'},
        {"base-id", required_argument, NULL, 'b'}, {"include", no_argument, NULL, 'i'},
        {"output", required_argument, NULL, 'o'},  {"out", required_argument, NULL, 'o'},
        {"force", no_argument, NULL, 'f'},         {"timeout", required_argument, NULL, 't'},
        {"help", no_argument, NULL, 'h'},          {NULL, 0, NULL, 0}};
    int letter;
    int code = 0;

    while (!code && (letter = getopt_long(argc, argv, ":X:d:H:io:fh", table, NULL)) != -1) {
        if (letter == ':')
            code = vti_fail(VTI_E_USAGE, "%s: its value is missing", argv[optind - 1]);
        else if (letter == '?' && optopt)
            code = vti_fail(VTI_E_USAGE, "no option -%c", optopt);
        else if (letter == '?')
            code = vti_fail(VTI_E_USAGE, "no option %.100s", argv[optind - 1]);
        else
            code = take_option(request, letter);
    }
    return code;
}

static int check_method(const struct vti_request *request)
{
    const char *method = request->method;

    if (!method)
        return 0;
    if (!*method || method[token_length(method)])
        return vti_fail(VTI_E_USAGE, "-X %.100s: not a method", method);
    if (!strcmp(method, "HEAD") && request->has_body)
        return vti_fail(VTI_E_USAGE, "-X HEAD: such a request has no body, but -d gives one");
    return 0;
}

static int find_key(struct vti_request *request)
{
    const char *of_environment = getenv("OS_PROFILE");
    int code = 0;

    if (!request->keys && of_environment)
        code = take_keys(request, of_environment);
    if (code)
        return code;
    if (!request->keys || !request->keys[strspn(request->keys, ", \t\r\n\v\f")])
        return vti_fail(VTI_E_USAGE, "no key: give --profile KEY, or set OS_PROFILE; it is one of "
                                     "the service's hmac_keys");
    return 0;
}

/* A UUID of version 4, or what the given text becomes everywhere. */
static int make_id(struct vti_request *request)
{
    static const uint8_t zero[VTI_UUID];
    uint8_t *id = request->id;

    if (request->base) {
        vti_uuid_parse(id, request->base, strlen(request->base));
        if (!*request->base || !memcmp(id, zero, sizeof zero))
            return vti_fail(VTI_E_USAGE, "--base-id: an id of nothing");
        return 0;
    }
    if (getrandom(id, VTI_UUID, 0) != VTI_UUID)
        return vti_fail_errno(VTI_E_SYSTEM, "getrandom");
    id[6] = (uint8_t)((id[6] & 0x0f) | 0x40);
    id[8] = (uint8_t)((id[8] & 0x3f) | 0x80);
    return 0;
}

int vti_request_parse(struct vti_request *request, int argc, char **argv)
{
    int code;

    memset(request, 0, sizeof *request);
    code = take_options(request, argc, argv);
    if (code || request->wants_help)
        return code;
    if (argc - optind != 1)
        return vti_fail(VTI_E_USAGE, argc == optind ? "which URL?" : "one URL, not %d",
                        argc - optind);
    request->url = argv[optind];
    code = check_method(request);
    if (!code)
        code = find_key(request);
    return code ? code : make_id(request);
}

void vti_request_fini(struct vti_request *request)
{
    if (request->keys)
        explicit_bzero(request->keys, strlen(request->keys));
    free(request->keys);
    vti_buf_fini(&request->body);
}
