/*
 * main.c - venturi-serve: shows a program while it runs, or what was recorded of it.
 *
 * Behind `venturi serve`, a program of its own so that the tool does not load a server. The main thread refreshes the live state ten times a
 * second and wakes those who listen four times a second; it does nothing at all when nobody writes and nobody asks.
 */
#include "base/error.h"
#include "base/file.h"
#include "live/shortened.h"
#include "live/tick.h"
#include "serve/report.h"
#include "serve/serve.h"
#include "serve/window.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define MS_NS 1000000
#define STEP_MS 100        /* of the history */
#define QUIET_MS 1000      /* nothing grows */
#define TELL_NS 248000000  /* between two states for listeners: four times a second */
#define BUDGET_NS 50000000 /* of work with the lock held */
#define PAUSE_MS 2         /* for others to get the lock, while there is more to do */
#define LAST_MS 500        /* for readers of `run --live` to ask for the last of everything */
#define END_MS 500         /* for listeners to hear that it is over */

static int say_error(int code)
{
    const char *hint = vti_error_hint(code);

    fprintf(stderr, "venturi serve: %s%s%s%s\n", vti_error_message(code), *hint ? " (" : "", hint,
            *hint ? ")" : "");
    return 2;
}

/* Signals are read like everything else that wakes us. */
static int take_signals(void)
{
    sigset_t wanted;

    signal(SIGPIPE, SIG_IGN);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGINT);
    sigaddset(&wanted, SIGTERM);
    sigaddset(&wanted, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &wanted, NULL);
    return signalfd(-1, &wanted, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* ---- the loop ------------------------------------------------------------------------------------ */

/* One round; how long to wait for the next, in milliseconds. */
static int refresh(struct vti_serve *serve, int64_t *told_ns)
{
    struct vti_live_summary all;
    int64_t left_ms;
    bool is_changed;
    int code;

    pthread_mutex_lock(&serve->lock);
    code = vti_live_refresh(serve->live, BUDGET_NS);
    is_changed = code != 0;
    serve->refreshed_ns = vti_tick_now();
    vti_live_summary(serve->live, &all);
    serve->has_news |= is_changed || all.is_growing != serve->was_growing;
    serve->was_growing = all.is_growing;
    if (all.is_growing || is_changed)
        vti_history_add(serve->history, serve->live);
    if (serve->refreshed_ns - *told_ns >= TELL_NS) {
        /* While somebody writes the clock is news, too: what is open has been open longer. */
        if (serve->has_news || all.is_growing)
            serve->seq++;
        serve->has_news = false;
        *told_ns = serve->refreshed_ns;
        vti_streams_wake(serve);
    }
    pthread_mutex_unlock(&serve->lock);
    if (!all.is_caught_up)
        return PAUSE_MS;
    if (!all.is_growing && all.kind != VTI_LIVE_FOLDER && all.kind != VTI_LIVE_SPOOL)
        return QUIET_MS;
    /* Whichever is sooner: the next step of the history, or the next state for listeners. */
    left_ms = (*told_ns + TELL_NS - vti_tick_now()) / MS_NS + 1;
    return left_ms > 0 && left_ms < STEP_MS ? (int)left_ms : STEP_MS;
}

/* Until a signal comes, or who started us is gone. */
static void run(struct vti_serve *serve, int signals)
{
    struct pollfd wait = {.fd = signals, .events = POLLIN};
    int64_t told_ns = 0;
    int64_t reaped_ns = 0;

    for (;;) {
        int64_t begin_ns = vti_tick_now();
        int pause_ms = refresh(serve, &told_ns);
        int64_t spent_ms;

        if (begin_ns - reaped_ns >= 1000 * (int64_t)MS_NS) {
            reaped_ns = begin_ns;
            vti_peers_reap(serve->peers, begin_ns);
            if (serve->options.parent && getppid() != (pid_t)serve->options.parent)
                return;
        }
        spent_ms = (vti_tick_now() - begin_ns) / MS_NS;
        if (pause_ms >= STEP_MS)
            pause_ms = pause_ms > spent_ms + PAUSE_MS ? pause_ms - (int)spent_ms : PAUSE_MS;
        if (poll(&wait, 1, pause_ms) > 0)
            return;
    }
}

/* ---- beginning and end --------------------------------------------------------------------------- */

static int begin(struct vti_serve *serve)
{
    int code = vti_live_open(&serve->live, serve->options.target, NULL);

    if (!code)
        code = vti_history_open(&serve->history, serve->options.history);
    if (!code)
        code = vti_peers_create(&serve->peers);
    if (code)
        return code;
    if (serve->options.token)
        snprintf(serve->token, sizeof serve->token, "%s", serve->options.token);
    else
        code = vti_guard_make_token(serve->token);
    serve->policy = vti_dashboard_policy();
    if (!code && !serve->policy)
        code = vti_fail(VTI_E_NOMEM, "out of memory");
    serve->seq = 1;
    serve->started_ns = vti_tick_now();
    if (!code) {
        /* So that the first who asks gets something. */
        code = vti_live_refresh(serve->live, BUDGET_NS);
        serve->refreshed_ns = vti_tick_now();
    }
    return code < 0 ? code : vti_server_start(serve);
}

/* What was written last is shown once more, before all of it is over. Who looks at a program that has ended has a moment to ask for what is
 * not in the state: its functions. */
static void show_last(struct vti_serve *serve)
{
    struct vti_live_summary all;
    bool has_readers;

    pthread_mutex_lock(&serve->lock);
    if (vti_live_refresh(serve->live, BUDGET_NS) >= 0)
        serve->seq++;
    vti_live_summary(serve->live, &all);
    has_readers = serve->stream_count > 0;
    serve->refreshed_ns = vti_tick_now();
    vti_streams_wake(serve);
    pthread_mutex_unlock(&serve->lock);
    if (has_readers && !all.is_growing && serve->options.parent)
        usleep(LAST_MS * 1000);
}

static void end(struct vti_serve *serve)
{
    int64_t until_ns = vti_tick_now() + (int64_t)END_MS * MS_NS;
    bool is_quiet = false;

    pthread_mutex_lock(&serve->lock);
    vti_streams_end(serve);
    pthread_mutex_unlock(&serve->lock);
    vti_reports_end(serve);
    while (serve->daemon && !is_quiet && !vti_tick_is_over(until_ns)) {
        pthread_mutex_lock(&serve->lock);
        vti_streams_wake(serve);
        is_quiet = !serve->stream_count;
        pthread_mutex_unlock(&serve->lock);
        usleep(10000);
    }
    vti_server_stop(serve);
    vti_address_forget();
    vti_windows_fini();
    if (serve->picture)
        vti_picture_put(serve, serve->picture);
    vti_history_close(serve->history);
    vti_live_close(serve->live);
    vti_peers_free(serve->peers);
    free(serve->policy);
    free(serve->options.token);
}

int main(int argc, char **argv)
{
    static struct vti_serve serve = {
        .options = {.bind = "127.0.0.1", .port = VTI_SERVE_PORT, .ready_fd = -1},
        .lock = PTHREAD_MUTEX_INITIALIZER};
    int signals;
    int code;

    vti_file_hold_standard();
    code = vti_serve_options_take(&serve.options, argc, argv);
    if (code)
        return say_error(code);
    if (serve.options.parent)
        prctl(PR_SET_PDEATHSIG, SIGTERM);
    vti_survive_shortening();
    signals = take_signals();
    code = signals < 0 ? vti_fail_errno(VTI_E_SYSTEM, "no signals") : begin(&serve);
    if (!code) {
        vti_address_say(&serve);
        run(&serve, signals);
        show_last(&serve);
    }
    if (code)
        code = say_error(code);
    end(&serve);
    return code;
}
