/* check_budgets.c - the limits of a check: taken before anything runs, filled in afterwards, and said. */
#include "base/error.h"
#include "cli/check.h"
#include "cli/cmd.h"

#include <math.h>
#include <string.h>

#define MOST_SAID 3 /* broken ones in the sentence */

/* ---- taking -------------------------------------------------------------------------------------- */

static bool is_energy(const struct vti_budget *budget)
{
    return !strcmp(budget->name, "energy") || !strcmp(budget->name, "energy/item");
}

int vti_check_take_budget(struct vti_checking *checking, const char *text)
{
    struct vti_budget_result *result = &checking->budgets[checking->budget_count];
    int code;

    if (checking->budget_count == VTI_CHECK_BUDGETS)
        return vti_cmd_fail("check", "more than %d budgets", VTI_CHECK_BUDGETS);
    code = vti_budget_parse(&result->budget, text);
    if (code)
        return vti_cmd_error("check", code);
    checking->bencher.meters |= is_energy(&result->budget);
    checking->budget_count++;
    return 0;
}

int vti_check_take_budgets(struct vti_checking *checking)
{
    int code = 0;

    for (size_t i = 0; i < checking->base.budget_count && !code; i++)
        code = vti_check_take_budget(checking, checking->base.budgets[i]);
    return code;
}

/* ---- values -------------------------------------------------------------------------------------- */

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

void vti_check_budgets(struct vti_checking *checking)
{
    for (size_t i = 0; i < checking->budget_count; i++)
        apply(&checking->budgets[i], &checking->now);
}

static bool has_items(const struct vti_bench *bench)
{
    for (size_t i = 0; i < bench->count; i++)
        if (vti_compare_has_items(&bench->entries[i]))
            return true;
    return false;
}

static bool needs_items(const char *name)
{
    size_t len = strlen(name);

    return !strncmp(name, "throughput", 10) || !strncmp(name, "effective", 9) ||
           !strcmp(name, "items") || (len > 5 && !strcmp(name + len - 5, "/item"));
}

const char *vti_check_unknown(const struct vti_checking *checking,
                              const struct vti_budget_result *result)
{
    const char *name = result->budget.name;
    size_t len = strlen(name);
    bool is_measured = checking->lines[1].words != NULL;

    if (needs_items(name) && !has_items(&checking->now))
        return is_measured ? "no items were counted (venturi.items(n), VT_ITEMS(n), or --items)"
                           : "no items were counted (venturi.items(n), VT_ITEMS(n))";
    if (is_energy(&result->budget))
        return is_measured ? "no source of energy could be read, see `venturi doctor`"
                           : "no joules were recorded (venturi run --energy)";
    if (len > 5 && !strcmp(name + len - 5, ":hits"))
        return "no lines of that function were recorded (venturi run -l)";
    if (is_measured && checking->bencher.no_counts && strchr(name, ':'))
        return "nothing was recorded, as --no-counts asks";
    return "nothing of that name was measured";
}

/* ---- saying -------------------------------------------------------------------------------------- */

bool vti_check_keeps_budgets(const struct vti_checking *checking)
{
    for (size_t i = 0; i < checking->budget_count; i++)
        if (isnan(checking->budgets[i].value) || !checking->budgets[i].is_kept)
            return false;
    return true;
}

void vti_check_say_budgets(struct vti_checking *checking)
{
    char value[VTI_NUMBER_BYTES];
    size_t broken = 0;

    for (size_t i = 0; i < checking->budget_count; i++) {
        const struct vti_budget_result *result = &checking->budgets[i];

        if (isnan(result->value) || result->is_kept || broken++ >= MOST_SAID)
            continue;
        vti_check_add(checking, "%s%.100s (it is %s)", broken == 1 ? "over budget: " : "; ",
                      result->budget.text, vti_check_budget_value(value, result));
    }
    if (broken > MOST_SAID)
        vti_check_add(checking, "; and %zu more", broken - MOST_SAID);
    if (broken) {
        checking->exit_code = VTI_EXIT_NO;
        return;
    }
    for (size_t i = 0; i < checking->budget_count; i++)
        if (isnan(checking->budgets[i].value)) {
            if (checking->exit_code == VTI_EXIT_OK)
                checking->exit_code = VTI_EXIT_UNSURE;
            vti_check_add(checking, "budget %.200s: %s", checking->budgets[i].budget.text,
                          vti_check_unknown(checking, &checking->budgets[i]));
            return;
        }
}
