/* check_decide.c - from comparison and budgets to one exit code and one sentence. */
#include "base/error.h"
#include "cli/check.h"
#include "cli/cmd.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int vti_check_compare(struct vti_checking *checking)
{
    int code;

    vti_comparison_fini(&checking->comparison);
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

/* ---- budgets ------------------------------------------------------------------------------------- */

/* The worst of all commands that know it. */
static void apply(struct vti_budget_result *result, const struct vti_bench *bench)
{
    result->value = NAN;
    result->is_kept = true;
    for (size_t i = 0; i < bench->count; i++) {
        double value = vti_budget_value(&result->budget, bench, &bench->entries[i]);

        if (isnan(value) || (!isnan(result->value) && !result->is_kept))
            continue;
        result->value = value;
        result->is_kept = vti_budget_is_kept(&result->budget, value);
    }
}

static int add_budget(struct vti_checking *checking, const char *text, size_t at)
{
    int code = vti_budget_parse(&checking->budgets[at].budget, text);

    if (code)
        return vti_cmd_error("check", code);
    apply(&checking->budgets[at], &checking->now);
    return 0;
}

int vti_check_budgets(struct vti_checking *checking)
{
    size_t asked = checking->budget_count;
    int code = 0;

    for (size_t i = 0; i < asked && !code; i++)
        code = add_budget(checking, checking->budget_texts[i], i);
    for (size_t i = 0; i < checking->base.budget_count && !code; i++) {
        if (checking->budget_count == VTI_CHECK_BUDGETS)
            return vti_cmd_fail("check", "more than %d budgets", VTI_CHECK_BUDGETS);
        code = add_budget(checking, checking->base.budgets[i], checking->budget_count);
        checking->budget_count += !code;
    }
    return code;
}

/* ---- the end ------------------------------------------------------------------------------------- */

static const struct vti_compared *first_of(const struct vti_comparison *comparison,
                                           enum vti_verdict verdict)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->rows[i].gates && comparison->rows[i].verdict == verdict)
            return &comparison->rows[i];
    return NULL;
}

/* The first of the counts, and the first of the times. */
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

static void say_worse(struct vti_checking *checking)
{
    const struct vti_compared *count = first_worse(&checking->comparison, true);
    const struct vti_compared *time = first_worse(&checking->comparison, false);
    char change[VTI_CHANGE_BYTES];
    char counted[384] = "";

    checking->exit_code = VTI_EXIT_NO;
    if (count)
        snprintf(counted, sizeof counted, "%.200s: %.15g, then %.15g (%s)%s", count->name,
                 count->base, count->now, vti_check_change(change, count->ratio), time ? "; " : "");
    if (time)
        snprintf(checking->why, sizeof checking->why, "%s%.100s %s%s", counted, time->name,
                 vti_check_change(change, time->ratio),
                 checking->is_confirmed ? ", confirmed in 2 rounds"
                 : checking->is_live    ? ""
                                        : ", from files: not measured again");
    else
        snprintf(checking->why, sizeof checking->why, "%s", counted);
}

static bool say_budgets(struct vti_checking *checking)
{
    char value[VTI_NUMBER_BYTES];

    for (size_t i = 0; i < checking->budget_count; i++) {
        const struct vti_budget_result *result = &checking->budgets[i];

        if (!isnan(result->value) && !result->is_kept) {
            checking->exit_code = VTI_EXIT_NO;
            snprintf(checking->why, sizeof checking->why, "over budget: %.200s (it is %s)",
                     result->budget.text, vti_check_budget_value(value, result));
            return true;
        }
    }
    for (size_t i = 0; i < checking->budget_count; i++)
        if (isnan(checking->budgets[i].value)) {
            checking->exit_code = VTI_EXIT_UNSURE;
            snprintf(checking->why, sizeof checking->why,
                     "budget %.200s: nothing of that name was measured",
                     checking->budgets[i].budget.text);
            return true;
        }
    return false;
}

static void say_unsure(struct vti_checking *checking, enum vti_verdict verdict)
{
    const struct vti_comparison *comparison = &checking->comparison;
    const struct vti_compared *row = first_of(comparison, verdict);
    char low[VTI_CHANGE_BYTES];
    char high[VTI_CHANGE_BYTES];

    checking->exit_code = VTI_EXIT_UNSURE;
    if (verdict == VTI_VERDICT_TOO_FEW && row) {
        snprintf(checking->why, sizeof checking->why,
                 "too few runs to judge %.100s: %zu and %zu, it takes %zu%s", row->name,
                 row->base_count, row->now_count, row->need,
                 row->is_paired ? " pairs" : " on each side");
    } else if (verdict == VTI_VERDICT_UNDECIDED && row) {
        vti_check_change(low, row->low);
        vti_check_change(high, row->high);
        snprintf(checking->why, sizeof checking->why,
                 "%.100s changed by %s to %s: no telling whether that is more than %g %%%s",
                 row->name, low, high, 100 * row->threshold,
                 checking->is_live ? "" : "; more runs would tell");
    } else {
        const char *doubt = (const char *)comparison->doubts.data;

        snprintf(checking->why, sizeof checking->why, "%s%.*s",
                 comparison->doubts.len ? "not comparable: " : "nothing was compared",
                 comparison->doubts.len ? (int)strcspn(doubt, "\n") : 0,
                 comparison->doubts.len ? doubt : "");
    }
}

void vti_check_conclude(struct vti_checking *checking)
{
    enum vti_verdict verdict = VTI_VERDICT_SAME;
    char change[VTI_CHANGE_BYTES];

    checking->exit_code = VTI_EXIT_OK;
    if (checking->has_base)
        verdict = vti_comparison_verdict(&checking->comparison);
    if (verdict == VTI_VERDICT_WORSE) {
        say_worse(checking);
    } else if (say_budgets(checking)) {
        return;
    } else if (checking->is_refuted) {
        checking->exit_code = VTI_EXIT_UNSURE;
        snprintf(checking->why, sizeof checking->why,
                 "the first round found %s, the second did not",
                 vti_check_change(change, checking->first_ratio));
    } else if (verdict != VTI_VERDICT_SAME) {
        say_unsure(checking, verdict);
    } else if (!checking->has_base) {
        snprintf(checking->why, sizeof checking->why, "all budgets are kept");
    } else {
        snprintf(checking->why, sizeof checking->why, "%s",
                 checking->comparison.is_comparable ? "no regression"
                                                    : "no count has grown; times are of another "
                                                      "machine and were not compared");
    }
}

const char *vti_check_outcome(const struct vti_checking *checking)
{
    return checking->exit_code == VTI_EXIT_OK   ? "ok"
           : checking->exit_code == VTI_EXIT_NO ? "regression"
                                                : "inconclusive";
}
