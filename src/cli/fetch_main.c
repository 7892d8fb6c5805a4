/*
 * fetch_main.c - venturi-fetch: reads traces back from a store into a file.
 *
 * Behind `venturi trace --from` and `venturi rank --from`, a program of its own so that the tool loads no network library. The file is a recording,
 * or rows of JSON where the store has summed up; one line on stderr says what went wrong or was left out.
 */
#include "cli/frame.h"

#include "base/error.h"
#include "base/file.h"
#include "base/secret.h"
#include "store/fetch.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define MEMORY_MOST                                                                                \
    (UINT64_C(6) << 30) /* a store may send anything, and libraries keep what it sends */
#define INDEX "osprofiler-notifications"

const struct vti_command *const vti_commands[] = {NULL};

static const char help[] =
    "Usage: venturi-fetch list|show|rank URL FILE [options] [WORD]\n"
    "\n"
    "Reads traces from redis:// or elasticsearch:// into FILE. It is run by\n"
    "`venturi trace list|show --from URL` and `venturi rank --from URL`, which give\n"
    "it the URL by a descriptor.\n"
    "\n"
    "Options:\n"
    "      --limit N           so many rows\n"
    "      --sort WORD         list: begin, time, spans or errors\n"
    "      --errors            list: only traces in which something failed\n"
    "      --wide              rank: percentiles too\n"
    "  -h, --help              show this\n";

static const struct vti_fetcher *const fetchers[] = {
#ifdef VTI_WITH_REDIS
    &vti_fetch_redis,
#endif
    &vti_fetch_elasticsearch,
};

static volatile sig_atomic_t is_asked_to_stop;

static void stop(int signal_number)
{
    (void)signal_number;
    is_asked_to_stop = 1;
}

static bool is_stopped(void)
{
    return is_asked_to_stop;
}

/* Not under a sanitizer, which reserves more than any machine has. */
static void bound_memory(void)
{
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    struct rlimit limit = {MEMORY_MOST, MEMORY_MOST};

    setrlimit(RLIMIT_AS, &limit);
#endif
}

static const struct vti_fetcher *fetcher_for(const char *scheme)
{
    size_t len = strlen(scheme);

    for (size_t i = 0; i < sizeof fetchers / sizeof *fetchers; i++)
        for (const char *at = fetchers[i]->schemes; *at;) {
            size_t word = strcspn(at, " ");

            if (word == len && !memcmp(at, scheme, len))
                return fetchers[i];
            at += word;
            at += strspn(at, " ");
        }
    return NULL;
}

static int take_options(struct vti_fetch *fetch, int argc, char **argv)
{
    for (int i = 4; i < argc; i++) {
        if (!strcmp(argv[i], "--errors"))
            fetch->has_errors_only = true;
        else if (!strcmp(argv[i], "--wide"))
            fetch->is_wide = true;
        else if (!strcmp(argv[i], "--sort") && i + 1 < argc)
            fetch->sort = argv[++i];
        else if (!strcmp(argv[i], "--limit") && i + 1 < argc)
            fetch->limit = (uint32_t)strtoul(argv[++i], NULL, 10);
        else if (fetch->what == VTI_FETCH_SHOW && !fetch->word)
            fetch->word = argv[i];
        else
            return vti_fail(VTI_E_USAGE, "%s: what is that?", argv[i]);
    }
    if (fetch->what == VTI_FETCH_SHOW && !fetch->word)
        return vti_fail(VTI_E_USAGE, "which trace?");
    return 0;
}

static int fail_scheme(const struct vti_fetch *fetch)
{
    const struct vti_store_type *store = vti_store_for(fetch->settings.scheme);
    char known[200] = "";

    if (store)
        return vti_fail(VTI_E_USAGE, "%s: what is shipped there cannot be read back by Venturi",
                        fetch->settings.shown);
    for (size_t i = 0; i < sizeof fetchers / sizeof *fetchers; i++)
        for (const char *at = fetchers[i]->schemes; *at; at += strcspn(at, " "), at += *at == ' ')
            snprintf(known + strlen(known), sizeof known - strlen(known), "%.*s, ",
                     (int)strcspn(at, " "), at);
    return vti_fail(VTI_E_USAGE, "%s: no store of that kind can be read; there are %sfile",
                    fetch->settings.shown, known);
}

/* Everybody can read a command line: what is secret in it does not stay there. */
static int take_url(struct vti_fetch *fetch, char *word)
{
    char *url = vti_secret_receive(word);
    int code = url ? vti_settings_parse(&fetch->settings, url)
                   : vti_fail(VTI_E_USAGE, "the URL cannot be had by its descriptor");

    vti_secret_hide_login(word);
    if (url)
        explicit_bzero(url, strlen(url));
    free(url);
    if (!code)
        code = vti_settings_environment(&fetch->settings);
    return code ? code : vti_settings_file(&fetch->settings, NULL);
}

static int run(struct vti_fetch *fetch, int argc, char **argv)
{
    const struct vti_fetcher *fetcher;
    char *index;
    int code;

    fetch->what = !strcmp(argv[1], "list")   ? VTI_FETCH_LIST
                  : !strcmp(argv[1], "show") ? VTI_FETCH_SHOW
                                             : VTI_FETCH_RANK;
    fetch->to = argv[3];
    fetch->sort = "begin";
    fetch->limit = UINT32_MAX;
    code = take_url(fetch, argv[2]);
    if (!code)
        code = take_options(fetch, argc, argv);
    if (code)
        return code;
    fetch->settings.is_stopped = is_stopped;
    index = vti_settings_query(&fetch->settings, "index");
    fetch->index = index ? index : INDEX;
    fetcher = fetcher_for(fetch->settings.scheme);
    code = fetcher ? fetcher->run(fetch) : fail_scheme(fetch);
    free(index);
    return code;
}

int main(int argc, char **argv)
{
    static const struct sigaction action = {.sa_handler = stop};
    struct vti_fetch fetch = {0};
    const char *command;
    int code;

    vti_file_hold_standard();
    if (argc < 4 ||
        (strcmp(argv[1], "list") && strcmp(argv[1], "show") && strcmp(argv[1], "rank"))) {
        bool is_asked = argc > 1 && (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-h"));

        fputs(help, is_asked ? stdout : stderr);
        return is_asked ? 0 : 2;
    }
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    bound_memory();
    command = !strcmp(argv[1], "rank") ? "rank" : "trace";
    code = run(&fetch, argc, argv);
    if (code)
        vti_cmd_fail(command, "%s", vti_error_message(code));
    else if (fetch.note[0])
        vti_cmd_warn(command, "%s: %s", fetch.settings.shown, fetch.note);
    vti_fetch_fini(&fetch);
    return code ? 2 : 0;
}
