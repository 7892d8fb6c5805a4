/*
 * main.c - venturi-drain: the writer for programs that record without `venturi run`.
 *
 * Started by libventuri on first use, detached from the program. Says "ready" (or what is in its way)
 * on descriptor 3, and ends when the last process of the session has ended. Not for people to call.
 */
#include "base/error.h"
#include "drain/clock.h"
#include "drain/drain.h"
#include "drain/shipper.h"

#include <fcntl.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define STATUS_FD 3
#define UNUSED_NS 10000000000u /* nobody came at all */

static volatile sig_atomic_t is_asked_to_stop;

static void ask_to_stop(int number)
{
    (void)number;
    is_asked_to_stop = 1;
}

static void say(const char *line)
{
    (void)!write(STATUS_FD, line, strlen(line));
    (void)!write(STATUS_FD, "\n", 1);
    close(STATUS_FD);
}

static void close_inherited(void)
{
#ifdef SYS_close_range
    if (!syscall(SYS_close_range, STATUS_FD + 1, ~0u, 0))
        return;
#endif
    for (int fd = STATUS_FD + 1; fd < 1024; fd++)
        close(fd);
}

static int parse(int argc, char **argv, struct vti_drain_options *options)
{
    static const struct option table[] = {{"session", required_argument, NULL, 's'},
                                          {"output", required_argument, NULL, 'o'},
                                          {"spool", required_argument, NULL, 'S'},
                                          {"spool-limit", required_argument, NULL, 'L'},
                                          {"force", no_argument, NULL, 'f'},
                                          {"buffer", required_argument, NULL, 'b'},
                                          {"ring", required_argument, NULL, 'r'},
                                          {"block", required_argument, NULL, 'k'},
                                          {NULL, 0, NULL, 0}};
    int letter;

    while ((letter = getopt_long(argc, argv, "", table, NULL)) != -1) {
        switch (letter) {
        case 's':
            options->session = optarg;
            break;
        case 'o':
            options->output = optarg;
            break;
        case 'S':
            options->spool = optarg;
            break;
        case 'L':
            options->spool_limit = strtoull(optarg, NULL, 10);
            break;
        case 'f':
            options->force = true;
            break;
        case 'b':
            options->buffer_bytes = strtoull(optarg, NULL, 10);
            break;
        case 'r':
            options->ring_ns = strtoull(optarg, NULL, 10) * 1000000000u;
            break;
        case 'k':
            options->block_ms = (uint32_t)strtoul(optarg, NULL, 10);
            break;
        default:
            return VTI_E_USAGE;
        }
    }
    return options->session && (options->output || options->spool) ? 0 : VTI_E_USAGE;
}

/* Not an option: it is the same environment as the program's. */
static uint32_t resources_hz(void)
{
    const char *text = getenv("VENTURI_RESOURCES");
    char *end;
    unsigned long hz = text ? strtoul(text, &end, 10) : 0;

    return text && end != text && !*end && hz <= VTI_RESOURCES_MOST_HZ ? (uint32_t)hz
                                                                       : VTI_RESOURCES_HZ;
}

/* Until all processes of the session have ended. At once then: the next run of the program must not
 * fall into this recording. */
static void run(struct vti_drain *drain)
{
    uint64_t last_alive = vti_clock_now_ns();

    while (!is_asked_to_stop && !vti_drain_is_closed(drain)) {
        uint64_t now;

        vti_drain_step(drain, -1);
        now = vti_clock_now_ns();
        if (vti_drain_alive(drain))
            last_alive = now;
        else if (vti_drain_was_used(drain) || now - last_alive > UNUSED_NS)
            break;
    }
}

int main(int argc, char **argv)
{
    struct vti_drain_options options = {0};
    struct vti_drain_stats stats;
    struct vti_drain *drain;
    char *url;
    pid_t shipper;
    int code = parse(argc, argv, &options);

    if (code) {
        fprintf(stderr, "venturi-drain: started by libventuri, see `venturi run --help`\n");
        return 2;
    }
    url = vti_shipper_take_url();
    close_inherited();
    signal(SIGPIPE, SIG_IGN);
    signal(SIGTERM, ask_to_stop);
    signal(SIGINT, SIG_IGN);
    options.resources_hz = resources_hz();
    code = vti_drain_create(&drain, &options);
    if (code) {
        /* Another process of the program was quicker: that is as good as ready. */
        say(code == VTI_E_EXISTS && strstr(vti_error_message(code), "socket")
                ? "ready"
                : vti_error_message(code));
        return code == VTI_E_EXISTS ? 0 : 2;
    }
    say("ready");
    shipper = vti_shipper_start(options.spool, url);
    free(url);
    run(drain);
    vti_drain_leave(drain);
    code = vti_drain_close(drain, &stats);
    if (code && stats.file.gone)
        fprintf(stderr, "venturi: %s, and with it are lost %llu events, tasks and step records\n",
                vti_error_message(code), (unsigned long long)stats.file.gone);
    else if (code)
        fprintf(stderr, "venturi: %s\n", vti_error_message(code));
    vti_drain_free(drain);
    vti_shipper_end(shipper);
    return code ? 2 : 0;
}
