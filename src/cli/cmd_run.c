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
#include "cli/preload.h"
#include "cli/python.h"
#include "cli/quantity.h"
#include "cli/run_energy.h"
#include "cli/run_live.h"
#include "cli/run_output.h"
#include "cli/run_spool.h"
#include "cli/run_summary.h"
#include "drain/clock.h"
#include "drain/drain.h"
#include "venturi/line.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define MOST_HZ 20000
#define LONGEST_NS (INT64_C(7) * 86400 * 1000000000)
#define HELPERS_NS 300000000u

enum {
    OPT_OUTPUT,
    OPT_FORCE,
    OPT_MODULE,
    OPT_CODE,
    OPT_PYTHON,
    OPT_BUILTINS,
    OPT_ONLY_MINE,
    OPT_INCLUDE,
    OPT_EXCLUDE,
    OPT_TIMELINE,
    OPT_LINES,
    OPT_LINES_OF,
    OPT_CALLEES,
    OPT_FUNCTIONS,
    OPT_NO_FUNCTIONS,
    OPT_NATIVE,
    OPT_RATE,
    OPT_RESOURCES,
    OPT_NO_RESOURCES,
    OPT_ENERGY,
    OPT_BASELINE,
    OPT_COUNTRY,
    OPT_INTENSITY,
    OPT_PUE,
    OPT_WUE,
    OPT_SPOOL,
    OPT_SPOOL_LIMIT,
    OPT_SHIP,
    OPT_KEEP,
    OPT_LIVE,
    OPT_RING,
    OPT_BLOCK,
    OPT_BUFFER,
    OPT_PAUSED,
    OPT_QUIET
};

static const struct vti_option options[] = {
    [OPT_OUTPUT] = {'o', "output", "FILE", "the recording, or a profile (.prof, .lprof)"},
    [OPT_FORCE] = {'f', "force", NULL, "replace FILE if it exists"},
    [OPT_MODULE] = {'m', "module", "MODULE", "a Python module; ends our options"},
    [OPT_CODE] = {'c', "code", "CODE", "Python code; ends our options"},
    [OPT_PYTHON] = {0, "python", "PATH", "the Python to use (default python3)"},
    [OPT_BUILTINS] = {0, "builtins", NULL, "built-in functions of Python too"},
    [OPT_ONLY_MINE] = {0, "only-mine", NULL, "no functions of libraries"},
    [OPT_INCLUDE] = {0, "include", "GLOB", "only functions of these files"},
    [OPT_EXCLUDE] = {0, "exclude", "GLOB", "no functions of these files"},
    [OPT_TIMELINE] = {0, "timeline", NULL, "each call with its times, not only sums"},
    [OPT_LINES] = {'l', "lines", NULL, "lines of functions with @profile, instead of calls"},
    [OPT_LINES_OF] = {'p', "profile", "NAME", "the same for this module, class or function"},
    [OPT_CALLEES] = {0, "callees", NULL, "with -l: what each line calls, too"},
    [OPT_FUNCTIONS] = {0, "functions", NULL, "C functions of loaded libraries and children too"},
    [OPT_NO_FUNCTIONS] = {0, "no-functions", NULL, "trace points only"},
    [OPT_NATIVE] = {0, "native", NULL, "sample native stacks of any program, under its calls"},
    [OPT_RATE] = {0, "rate", "HZ", "samples for each second of CPU time (default 1000)"},
    [OPT_RESOURCES] = {0, "resources", "HZ", "readings of CPU, memory, I/O a second (default 10)"},
    [OPT_NO_RESOURCES] = {0, "no-resources", NULL, "no such readings"},
    [OPT_ENERGY] = {0, "energy", "[=HZ]", "joules: readings a second (10), CPU time of threads"},
    [OPT_BASELINE] = {0, "baseline", "TIME", "measure the machine at rest first, for TIME (10s)"},
    [OPT_COUNTRY] = {0, "country", "ISO", "where the power comes from (FRA), for CO2e"},
    [OPT_INTENSITY] = {0, "intensity", "G", "… or grams of CO2e for a kWh"},
    [OPT_PUE] = {0, "pue", "X", "power of the building for each of the computers"},
    [OPT_WUE] = {0, "wue", "L", "litres of water for a kWh"},
    [OPT_SPOOL] = {0, "spool", "DIR", "recordings of a minute each, for as long as it runs"},
    [OPT_SPOOL_LIMIT] = {0, "spool-limit", "SIZE", "of all in DIR (1G): the oldest give way"},
    [OPT_SHIP] = {0, "ship", "URL", "send them to a store meanwhile (see `venturi ship`)"},
    [OPT_KEEP] = {0, "keep", NULL, "with --ship: do not delete what is sent"},
    [OPT_LIVE] = {0, "live", "[=PORT]", "a dashboard beside it (see `venturi serve`)"},
    [OPT_RING] = {0, "ring", "TIME", "keep only the last TIME (30s), written at the end"},
    [OPT_BLOCK] = {0, "block", "TIME", "buffers full: wait up to TIME (10ms), then drop"},
    [OPT_BUFFER] = {0, "buffer", "SIZE", "shared memory for each process (default 64M)"},
    [OPT_PAUSED] = {0, "paused", NULL, "start with recording off (see `venturi control`)"},
    [OPT_QUIET] = {'q', "quiet", NULL, "on stderr only what went wrong, and --live's address"},
    {0, NULL, NULL, NULL}};

extern const struct vti_command vti_cmd_run;

struct run {
    struct vti_drain_options drain;
    struct vti_run_output output;
    struct vti_python python;
    struct vti_run_energy energy;
    struct vti_run_spool spool;
    struct vti_run_live live;
    char **words;   /* what was given, NULL-terminated */
    char **made;    /* owned: the command line of the interpreter that runs them; NULL: none does */
    char **program; /* what is started: one of the two */
    bool has_callees;     /* of lines */
    bool has_c_functions; /* also where the program itself was not compiled for them */
    bool has_samples;
    uint32_t sample_hz; /* 0: not said */
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

static bool take_size(const char *name, const char *text, uint64_t least, uint64_t *bytes)
{
    if (vti_parse_bytes(text, bytes) && *bytes >= least)
        return true;
    if (least > 1)
        vti_cmd_fail("run", "--%s %s: not a size like 500M, at least 1M", name, text);
    else
        vti_cmd_fail("run", "--%s %s: not a size like 64M", name, text);
    return false;
}

static bool take_rate(const char *name, const char *text, unsigned long least, unsigned long most,
                      uint32_t *hz)
{
    char *end;
    unsigned long value = strtoul(text, &end, 10);

    if (text[0] >= '0' && text[0] <= '9' && !*end && value >= least && value <= most) {
        *hz = (uint32_t)value;
        return true;
    }
    vti_cmd_fail("run", "--%s %s: not a whole number from %lu to %lu", name, text, least, most);
    return false;
}

/* Options that say which functions are recorded, and by which Python. */
static bool take_functions(struct run *run, int option, const char *value)
{
    switch (option) {
    case OPT_MODULE:
        run->python.module = value;
        return true;
    case OPT_CODE:
        run->python.code = value;
        return true;
    case OPT_PYTHON:
        run->python.interpreter = value;
        return true;
    case OPT_BUILTINS:
        run->python.has_builtins = true;
        return true;
    case OPT_ONLY_MINE:
        run->python.is_only_mine = true;
        return true;
    case OPT_INCLUDE:
        return vti_python_add_glob(&run->python.include, "include", value);
    case OPT_EXCLUDE:
        return vti_python_add_glob(&run->python.exclude, "exclude", value);
    case OPT_LINES:
        run->python.has_lines = true;
        return true;
    case OPT_LINES_OF:
        run->python.has_lines = true;
        return vti_python_add_names(&run->python.lines_of, value);
    case OPT_CALLEES:
        run->has_callees = true;
        return true;
    case OPT_FUNCTIONS:
        run->has_c_functions = true;
        return true;
    case OPT_NATIVE:
        run->has_samples = true;
        return true;
    case OPT_RATE:
        run->has_samples = true;
        return take_rate("rate", value, 1, MOST_HZ, &run->sample_hz);
    case OPT_TIMELINE:
        run->drain.kinds = VT_ON_SPANS | VT_ON_TIMELINE;
        return true;
    default:
        run->python.has_functions = false;
        return true;
    }
}

static bool take_energy(struct run *run, int option, const char *value)
{
    struct vti_energy_stated *stated = &run->energy.stated;

    switch (option) {
    case OPT_ENERGY:
        run->energy.is_on = true;
        return !value || take_rate("energy", value, 1, VTI_RESOURCES_MOST_HZ, &run->energy.hz);
    case OPT_BASELINE:
        return take_duration("baseline", value, &run->energy.baseline_ns);
    case OPT_COUNTRY:
        stated->country = value;
        return true;
    case OPT_INTENSITY:
        stated->intensity = value;
        return true;
    case OPT_PUE:
        stated->pue = value;
        return true;
    default:
        stated->wue = value;
        return true;
    }
}

static bool take_option(struct run *run, int option, const char *value)
{
    uint64_t ns;
    uint32_t port;

    switch (option) {
    case OPT_OUTPUT:
        run->output.asked = value;
        return true;
    case OPT_FORCE:
        run->output.force = true;
        return true;
    case OPT_RESOURCES:
        return take_rate("resources", value, 0, VTI_RESOURCES_MOST_HZ, &run->drain.resources_hz);
    case OPT_NO_RESOURCES:
        run->drain.resources_hz = 0;
        return true;
    case OPT_ENERGY:
    case OPT_BASELINE:
    case OPT_COUNTRY:
    case OPT_INTENSITY:
    case OPT_PUE:
    case OPT_WUE:
        return take_energy(run, option, value);
    case OPT_RING:
        return take_duration("ring", value, &run->drain.ring_ns);
    case OPT_BLOCK:
        if (!take_duration("block", value, &ns))
            return false;
        run->drain.block_ms = (uint32_t)(ns / 1000000);
        return true;
    case OPT_BUFFER:
        return take_size("buffer", value, 1, &run->drain.buffer_bytes);
    case OPT_SPOOL:
        run->spool.asked = value;
        return true;
    case OPT_SPOOL_LIMIT:
        return take_size("spool-limit", value, VTI_SPOOL_LEAST, &run->spool.limit);
    case OPT_SHIP:
        return vti_run_spool_take_url(&run->spool, value);
    case OPT_KEEP:
        run->spool.keeps = true;
        return true;
    case OPT_LIVE:
        run->live.is_on = true;
        run->live.port = value;
        return !value || take_rate("live", value, 0, 65535, &port);
    case OPT_PAUSED:
        run->drain.starts_off = true;
        return true;
    case OPT_QUIET:
        run->is_quiet = true;
        return true;
    default:
        return take_functions(run, option, value);
    }
}

/* Options that say which functions are recorded, where none are. */
static int check_lines(const struct run *run)
{
    const char *option = run->python.has_builtins   ? "builtins"
                         : run->python.is_only_mine ? "only-mine"
                         : run->python.include.len  ? "include"
                         : run->python.exclude.len  ? "exclude"
                                                    : NULL;

    if (run->has_callees && !run->python.has_lines)
        return vti_cmd_fail("run", "--callees: of lines, so it needs -l");
    if (run->python.has_lines && run->drain.kinds & VT_ON_TIMELINE)
        return vti_cmd_fail("run", "-l and --timeline: lines are counted, not recorded one by one");
    if (option && run->python.has_lines && !run->has_callees)
        return vti_cmd_fail("run", "--%s: is for functions; with -l it needs --callees", option);
    return 0;
}

/* What is to be started, and what becomes of it; all before anything is. */
static int prepare(struct run *run)
{
    char title[256];
    int code = vti_python_command(&run->python, run->words, &run->made);

    if (code)
        return code;
    run->program = run->made ? run->made : run->words;
    run->drain.command = run->program;
    vti_python_title(&run->python, run->words, title, sizeof title);
    code = vti_run_spool_prepare(&run->spool, &run->drain, title, run->output.asked);
    if (run->spool.is_on) {
        run->output.is_spool = true;
        run->output.is_shipped = run->spool.url != NULL;
        run->output.shown = run->spool.folder;
        run->output.fd = -1;
    }
    if (code || run->spool.is_on)
        return code;
    code = vti_run_output_name(&run->output, title, run->python.has_lines, run->has_callees);
    run->drain.output = run->output.recording;
    run->drain.force = run->output.force;
    run->drain.held = &run->output.fd;
    return code;
}

static int parse(struct run *run, int argc, char **argv)
{
    struct vti_args args;
    const char *value;
    int option = VTI_OPT_DONE;
    int code;

    run->python.has_functions = true;
    run->drain.kinds = VT_ON_SPANS | VT_ON_CALLS;
    run->drain.resources_hz = VTI_RESOURCES_HZ;
    vti_args_init(&args, &vti_cmd_run, argc, argv);
    while (!args.only_operands && (option = vti_args_next(&args, &value)) >= 0)
        if (!take_option(run, option, value))
            return VTI_EXIT_BAD;
    if (option == VTI_OPT_BAD)
        return VTI_EXIT_BAD;
    if (option == VTI_OPT_DONE)
        return vti_cmd_fail("run", "which program? venturi run [options] PROG [arguments]");
    run->words = argv + args.at - (option == VTI_OPT_OPERAND);
    code = check_lines(run);
    if (!code)
        code = vti_run_energy_prepare(&run->energy, &run->drain);
    if (code)
        return code;
    if (run->python.has_lines && !run->has_callees) /* what is not profiled runs at full speed */
        run->python.has_functions = false;
    if (!run->python.has_functions)
        run->drain.kinds = VT_ON_SPANS;
    if (run->python.has_lines)
        run->drain.kinds |= VT_ON_LINES;
    if (run->live.is_on && run->drain.ring_ns)
        return vti_cmd_fail("run", "--live and --ring: nothing is written before the end");
    if (run->has_samples && run->drain.kinds & VT_ON_TIMELINE)
        return vti_cmd_fail("run", "--native and --timeline: samples need the tree of calls");
    if (run->has_samples)
        run->drain.kinds |= VT_ON_CALLS;
    return prepare(run);
}

/* Helpers of a program, as Python's multiprocessing has them, end when they see that it has. */
static void await_helpers(struct vti_drain *drain)
{
    uint64_t until_ns = vti_clock_now_ns() + HELPERS_NS;

    while (vti_drain_alive(drain) && vti_clock_now_ns() < until_ns)
        vti_drain_step(drain, -1);
}

/* Nothing was started: nothing is left behind. */
static void drop(struct run *run, struct vti_drain *drain)
{
    vti_run_live_finish(&run->live);
    if (!run->spool.is_on) {
        vti_run_output_drop(&run->output);
        return;
    }
    vti_drain_drop(drain);
    vti_run_spool_drop(&run->spool);
}

/* Records until the program has ended. The exit code of the whole. */
static int record(struct run *run, struct vti_drain *drain)
{
    struct vti_run_wish wish = {
        run->program[0],       run->made != NULL,     run->has_c_functions, run->has_samples,
        run->python.has_lines, run->drain.starts_off, run->energy.is_on,    0,
        run->live.is_on};
    struct vti_drain_stats stats;
    struct vti_child child;
    bool has_package;
    int code;

    code = vti_run_spool_start(&run->spool);
    if (!code)
        code = vti_run_live_start(&run->live,
                                  run->spool.is_on ? run->spool.folder : run->output.recording);
    if (code) {
        drop(run, drain);
        return code;
    }
    if (run->python.lines_of.len && !run->made)
        vti_preload_warn_of_names(run->program[0]);
    setenv("VENTURI_SESSION", vti_drain_session(drain), 1);
    has_package = vti_python_environment(&run->python);
    if (run->python.has_functions)
        vti_preload_functions(run->program[0], run->has_c_functions, run->python.is_only_mine);
    if (run->has_samples || run->python.has_lines)
        vti_preload_samples(run->program[0], run->sample_hz, run->has_samples,
                            run->python.has_lines);
    code = vti_run_energy_rest(&run->energy, drain, run->is_quiet);
    if (code) {
        drop(run, drain);
        raise(code);
        return VTI_EXIT_SETUP;
    }
    code = vti_child_start(&child, run->program);
    if (code) {
        drop(run, drain);
        if (run->energy.is_on && !run->program[0][strspn(run->program[0], "0123456789")])
            vti_cmd_say("did you mean --energy=%s?", run->program[0]);
        return code;
    }
    if (!has_package && run->made)
        vti_cmd_warn("run", "no functions: our Python package is not where the tool is");
    vti_drain_watch(drain, child.pid);
    while (!vti_child_check(&child)) {
        vti_drain_step(drain, child.signal_fd);
        vti_run_spool_watch(&run->spool);
        vti_run_live_watch(&run->live);
    }
    vti_drain_note_end(drain);
    vti_child_reap(&child);
    vti_drain_note_exit(drain, child.pid, child.status, &child.usage);
    wish.exit_code = WIFEXITED(child.status) ? WEXITSTATUS(child.status) : 0;
    await_helpers(drain);
    code = vti_drain_close(drain, &stats);
    if (vti_run_output_finish(&run->output, !stats.calls && !stats.file.events, &code))
        vti_run_summary(&run->output, &stats, code, &wish, run->is_quiet);
    vti_run_live_watch(&run->live);
    vti_run_live_finish(&run->live);
    vti_run_spool_finish(&run->spool, &stats, child.signal_fd, run->is_quiet);
    return vti_child_exit(&child);
}

static int run_command(int argc, char **argv)
{
    struct run run = {0};
    struct vti_drain *drain = NULL;
    int code = parse(&run, argc, argv);

    if (code)
        goto out;
    code = vti_drain_create(&drain, &run.drain);
    if (code) {
        vti_cmd_error("run", code);
        code = VTI_EXIT_SETUP;
        goto out;
    }
    code = record(&run, drain);
    vti_drain_free(drain);
out:
    vti_buf_fini(&run.python.include);
    vti_buf_fini(&run.python.exclude);
    vti_buf_fini(&run.python.lines_of);
    free(run.spool.url);
    free(run.made);
    return code;
}

const struct vti_command vti_cmd_run = {
    .name = "run",
    .summary = "record a program",
    .usage = "[options] PROG|SCRIPT.py|-m MODULE|-c CODE [arguments]",
    .about = "Records the functions that a Python program calls, and the trace points that\n"
             "any program and its child processes hit, in one recording. Exit code, standard\n"
             "streams, signals and terminal are the program's own. Our own failures before it\n"
             "starts: 125 cannot record, 126 cannot execute PROG, 127 PROG not found.",
    .options = options,
    .stops_at_operand = true,
    .stops_after = "mc",
    .run = run_command,
};
