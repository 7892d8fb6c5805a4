/*
 * diff_match.c - which function of the base is which of the new run.
 *
 * Functions of each side are put in the order of their names, so that those of one name and file stand together: pairs on
 * the same line first, the others in their order. What is left over is tried again by the last part of the file's name, then,
 * where one side is a profile of cProfile, by its line.
 */
#include "analyze/diff_impl.h"
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

/* A function of one side. */
struct item {
    const struct vti_function *function;
    struct vti_diff_numbers numbers;
    enum vti_diff_table table;
    uint32_t index;    /* of the function, there */
    struct item *pair; /* on the other side; NULL: none yet */
};

struct items {
    struct item *items; /* owned */
    size_t count;
};

struct matching {
    struct vti_diff *diff;
    struct vti_diff_rows *rows;
    struct items base, now;
};

/* ---- order ----------------------------------------------------------------------------------- */

static const char *last_part(const char *file)
{
    const char *slash = strrchr(file, '/');

    return slash ? slash + 1 : file;
}

static int compare_names(const struct item *a, const struct item *b)
{
    int order = strcmp(a->function->language, b->function->language);

    return order ? order : strcmp(a->function->name, b->function->name);
}

static int compare_lines(const struct item *a, const struct item *b)
{
    if (a->function->line != b->function->line)
        return a->function->line < b->function->line ? -1 : 1;
    return a->function->twin < b->function->twin   ? -1
           : a->function->twin > b->function->twin ? 1
                                                   : (int)a->table - (int)b->table;
}

static int by_file(const struct item *a, const struct item *b)
{
    int order = compare_names(a, b);

    return order ? order : strcmp(a->function->file, b->function->file);
}

static int by_last_part(const struct item *a, const struct item *b)
{
    int order = compare_names(a, b);

    return order ? order : strcmp(last_part(a->function->file), last_part(b->function->file));
}

static int sort_by_file(const void *left, const void *right)
{
    int order = by_file(left, right);

    return order ? order : compare_lines(left, right);
}

static int sort_by_last_part(const void *left, const void *right)
{
    int order = by_last_part(left, right);

    return order ? order : compare_lines(left, right);
}

/* cProfile knows "execute", not "Step.execute", but the line where it begins. */
static int by_place(const struct item *a, const struct item *b)
{
    int order = strcmp(a->function->language, b->function->language);

    if (!order)
        order = strcmp(last_part(a->function->file), last_part(b->function->file));
    if (!order && a->function->line != b->function->line)
        order = a->function->line < b->function->line ? -1 : 1;
    return order ? order : strcmp(a->function->function, b->function->function);
}

static int sort_by_place(const void *left, const void *right)
{
    int order = by_place(left, right);

    return order ? order : compare_lines(left, right);
}

/* ---- gathering ------------------------------------------------------------------------------- */

static int gather(struct items *items, const struct vti_diff_side *side)
{
    size_t most = side->counted.row_count + side->spans.row_count;

    items->items = calloc(most + 1, sizeof *items->items);
    if (!items->items)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (int table = 0; table < VTI_DIFF_TABLES; table++) {
        const struct vti_profile *profile = vti_diff_table(side, (enum vti_diff_table)table);

        for (size_t i = 0; i < profile->row_count; i++) {
            const struct vti_profile_row *row = &profile->rows[i];

            items->items[items->count++] = (struct item){
                .function = &profile->calls->functions[row->function],
                .numbers = {row->numbers.calls, row->numbers.self_s * 1e9,
                            row->numbers.total_s * 1e9},
                .table = (enum vti_diff_table)table,
                .index = row->function,
            };
        }
    }
    return 0;
}

/* ---- pairs ----------------------------------------------------------------------------------- */

static void join(struct item *one, struct item *other)
{
    one->pair = other;
    other->pair = one;
}

static size_t group_end(const struct items *items, size_t at,
                        int (*compare)(const struct item *, const struct item *))
{
    size_t end = at;

    while (end < items->count && !compare(&items->items[at], &items->items[end]))
        end++;
    return end;
}

static struct item *next_single(struct item *item, const struct item *end)
{
    while (item < end && item->pair)
        item++;
    return item;
}

/* Those of one name and file: on the same line first, then as they follow each other. */
static void join_group(struct item *base, struct item *base_end, struct item *now,
                       struct item *now_end)
{
    struct item *a = base;
    struct item *b = now;

    while (a < base_end && b < now_end) {
        if (a->function->line == b->function->line)
            join(a++, b++);
        else if (a->function->line < b->function->line)
            a++;
        else
            b++;
    }
    a = next_single(base, base_end);
    b = next_single(now, now_end);
    while (a < base_end && b < now_end) {
        join(a, b);
        a = next_single(a, base_end);
        b = next_single(b, now_end);
    }
}

/* Those of one name in files that are called the same: only where each side has just one. */
static void join_only(struct item *base, struct item *base_end, struct item *now,
                      struct item *now_end)
{
    struct item *a = next_single(base, base_end);
    struct item *b = next_single(now, now_end);

    if (a == base_end || b == now_end)
        return;
    if (next_single(a + 1, base_end) == base_end && next_single(b + 1, now_end) == now_end)
        join(a, b);
}

static void join_groups(struct matching *matching,
                        int (*compare)(const struct item *, const struct item *),
                        void (*join_in)(struct item *, struct item *, struct item *, struct item *))
{
    struct items *base = &matching->base;
    struct items *now = &matching->now;
    size_t i = 0;
    size_t j = 0;

    while (i < base->count && j < now->count) {
        int order = compare(&base->items[i], &now->items[j]);
        size_t i_end = order <= 0 ? group_end(base, i, compare) : i;
        size_t j_end = order >= 0 ? group_end(now, j, compare) : j;

        if (!order)
            join_in(&base->items[i], &base->items[i_end], &now->items[j], &now->items[j_end]);
        i = i_end;
        j = j_end;
    }
}

/* Pairs are addresses of items: what is paired must not move any more. Left-overs are copied out of the way. */
static int take_singles(struct items *to, const struct items *from)
{
    to->count = 0;
    to->items = calloc(from->count + 1, sizeof *to->items);
    if (!to->items)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    for (size_t i = 0; i < from->count; i++)
        if (!from->items[i].pair)
            to->items[to->count++] = from->items[i];
    return 0;
}

static int add_function(struct matching *matching, const struct item *base, const struct item *now)
{
    struct vti_diff *diff = matching->diff;
    const struct vti_function *function = now ? now->function : base->function;
    struct vti_diff_function row = {
        .name = function->name,
        .file = function->file,
        .language = function->language,
        .line = now ? function->line : 0,
        .base_line = base ? base->function->line : 0,
        .match = !base  ? VTI_DIFF_NEW
                 : !now ? VTI_DIFF_GONE
                        : VTI_DIFF_BOTH,
    };

    if (vti_grow(&diff->functions, diff->function_count, &diff->function_room,
                 sizeof *diff->functions))
        return VTI_E_NOMEM;
    if (base) {
        row.base = base->numbers;
        matching->rows->of[0][base->table][base->index] = (uint32_t)diff->function_count;
    }
    if (now) {
        row.now = now->numbers;
        matching->rows->of[1][now->table][now->index] = (uint32_t)diff->function_count;
    }
    diff->common += row.match == VTI_DIFF_BOTH;
    diff->functions[diff->function_count++] = row;
    return 0;
}

/* Everything of `items` that is paired (or all that is not) becomes rows. */
static int add_pairs(struct matching *matching, const struct items *base)
{
    int code = 0;

    for (size_t i = 0; i < base->count && !code; i++)
        if (base->items[i].pair)
            code = add_function(matching, &base->items[i], base->items[i].pair);
    return code;
}

static int add_singles(struct matching *matching, const struct items *base, const struct items *now)
{
    int code = 0;

    for (size_t i = 0; i < base->count && !code; i++)
        if (!base->items[i].pair)
            code = add_function(matching, &base->items[i], NULL);
    for (size_t i = 0; i < now->count && !code; i++)
        if (!now->items[i].pair)
            code = add_function(matching, NULL, &now->items[i]);
    return code;
}

static void keep_items(struct items *items, struct items *next)
{
    free(items->items);
    *items = *next;
}

/* One way to tell which is which: pairs become rows, what is left over stays. */
static int match_by(struct matching *matching, int (*sort)(const void *, const void *),
                    int (*compare)(const struct item *, const struct item *),
                    void (*join_in)(struct item *, struct item *, struct item *, struct item *))
{
    struct items base = {0};
    struct items now = {0};
    int code;

    qsort(matching->base.items, matching->base.count, sizeof *matching->base.items, sort);
    qsort(matching->now.items, matching->now.count, sizeof *matching->now.items, sort);
    join_groups(matching, compare, join_in);
    code = add_pairs(matching, &matching->base);
    if (!code)
        code = take_singles(&base, &matching->base);
    if (!code)
        code = take_singles(&now, &matching->now);
    keep_items(&matching->base, &base);
    keep_items(&matching->now, &now);
    return code;
}

static int match_functions(struct matching *matching)
{
    const struct vti_diff *diff = matching->diff;
    int code = match_by(matching, sort_by_file, by_file, join_group);

    if (!code)
        code = match_by(matching, sort_by_last_part, by_last_part, join_only);
    if (!code && diff->base->counted.is_imported != diff->now->counted.is_imported)
        code = match_by(matching, sort_by_place, by_place, join_only);
    return code ? code : add_singles(matching, &matching->base, &matching->now);
}

int vti_diff_match(struct vti_diff *diff, struct vti_diff_rows *rows)
{
    struct matching matching = {.diff = diff, .rows = rows};
    int code = gather(&matching.base, diff->base);

    if (!code)
        code = gather(&matching.now, diff->now);
    if (!code)
        code = match_functions(&matching);
    free(matching.base.items);
    free(matching.now.items);
    return code;
}
