/* run_energy.c - `run --energy`: its options, and the rest that is measured before the program starts. */
#include "cli/run_energy.h"

#include "cli/cmd.h"
#include "drain/clock.h"
#include "drain/energy.h"

#include <signal.h>
#include <string.h>
#include <time.h>

#define REST_PAUSE_NS 100000000 /* between two looks at the meter */

static int check_alone(const struct vti_run_energy *energy)
{
    const char *option = energy->baseline_ns        ? "baseline"
                         : energy->stated.country   ? "country"
                         : energy->stated.intensity ? "intensity"
                         : energy->stated.pue       ? "pue"
                         : energy->stated.wue       ? "wue"
                                                    : NULL;

    return option ? vti_cmd_fail("run", "--%s: is about energy, so it needs --energy", option) : 0;
}

static void state(struct vti_run_energy *energy)
{
    const char *const all[][2] = {{"energy.country", energy->stated.country},
                                  {"energy.intensity", energy->stated.intensity},
                                  {"energy.pue", energy->stated.pue},
                                  {"energy.wue", energy->stated.wue}};
    unsigned count = 0;

    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        if (!all[i][1])
            continue;
        energy->meta[count++] = all[i][0];
        energy->meta[count++] = all[i][1];
    }
    energy->meta[count] = NULL;
}

int vti_run_energy_prepare(struct vti_run_energy *energy, struct vti_drain_options *drain)
{
    if (!energy->is_on)
        return check_alone(energy);
    if (!drain->resources_hz)
        return vti_cmd_fail("run", "--energy: needs the readings that --no-resources leaves out");
    if (!vti_energy_stated_check("run", &energy->stated))
        return VTI_EXIT_BAD;
    state(energy);
    drain->has_energy = true;
    drain->stated = energy->meta;
    if (drain->resources_hz < energy->hz)
        drain->resources_hz = energy->hz;
    return 0;
}

/* Signals that end us, unless they are ignored. */
static void find_stops(sigset_t *stops)
{
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action;

    sigemptyset(stops);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (!sigaction(numbers[i], NULL, &action) && action.sa_handler != SIG_IGN)
            sigaddset(stops, numbers[i]);
}

int vti_run_energy_rest(const struct vti_run_energy *energy, struct vti_drain *drain, bool is_quiet)
{
    struct vti_energy_feed *meter = vti_drain_energy(drain);
    const struct timespec pause = {0, REST_PAUSE_NS};
    uint64_t begin_ns = vti_clock_now_ns();
    const char *advice;
    sigset_t stops;
    sigset_t before;
    int got = -1;

    if (!energy->baseline_ns)
        return 0;
    if (!is_quiet)
        vti_cmd_say("measuring the machine at rest for %.3g s", (double)energy->baseline_ns / 1e9);
    find_stops(&stops);
    sigprocmask(SIG_BLOCK, &stops, &before);
    vti_energy_feed_rest_begin(meter);
    while (got < 0 && vti_clock_now_ns() < begin_ns + energy->baseline_ns) {
        got = sigtimedwait(&stops, NULL, &pause);
        vti_energy_feed_rest(meter);
    }
    advice = vti_energy_feed_rest_end(meter, vti_clock_now_ns() - begin_ns);
    if (advice) /* `energy` says all of it */
        vti_cmd_say("%.*s", (int)strcspn(advice, ":"), advice);
    sigprocmask(SIG_SETMASK, &before, NULL);
    return got > 0 ? got : 0;
}
