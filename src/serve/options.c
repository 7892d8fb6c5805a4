/* options.c - the command line of venturi-serve; `venturi serve` has looked at it before. */
#include "base/error.h"
#include "serve/serve.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    OPT_PORT = 256,
    OPT_BIND,
    OPT_TOKEN,
    OPT_HISTORY,
    OPT_HOST,
    OPT_DASK,
    OPT_PARENT,
    OPT_READY
};

static const struct option longs[] = {{"port", required_argument, NULL, OPT_PORT},
                                      {"bind", required_argument, NULL, OPT_BIND},
                                      {"token", required_argument, NULL, OPT_TOKEN},
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
    options->token = text;
    return 0;
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
        return take_token(options, optarg);
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
