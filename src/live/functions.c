/*
 * functions.c - functions that are counted by call, from the trees that the drainer writes about once a second.
 *
 * They are totals and are read anew, which costs as much as there are of them; so only when asked for, and not more than once a
 * second.
 */
#include "analyze/calls.h"
#include "base/error.h"
#include "live/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SECOND_NS 1000000000
#define STALE_NS (3LL * SECOND_NS) /* no tree for so long: nothing was called */
#define FUNCTIONS_MOST 1000
#define OWN_FILE "<venturi>" /* of what our calibration calls, until it is taken back */

/* What a function had the last time, or when sums began anew. */
struct vti_function_past {
    uint64_t calls;
    double self_ns, total_ns;
};

struct vti_function_table {
    struct vti_map *map;            /* owned */
    struct vti_function_past *past; /* owned; beside it */
    struct vti_function_past *base; /* owned; the same */
    struct vti_live_function *now;  /* owned; the same */
    size_t count, room, base_room, now_room;
    bool was_growing;
    int64_t taken_ns;
    int64_t trees_unix_ns; /* when the trees were made that were taken */
    double since_s;        /* from those before to these */
    double cost_ns;        /* what counting them took, as it was taken off */
};

void vti_live_functions_fini(struct vti_live *live)
{
    struct vti_function_table *table = live->function_table;

    if (!table)
        return;
    vti_map_free(table->map);
    free(table->past);
    free(table->base);
    free(table->now);
    free(table);
    live->function_table = NULL;
}

static int64_t place_of(struct vti_live *live, struct vti_function_table *table,
                        const struct vti_function *function)
{
    struct vti_buf key = {0};
    int is_new = 0;
    int64_t at;

    vti_buf_add_string(&key, function->name);
    vti_buf_add_string(&key, function->file);
    vti_buf_add_u32(&key, function->line);
    vti_buf_add_u32(&key, function->twin);
    at = key.failed || vti_grow(&table->past, table->count, &table->room, sizeof *table->past) ||
                 vti_grow(&table->base, table->count, &table->base_room, sizeof *table->base) ||
                 vti_grow(&table->now, table->count, &table->now_room, sizeof *table->now)
             ? VTI_E_NOMEM
             : vti_map_add(table->map, key.data, key.len, &is_new);
    vti_buf_fini(&key);
    if (at < 0 || !is_new)
        return at;
    table->past[at] = table->base[at] = (struct vti_function_past){0};
    table->now[at] = (struct vti_live_function){
        .name = vti_names_text(&live->names, function->name),
        .file = vti_names_text(&live->names, function->file),
        .language = vti_names_text(&live->names, function->language),
        .line = function->line};
    table->count++;
    return at;
}

static bool is_within_itself(const struct vti_calls *calls, uint32_t call)
{
    uint32_t function = calls->calls[call].function;

    for (uint32_t at = calls->calls[call].parent; at != VT_NONE; at = calls->calls[at].parent)
        if (calls->calls[at].function == function)
            return true;
    return false;
}

static int add_recording(struct vti_live *live, struct vti_function_table *table,
                         vt_recording *recording)
{
    const struct vti_calls_options options = {
        .is_merged = true, .track = VT_NONE, .process = VT_NONE};
    struct vti_calls calls = {0};
    int code = vti_calls_load_trees(&calls, recording, &options);

    for (size_t i = 0; i < calls.call_count && !code; i++) {
        const struct vti_call *call = &calls.calls[i];
        const struct vti_function *function = &calls.functions[call->function];
        int64_t at;

        if (!strcmp(function->file, OWN_FILE))
            continue;
        at = place_of(live, table, function);
        if (at < 0) {
            code = (int)at;
            break;
        }
        table->now[at].calls += call->calls;
        table->now[at].self_ns += call->self_ns;
        if (!is_within_itself(&calls, (uint32_t)i))
            table->now[at].total_ns += call->total_ns;
    }
    table->cost_ns += calls.cost_ns;
    vti_calls_fini(&calls);
    return code;
}

static int by_self(const void *a, const void *b)
{
    const struct vti_live_function *left = a;
    const struct vti_live_function *right = b;

    return (left->self_ns < right->self_ns) - (left->self_ns > right->self_ns);
}

static struct vti_function_past numbers_of(const struct vti_live_function *function)
{
    return (struct vti_function_past){function->calls, function->self_ns, function->total_ns};
}

static int take_all(struct vti_live *live, struct vti_function_table *table)
{
    int code = 0;

    table->cost_ns = 0;
    for (size_t i = 0; i < table->count; i++) {
        table->past[i] = numbers_of(&table->now[i]);
        table->now[i].calls = 0;
        table->now[i].self_ns = table->now[i].total_ns = 0;
    }
    for (size_t i = 0; i < live->source_count && !code; i++) {
        bool is_last = true;

        /* Trees of a spool are totals: the newest file of a run has them all. */
        for (size_t n = i + 1; n < live->source_count; n++)
            is_last &= !vti_source_is_same_run(live->sources[i], live->sources[n]);
        if (live->sources[i]->recording && is_last)
            code = add_recording(live, table, live->sources[i]->recording);
    }
    return code;
}

/* A new list entry: the sums since they began anew, and the rates from the trees before to these. */
static int show_one(struct vti_live *live, const struct vti_function_table *table, size_t i)
{
    const struct vti_function_past *past = &table->past[i];
    const struct vti_function_past *base = &table->base[i];
    const struct vti_live_function *now = &table->now[i];
    double calls = now->calls > past->calls ? (double)(now->calls - past->calls) : 0;
    struct vti_live_function one = *now;
    struct vti_live_function *function;

    one.calls = now->calls > base->calls ? now->calls - base->calls : 0;
    one.self_ns = fmax(0, now->self_ns - base->self_ns);
    one.total_ns = fmax(0, now->total_ns - base->total_ns);
    one.calls_per_s = table->since_s > 0 ? calls / table->since_s : NAN;
    one.self_share = table->since_s > 0
                         ? fmax(0, now->self_ns - past->self_ns) / 1e9 / table->since_s
                         : NAN;
    if (!one.calls && !(one.self_ns > 0))
        return 0;
    function = vti_live_list_add(&live->functions, sizeof *function);
    if (!function)
        return VTI_E_NOMEM;
    *function = one;
    return 0;
}

static int show(struct vti_live *live, const struct vti_function_table *table)
{
    int code = 0;

    live->functions.count = 0;
    for (size_t i = 0; i < table->count && !code; i++)
        code = show_one(live, table, i);
    if (live->functions.count)
        qsort(live->functions.items, live->functions.count, sizeof(struct vti_live_function),
              by_self);
    if (live->functions.count > FUNCTIONS_MOST)
        live->functions.count = FUNCTIONS_MOST;
    return code;
}

static int64_t newest_trees(const struct vti_live *live)
{
    int64_t newest = 0;

    for (size_t i = 0; i < live->source_count; i++)
        if (live->sources[i]->trees_unix_ns > newest)
            newest = live->sources[i]->trees_unix_ns;
    return newest;
}

void vti_live_functions_cost(const struct vti_live *live, struct vti_live_cost *cost)
{
    const struct vti_function_table *table = live->function_table;
    double calls_ns = table ? table->cost_ns : 0;

    if (!newest_trees(live))
        return;
    if (!(calls_ns > 0)) {
        cost->program_ns = cost->program_share = NAN;
        return;
    }
    cost->program_ns += calls_ns;
    if (live->program_life_ns > 0)
        cost->program_share = fmin(1, (isnan(cost->program_share) ? 0 : cost->program_share) +
                                          calls_ns / live->program_life_ns);
}

void vti_live_functions_reset(struct vti_live *live)
{
    struct vti_function_table *table = live->function_table;

    for (size_t i = 0; table && i < table->count; i++)
        table->base[i] = numbers_of(&table->now[i]);
    if (table && show(live, table))
        live->functions.count = 0;
}

/* When there are new trees, at most once a second; sooner while there are none, and once more when nothing more will come: the last
 * counts are the ones that stay. */
static bool is_due(const struct vti_live *live, struct vti_function_table *table)
{
    int64_t since_ns = live->now_ns - table->taken_ns;
    bool is_new = newest_trees(live) != table->trees_unix_ns;
    struct vti_live_summary summary;
    bool has_ended;

    vti_live_summary(live, &summary);
    has_ended = !summary.is_growing && table->was_growing;
    table->was_growing = summary.is_growing;
    if (!table->taken_ns || has_ended || since_ns >= STALE_NS)
        return true;
    return is_new && since_ns >= (live->functions.count ? SECOND_NS / 2 : SECOND_NS / 10);
}

/* Rates are over the time between two trees, not between two looks: what a tree counts ends when it was made. */
static void begin_take(struct vti_live *live, struct vti_function_table *table)
{
    int64_t trees_unix_ns = newest_trees(live);

    if (!table->trees_unix_ns || !live->is_caught_up)
        table->since_s = 0;
    else if (trees_unix_ns > table->trees_unix_ns)
        table->since_s = (double)(trees_unix_ns - table->trees_unix_ns) / 1e9;
    else if (live->now_ns - table->taken_ns >= STALE_NS)
        table->since_s = (double)(live->now_ns - table->taken_ns) / 1e9;
    else
        table->since_s = 0;
    table->trees_unix_ns = trees_unix_ns;
    table->taken_ns = live->now_ns;
}

const struct vti_live_function *vti_live_functions(struct vti_live *live, size_t *count)
{
    struct vti_function_table *table = live->function_table;

    if (!table)
        table = live->function_table = calloc(1, sizeof *table);
    if (table && (table->map || !vti_map_create(&table->map)) && is_due(live, table)) {
        begin_take(live, table);
        if (take_all(live, table) || show(live, table))
            live->functions.count = 0;
    }
    *count = live->functions.count;
    return live->functions.items;
}
