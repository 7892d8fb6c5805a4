/*
 * cmd_serve.c - venturi serve: what it takes; the work is another program's, venturi-serve, because the tool itself knows no
 * network.
 */
#include "base/beside.h"
#include "base/error.h"
#include "base/secret.h"
#include "cli/cmd.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TOKENS_MOST 4

enum { OPT_TOKEN = 3 };

static const struct vti_option options[] = {
    {0, "port", "N", "the first port to try (8787; 0: any)"},
    {0, "bind", "ADDRESS", "where to listen (127.0.0.1); nothing is encrypted"},
    {0, "host", "NAME", "a name that it is reached by; may come again"},
    [OPT_TOKEN] = {0, "token", "TEXT", "instead of a random one (VENTURI_TOKEN)"},
    {0, "token-file", "FILE", "the same, its first line (- is standard input)"},
    {0, "history", "FILE", "keep the past day in FILE (SQLite), not in memory"},
    {0, "dask", "ADDRESS", "show a cluster of dask: tcp://HOST:8786"},
    {0, "open", NULL, "open the page in a browser"},
    {'q', "quiet", NULL, "do not print the address"},
    {0, NULL, NULL, NULL},
};

extern const struct vti_command vti_cmd_serve;

/* The server inherits the token, and its command line, which everybody can read, has the number of a descriptor instead. The token is
 * overwritten where it stands. 0 or a negative code. */
static int hand_on(char *value, char word[32])
{
    size_t len = strlen(value);
    int fd = memfd_create("token", 0);
    bool is_written = fd >= 0 && pwrite(fd, value, len, 0) == (ssize_t)len;

    vti_secret_hide(value);
    snprintf(word, 32, "--token-fd=%d", fd);
    return is_written ? 0 : vti_fail_errno(VTI_E_SYSTEM, "the token cannot be handed on");
}

/* Wrong words are answered here, as those of every command. An exit code. */
static int check(int argc, char **argv)
{
    static char words[TOKENS_MOST][32];
    struct vti_args args;
    const char *value;
    int tokens = 0;
    int option;
    int code = 0;

    vti_args_init(&args, &vti_cmd_serve, argc, argv);
    while ((option = vti_args_next(&args, &value)) != VTI_OPT_DONE && !code) {
        if (option == VTI_OPT_BAD)
            return VTI_EXIT_BAD;
        if (option != OPT_TOKEN)
            continue;
        if (tokens == TOKENS_MOST)
            return vti_cmd_fail("serve", "--token: more than one");
        code = hand_on(argv[args.at - 1] + (value - argv[args.at - 1]), words[tokens]);
        /* Alone, or behind its option: then what was two words is the same one twice. */
        if (value == argv[args.at - 1])
            argv[args.at - 2] = words[tokens];
        argv[args.at - 1] = words[tokens++];
    }
    return code ? vti_cmd_error("serve", code) : 0;
}

static int run(int argc, char **argv)
{
    static const char *const places[] = {"venturi-serve", "../libexec/venturi/venturi-serve"};
    char program[PATH_MAX];
    int code = check(argc, argv);

    if (code)
        return code;
    if (!vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program))
        return vti_cmd_fail("serve", "venturi-serve is not there (it is built with libmicrohttpd)");
    argv[0] = program;
    execv(program, argv);
    return vti_cmd_error("serve", vti_fail_errno(VTI_E_SYSTEM, "%s: cannot start it", program));
}

const struct vti_command vti_cmd_serve = {
    .name = "serve",
    .summary = "a live dashboard in the browser, and metrics for Prometheus",
    .usage = "[options] [FILE|DIR|PID]",
    .about = "Shows a recording while it grows or when it is over, a folder of recordings (the\n"
             "current one if nothing is said), a spool, or a process, until it is stopped\n"
             "(Ctrl-C). Prints the address, which carries a token: /status is the dashboard,\n"
             "/report the report, /metrics is for Prometheus, /api for programs. If the port\n"
             "is taken the next one is used. Exit code: 0 it was stopped, 2 it could not\n"
             "begin.",
    .options = options,
    .run = run,
};
