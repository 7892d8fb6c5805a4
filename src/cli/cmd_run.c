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

static bool take_duration(const char *name, const char *text, int64_t unit_ns, uint32_t *value)
{
    int64_t ns;

    if (!vti_parse_duration(text, &ns) || ns < unit_ns || ns / unit_ns > 86400 * 7) {
        vti_cmd_fail("run", "--%s %s: not a time like 30s or 10ms", name, text);
        return false;
    }
    *value = (uint32_t)(ns / unit_ns);
    return true;
}

static bool take_option(struct run *run, int option, const char *value)
{
    switch (option) {
    case OPT_OUTPUT:
        run->drain.output = value;
        return true;
    case OPT_FORCE:
        run->drain.force = true;
        return true;
    case OPT_RING:
        return take_duration("ring", value, 1000000000, &run->drain.ring_seconds);
    case OPT_BLOCK:
        return take_duration("block", value, 1000000, &run->drain.block_ms);
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

/* Up to three lines: what there is, what is missing, what to do next. */
static void summarise(const struct run *run, const struct vti_drain_stats *stats, int code)
{
    char size[VTI_NUMBER_BYTES], events[VTI_NUMBER_BYTES], lost[VTI_NUMBER_BYTES];
    uint64_t lost_events = stats->file.lost_events - stats->overwritten;

    if (code)
        fprintf(stderr, "venturi: %s\n", vti_error_message(code));
    if (run->is_quiet && !lost_events && stats->file.events)
        return;
    if (!stats->file.events) {
        fprintf(stderr,
                "venturi: %s  nothing recorded: the program hit no trace point of libventuri\n"
                "venturi: next  add VT_SPAN to it and link with `pkg-config --libs venturi`\n",
                run->drain.output);
        return;
    }
    fprintf(stderr, "venturi: %s  %s, %s events, %s lost, own cost %.1f %%\n", run->drain.output,
            vti_text_bytes(size, stats->file.bytes), vti_text_count(events, stats->file.events),
            vti_text_count(lost, lost_events), 100 * stats->cost_share);
    if (stats->still_running)
        fprintf(stderr, "venturi: %u processes went on after the program ended; their end is not recorded\n",
                stats->still_running);
    else if (lost_events)
        fprintf(stderr, "venturi: lost events: `venturi info` says where; --buffer or --block helps\n");
    if (!run->is_quiet)
        fprintf(stderr, "venturi: next  venturi report %s\n", run->drain.output);
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
