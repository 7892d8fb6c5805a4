/*
 * check_live.c - two commands in turn until it is decided.
 *
 * A pair is one run of each, in random order: what disturbs the machine disturbs both. It begins with a few pairs and goes on while
 * nothing is decided; a regression is measured again from nothing before it is called one.
 */
#include "base/error.h"
#include "cli/check.h"
#include "cli/cmd.h"
#include "cli/prose.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int start_side(struct vti_checking *checking, struct vti_bench *bench, int side)
{
    const struct vti_command_line *line = &checking->lines[side];
    struct vti_bench_entry *entry;
    char interpreter[VTI_INTERPRETER_BYTES];
    int code = vti_bencher_machine(&checking->bencher, bench);

    entry = code ? NULL : vti_bench_add(bench, "", line->text);
    if (!entry)
        return code ? code : vti_cmd_error("check", VTI_E_NOMEM);
    vti_command_line_interpreter(line, interpreter);
    if (vti_bench_text(&entry->interpreter, interpreter) || vti_bench_text(&entry->mode, "plain"))
        return vti_cmd_error("check", VTI_E_NOMEM);
    return 0;
}

/* One run of each that nobody counts, then those that are recorded. */
static int prepare(struct vti_checking *checking)
{
    static const char *const names[2] = {"base", "new"};
    int code = 0;

    for (int side = 0; side < 2 && !code; side++) {
        struct vti_bench scratch = {0};
        struct vti_bench *bench = side ? &checking->now : &checking->base;
        struct vti_bench_entry *entry = vti_bench_add(&scratch, "", "");

        code = start_side(checking, bench, side);
        if (!code && entry)
            code = vti_bencher_run(&checking->bencher, &checking->lines[side], entry);
        vti_bench_fini(&scratch);
        if (code || checking->bencher.no_counts || checking->bencher.records_all)
            continue;
        code = vti_bencher_count(&checking->bencher, &checking->lines[side], &bench->entries[0],
                                 names[side]);
        if (!code)
            checking->recordings[side] = vti_bencher_path(&checking->bencher,
                                                          side ? "new.vt" : "base.vt");
    }
    if (!code && checking->bencher.meters && !checking->bencher.records_all)
        code = vti_bencher_meter(&checking->bencher, &checking->lines[1],
                                 &checking->now.entries[0]);
    return code;
}

static int run_pair(struct vti_checking *checking)
{
    int first = (int)vti_bencher_random(&checking->bencher, 2);
    int code = 0;

    for (int i = 0; i < 2 && !code; i++) {
        int side = first ^ i;
        struct vti_bench *bench = side ? &checking->now : &checking->base;

        code = vti_bencher_run(&checking->bencher, &checking->lines[side], &bench->entries[0]);
    }
    return code;
}

void vti_check_forget(const struct vti_bencher *bencher, struct vti_bench_entry *entry)
{
    bool has_items = bencher->items.count > 0 || bencher->items.has_pattern;

    for (size_t i = 0; i < entry->count; i++) {
        enum vti_quantity_kind kind = entry->quantities[i].kind;
        bool stays = kind == VTI_QUANTITY_COUNT || kind == VTI_QUANTITY_VALUE ||
                     kind == VTI_QUANTITY_ENERGY || (kind == VTI_QUANTITY_ITEMS && !has_items);

        if (bencher->records_all || !stays)
            entry->quantities[i].count = 0;
    }
    if (bencher->records_all)
        entry->recorded = 0;
}

/* No more runs change what counts say; the first ones only tell what it costs. */
static bool is_over(const struct vti_checking *checking)
{
    return !checking->asks_times && vti_check_worse_count(&checking->comparison);
}

static int measure_round(struct vti_checking *checking, size_t *pairs)
{
    const struct vti_rules *rules = &checking->options.rules;
    size_t wanted = rules->least;
    int code = 0;

    *pairs = 0;
    while (!code) {
        for (; *pairs < wanted && !code; ++*pairs)
            code = run_pair(checking);
        if (!code)
            code = vti_check_compare(checking);
        if (code || *pairs >= rules->most || is_over(checking) ||
            vti_check_times(&checking->comparison) != VTI_VERDICT_UNDECIDED)
            return code;
        wanted = *pairs + VTI_RULES_STEP < rules->most ? *pairs + VTI_RULES_STEP : rules->most;
    }
    return code;
}

void vti_check_keep_first(struct vti_checking *checking)
{
    vti_comparison_fini(&checking->first);
    checking->first = checking->comparison;
    checking->comparison = (struct vti_comparison){0};
}

static bool was_worse(const struct vti_comparison *first, const struct vti_compared *row)
{
    for (size_t i = 0; i < first->count; i++)
        if (!strcmp(first->rows[i].name, row->name) && !strcmp(first->rows[i].entry, row->entry))
            return first->rows[i].gates && first->rows[i].verdict == VTI_VERDICT_WORSE;
    return false;
}

void vti_check_confirm(struct vti_checking *checking)
{
    struct vti_comparison *comparison = &checking->comparison;

    for (size_t i = 0; i < comparison->count; i++) {
        struct vti_compared *row = &comparison->rows[i];

        if (row->gates && row->kind != VTI_QUANTITY_COUNT && row->verdict == VTI_VERDICT_WORSE &&
            !was_worse(&checking->first, row))
            row->verdict = VTI_VERDICT_UNDECIDED;
    }
    checking->is_confirmed = vti_check_times(comparison) == VTI_VERDICT_WORSE;
    checking->is_refuted = !checking->is_confirmed;
}

static int name_sides(struct vti_checking *checking)
{
    for (int side = 0; side < 2; side++)
        if (!checking->names[side] && !(checking->names[side] = strdup(checking->lines[side].text)))
            return vti_cmd_error("check", VTI_E_NOMEM);
    return 0;
}

int vti_check_live(struct vti_checking *checking)
{
    int code = name_sides(checking);

    checking->has_base = checking->is_live = true;
    checking->options.is_paired = true;
    for (int side = 0; side < 2 && !code; side++) { /* also what --setup should have made */
        code = vti_command_line_find(&checking->lines[side]);
        code = code ? vti_cmd_error("check", code) : 0;
    }
    if (!code)
        code = prepare(checking);
    if (!code)
        code = measure_round(checking, &checking->pairs[0]);
    if (!code && is_over(checking)) {
        vti_buf_printf(&checking->comparison.notes,
                       "counts have decided, so times were measured in %zu pairs only: --pairs "
                       "%zu..%zu goes on\n",
                       checking->pairs[0], checking->options.rules.least,
                       checking->options.rules.most);
        return 0;
    }
    if (code || vti_check_times(&checking->comparison) != VTI_VERDICT_WORSE)
        return code;
    vti_check_keep_first(checking);
    vti_check_forget(&checking->bencher, &checking->base.entries[0]);
    vti_check_forget(&checking->bencher, &checking->now.entries[0]);
    code = measure_round(checking, &checking->pairs[1]);
    if (!code)
        vti_check_confirm(checking);
    return code;
}

/* ---- the command against itself ------------------------------------------------------------------ */

static int by_value(const void *left, const void *right)
{
    double a = *(const double *)left;
    double b = *(const double *)right;

    return (a > b) - (a < b);
}

static void forget_round(struct vti_checking *checking)
{
    vti_bench_fini(&checking->base);
    vti_bench_fini(&checking->now);
    vti_comparison_fini(&checking->comparison);
    vti_comparison_fini(&checking->first);
    checking->is_confirmed = checking->is_refuted = false;
    for (int side = 0; side < 2; side++) {
        free(checking->recordings[side]);
        checking->recordings[side] = NULL;
    }
}

/* The interval of CPU time tells what could have been found: its width, and the threshold above it. */
static double detectable(const struct vti_comparison *comparison)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (!strcmp(comparison->rows[i].name, "cpu"))
            return comparison->rows[i].ratio / comparison->rows[i].low *
                       (1 + comparison->rows[i].threshold) -
                   1;
    return NAN;
}

static void say_selftest(size_t count, size_t alarms, size_t unsure, double least)
{
    char text[256];

    snprintf(text, sizeof text,
             "%zu comparisons of the command with itself: %zu false alarm%s, %zu inconclusive. A "
             "change of about %+.0f %% in CPU time would be found here half of the times at least.",
             count, alarms, alarms == 1 ? "" : "s", unsure, 100 * least);
    vti_prose_print(text, 0);
}

int vti_check_selftest(struct vti_checking *checking)
{
    size_t alarms = 0;
    size_t unsure = 0;
    double *least = calloc(checking->selftest, sizeof *least);
    int code = least ? 0 : vti_cmd_error("check", VTI_E_NOMEM);

    checking->bencher.no_counts = true;
    for (size_t i = 0; i < checking->selftest && !code; i++) {
        forget_round(checking);
        code = vti_check_live(checking);
        if (code)
            break;
        vti_check_conclude(checking);
        alarms += checking->exit_code == VTI_EXIT_NO;
        unsure += checking->exit_code == VTI_EXIT_UNSURE;
        least[i] = detectable(&checking->comparison);
    }
    if (!code) {
        qsort(least, checking->selftest, sizeof *least, by_value);
        say_selftest(checking->selftest, alarms, unsure, least[checking->selftest / 2]);
        code = alarms ? VTI_EXIT_NO : VTI_EXIT_OK;
    }
    free(least);
    return code;
}
