/* cmd_check.c - venturi check: did it get slower? */
#include "base/error.h"
#include "base/file.h"
#include "cli/check.h"
#include "cli/cmd.h"
#include "cli/stop.h"
#include "stats/stats.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 10

enum {
    OPT_BASE_CMD,
    OPT_NEW_CMD,
    OPT_REV,
    OPT_SETUP,
    OPT_BASELINE,
    OPT_UPDATE,
    OPT_BUDGET,
    OPT_PAIRS,
    OPT_RUNS,
    OPT_THRESHOLD,
    OPT_GATE,
    OPT_ITEMS,
    OPT_NO_COUNTS,
    OPT_RECORD,
    OPT_FORCE,
    OPT_JSON,
    OPT_MARKDOWN,
    OPT_JUNIT,
    OPT_SELFTEST
};

static const struct vti_option options[] = {
    [OPT_BASE_CMD] = {0, "base-cmd", "COMMAND", "run this and --new-cmd in turn"},
    [OPT_NEW_CMD] = {0, "new-cmd", "COMMAND", "what it is compared with"},
    [OPT_REV] = {0, "rev", "BASE..HEAD", "run CMD in both revisions, in turn"},
    [OPT_SETUP] = {0, "setup", "COMMAND", "with --rev: run first in each, to build it"},
    [OPT_BASELINE] = {0, "baseline", "FILE", "compare CMD or a file with this bench"},
    [OPT_UPDATE] = {0, "update", NULL, "write the baseline instead of comparing"},
    [OPT_BUDGET] = {0, "budget", "LIMIT", "such as \"step:p99<50ms\"; may be repeated"},
    [OPT_PAIRS] = {0, "pairs", "MIN..MAX", "pairs of runs (8..40)"},
    [OPT_RUNS] = {'n', "runs", "N", "runs for a baseline, or for budgets only (10)"},
    [OPT_THRESHOLD] = {0, "threshold", "PCT", "what counts as slower (5; not in turn: 10)"},
    [OPT_GATE] = {0, "gate", "wall|rss", "wall time or memory decides, too; may be repeated"},
    [OPT_ITEMS] = {0, "items", "N|PATTERN", "work of a run: a number, or where it is printed"},
    [OPT_NO_COUNTS] = {0, "no-counts", NULL, "no recorded runs for counts"},
    [OPT_RECORD] = {0, "record", NULL, "record every run: spans and tasks decide, too"},
    [OPT_FORCE] = {0, "force", NULL, "compare whatever speaks against it"},
    [OPT_JSON] = {0, "json", NULL, "write JSON"},
    [OPT_MARKDOWN] = {0, "markdown", NULL, "write Markdown, for a pull request"},
    [OPT_JUNIT] = {0, "junit", "FILE", "write JUnit's XML to FILE, too"},
    [OPT_SELFTEST] = {0, "selftest", "N", "compare CMD with itself N times"},
    {0},
};

extern const struct vti_command vti_cmd_check;

/* ---- arguments ----------------------------------------------------------------------------------- */

static int take_pairs(struct vti_checking *checking, const char *text)
{
    struct vti_rules *rules = &checking->options.rules;
    char *end;

    errno = 0;
    rules->least = rules->most = strtoul(text, &end, 10);
    if (!strncmp(end, "..", 2))
        rules->most = strtoul(end + 2, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || rules->most > VTI_STATS_MOST ||
        rules->most < rules->least)
        return vti_cmd_fail("check", "--pairs: '%s' is not MIN..MAX (at most %d)", text,
                            VTI_STATS_MOST);
    if (rules->least < 7) /* 2^-7 is the first below 1 % */
        return vti_cmd_fail("check", "--pairs: %zu pairs prove nothing, it takes 7 at least",
                            rules->least);
    return 0;
}

static int take_threshold(struct vti_checking *checking, const char *text)
{
    char *end;
    double percent = strtod(text, &end);

    if (*end == '%')
        end++;
    if (*end || end == text || !(percent >= 0 && percent <= 1000))
        return vti_cmd_fail("check", "--threshold: '%s' is no percentage", text);
    checking->options.rules.slower = checking->options.rules.apart = percent / 100;
    checking->options.rules.part = fmax(checking->options.rules.part, percent / 100);
    return 0;
}

static int take_runs(struct vti_checking *checking, const char *text)
{
    char *end;

    errno = 0;
    checking->runs = strtoul(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || checking->runs > VTI_STATS_MOST ||
        !checking->runs)
        return vti_cmd_fail("check", "--runs: '%s' is no number of runs (1 to %d)", text,
                            VTI_STATS_MOST);
    return 0;
}

static int take_line(struct vti_command_line *line, const char *text)
{
    int code = line->words ? vti_fail(VTI_E_USAGE, "each command only once")
                           : vti_command_line_parse(line, text);

    return code ? vti_cmd_error("check", code) : 0;
}

static int take_option(struct vti_checking *checking, int option, const char *value,
                       const char **items)
{
    char *end;

    switch (option) {
    case OPT_BASE_CMD:
        return take_line(&checking->lines[0], value);
    case OPT_NEW_CMD:
        return take_line(&checking->lines[1], value);
    case OPT_PAIRS:
        checking->asks_times = true;
        return take_pairs(checking, value);
    case OPT_RUNS:
        return take_runs(checking, value);
    case OPT_GATE:
        checking->asks_times = true;
        checking->options.gates |= 1u << (*value == 'w' ? VTI_QUANTITY_WALL : VTI_QUANTITY_MEMORY);
        break;
    case OPT_THRESHOLD:
        return take_threshold(checking, value);
    case OPT_BUDGET:
        return vti_check_take_budget(checking, value);
    case OPT_SELFTEST:
        checking->selftest = strtoul(value, &end, 10);
        if (*end || !checking->selftest || checking->selftest > VTI_STATS_MOST)
            return vti_cmd_fail("check", "--selftest: '%s' is no number of comparisons", value);
        break;
    case OPT_REV:
        checking->rev = value;
        break;
    case OPT_SETUP:
        checking->setup = value;
        break;
    case OPT_BASELINE:
        checking->baseline = value;
        break;
    case OPT_UPDATE:
        checking->updates = true;
        break;
    case OPT_ITEMS:
        *items = value;
        break;
    case OPT_NO_COUNTS:
        checking->bencher.no_counts = true;
        break;
    case OPT_RECORD:
        checking->bencher.records_all = true;
        break;
    case OPT_FORCE:
        checking->options.is_forced = true;
        break;
    case OPT_JSON:
        checking->is_json = true;
        break;
    case OPT_MARKDOWN:
        checking->is_markdown = true;
        break;
    case OPT_JUNIT:
        checking->junit = value;
        break;
    }
    return 0;
}

/* CMD stands for both sides with --rev and --selftest, else for the new one. */
static int take_command(struct vti_checking *checking, char **words)
{
    bool is_both = checking->rev || checking->selftest;
    int code = 0;

    if (checking->lines[0].words || checking->lines[1].words)
        return vti_cmd_fail("check", "either --base-cmd and --new-cmd, or -- CMD");
    for (int side = is_both ? 0 : 1; side < 2 && !code; side++)
        code = vti_command_line_words(&checking->lines[side], words);
    return code ? vti_cmd_error("check", code) : 0;
}

static int check_arguments(const struct vti_checking *checking)
{
    bool has_command = checking->lines[1].words;

    if (checking->is_json && checking->is_markdown)
        return vti_cmd_fail("check", "either --json or --markdown");
    if (checking->setup && !checking->rev)
        return vti_cmd_fail("check", "--setup goes with --rev");
    if (checking->updates && !checking->baseline)
        return vti_cmd_fail("check", "--update needs to know which: --baseline FILE");
    if ((checking->rev || checking->selftest) && !has_command)
        return vti_cmd_fail("check", "which command? venturi check %s -- CMD",
                            checking->rev ? "--rev BASE..HEAD" : "--selftest N");
    if ((checking->lines[0].words != NULL) > has_command)
        return vti_cmd_fail("check", "--base-cmd needs --new-cmd");
    if (has_command && checking->file_count)
        return vti_cmd_fail("check", "either files or a command, not both");
    if (checking->runs && (checking->lines[0].words || !has_command))
        return vti_cmd_fail("check", "--runs is for CMD with --baseline or --budget; runs in turn: "
                                     "--pairs");
    if (checking->runs && checking->baseline &&
        checking->runs < checking->options.rules.least_apart)
        return vti_cmd_fail("check", "--runs: a baseline takes %zu runs at least",
                            checking->options.rules.least_apart);
    if (checking->baseline && (checking->file_count > 1 || checking->lines[0].words))
        return vti_cmd_fail("check", "a baseline is compared with one command or one file");
    if (has_command && !checking->lines[0].words && !checking->baseline && !checking->budget_count)
        return vti_cmd_fail("check", "compare it with what? --base-cmd, --rev, --baseline or "
                                     "--budget");
    if (!has_command && !checking->file_count)
        return vti_cmd_fail("check", "which two? venturi check BASE NEW, or --base-cmd and "
                                     "--new-cmd, or --rev BASE..HEAD -- CMD");
    return 0;
}

/* What would come to light after minutes of measuring is looked at first. */
static int check_outputs(const struct vti_checking *checking)
{
    int code = 0;

    if (checking->junit)
        code = vti_output_probe(checking->junit, true);
    if (!code && checking->updates)
        code = vti_output_probe(checking->baseline, true);
    for (int side = 0; side < 2 && !code && !checking->rev; side++)
        if (checking->lines[side].words)
            code = vti_command_line_find(&checking->lines[side]);
    return code ? vti_cmd_error("check", code) : 0;
}

static int take_arguments(struct vti_checking *checking, int argc, char **argv, const char **items)
{
    struct vti_args args;
    const char *value;
    int option;
    int code = 0;

    vti_args_init(&args, &vti_cmd_check, argc, argv);
    while (!code && (option = vti_args_next(&args, &value)) != VTI_OPT_DONE) {
        if (option == VTI_OPT_BAD)
            return VTI_EXIT_BAD;
        if (option != VTI_OPT_OPERAND) {
            code = take_option(checking, option, value, items);
        } else if (args.only_operands) {
            code = take_command(checking, argv + args.at - 1);
            break;
        } else if (checking->file_count == 2) {
            return vti_cmd_fail("check", "one BASE and one NEW; a command goes behind --");
        } else {
            checking->files[checking->file_count++] = value;
        }
    }
    if (!code)
        code = check_arguments(checking);
    return code ? code : check_outputs(checking);
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static int measure(struct vti_checking *checking)
{
    if (checking->selftest)
        return vti_check_selftest(checking);
    if (checking->baseline)
        return vti_check_baseline(checking);
    if (checking->rev)
        return vti_check_revisions(checking);
    if (checking->lines[0].words) {
        checking->options.any_command = true;
        return vti_check_live(checking);
    }
    return checking->lines[1].words ? vti_check_budgets_live(checking) : vti_check_files(checking);
}

static int show(struct vti_checking *checking)
{
    int code = checking->is_json       ? vti_check_print_json(checking)
               : checking->is_markdown ? vti_check_print_markdown(checking)
                                       : vti_check_print(checking);

    fflush(stdout);
    if (!code && checking->junit)
        code = vti_check_write_junit(checking, checking->junit);
    return code ? vti_cmd_error("check", code) : checking->exit_code;
}

static void release(struct vti_checking *checking)
{
    vti_bencher_fini(&checking->bencher);
    vti_bench_fini(&checking->base);
    vti_bench_fini(&checking->now);
    vti_comparison_fini(&checking->comparison);
    vti_comparison_fini(&checking->first);
    for (size_t i = 0; i < checking->reason_count; i++)
        free(checking->reasons[i].text);
    free(checking->reasons);
    for (int side = 0; side < 2; side++) {
        vti_command_line_fini(&checking->lines[side]);
        free(checking->names[side]);
        free(checking->recordings[side]);
    }
}

static int run(int argc, char **argv)
{
    struct vti_checking checking = {.options = {.rules = VTI_RULES}};
    const char *items = NULL;
    int code = take_arguments(&checking, argc, argv, &items);

    if (!code) {
        struct vti_bencher wished = checking.bencher;

        code = vti_bencher_init(&checking.bencher, "check", items);
        checking.bencher.no_counts = wished.no_counts;
        checking.bencher.records_all = wished.records_all;
        checking.bencher.meters = wished.meters;
    }
    if (!code) {
        checking.runs = checking.runs ? checking.runs : RUNS;
        vti_stop_watch_all();
        code = measure(&checking);
    }
    if (!code && !checking.selftest && !checking.updates) {
        vti_check_budgets(&checking);
        code = vti_check_explain(&checking);
        vti_check_conclude(&checking);
        if (!code)
            code = show(&checking);
    }
    release(&checking);
    vti_stop_unwatch();
    return code;
}

const struct vti_command vti_cmd_check = {
    .name = "check",
    .summary = "did it get slower? counts, then times, then budgets",
    .usage = "[options] BASE NEW | [options] -- CMD",
    .about = "Compares recordings, benches, or commands that it runs in turn until it is\n"
             "decided; a regression is measured again before it is called one. Exit code 0:\n"
             "no regression, 1: a confirmed one, 2: an error, 3: inconclusive or not\n"
             "comparable. docs/check.md has all thresholds.",
    .options = options,
    .run = run,
};
