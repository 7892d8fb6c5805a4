/*
 * incomplete.c - what stands on one side only: said, and where it would have decided no "same" is made of the rest. A verdict
 * that leaves something out must never look like one about all of it.
 */
#include "perf/compare.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vti_comparison_say(struct vti_buf *lines, const char *format, ...)
{
    char *text = NULL;
    va_list args;
    int len;

    va_start(args, format);
    len = vasprintf(&text, format, args);
    va_end(args);
    if (len < 0) {
        lines->failed = true;
        return;
    }
    for (int i = 0; i < len; i++)
        if (text[i] == '\n') /* of a name: a line is a sentence */
            text[i] = ' ';
    vti_buf_add(lines, text, (size_t)len);
    vti_buf_add_u8(lines, '\n');
    free(text);
}

static const char *title(const struct vti_bench_entry *entry)
{
    return *entry->name ? entry->name : "the command";
}

/* ---- times --------------------------------------------------------------------------------------- */

static bool has_values(const struct vti_bench_entry *entry, const char *name)
{
    const struct vti_quantity *quantity = vti_bench_find(entry, name);

    return quantity && quantity->count;
}

bool vti_compare_has_time(const struct vti_bench_entry *entry, const char *name)
{
    const struct vti_quantity *quantity = vti_bench_find(entry, name);

    for (size_t i = 0; quantity && i < quantity->count; i++)
        if (quantity->values[i] > 0)
            return true;
    return false;
}

/* CPU time that is nothing in every run; times of the wall decide then, if there are any. */
static void note_nothing(struct vti_comparison *comparison, const struct vti_bench_entry *entry,
                         const char *side)
{
    if (has_values(entry, "cpu") && !vti_compare_has_time(entry, "cpu"))
        vti_comparison_say(&comparison->notes,
                           "%s: the CPU time of %s is 0 in every run: it was not measured",
                           title(entry), side);
}

static bool is_decided(const struct vti_comparison *comparison, const struct vti_bench_entry *entry,
                       bool by_time)
{
    for (size_t i = 0; i < comparison->count; i++) {
        const struct vti_compared *row = &comparison->rows[i];
        bool is_time = row->kind == VTI_QUANTITY_CPU || row->kind == VTI_QUANTITY_WALL;

        if (row->entry == entry->name && row->gates && (is_time || !by_time))
            return true;
    }
    return false;
}

static void miss_times(struct vti_comparison *comparison, const struct vti_bench_entry *base,
                       const struct vti_bench_entry *now)
{
    bool is_timed[2] = {vti_compare_has_time(base, "cpu") || vti_compare_has_time(base, "wall"),
                        vti_compare_has_time(now, "cpu") || vti_compare_has_time(now, "wall")};
    bool suffices = !is_timed[0] && comparison->counts_suffice &&
                    is_decided(comparison, base, false);

    if (!comparison->is_comparable || !comparison->is_same_work ||
        is_decided(comparison, base, true) || (!is_timed[0] && !is_timed[1]))
        return;
    comparison->is_incomplete |= !suffices;
    vti_comparison_say(suffices ? &comparison->notes : &comparison->doubts,
                       "%s: %s, so that times were not compared", title(base),
                       is_timed[0] && is_timed[1] ? "no time was measured on both sides"
                       : is_timed[0]              ? "the new side has no times"
                                                  : "the base has no times");
}

/* ---- counts -------------------------------------------------------------------------------------- */

static bool has_counts(const struct vti_bench_entry *entry, const struct vti_rules *rules)
{
    for (size_t i = 0; i < entry->count; i++)
        if (entry->quantities[i].kind == VTI_QUANTITY_COUNT && entry->quantities[i].count &&
            entry->quantities[i].share >= rules->share)
            return true;
    return false;
}

/* Renamed files have other functions; but a side that counted nothing at all was not measured as the other was. */
static void miss_counts(struct vti_comparison *comparison, const struct vti_bench_entry *base,
                        const struct vti_bench_entry *now,
                        const struct vti_compare_options *options)
{
    bool is_meant = options->no_counts || options->any_command;

    for (size_t i = 0; i < comparison->count; i++)
        if (comparison->rows[i].entry == base->name &&
            comparison->rows[i].kind == VTI_QUANTITY_COUNT)
            return;
    if (!has_counts(base, &options->rules))
        return;
    if (has_counts(now, &options->rules)) {
        vti_comparison_say(&comparison->notes,
                           "no function, span or task is on both sides: counts were not compared");
        return;
    }
    comparison->is_incomplete |= !is_meant;
    vti_comparison_say(is_meant ? &comparison->notes : &comparison->doubts,
                       "%s: the new side has no counts, so that counts were not compared",
                       title(base));
}

/* ---- items --------------------------------------------------------------------------------------- */

bool vti_compare_has_items(const struct vti_bench_entry *entry)
{
    const struct vti_quantity *items = vti_bench_find(entry, "items");

    for (size_t i = 0; items && i < items->count; i++)
        if (!(items->values[i] > 0) || !isfinite(items->values[i]))
            return false;
    return items && items->count;
}

/* The amount of work is not the same, or is known of one side only: said once. */
static void note_items(struct vti_comparison *comparison, const struct vti_bench_entry *base,
                       const struct vti_bench_entry *now)
{
    const struct vti_quantity *items[2] = {vti_bench_find(base, "items"),
                                           vti_bench_find(now, "items")};
    bool is_known[2] = {vti_compare_has_items(base), vti_compare_has_items(now)};

    if (is_known[0] && is_known[1]) {
        if (items[0]->values[0] != items[1]->values[0])
            vti_comparison_say(
                &comparison->notes,
                "the work differs: %.15g items, then %.15g; times are compared for one item, "
                "counts do not decide",
                items[0]->values[0], items[1]->values[0]);
    } else if (is_known[0] &&
               has_values(now, "items")) { /* it did nothing: no wonder that it was quick */
        comparison->is_incomplete = true;
        vti_comparison_say(&comparison->doubts, "%s: the new side did no items, the base %.15g",
                           title(base), items[0]->values[0]);
    } else if (is_known[0] != is_known[1]) {
        vti_comparison_say(&comparison->notes,
                           "items are known of the %s only: times of whole runs are compared",
                           is_known[0] ? "base" : "new side");
    }
}

/* ---- all of it ----------------------------------------------------------------------------------- */

static void miss_gates(struct vti_comparison *comparison, const struct vti_bench_entry *base,
                       const struct vti_bench_entry *now, unsigned gates)
{
    for (size_t i = 0; i < base->count; i++) {
        const struct vti_quantity *quantity = &base->quantities[i];

        if (!(gates & 1u << quantity->kind) || !quantity->count || has_values(now, quantity->name))
            continue;
        comparison->is_incomplete = true;
        vti_comparison_say(&comparison->doubts, "%s: %s should decide, but the new side has none",
                           title(base), quantity->name);
    }
}

void vti_compare_missing(struct vti_comparison *comparison, const struct vti_bench_entry *base,
                         const struct vti_bench_entry *now,
                         const struct vti_compare_options *options)
{
    note_items(comparison, base, now);
    note_nothing(comparison, base, "the base");
    note_nothing(comparison, now, "the new side");
    miss_times(comparison, base, now);
    miss_gates(comparison, base, now, options->gates);
    miss_counts(comparison, base, now, options);
}
