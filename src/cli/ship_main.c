/*
 * ship_main.c - venturi-ship: documents from recordings to a store. Behind `venturi ship`, and started by `venturi run --ship`.
 */
#include "cli/frame.h"
#include "cli/ship.h"

#include "base/error.h"
#include "base/file.h"
#include "base/number.h"
#include "base/secret.h"
#include "store/ship.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct vti_command *const vti_commands[] = {&vti_cmd_ship, NULL};

struct request {
    char *url; /* owned: what `to` is in */
    const char *source, *to, *only, *prefix, *keep_days, *dialect, *replay;
    const char *credentials, *ca, *fingerprint, *batch, *every, *retry, *give_up, *state, *gzip;
    bool is_once, is_setup, is_dry_run, is_insecure, keeps, is_quiet;
};

static bool is_quiet;

/* ---- messages and signals -------------------------------------------------------------------- */

static void say(const char *line)
{
    vti_cmd_fail("ship", "%s", line);
}

static void note_signal(int number)
{
    vti_ship_stop(number != SIGTERM);
}

static void set_signals(void)
{
    struct sigaction action = {.sa_handler = note_signal}, before;

    sigaction(SIGTERM, &action, NULL);
    /* Who starts us in the background has it ignored. */
    if (!sigaction(SIGINT, NULL, &before) && before.sa_handler != SIG_IGN)
        sigaction(SIGINT, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

/* ---- words ----------------------------------------------------------------------------------- */

/* A password that stands on the command line is there for all to see; at least not for long. */
static int take_url(struct request *request)
{
    char *word = (char *)(uintptr_t)request->to;

    request->url = vti_secret_receive(word);
    if (!request->url)
        return vti_cmd_fail("ship", "--to: the URL cannot be had by its descriptor");
    vti_secret_hide_login(word);
    request->to = request->url;
    return 0;
}

static int take_words(struct request *request, int argc, char **argv)
{
    const struct vti_place places[VTI_SHIP_OPTIONS] = {
        [VTI_SHIP_TO] = {.text = &request->to},
        [VTI_SHIP_ONCE] = {.is_set = &request->is_once},
        [VTI_SHIP_ONLY] = {.text = &request->only},
        [VTI_SHIP_PREFIX] = {.text = &request->prefix},
        [VTI_SHIP_SETUP] = {.is_set = &request->is_setup},
        [VTI_SHIP_DRY_RUN] = {.is_set = &request->is_dry_run},
        [VTI_SHIP_KEEP_DAYS] = {.text = &request->keep_days},
        [VTI_SHIP_DIALECT] = {.text = &request->dialect},
        [VTI_SHIP_REPLAY] = {.text = &request->replay},
        [VTI_SHIP_CREDENTIALS] = {.text = &request->credentials},
        [VTI_SHIP_CA] = {.text = &request->ca},
        [VTI_SHIP_FINGERPRINT] = {.text = &request->fingerprint},
        [VTI_SHIP_INSECURE] = {.is_set = &request->is_insecure},
        [VTI_SHIP_GZIP] = {.text = &request->gzip},
        [VTI_SHIP_BATCH] = {.text = &request->batch},
        [VTI_SHIP_EVERY] = {.text = &request->every},
        [VTI_SHIP_RETRY] = {.text = &request->retry},
        [VTI_SHIP_GIVE_UP] = {.text = &request->give_up},
        [VTI_SHIP_STATE] = {.text = &request->state},
        [VTI_SHIP_KEEP] = {.is_set = &request->keeps},
        [VTI_SHIP_QUIET] = {.is_set = &request->is_quiet},
    };
    int code = vti_args_collect(&vti_cmd_ship, argc, argv, places, &request->source, 1,
                                "one FILE or DIR");

    if (code)
        return code;
    if (!request->to)
        request->to = getenv("VENTURI_STORE");
    else
        code = take_url(request);
    if (code)
        return code;
    if (!request->to || !*request->to)
        return vti_cmd_fail("ship", "where to? --to elasticsearch://HOST:9200, or VENTURI_STORE");
    if (request->is_setup && (request->source || request->replay))
        return vti_cmd_fail("ship", "--setup: sends nothing, so it takes no FILE");
    if (request->is_dry_run && !request->is_setup)
        return vti_cmd_fail("ship", "--dry-run: is for --setup");
    if (request->replay && request->source)
        return vti_cmd_fail("ship", "--replay: sends FILE and nothing else");
    if (!request->is_setup && !request->replay && !request->source)
        return vti_cmd_fail("ship", "which recording or spool? See venturi ship --help");
    return 0;
}

/* A number from `least` to `most`, times `unit`. */
static int take_number(const char *option, const char *text, double least, double most, double unit,
                       unsigned *number)
{
    char *end;
    double value;

    if (!text)
        return 0;
    value = vti_number_read(text, &end);
    if (end == text || *end || !(value >= least && value <= most))
        return vti_cmd_fail("ship", "--%s: '%s' is no number from %g to %g", option, text, least,
                            most);
    *number = (unsigned)lround(value * unit);
    return 0;
}

static int set_text(char **to, const char *text)
{
    if (!text)
        return 0;
    free(*to);
    *to = strdup(text);
    return *to ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
}

/* What was said here comes before the URL's own, before the environment's, before the file's. */
static int take_settings(const struct request *request, struct vti_store_settings *settings,
                         const struct vti_store_type **type)
{
    int code = vti_settings_parse(settings, request->to);

    if (!code)
        code = set_text(&settings->ca_file, request->ca);
    if (!code)
        code = set_text(&settings->fingerprint, request->fingerprint);
    if (!code)
        code = vti_settings_environment(settings);
    if (!code)
        code = vti_settings_file(settings, request->credentials);
    if (code)
        return vti_cmd_error("ship", code);
    *type = vti_store_for(settings->scheme);
    if (!*type) {
        char known[400] = "";

        for (size_t i = 0; vti_store_at(i); i++)
            snprintf(known + strlen(known), sizeof known - strlen(known), "%s%.*s", i ? ", " : "",
                     (int)strcspn(vti_store_at(i)->schemes, " "), vti_store_at(i)->schemes);
        return vti_cmd_fail("ship", "%s://: no store of that kind; there are %s", settings->scheme,
                            known);
    }
    settings->is_insecure = request->is_insecure;
    settings->has_gzip = request->gzip ? !strcmp(request->gzip, "on")
                                       : !vti_settings_is_loopback(settings);
    settings->is_stopped = vti_ship_gives_up;
    if ((settings->password || settings->api_key || settings->token) && !settings->is_tls &&
        *settings->host && !vti_settings_is_loopback(settings) && !request->is_quiet)
        vti_cmd_warn("ship", "%s: credentials go over the network in the clear; use https",
                     settings->shown);
    return 0;
}

static int take_options(const struct request *request, struct vti_ship_options *options)
{
    unsigned batch = 0;
    int code = take_number("batch", request->batch, 1, 100000, 1, &batch);

    if (!code)
        code = take_number("every", request->every, 0.05, 3600, 1000, &options->every_ms);
    if (!code)
        code = take_number("retry-max", request->retry, 0.1, 3600, 1000, &options->retry_ms);
    if (!code)
        code = take_number("give-up", request->give_up, 0, 86400, 1000, &options->give_up_ms);
    if (code)
        return code;
    options->limits = options->type->limits;
    if (!options->limits.documents)
        options->limits.documents = 2000;
    if (!options->limits.bytes)
        options->limits.bytes = 4u << 20;
    if (batch)
        options->limits.documents = batch;
    options->kinds = UINT32_MAX;
    if (request->only)
        options->kinds = strcmp(request->only, "steps") ? VTI_DOCUMENT_TRACE : VTI_DOCUMENT_STEP;
    if (!(options->kinds & options->type->kinds))
        return vti_cmd_fail("ship", "--only %s: %s does not take them", request->only,
                            options->type->name);
    return 0;
}

/* ---- doing ----------------------------------------------------------------------------------- */

static int set_up(const struct request *request, const struct vti_ship_options *options)
{
    struct vti_buf out = {0};
    struct vti_setup setup = {.is_dry_run = request->is_dry_run,
                              .prefix = request->prefix ? request->prefix : "pipeline",
                              .keep_days = 30,
                              .shards = 1,
                              .replicas = 1,
                              .dialect = request->dialect,
                              .out = &out};
    struct vti_store *store = NULL;
    int code = take_number("keep-days", request->keep_days, 0, 36500, 1, &setup.keep_days);

    if (code)
        return code;
    if (!options->type->setup)
        return vti_cmd_fail("ship", "--setup: there is nothing to set up for %s",
                            options->type->name);
    code = options->type->open(&store, options->settings);
    if (!code)
        code = options->type->setup(store, &setup);
    if (store)
        options->type->close(store);
    if (!code && out.failed)
        code = VTI_E_NOMEM;
    if (out.len)
        fwrite(out.data, 1, out.len, stdout);
    vti_buf_fini(&out);
    if (!code && fflush(stdout))
        code = vti_fail_errno(VTI_E_WRITE, "standard output: cannot write");
    return code ? vti_cmd_error("ship", code) : VTI_EXIT_OK;
}

/* What went with files that are sent, and is nowhere else. */
static void add_gone(char *more, size_t room, const struct vti_ship_result *result)
{
    char gone[200];

    vti_ship_beyond_text(&result->gone, gone, sizeof gone);
    if (*gone)
        snprintf(more + strlen(more), room - strlen(more),
                 "; deleted with %llu sent file%s: %s (--keep keeps them)",
                 (unsigned long long)result->deleted, result->deleted == 1 ? "" : "s", gone);
}

static void say_result(const struct vti_ship_options *options, const struct vti_ship_result *result)
{
    const struct vti_ship_counts *now = &result->now;
    const bool takes_steps = options->type->kinds & VTI_DOCUMENT_STEP;
    char more[600] = "";

    if (now->repeated)
        snprintf(more, sizeof more, " (%llu were there)", (unsigned long long)now->repeated);
    if (now->dead)
        snprintf(more + strlen(more), sizeof more - strlen(more), ", %llu dead",
                 (unsigned long long)now->dead);
    if (result->all.lost)
        snprintf(more + strlen(more), sizeof more - strlen(more), ", %llu lost before",
                 (unsigned long long)result->all.lost);
    if (now->unsent)
        snprintf(more + strlen(more), sizeof more - strlen(more),
                 ", %llu %s not sent: %.40s takes %s only", (unsigned long long)now->unsent,
                 takes_steps ? "trace points" : "steps", options->type->name,
                 takes_steps ? "steps" : "traces");
    if (now->outside)
        snprintf(more + strlen(more), sizeof more - strlen(more),
                 "; %llu spans outside of any trace are in the recording only",
                 (unsigned long long)now->outside);
    if (result->kept)
        snprintf(more + strlen(more), sizeof more - strlen(more),
                 "; %llu recording%s kept: nothing of %s is for a store",
                 (unsigned long long)result->kept, result->kept == 1 ? " is" : "s are",
                 result->kept == 1 ? "it" : "them");
    add_gone(more, sizeof more, result);
    if (!is_quiet)
        vti_cmd_say("%llu documents to %s%s", (unsigned long long)now->shipped,
                    options->settings->shown, more);
    if (now->dead)
        vti_cmd_say("dead letters, with reasons: %s", result->dead_path);
}

/* What somebody has to type; a login that stood in the URL is to be given again. */
static void say_rest(const struct request *request, const struct vti_ship_result *result)
{
    char url[1024];

    vti_secret_show_url(url, sizeof url, request->to);
    vti_cmd_fail("ship", "%s%snot all was sent; it is kept: venturi ship %s%s --to %s%s",
                 result->why, *result->why ? "; " : "", request->replay ? "--replay " : "",
                 request->replay ? request->replay : request->source, url,
                 request->replay ? "" : " --once");
}

static int judge(const struct request *request, const struct vti_ship_options *options,
                 const struct vti_ship_result *result, int code)
{
    if (code == VTI_E_DISK_FULL) /* no -o here */
        return vti_cmd_fail("ship", "%s", vti_error_message(code));
    if (code)
        return vti_cmd_error("ship", code);
    say_result(options, result);
    if (result->has_rest && result->is_held)
        return vti_cmd_fail("ship", "%s", result->why);
    if (result->has_rest)
        say_rest(request, result);
    return result->has_rest || result->now.dead || result->now.unsent || result->bad_lines
               ? VTI_EXIT_NO
               : VTI_EXIT_OK;
}

static int ship(const struct request *request, const struct vti_ship_options *options)
{
    struct vti_ship_result result;
    int code;

    signal(SIGPIPE, SIG_IGN);
    if (request->replay)
        set_signals();
    code = request->replay ? vti_ship_replay(options, request->replay, &result)
                           : vti_ship_run(options, &result);
    return judge(request, options, &result, code);
}

int main(int argc, char **argv)
{
    struct request request = {0};
    struct vti_store_settings settings = {0};
    struct vti_ship_options options = {.settings = &settings,
                                       .every_ms = 1000,
                                       .retry_ms = 60000,
                                       .give_up_ms = 30000,
                                       .begun = set_signals,
                                       .say = say};
    int code;

    vti_file_hold_standard();
    if (vti_args_wants_help(&vti_cmd_ship, argc, argv)) {
        struct vti_buf text = {0};

        vti_help_command(&text, &vti_cmd_ship);
        fwrite(text.data, 1, text.len, stdout);
        vti_buf_fini(&text);
        return fflush(stdout) ? VTI_EXIT_BAD : VTI_EXIT_OK;
    }
    code = take_words(&request, argc, argv);
    if (!code)
        code = take_settings(&request, &settings, &options.type);
    if (!code)
        code = take_options(&request, &options);
    if (!code) {
        is_quiet = request.is_quiet;
        options.source = request.source ? request.source : request.replay;
        options.is_once = request.is_once || request.replay;
        options.keeps_files = request.keeps;
        options.state_dir = request.state;
        options.maker.prefix = request.prefix;
        code = request.is_setup ? set_up(&request, &options) : ship(&request, &options);
    }
    vti_settings_fini(&settings);
    if (request.url)
        explicit_bzero(request.url, strlen(request.url));
    free(request.url);
    return code;
}
