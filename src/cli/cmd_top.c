/* cmd_top.c - `venturi top`: the words are looked at here, the screen is another program's (venturi-top), because the tool itself knows no terminal. */
#include "base/beside.h"
#include "cli/cmd.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

static const struct vti_option options[] = {
    {'b', "batch", NULL, "plain text on standard output, no keys"},
    {'n', "rounds", "N", "with -b: stop after N looks"},
    {'d', "delay", "S", "look every S seconds (1)"},
    {'s', "sort", "COLUMN", "sort by the column of this title"},
    {'v', "view", "VIEW", "begin with this view"},
    {'f', "filter", "TEXT", "only names that contain TEXT"},
    {'l', "limit", "N", "with -b: show N rows (20); 0: all"},
    {'o', "output", "FILE", "keep PROG's recording in FILE"},
    {0, NULL, NULL, NULL}};

static int run(int argc, char **argv);

const struct vti_command vti_cmd_top = {
    .name = "top",
    .summary = "what a program does now, in the terminal",
    .usage = "[options] FILE|DIR|PID|tcp://HOST:PORT | -- PROG [args]",
    .about = "Follows a recording that grows, a folder of them, a process, a dask scheduler,\n"
             "or records PROG and follows that. Views: spans, functions, threads, tasks,\n"
             "workers, steps, processes.\n"
             "\n"
             "Keys: q quit, Tab next view, s sort, / filter, p pause, r sums begin anew,\n"
             "t threads, + - faster and slower, h all of them.",
    .options = options,
    .stops_at_operand = false,
    .run = run,
};

static int check_words(int argc, char **argv)
{
    struct vti_args args;
    const char *value;
    unsigned operands = 0;
    int found;

    vti_args_init(&args, &vti_cmd_top, argc, argv);
    while ((found = vti_args_next(&args, &value)) != VTI_OPT_DONE) {
        if (found == VTI_OPT_BAD)
            return VTI_EXIT_BAD;
        operands += found == VTI_OPT_OPERAND;
        if (args.only_operands && operands)
            break; /* the rest is PROG's */
    }
    if (!operands)
        return vti_cmd_fail("top", "what? a recording, a process id, or -- PROG");
    if (operands > 1 && !args.only_operands)
        return vti_cmd_fail("top", "one FILE, DIR or PID, or -- before a program");
    return 0;
}

static int run(int argc, char **argv)
{
    static const char *const places[] = {"venturi-top", "../libexec/venturi/venturi-top"};
    char program[PATH_MAX];
    int code = check_words(argc, argv);

    if (code)
        return code;
    if (!vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program))
        return vti_cmd_fail("top", "venturi-top is not there (it is built with ncurses)");
    argv[0] = program;
    execv(program, argv);
    return vti_cmd_fail("top", "%s: %s", program, strerror(errno));
}
