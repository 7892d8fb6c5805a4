/*
 * cmd_run.c - `venturi run`: starts a program and drains for it.
 *
 * The program must not notice: it stays in our process group and terminal, has its own standard
 * streams, gets every signal that is sent to us, and its exit code (or the signal that killed it)
 * becomes ours.
 */
#include "base/error.h"
#include "cli/child.h"
#include "cli/cmd.h"
#include "cli/quantity.h"
#include "cli/render.h"
#include "drain/drain.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define LONGEST_NS (INT64_C(7) * 86400 * 1000000000)

enum { OPT_OUTPUT, OPT_FORCE, OPT_RING, OPT_BLOCK, OPT_BUFFER, OPT_PAUSED, OPT_QUIET };

static const struct vti_option options[] = {
    {'o', "output", "FILE", "the recording (default PROG-YYYYmmdd-HHMMSS-PID.vt)"},
    {'f', "force", NULL, "replace FILE if it exists"},
    {0, "ring", "TIME", "keep only the last TIME (30s), written at the end"},
    {0, "block", "TIME", "buffers full: wait up to TIME (10ms), then drop"},
    {0, "buffer", "SIZE", "shared memory for each process (default 64M)"},
    {0, "paused", NULL, "start with recording off (see `venturi control`)"},
    {'q', "quiet", NULL, "nothing on stderr unless something went wrong"},
    {0, NULL, NULL, NULL}};

extern const struct vti_command vti_cmd_run;

struct run {
    struct vti_drain_options drain;
    char **program; /* with its arguments, NULL-terminated */
    char output[4096];
    bool is_quiet;
};

static bool take_duration(const char *name, const char *text, uint64_t *value_ns)
{
    int64_t ns;

    if (!vti_parse_duration(text, &ns) || ns < 1000000 || ns > LONGEST_NS) {
        vti_cmd_fail("run", "--%s %s: not a time between 1ms and 7 days, like 30s or 10ms", name,
                     text);
        return false;
    }
    *value_ns = (uint64_t)ns;
    return true;
}

static bool take_option(struct run *run, int option, const char *value)
{
    uint64_t ns;

    switch (option) {
    case OPT_OUTPUT:
        run->drain.output = value;
        return true;
    case OPT_FORCE:
        run->drain.force = true;
        return true;
    case OPT_RING:
        return take_duration("ring", value, &run->drain.ring_ns);
    case OPT_BLOCK:
        if (!take_duration("block", value, &ns))
            return false;
        run->drain.block_ms = (uint32_t)(ns / 1000000);
        return true;
    case OPT_BUFFER:
        if (vti_parse_bytes(value, &run->drain.buffer_bytes) && run->drain.buffer_bytes)
            return true;
        vti_cmd_fail("run", "--buffer %s: not a size like 64M", value);
        return false;
    case OPT_PAUSED:
        run->drain.starts_off = true;
        return true;
    default:
        run->is_quiet = true;
        return true;
    }
}

static void default_output(struct run *run)
{
    const char *slash = strrchr(run->program[0], '/');
    time_t now = time(NULL);
    struct tm local;
    char stamp[32];

    localtime_r(&now, &local);
    strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &local);
    snprintf(run->output, sizeof run->output, "%.200s-%s-%ld.vt",
             slash ? slash + 1 : run->program[0], stamp, (long)getpid());
    run->drain.output = run->output;
}

static int parse(struct run *run, int argc, char **argv)
{
    struct vti_args args;
    const char *value;
    int option;

    vti_args_init(&args, &vti_cmd_run, argc, argv);
    while ((option = vti_args_next(&args, &value)) >= 0)
        if (!take_option(run, option, value))
            return VTI_EXIT_BAD;
    if (option == VTI_OPT_BAD)
        return VTI_EXIT_BAD;
    if (option == VTI_OPT_DONE)
        return vti_cmd_fail("run", "which program? venturi run [options] PROG [arguments]");
    run->program = argv + args.at - 1;
    run->drain.command = run->program;
    if (!run->drain.output)
        default_output(run);
    return 0;
}

/* The second line: what is missing, if anything is. */
static void say_what_is_missing(const struct vti_drain_stats *stats, uint64_t lost_events)
{
    if (stats->was_stopped)
        fprintf(stderr, "venturi: the recording was stopped before the program ended\n");
    else if (stats->still_running)
        fprintf(stderr, "venturi: %u process%s went on after the program ended, unrecorded\n",
                stats->still_running, stats->still_running == 1 ? "" : "es");
    else if (stats->file.disk_lost)
        fprintf(stderr, "venturi: the disk was full: `venturi info` says what is missing\n");
    else if (lost_events)
        fprintf(stderr,
                "venturi: lost events: `venturi info` says where; --buffer or --block helps\n");
    else if (stats->overwritten)
        fprintf(stderr, "venturi: kept the end only, as asked: %llu events gave way\n",
                (unsigned long long)stats->overwritten);
}

static bool is_plain_word(const char *text)
{
    return text[strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                             "_-+./,:@%=")] == 0;
}

/* Up to three lines: what there is, what is missing, what to do next. */
static void summarise(const struct run *run, const struct vti_drain_stats *stats, int code)
{
    char size[VTI_NUMBER_BYTES], events[VTI_NUMBER_BYTES], lost[VTI_NUMBER_BYTES];
    uint64_t lost_events = stats->file.lost_events - stats->overwritten;
    const char *quote = is_plain_word(run->drain.output) ? "" : "'";

    if (code)
        fprintf(stderr, "venturi: %s\n", vti_error_message(code));
    if (run->is_quiet && !lost_events)
        return;
    if (stats->refused || stats->unheard)
        fprintf(stderr,
                "venturi: %u process%s not recorded: limits (ulimit) leave no room for buffers\n",
                stats->refused + stats->unheard,
                stats->refused + stats->unheard == 1 ? " was" : "es were");
    if (!stats->file.events && stats->refused + stats->unheard == 0) {
        fprintf(stderr,
                "venturi: %s  nothing recorded: no trace point of libventuri was hit\n"
                "venturi: next  add VT_SPAN to the program and link it with `pkg-config --libs "
                "venturi`\n",
                run->drain.output);
        return;
    }
    fprintf(stderr, "venturi: %s  %s, %s events, %s lost, own cost %s%.1f %%\n", run->drain.output,
            vti_text_bytes(size, stats->file.bytes), vti_text_count(events, stats->file.events),
            vti_text_count(lost, lost_events), stats->cost_share < 0.0005 ? "below " : "",
            stats->cost_share < 0.0005 ? 0.1 : 100 * stats->cost_share);
    say_what_is_missing(stats, lost_events);
    if (!run->is_quiet)
        fprintf(stderr, "venturi: next  venturi report %s%s%s\n", quote, run->drain.output, quote);
}

static int run_command(int argc, char **argv)
{
    struct run run = {0};
    struct vti_drain *drain = NULL;
    struct vti_drain_stats stats;
    struct vti_child child;
    int code = parse(&run, argc, argv);

    if (code)
        return code;
    code = vti_drain_create(&drain, &run.drain);
    if (code) {
        vti_cmd_error("run", code);
        return VTI_EXIT_SETUP;
    }
    setenv("VENTURI_SESSION", vti_drain_session(drain), 1);
    code = vti_child_start(&child, run.program);
    if (code) {
        vti_drain_free(drain);
        unlink(run.drain.output);
        return code;
    }
    while (!vti_child_check(&child))
        vti_drain_step(drain, child.signal_fd);
    vti_drain_note_exit(drain, child.pid, child.status);
    code = vti_drain_close(drain, &stats);
    summarise(&run, &stats, code);
    vti_drain_free(drain);
    return vti_child_exit(&child);
}

const struct vti_command vti_cmd_run = {
    .name = "run",
    .summary = "record a program",
    .usage = "[options] [--] PROG [arguments]",
    .about = "Starts PROG and writes what its trace points say, and those of its child\n"
             "processes, into one recording. Exit code, standard streams, signals and\n"
             "terminal are the program's own. Our own failures before it starts: 125 cannot\n"
             "record, 126 cannot execute PROG, 127 PROG not found.",
    .options = options,
    .stops_at_operand = true,
    .run = run_command,
};
