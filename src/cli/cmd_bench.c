/* cmd_bench.c - venturi bench: repeated runs of commands, kept for comparison. */
#include "base/error.h"
#include "base/file.h"
#include "cli/bench.h"
#include "cli/cmd.h"
#include "cli/render.h"
#include "cli/stop.h"
#include "perf/rules.h"
#include "stats/stats.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define RUNS 10
#define SUITE_RUNS 3
#define MOST_COMMANDS 16

enum {
    OPT_RUNS,
    OPT_CMD,
    OPT_INTERLEAVE,
    OPT_OUTPUT,
    OPT_FORCE,
    OPT_ITEMS,
    OPT_NO_COUNTS,
    OPT_RECORD,
    OPT_WARMUP,
    OPT_SUITE,
    OPT_JSON
};

static const struct vti_option options[] = {
    [OPT_RUNS] = {'n', "runs", "N", "so many runs of each command (10; --suite: 3)"},
    [OPT_CMD] = {'c', "cmd", "COMMAND", "a command as one text; may be repeated"},
    [OPT_INTERLEAVE] = {0, "interleave", NULL, "commands in turn, in random order"},
    [OPT_OUTPUT] = {'o', "output", "FILE", "keep every run (JSON; `venturi check` reads it)"},
    [OPT_FORCE] = {'f', "force", NULL, "replace FILE if it exists"},
    [OPT_ITEMS] = {0, "items", "N|PATTERN", "work of a run: a number, or where it is printed"},
    [OPT_NO_COUNTS] = {0, "no-counts", NULL, "no recorded runs for calls, spans, tasks, items"},
    [OPT_RECORD] = {0, "record", NULL, "record every run: times of spans and tasks, too"},
    [OPT_WARMUP] = {0, "warmup", "N", "runs before that do not count (1)"},
    [OPT_SUITE] = {0, "suite", "DIR", "all scripts of DIR, or those named: a row each"},
    [OPT_JSON] = {0, "json", NULL, "write JSON to standard output, not a table"},
    {0},
};

extern const struct vti_command vti_cmd_bench;

struct request {
    struct vti_command_line lines[MOST_COMMANDS];
    size_t count;
    size_t runs, warmup;
    const char *output, *items, *suite;
    char **words; /* what follows our options */
    bool interleaves, force, no_counts, records, is_json;
};

static int take_command(struct request *request, const char *text, char **words)
{
    int code;

    if (request->count == MOST_COMMANDS)
        return vti_cmd_fail("bench", "at most %d commands", MOST_COMMANDS);
    code = text ? vti_command_line_parse(&request->lines[request->count], text)
                : vti_command_line_words(&request->lines[request->count], words);
    request->count++;
    return code ? vti_cmd_error("bench", code) : 0;
}

static int take_number(const char *name, const char *text, size_t least, size_t *number)
{
    char *end;

    errno = 0;
    *number = strtoul(text, &end, 10);
    if (errno || *end || *text < '0' || *text > '9' || *number > VTI_STATS_MOST)
        return vti_cmd_fail("bench", "--%s: '%s' is no number of runs (at most %d)", name, text,
                            VTI_STATS_MOST);
    if (*number < least)
        return vti_cmd_fail("bench", "--%s: without a run nothing is measured", name);
    return 0;
}

static int take_option(struct request *request, int option, const char *value)
{
    switch (option) {
    case OPT_RUNS:
        return take_number("runs", value, 1, &request->runs);
    case OPT_WARMUP:
        return take_number("warmup", value, 0, &request->warmup);
    case OPT_CMD:
        return take_command(request, value, NULL);
    case OPT_INTERLEAVE:
        request->interleaves = true;
        break;
    case OPT_OUTPUT:
        request->output = value;
        break;
    case OPT_FORCE:
        request->force = true;
        break;
    case OPT_ITEMS:
        request->items = value;
        break;
    case OPT_NO_COUNTS:
        request->no_counts = true;
        break;
    case OPT_RECORD:
        request->records = true;
        break;
    case OPT_SUITE:
        request->suite = value;
        break;
    case OPT_JSON:
        request->is_json = true;
        break;
    }
    return 0;
}

/* What would come to light after minutes of measuring is looked at first. */
static int check_outputs(const struct request *request)
{
    int code = request->output ? vti_output_probe(request->output, request->force) : 0;

    for (size_t i = 0; i < request->count && !code; i++)
        code = vti_command_line_find(&request->lines[i]);
    return code ? vti_cmd_error("bench", code) : 0;
}

static int take_arguments(struct request *request, int argc, char **argv)
{
    static char *none[] = {NULL};
    struct vti_args args;
    const char *value;
    int option;
    int code = 0;

    request->words = none;
    vti_args_init(&args, &vti_cmd_bench, argc, argv);
    while (!code && (option = vti_args_next(&args, &value)) != VTI_OPT_DONE) {
        if (option == VTI_OPT_BAD)
            return VTI_EXIT_BAD;
        if (option == VTI_OPT_OPERAND) {
            request->words = argv + args.at - 1;
            break;
        }
        code = take_option(request, option, value);
    }
    if (!code && *request->words && !request->suite)
        code = take_command(request, NULL, request->words);
    if (!code && request->suite && request->count)
        code = vti_cmd_fail("bench", "either --suite or --cmd");
    if (!code && !request->suite && !request->count)
        code = vti_cmd_fail("bench", "which command? venturi bench -- CMD, or --suite DIR");
    if (!code && request->interleaves && request->count < 2)
        code = vti_cmd_fail("bench", "--interleave needs two commands or more: use --cmd");
    for (size_t i = 0; request->suite && request->words[i] && !code; i++)
        if (request->words[i][0] == '-')
            code = vti_cmd_fail("bench",
                                "%s: options go before the names: venturi bench --suite DIR %s …",
                                request->words[i], request->words[i]);
    return code ? code : check_outputs(request);
}

/* The order of one round: each once, shuffled. */
static void shuffle(struct vti_bencher *bencher, size_t *order, size_t count)
{
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count; i > 1; i--) {
        size_t j = vti_bencher_random(bencher, (unsigned)i);
        size_t kept = order[i - 1];

        order[i - 1] = order[j];
        order[j] = kept;
    }
}

static int prepare(struct vti_bencher *bencher, const struct request *request,
                   struct vti_bench *bench)
{
    char interpreter[VTI_INTERPRETER_BYTES];
    int code = vti_bencher_machine(bencher, bench);

    for (size_t i = 0; i < request->count && !code; i++) {
        const struct vti_command_line *line = &request->lines[i];
        struct vti_bench_entry *entry = vti_bench_add(bench, request->count > 1 ? line->text : "",
                                                      line->text);

        vti_command_line_interpreter(line, interpreter);
        if (!entry || vti_bench_text(&entry->interpreter, interpreter) ||
            vti_bench_text(&entry->mode, "plain"))
            return vti_cmd_error("bench", VTI_E_NOMEM);
    }
    bench->is_paired = request->interleaves;
    return code;
}

/* Runs whose figures nobody keeps: files get into the cache, .pyc files are made. */
static int warm_up(struct vti_bencher *bencher, const struct request *request)
{
    struct vti_bench scratch = {0};
    int code = 0;

    for (size_t i = 0; i < request->count && !code; i++) {
        struct vti_bench_entry *entry = vti_bench_add(&scratch, "", "");

        for (size_t j = 0; j < request->warmup && !code && entry; j++)
            code = vti_bencher_run(bencher, &request->lines[i], entry);
    }
    vti_bench_fini(&scratch);
    return code;
}

static int measure(struct vti_bencher *bencher, const struct request *request,
                   struct vti_bench *bench)
{
    size_t order[MOST_COMMANDS];
    char name[32];
    int code = warm_up(bencher, request);

    for (size_t i = 0; i < request->count && !code && !request->no_counts && !request->records;
         i++) {
        snprintf(name, sizeof name, "counts-%zu", i);
        code = vti_bencher_count(bencher, &request->lines[i], &bench->entries[i], name);
    }
    for (size_t run = 0; run < request->runs * request->count && !code; run++) {
        size_t at = request->interleaves ? run % request->count : run / request->runs;

        if (request->interleaves && !at)
            shuffle(bencher, order, request->count);
        if (request->interleaves)
            at = order[at];
        code = vti_bencher_run(bencher, &request->lines[at], &bench->entries[at]);
    }
    return code;
}

static int show(const struct request *request, const struct vti_bench *bench)
{
    struct vti_buf json = {0};
    int code;

    if (!request->is_json) {
        code = vti_bench_print(bench, stdout);
        return code ? vti_cmd_error("bench", code) : 0;
    }
    vti_bench_write(bench, &json);
    if (!json.failed)
        json.len--; /* the line end is vti_print_json()'s */
    code = vti_print_json(&json);
    return code ? vti_cmd_error("bench", code) : 0;
}

/* Whoever keeps it means to compare it. */
static void say_few(const struct vti_bench *bench, const char *path)
{
    const struct vti_rules rules = VTI_RULES;
    size_t least = SIZE_MAX;

    for (size_t i = 0; i < bench->count; i++)
        least = vti_bench_runs(&bench->entries[i]) < least ? vti_bench_runs(&bench->entries[i])
                                                           : least;
    if (least && least < rules.least_apart)
        vti_cmd_say("%s: %zu run%s of each; `venturi check` judges times from %zu on (-n %zu)",
                    path, least, least == 1 ? "" : "s", rules.least_apart, rules.least_apart);
}

static int run_commands(struct vti_bencher *bencher, struct request *request,
                        struct vti_bench *bench)
{
    int code = prepare(bencher, request, bench);

    if (!code)
        code = measure(bencher, request, bench);
    return code ? code : show(request, bench);
}

static int run(int argc, char **argv)
{
    struct request request = {.warmup = 1};
    struct vti_bencher bencher = {0};
    struct vti_bench bench = {0};
    int code = take_arguments(&request, argc, argv);

    if (!code)
        code = vti_bencher_init(&bencher, "bench", request.items);
    if (!code) {
        const struct vti_suite_wish wish = {request.suite, request.words,
                                            request.runs ? request.runs : SUITE_RUNS,
                                            request.is_json};

        vti_stop_watch_all();
        bencher.records_all = request.records;
        request.runs = request.runs ? request.runs : RUNS;
        code = request.suite ? vti_bench_suite(&bencher, &bench, &wish)
                             : run_commands(&bencher, &request, &bench);
        if (code != VTI_EXIT_BAD && request.output) {
            int saved = vti_bench_save("bench", &bench, request.output, request.force);

            code = saved ? saved : code;
            if (!saved)
                say_few(&bench, request.output);
        }
    }
    vti_bencher_fini(&bencher);
    vti_bench_fini(&bench);
    for (size_t i = 0; i < request.count; i++)
        vti_command_line_fini(&request.lines[i]);
    vti_stop_unwatch();
    return code;
}

const struct vti_command vti_cmd_bench = {
    .name = "bench",
    .summary = "run commands again and again, and keep what they used",
    .usage = "[options] [--] CMD | --cmd CMD … | --suite DIR [NAME…]",
    .about = "CPU time, wall time and memory of every run, and calls, spans, tasks and items\n"
             "from a recorded one; `venturi check` compares. Of a suite: items a second (raw,\n"
             "of those that ran to the end, for one core), joules and the hottest line.\n"
             "A command that fails, or a script that measures nothing: exit code 2.",
    .options = options,
    .stops_at_operand = true,
    .run = run,
};
