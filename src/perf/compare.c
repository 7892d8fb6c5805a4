/* compare.c - two benches become rows, and the rows one verdict. */
#include "perf/compare.h"

#include "base/error.h"
#include "model/model.h"
#include "stats/stats.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- counts -------------------------------------------------------------------------------------- */

static bool is_steady(const struct vti_quantity *quantity)
{
    for (size_t i = 1; i < quantity->count; i++)
        if (quantity->values[i] != quantity->values[0])
            return false;
    return quantity->count > 0 && isfinite(quantity->values[0]);
}

static bool is_same_amount(const struct vti_quantity *a, const struct vti_quantity *b)
{
    return !a || !b || !a->count || !b->count || a->values[0] == b->values[0];
}

/* Counts of the same work need no test: any change is one. With another amount of work they are only shown. */
static void compare_counts(struct vti_compared *row, const struct vti_quantity *base,
                           const struct vti_quantity *now, bool same_amount,
                           const struct vti_rules *rules)
{
    bool is_steady_here = is_steady(base) && is_steady(now);

    row->base = base->values[0];
    row->now = now->values[0];
    row->base_count = base->count;
    row->now_count = now->count;
    row->ratio = row->low = row->high = row->now == row->base ? 1 : row->now / row->base;
    row->is_exact = true;
    row->threshold = rules->counted;
    row->gates = is_steady_here && same_amount && fmax(row->base, row->now) > 0 &&
                 fmax(base->share, now->share) >= rules->share;
    if (!is_steady_here || !same_amount)
        row->verdict = VTI_VERDICT_UNKNOWN;
    else if (row->now > row->base * (1 + rules->counted))
        row->verdict = VTI_VERDICT_WORSE;
    else
        row->verdict = row->now < row->base ? VTI_VERDICT_BETTER : VTI_VERDICT_SAME;
}

/* ---- rows ---------------------------------------------------------------------------------------- */

static bool decides(const struct vti_bench_entry *base, const struct vti_bench_entry *now,
                    const struct vti_quantity *quantity, const struct vti_quantity *other,
                    const struct vti_compare_options *options)
{
    const struct vti_rules *rules = &options->rules;

    if (options->gates & 1u << quantity->kind)
        return true;
    if (quantity->kind == VTI_QUANTITY_TIME)
        return quantity->count >= rules->least_apart &&
               fmax(quantity->share, other->share) >= rules->share;
    if (quantity->kind == VTI_QUANTITY_WALL)
        return !vti_compare_has_time(base, "cpu") || !vti_compare_has_time(now, "cpu");
    return quantity->kind == VTI_QUANTITY_CPU;
}

static int add_row(struct vti_comparison *comparison, const struct vti_bench_entry *base,
                   const struct vti_bench_entry *now, const struct vti_quantity *quantity,
                   const struct vti_compare_options *options)
{
    const struct vti_quantity *other = vti_bench_find(now, quantity->name);
    const struct vti_quantity *items[2] = {vti_bench_find(base, "items"),
                                           vti_bench_find(now, "items")};
    bool has_items = vti_compare_has_items(base) && vti_compare_has_items(now);
    struct vti_compared row = {.entry = base->name, .name = quantity->name, .kind = quantity->kind};
    bool is_memory = quantity->kind == VTI_QUANTITY_MEMORY;
    bool is_time = quantity->kind == VTI_QUANTITY_CPU || quantity->kind == VTI_QUANTITY_WALL;
    int code = 0;

    if (!other || !other->count || !quantity->count || quantity->kind == VTI_QUANTITY_VALUE)
        return 0;
    if (is_time &&
        (!vti_compare_has_time(base, quantity->name) || !vti_compare_has_time(now, quantity->name)))
        return 0;
    row.p = row.p_less = row.adjusted = 1;
    row.is_iteration = !strcmp(base->mode, VTI_MODE_ITERATIONS) ||
                       !strcmp(now->mode, VTI_MODE_ITERATIONS);
    if (quantity->kind == VTI_QUANTITY_COUNT || quantity->kind == VTI_QUANTITY_ITEMS) {
        compare_counts(&row, quantity, other, !has_items || is_same_amount(items[0], items[1]),
                       &options->rules);
        if (quantity->kind == VTI_QUANTITY_ITEMS)
            row.gates = false;
        row.gates &= comparison->is_same_work;
    } else {
        row.gates = comparison->is_comparable && comparison->is_same_work &&
                    decides(base, now, quantity, other, options);
        code = vti_compare_times(&row, quantity, other, has_items && !is_memory ? items[0] : NULL,
                                 has_items && !is_memory ? items[1] : NULL, options);
    }
    if (!code)
        code = vti_grow(&comparison->rows, comparison->count, &comparison->room,
                        sizeof *comparison->rows);
    if (code)
        return code;
    comparison->rows[comparison->count++] = row;
    comparison->gating += row.gates;
    return 0;
}

static bool is_tested(const struct vti_compared *row)
{
    return row->kind != VTI_QUANTITY_COUNT && row->kind != VTI_QUANTITY_ITEMS;
}

/* Holm over what decides, the other one over the rest. */
static int adjust(struct vti_comparison *comparison, bool gates)
{
    double *p = malloc((comparison->count + 1) * sizeof *p);
    double *adjusted = malloc((comparison->count + 1) * sizeof *adjusted);
    size_t count = 0;
    int code = p && adjusted ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");

    for (size_t i = 0; i < comparison->count && !code; i++)
        if (is_tested(&comparison->rows[i]) && comparison->rows[i].gates == gates)
            p[count++] = comparison->rows[i].p;
    if (!code)
        code = gates ? vti_adjust_holm(p, adjusted, count)
                     : vti_adjust_benjamini_hochberg(p, adjusted, count);
    count = 0;
    for (size_t i = 0; i < comparison->count && !code; i++)
        if (is_tested(&comparison->rows[i]) && comparison->rows[i].gates == gates)
            comparison->rows[i].adjusted = adjusted[count++];
    free(p);
    free(adjusted);
    return code;
}

static const struct vti_compared *wall_of(const struct vti_comparison *comparison,
                                          const char *entry)
{
    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->rows[i].kind == VTI_QUANTITY_WALL && comparison->rows[i].entry == entry)
            return &comparison->rows[i];
    return NULL;
}

/* Where a process takes longer to start, or to wait, than to work, "no regression" is worth little. */
static void note_short(struct vti_comparison *comparison, const struct vti_rules *rules)
{
    for (size_t i = 0; i < comparison->count; i++) {
        const struct vti_compared *row = &comparison->rows[i];
        const struct vti_compared *wall = wall_of(comparison, row->entry);

        if (row->kind != VTI_QUANTITY_CPU || !row->gates || row->is_iteration ||
            row->base * row->items >= rules->brief_s)
            continue;
        if (wall && wall->base * wall->items >= VTI_RULES_WAITS * rules->brief_s)
            vti_comparison_say(&comparison->notes,
                               "a run uses less than %g ms of CPU time and waits for most of its "
                               "own: %s",
                               1e3 * rules->brief_s,
                               wall->gates ? "wall time decides, as --gate asks"
                                           : "let its wall time decide (--gate wall)");
        else
            vti_comparison_say(
                &comparison->notes,
                "a run takes less than %g ms of CPU time, mostly to start: let it do "
                "more, a loss below %g ms never counts",
                1e3 * rules->brief_s, 1e3 * rules->floor_s);
    }
}

int vti_compare(struct vti_comparison *comparison, const struct vti_bench *base,
                const struct vti_bench *now, const struct vti_compare_options *options)
{
    int code = 0;

    memset(comparison, 0, sizeof *comparison);
    comparison->counts_suffice = options->is_baseline;
    vti_comparable(comparison, base, now, options);
    for (size_t i = 0; i < base->count && !code; i++) {
        const struct vti_bench_entry *entry = &base->entries[i];
        const struct vti_bench_entry *other = vti_bench_entry(now, entry->name);

        if (!other || vti_bench_entry(base, entry->name) != entry)
            continue;
        for (size_t j = 0; j < entry->count && !code; j++)
            code = add_row(comparison, entry, other, &entry->quantities[j], options);
        vti_compare_missing(comparison, entry, other, options);
    }
    if (!code)
        code = adjust(comparison, true);
    if (!code)
        code = adjust(comparison, false);
    for (size_t i = 0; i < comparison->count && !code; i++)
        if (is_tested(&comparison->rows[i]))
            vti_compare_decide(&comparison->rows[i], &options->rules);
    note_short(comparison, &options->rules);
    return code;
}

void vti_comparison_fini(struct vti_comparison *comparison)
{
    free(comparison->rows);
    vti_buf_fini(&comparison->doubts);
    vti_buf_fini(&comparison->notes);
    memset(comparison, 0, sizeof *comparison);
}

enum vti_verdict vti_comparison_verdict(const struct vti_comparison *comparison)
{
    enum vti_verdict verdict = comparison->gating ? VTI_VERDICT_SAME : VTI_VERDICT_UNKNOWN;

    if (!comparison->is_same_work)
        return VTI_VERDICT_UNKNOWN;
    for (size_t i = 0; i < comparison->count; i++) {
        const struct vti_compared *row = &comparison->rows[i];

        if (!row->gates)
            continue;
        if (row->verdict == VTI_VERDICT_WORSE)
            return VTI_VERDICT_WORSE;
        if (row->verdict == VTI_VERDICT_TOO_FEW || row->verdict == VTI_VERDICT_UNDECIDED)
            verdict = row->verdict;
    }
    if (!comparison->is_comparable && !comparison->counts_suffice)
        return VTI_VERDICT_UNKNOWN;
    if (verdict == VTI_VERDICT_SAME && comparison->is_incomplete && !comparison->is_forced)
        return VTI_VERDICT_UNKNOWN;
    return verdict;
}

const char *vti_verdict_text(enum vti_verdict verdict)
{
    static const char *const texts[] = {"same",      "better",  "worse",
                                        "undecided", "too few", "unknown"};

    return texts[verdict];
}
