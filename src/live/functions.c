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
#define FUNCTIONS_MOST 1000

/* What a function had the last time. */
struct vti_function_past {
    uint64_t calls;
    double self_ns;
};

struct vti_function_table {
    struct vti_map *map;            /* owned */
    struct vti_function_past *past; /* owned; beside it */
    struct vti_live_function *now;  /* owned; the same */
    size_t count, room, now_room;
    bool was_growing;
    int64_t taken_ns;
    double since_s;
};

void vti_live_functions_fini(struct vti_live *live)
{
    struct vti_function_table *table = live->function_table;

    if (!table)
        return;
    vti_map_free(table->map);
    free(table->past);
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
                 vti_grow(&table->now, table->count, &table->now_room, sizeof *table->now)
             ? VTI_E_NOMEM
             : vti_map_add(table->map, key.data, key.len, &is_new);
    vti_buf_fini(&key);
    if (at < 0 || !is_new)
        return at;
    table->past[at] = (struct vti_function_past){0};
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
        int64_t at = place_of(live, table, &calls.functions[call->function]);

        if (at < 0) {
            code = (int)at;
            break;
        }
        table->now[at].calls += call->calls;
        table->now[at].self_ns += call->self_ns;
        if (!is_within_itself(&calls, (uint32_t)i))
            table->now[at].total_ns += call->total_ns;
    }
    vti_calls_fini(&calls);
    return code;
}

static int by_self(const void *a, const void *b)
{
    const struct vti_live_function *left = a;
    const struct vti_live_function *right = b;

    return (left->self_ns < right->self_ns) - (left->self_ns > right->self_ns);
}

static int take_all(struct vti_live *live, struct vti_function_table *table)
{
    int code = 0;

    for (size_t i = 0; i < table->count; i++) {
        table->past[i] = (struct vti_function_past){table->now[i].calls, table->now[i].self_ns};
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

static int show(struct vti_live *live, const struct vti_function_table *table)
{
    live->functions.count = 0;
    for (size_t i = 0; i < table->count; i++) {
        struct vti_live_function *function;
        double calls = table->now[i].calls > table->past[i].calls
                           ? (double)(table->now[i].calls - table->past[i].calls)
                           : 0;

        if (!table->now[i].calls && !(table->now[i].self_ns > 0))
            continue;
        function = vti_live_list_add(&live->functions, sizeof *function);
        if (!function)
            return VTI_E_NOMEM;
        *function = table->now[i];
        function->calls_per_s = table->since_s > 0 ? calls / table->since_s : 0;
        function->self_share = table->since_s > 0
                                   ? fmax(0, table->now[i].self_ns - table->past[i].self_ns) / 1e9 /
                                         table->since_s
                                   : NAN;
    }
    if (live->functions.count)
        qsort(live->functions.items, live->functions.count, sizeof(struct vti_live_function),
              by_self);
    if (live->functions.count > FUNCTIONS_MOST)
        live->functions.count = FUNCTIONS_MOST;
    return 0;
}

/* Once a second; sooner while there are none, and once more when nothing more will come: the last counts are the ones that stay. */
static bool is_due(const struct vti_live *live, struct vti_function_table *table)
{
    int64_t since_ns = live->now_ns - table->taken_ns;
    struct vti_live_summary summary;
    bool has_ended;

    vti_live_summary(live, &summary);
    has_ended = !summary.is_growing && table->was_growing;
    table->was_growing = summary.is_growing;
    return !table->taken_ns || has_ended ||
           since_ns >= (live->functions.count ? SECOND_NS : SECOND_NS / 10);
}

const struct vti_live_function *vti_live_functions(struct vti_live *live, size_t *count)
{
    struct vti_function_table *table = live->function_table;

    if (!table)
        table = live->function_table = calloc(1, sizeof *table);
    if (table && (table->map || !vti_map_create(&table->map)) && is_due(live, table)) {
        table->since_s = table->taken_ns ? (double)(live->now_ns - table->taken_ns) / 1e9 : 0;
        table->taken_ns = live->now_ns;
        if (take_all(live, table) || show(live, table))
            live->functions.count = 0;
    }
    *count = live->functions.count;
    return live->functions.items;
}
