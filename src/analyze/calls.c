/*
 * calls.c - functions and the places they are called from, put together one by one.
 *
 * Where they come from is none of its business: recordings, spans, files and live processes all
 * end here.
 */
#include "analyze/calls.h"

#include "base/error.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vti_calls_init(struct vti_calls *calls)
{
    memset(calls, 0, sizeof *calls);
}

void vti_calls_fini(struct vti_calls *calls)
{
    for (size_t i = 0; calls->durations && i < calls->function_count; i++)
        free(calls->durations[i]);
    free(calls->durations);
    free(calls->functions);
    free(calls->calls);
    vti_map_free(calls->known);
    vti_map_free(calls->strings);
    memset(calls, 0, sizeof *calls);
}

static int no_memory(void)
{
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

/* The number of a text, and in *kept a copy that lives as long as the table. */
static int64_t intern(struct vti_calls *calls, const char *text, const char **kept)
{
    int is_new;
    int64_t at = vti_map_add(calls->strings, text ? text : "", text ? strlen(text) : 0, &is_new);

    if (at >= 0)
        *kept = vti_map_key(calls->strings, (uint32_t)at, NULL);
    return at;
}

const char *vti_calls_text(struct vti_calls *calls, const char *text)
{
    const char *kept = NULL;

    if (!calls->strings && vti_map_create(&calls->strings))
        return NULL;
    return intern(calls, text, &kept) < 0 ? NULL : kept;
}

static int make_room(struct vti_calls *calls)
{
    struct vti_durations **durations;
    size_t room = calls->function_room;

    if ((!calls->known && vti_map_create(&calls->known)) ||
        (!calls->strings && vti_map_create(&calls->strings)))
        return no_memory();
    if (vti_grow(&calls->functions, calls->function_count, &room, sizeof *calls->functions))
        return no_memory();
    if (room == calls->function_room)
        return 0;
    durations = realloc(calls->durations, room * sizeof *durations);
    if (!durations)
        return no_memory();
    calls->durations = durations;
    calls->function_room = room;
    return 0;
}

int64_t vti_calls_function(struct vti_calls *calls, const struct vti_function *function)
{
    struct vti_function kept = *function;
    int64_t key[6];
    int64_t at;
    int is_new;

    if (make_room(calls))
        return VTI_E_NOMEM;
    key[0] = intern(calls, function->name, &kept.name);
    key[1] = intern(calls, function->function, &kept.function);
    key[2] = intern(calls, function->file, &kept.file);
    key[3] = intern(calls, function->language, &kept.language);
    key[4] = function->line;
    key[5] = function->twin;
    for (int i = 0; i < 4; i++)
        if (key[i] < 0)
            return no_memory();
    at = vti_map_add(calls->known, key, sizeof key, &is_new);
    if (at < 0)
        return no_memory();
    if (is_new) {
        calls->functions[at] = kept;
        calls->durations[at] = NULL;
        calls->function_count++;
    }
    return at;
}

int64_t vti_calls_add(struct vti_calls *calls, const struct vti_call *call)
{
    if (calls->call_count >= VT_NONE)
        return vti_fail(VTI_E_LIMIT, "more than %u places of calls", VT_NONE);
    if (vti_grow(&calls->calls, calls->call_count, &calls->call_room, sizeof *calls->calls))
        return no_memory();
    calls->calls[calls->call_count] = *call;
    if (call->parent >= calls->call_count)
        calls->calls[calls->call_count].parent = VT_NONE;
    return (int64_t)calls->call_count++;
}

int vti_calls_durations(struct vti_calls *calls, uint32_t function,
                        const struct vti_durations *durations)
{
    struct vti_durations **place = &calls->durations[function];

    if (!*place)
        *place = calloc(1, sizeof **place);
    if (!*place)
        return no_memory();
    vti_durations_add(*place, durations);
    return 0;
}

/* What remains of a time that was measured when the cost of the calls within it comes off. */
static double remainder_of(double raw_ns, double total_ns, double inner_ns)
{
    double share = raw_ns > 0 ? (total_ns + inner_ns) / raw_ns : 1;

    return share < 1 ? share : 1;
}

/* Shortest, longest and the spread of durations knew the cost of their own hooks only. */
static void settle_durations(struct vti_calls *calls)
{
    struct sum {
        double raw_ns, total_ns, inner_ns, entries;
    } *sums = calloc(calls->function_count + 1, sizeof *sums);

    for (size_t i = 0; i < calls->call_count; i++) {
        struct vti_call *call = &calls->calls[i];
        double share = remainder_of(call->raw_ns, call->total_ns, call->inner_ns);

        if (call->is_estimated)
            continue;
        call->shortest_ns *= share;
        call->longest_ns *= share;
        if (!sums)
            continue;
        sums[call->function].raw_ns += call->raw_ns;
        sums[call->function].total_ns += call->total_ns;
        sums[call->function].inner_ns += call->inner_ns;
        sums[call->function].entries += (double)call->calls + (double)call->resumes;
    }
    for (size_t i = 0; sums && i < calls->function_count; i++) {
        if (!calls->durations[i] || !(sums[i].entries > 0))
            continue;
        calls->durations[i]->cost_ns = sums[i].inner_ns / sums[i].entries;
        calls->durations[i]->remainder = remainder_of(sums[i].raw_ns, sums[i].total_ns,
                                                      sums[i].inner_ns);
    }
    free(sums);
}

/* Totals are made anew, deepest calls first, from what is left of their own times. Estimates have no part in it. */
void vti_calls_settle(struct vti_calls *calls, double *outside)
{
    size_t count = calls->call_count;

    for (size_t i = 0; i < count; i++) { /* self: what was measured, less the inner cost … */
        struct vti_call *call = &calls->calls[i];

        call->raw_ns = call->total_ns;
        call->inner_ns = call->self_ns;
        call->self_ns = call->raw_ns - call->inner_ns;
    }
    for (size_t i = 0; i < count; i++) { /* … less the callees and the rest of their cost … */
        const struct vti_call *call = &calls->calls[i];

        if (call->parent != VT_NONE && !call->is_estimated) {
            calls->calls[call->parent].self_ns -= call->total_ns + outside[i];
            outside[call->parent] += outside[i];
        }
        outside[i] = call->inner_ns; /* from here on: all that is taken off its own time */
    }
    for (size_t i = 0; i < count; i++)
        if (!calls->calls[i].is_estimated)
            calls->calls[i].total_ns = 0;
    for (size_t i = count; i-- > 0;) { /* … and the totals anew from that. */
        struct vti_call *call = &calls->calls[i];

        if (call->is_estimated)
            continue;
        calls->cost_ns += fmin(outside[i], fmax(call->self_ns + outside[i], 0));
        call->self_ns = fmax(call->self_ns, 0);
        call->total_ns += call->self_ns;
        if (call->parent != VT_NONE)
            calls->calls[call->parent].total_ns += call->total_ns;
    }
    settle_durations(calls);
}

void vti_calls_finish(struct vti_calls *calls)
{
    for (size_t i = 0; i < calls->call_count; i++)
        calls->calls[i].self_ns = calls->calls[i].total_ns;
    for (size_t i = 0; i < calls->call_count; i++) {
        uint32_t parent = calls->calls[i].parent;

        if (parent != VT_NONE)
            calls->calls[parent].self_ns -= calls->calls[i].total_ns;
    }
    /* Clocks that are not quite the same, and our cost, which is an average. */
    for (size_t i = 0; i < calls->call_count; i++)
        if (!(calls->calls[i].self_ns > 0))
            calls->calls[i].self_ns = 0;
}
