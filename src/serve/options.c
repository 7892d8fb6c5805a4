/* options.c - the command line of venturi-serve; `venturi serve` has looked at it before. */
#include "base/error.h"
#include "base/secret.h"
#include "serve/serve.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    OPT_PORT = 256,
    OPT_BIND,
    OPT_TOKEN,
    OPT_TOKEN_FILE,
    OPT_TOKEN_FD,
    OPT_HISTORY,
    OPT_HOST,
    OPT_DASK,
    OPT_PARENT,
    OPT_READY
};

static const struct option longs[] = {{"port", required_argument, NULL, OPT_PORT},
                                      {"bind", required_argument, NULL, OPT_BIND},
                                      {"token", required_argument, NULL, OPT_TOKEN},
                                      {"token-file", required_argument, NULL, OPT_TOKEN_FILE},
                                      {"token-fd", required_argument, NULL, OPT_TOKEN_FD},
                                      {"history", required_argument, NULL, OPT_HISTORY},
                                      {"host", required_argument, NULL, OPT_HOST},
                                      {"dask", required_argument, NULL, OPT_DASK},
                                      {"parent", required_argument, NULL, OPT_PARENT},
                                      {"ready-fd", required_argument, NULL, OPT_READY},
                                      {"open", no_argument, NULL, 'O'},
                                      {"quiet", no_argument, NULL, 'q'},
                                      {0, 0, 0, 0}};

static int take_number(const char *name, const char *text, long least, long most, long *value)
{
    char *end;

    *value = strtol(text, &end, 10);
    if (*text < '0' || *text > '9' || *end || *value < least || *value > most)
        return vti_fail(VTI_E_USAGE, "--%s %s: not a number from %ld to %ld", name, text, least,
                        most);
    return 0;
}

/* It goes into a cookie and an address, and must be worth guessing at. */
static int take_token(struct vti_serve_options *options, const char *text)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_";

    if (strlen(text) < 8 || strlen(text) > VTI_SERVE_TOKEN_BYTES || text[strspn(text, allowed)])
        return vti_fail(VTI_E_USAGE, "the token must be 8 to %d letters, digits, - or _",
                        VTI_SERVE_TOKEN_BYTES);
    free(options->token);
    options->token = strdup(text);
    return options->token ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
}

/* Its first line. What stands there is never told: it may be a secret of something else. */
static int read_token(struct vti_serve_options *options, int fd, const char *name)
{
    char text[VTI_SERVE_TOKEN_BYTES + 3];
    size_t len = 0;
    ssize_t got;
    int code;

    do {
        got = read(fd, text + len, sizeof text - 1 - len);
        len += got > 0 ? (size_t)got : 0;
    } while ((got > 0 && len < sizeof text - 1) || (got < 0 && errno == EINTR));
    text[len] = 0;
    text[strcspn(text, "\r\n")] = 0;
    code = got < 0 ? vti_fail_errno(VTI_E_READ, "%s: cannot read a token from it", name)
                   : take_token(options, text);
    explicit_bzero(text, sizeof text);
    return code;
}

static int take_token_file(struct vti_serve_options *options, const char *path)
{
    bool is_input = !strcmp(path, "-");
    int fd = is_input ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    int code;

    if (fd < 0)
        return vti_fail_errno(VTI_E_READ, "--token-file %s: cannot open it", path);
    code = read_token(options, fd, path);
    if (!is_input)
        close(fd);
    return code;
}

/* What `venturi serve` made of --token; twice the same if it was two words. */
static int take_token_fd(struct vti_serve_options *options, int fd)
{
    if (lseek(fd, 0, SEEK_SET))
        return vti_fail_errno(VTI_E_USAGE, "--token-fd %d: no descriptor for it", fd);
    fcntl(fd, F_SETFD, FD_CLOEXEC);
    return read_token(options, fd, "--token-fd");
}

static int take_host(struct vti_serve_options *options, const char *text)
{
    if (options->host_count == VTI_SERVE_HOSTS)
        return vti_fail(VTI_E_USAGE, "--host: more than %d", VTI_SERVE_HOSTS);
    if (!*text || strpbrk(text, "/:@ "))
        return vti_fail(VTI_E_USAGE, "--host %.100s: a name such as build.example.org, no address",
                        text);
    options->hosts[options->host_count++] = text;
    return 0;
}

static int take_option(struct vti_serve_options *options, int option)
{
    long value;
    int code;

    switch (option) {
    case OPT_PORT:
        code = take_number("port", optarg, 0, 65535, &value);
        options->port = (unsigned)value;
        return code;
    case OPT_BIND:
        options->bind = optarg;
        return 0;
    case OPT_TOKEN:
        code = take_token(options, optarg);
        vti_secret_hide(optarg);
        return code;
    case OPT_TOKEN_FILE:
        return take_token_file(options, optarg);
    case OPT_TOKEN_FD:
        code = take_number("token-fd", optarg, 3, 1 << 20, &value);
        return code ? code : take_token_fd(options, (int)value);
    case OPT_HISTORY:
        options->history = optarg;
        return 0;
    case OPT_HOST:
        return take_host(options, optarg);
    case OPT_DASK:
        options->target = optarg;
        return 0;
    case OPT_PARENT:
        return take_number("parent", optarg, 1, 0x7fffffff, &options->parent);
    case OPT_READY:
        code = take_number("ready-fd", optarg, 0, 1 << 20, &value);
        options->ready_fd = (int)value;
        return code;
    case 'O':
        options->opens = true;
        return 0;
    case 'q':
        options->is_quiet = true;
        return 0;
    default:
        return vti_fail(VTI_E_USAGE, "wrong usage, see venturi serve --help");
    }
}

int vti_serve_options_take(struct vti_serve_options *options, int argc, char **argv)
{
    const char *token = getenv("VENTURI_TOKEN");
    int option;
    int code = token && *token ? take_token(options, token) : 0;

    unsetenv("VENTURI_TOKEN"); /* nobody whom we start needs it */
    opterr = 0;
    while (!code && (option = getopt_long(argc, argv, "q", longs, NULL)) >= 0)
        code = take_option(options, option);
    if (code)
        return code;
    if (optind < argc && options->target)
        return vti_fail(VTI_E_USAGE, "--dask shows a cluster: no file beside it");
    if (optind < argc)
        options->target = argv[optind++];
    if (optind < argc)
        return vti_fail(VTI_E_USAGE, "one recording, folder or process at a time");
    if (!options->target)
        options->target = ".";
    return 0;
}
