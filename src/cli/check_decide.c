/* check_decide.c - from comparison and budgets to one exit code and one sentence. */
#include "base/error.h"
#include "cli/check.h"
#include "cli/cmd.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int vti_check_compare(struct vti_checking *checking)
{
    int code;

    vti_comparison_fini(&checking->comparison);
    checking->options.no_counts = checking->bencher.no_counts;
    code = vti_compare(&checking->comparison, &checking->base, &checking->now, &checking->options);
    return code ? vti_cmd_error("check", code) : 0;
}

enum vti_verdict vti_check_times(const struct vti_comparison *comparison)
{
    enum vti_verdict verdict = VTI_VERDICT_SAME;

    for (size_t i = 0; i < comparison->count; i++) {
        const struct vti_compared *row = &comparison->rows[i];

        if (!row->gates || row->kind == VTI_QUANTITY_COUNT)
            continue;
        if (row->verdict == VTI_VERDICT_WORSE)
            return VTI_VERDICT_WORSE;
        if (row->verdict == VTI_VERDICT_UNDECIDED || row->verdict == VTI_VERDICT_TOO_FEW)
            verdict = row->verdict;
    }
    return verdict;
}

/* ---- the end ------------------------------------------------------------------------------------- */

void vti_check_add(struct vti_checking *checking, const char *format, ...)
{
    size_t used = strlen(checking->why);
    va_list args;

    va_start(args, format);
    vsnprintf(checking->why + used, sizeof checking->why - used, format, args);
    va_end(args);
}

static const struct vti_compared *first_of(const struct vti_comparison *comparison,
                                           enum vti_verdict verdict)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->rows[i].gates && comparison->rows[i].verdict == verdict)
            return &comparison->rows[i];
    return NULL;
}

/* The first of the counts, or the first of the times. */
static const struct vti_compared *first_worse(const struct vti_comparison *comparison,
                                              bool is_count)
{
    for (size_t i = 0; i < comparison->count; i++) {
        const struct vti_compared *row = &comparison->rows[i];

        if (row->gates && row->verdict == VTI_VERDICT_WORSE &&
            (row->kind == VTI_QUANTITY_COUNT) == is_count)
            return row;
    }
    return NULL;
}

const struct vti_compared *vti_check_worse_count(const struct vti_comparison *comparison)
{
    return first_worse(comparison, true);
}

size_t vti_check_same_counts(const struct vti_comparison *comparison)
{
    size_t same = 0;

    for (size_t i = 0; i < comparison->count; i++) {
        const struct vti_compared *row = &comparison->rows[i];

        same += row->kind == VTI_QUANTITY_COUNT && row->gates && row->now == row->base;
    }
    return same;
}

static void say_worse(struct vti_checking *checking)
{
    const struct vti_compared *count = first_worse(&checking->comparison, true);
    const struct vti_compared *time = first_worse(&checking->comparison, false);
    char change[VTI_CHANGE_BYTES];

    checking->exit_code = VTI_EXIT_NO;
    if (count)
        vti_check_add(checking, "%.200s: %.15g, then %.15g (%s)%s", count->name, count->base,
                      count->now, vti_check_change(change, count->ratio), time ? "; " : "");
    if (time)
        vti_check_add(checking, "%.100s %s%s", time->name, vti_check_change(change, time->ratio),
                      checking->is_confirmed ? ", confirmed in 2 rounds"
                      : !checking->is_live   ? ", from files: not measured again"
                      : count                ? ", not measured again"
                                             : "");
    if (!vti_check_keeps_budgets(checking)) {
        vti_check_add(checking, "; ");
        vti_check_say_budgets(checking);
    }
}

/* What would tell. */
static void say_help(struct vti_checking *checking, const struct vti_compared *row)
{
    size_t runs = row->base_count > row->now_count ? row->base_count : row->now_count;
    size_t more = checking->is_live && row->is_paired ? 2 * checking->options.rules.most
                                                      : 4 * (runs > 10 ? runs : 10);

    if (!checking->is_live)
        vti_check_add(checking, "; more runs would tell (venturi bench -n %zu)", more);
    else if (row->is_paired)
        vti_check_add(checking, "; more pairs would tell (--pairs %zu..%zu)",
                      checking->options.rules.least, more);
    else
        vti_check_add(checking,
                      "; more runs would tell (-n %zu), or both in turn (--rev, --base-cmd)", more);
}

static void say_same_counts(struct vti_checking *checking)
{
    size_t same = vti_check_same_counts(&checking->comparison);

    if (same)
        vti_check_add(checking, "%zu count%s the same, but ", same, same == 1 ? " is" : "s are");
}

static void say_undecided(struct vti_checking *checking, const struct vti_compared *row)
{
    char low[VTI_CHANGE_BYTES];
    char high[VTI_CHANGE_BYTES];

    say_same_counts(checking);
    if (row->verdict == VTI_VERDICT_TOO_FEW)
        vti_check_add(checking,
                      "too few runs to judge %.100s: %zu and %zu, it takes %zu%s (venturi bench, "
                      "or --base-cmd, makes them)",
                      row->name, row->base_count, row->now_count, row->need,
                      row->is_paired ? " pairs" : " on each side");
    else {
        vti_check_add(checking, "%.100s changed by %s to %s: ", row->name,
                      vti_check_change(low, row->low), vti_check_change(high, row->high));
        if (row->low > 1 + row->threshold) /* but not for as many tests as were made */
            vti_check_add(checking, "among %zu tests that may be chance (p %.2g)",
                          checking->comparison.gating, row->adjusted);
        else
            vti_check_add(checking, "no telling whether that is more than %g %%",
                          100 * row->threshold);
        say_help(checking, row);
    }
}

/* What is clearly worse and does not decide: whoever reads only this line has to know. */
static void say_others(struct vti_checking *checking)
{
    const struct vti_comparison *comparison = &checking->comparison;
    char change[VTI_CHANGE_BYTES];

    for (size_t i = 0; i < comparison->count; i++) {
        const struct vti_compared *row = &comparison->rows[i];
        bool can_gate = row->kind == VTI_QUANTITY_WALL || row->kind == VTI_QUANTITY_MEMORY;

        if (row->gates || row->verdict != VTI_VERDICT_WORSE ||
            (!can_gate && row->kind != VTI_QUANTITY_ENERGY))
            continue;
        vti_check_add(checking, "; %s %s (p %.2g) does not decide", row->name,
                      vti_check_change(change, row->ratio), row->adjusted);
        if (can_gate)
            vti_check_add(checking, ": --gate %s makes it", row->name);
        return;
    }
}

static void say_unsure(struct vti_checking *checking, enum vti_verdict verdict)
{
    const struct vti_comparison *comparison = &checking->comparison;
    const struct vti_compared *row = first_of(comparison, verdict);
    const char *doubt = (const char *)comparison->doubts.data;

    checking->exit_code = VTI_EXIT_UNSURE;
    if (row) {
        say_undecided(checking, row);
        say_others(checking);
        return;
    }
    checking->says_doubt = comparison->doubts.len > 0;
    if (checking->says_doubt)
        vti_check_add(checking, "not comparable: %.*s%s", (int)strcspn(doubt, "\n"), doubt,
                      comparison->count ? "; --force compares all the same" : "");
    else
        vti_check_add(checking, "nothing was compared");
}

/* A command that vanished has not become slower, nor is it known to be as quick. */
static void say_lone(struct vti_checking *checking)
{
    size_t lone = checking->comparison.lone;

    if (lone)
        vti_check_add(checking, " in what both sides have; %zu command%s on one side only", lone,
                      lone == 1 ? " is" : "s are");
}

static void say_fine(struct vti_checking *checking)
{
    if (!checking->has_base) {
        vti_check_add(checking, "all budgets are kept");
    } else if (!checking->comparison.is_comparable) {
        vti_check_add(checking, "no count has grown; times are of another machine and were not "
                                "compared");
    } else {
        vti_check_add(checking, "no regression");
        say_lone(checking);
        say_others(checking);
    }
}

void vti_check_conclude(struct vti_checking *checking)
{
    enum vti_verdict verdict = VTI_VERDICT_SAME;
    const struct vti_compared *time;
    char change[VTI_CHANGE_BYTES];

    checking->exit_code = VTI_EXIT_OK;
    checking->why[0] = 0;
    if (checking->has_base)
        verdict = vti_comparison_verdict(&checking->comparison);
    if (verdict == VTI_VERDICT_WORSE) {
        say_worse(checking);
    } else if (!vti_check_keeps_budgets(checking)) {
        vti_check_say_budgets(checking);
    } else if (checking->is_refuted) {
        checking->exit_code = VTI_EXIT_UNSURE;
        time = first_worse(&checking->first, false);
        vti_check_add(checking, "the first round found %s %s, the second did not", time->name,
                      vti_check_change(change, time->ratio));
    } else if (verdict != VTI_VERDICT_SAME) {
        say_unsure(checking, verdict);
    } else {
        say_fine(checking);
    }
}

const char *vti_check_outcome(const struct vti_checking *checking)
{
    return checking->exit_code == VTI_EXIT_OK   ? "ok"
           : checking->exit_code == VTI_EXIT_NO ? "regression"
                                                : "inconclusive";
}
