/*
 * calls_load.c - the calls of a recording, from its trees and from its spans.
 *
 * Our own cost is subtracted here: the inner part of it from a call's own time, the rest of it from its
 * caller's. What does not make sense in a tree (a parent that is not there, or above itself) is a root.
 */
#include "analyze/calls.h"
#include "analyze/calls_sites.h"
#include "base/bytes.h"
#include "base/error.h"
#include "model/call_tree.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOT_YET (VT_NONE - 1)

struct loading {
    struct vti_calls *calls;
    vt_recording *recording;
    const struct vti_calls_options *options;
    struct vti_call_trees trees;
    struct vti_call_sites sites;
    struct vti_map *places; /* (parent, function, track, exact or not) to an index of … */
    uint32_t *place_calls;  /* … these */
    size_t place_room;
    const struct vti_call_tree *tree;
    const struct vti_track *track;
    double ns_per_tick;
    uint32_t *call_of;        /* of each node of the tree; VT_NONE: none, NOT_YET */
    uint32_t *sample_call_of; /* the same for those that samples met */
    double *cost;             /* of each call: what its own hooks took outside of it, in all */
    size_t cost_room;
};

static bool is_wanted(const struct vti_calls_options *options, const struct vti_track *track)
{
    return (options->track == VT_NONE || options->track == track->id) &&
           (options->process == VT_NONE || options->process == track->process);
}

/* The nodes from one that has its place in the table, or is a root, down to `at`: as a list in `chain`. */
static size_t chain_to(const struct loading *loading, uint32_t at, uint32_t *chain, size_t most)
{
    const struct vti_call_tree *tree = loading->tree;
    size_t length = 0;
    int64_t next = at;

    while (next >= 0 && loading->call_of[next] == NOT_YET && length < most) {
        chain[length++] = (uint32_t)next;
        loading->call_of[next] = VT_NONE; /* met: a parent that is above itself ends the chain */
        next = vti_ids_find(&tree->node_ids, tree->nodes[next].parent);
    }
    return length;
}

/* Numbers of one node, added to its place. */
static void add_numbers(struct loading *loading, struct vti_call *call,
                        const struct vti_call_fact *node, const struct vti_cost_fact *cost,
                        double *outside)
{
    double scale = loading->ns_per_tick;
    double inner = (double)cost->inner_millis / 1000 * scale;
    double pair = (double)cost->pair_millis / 1000 * scale;
    double entries = (double)node->calls + (double)node->resumes;

    call->calls = vti_add_capped(call->calls, node->calls);
    call->resumes = vti_add_capped(call->resumes, node->resumes);
    call->suspended_ns += (double)node->suspended * scale;
    call->total_ns += (double)node->total * scale;
    if (node->open_plus_one) {
        call->total_ns += (double)(node->open_plus_one - 1) * scale;
        call->is_open = true;
    }
    call->self_ns += entries *
                     inner; /* until vti_calls_settle(): what is to be subtracted inside */
    *outside += entries * (pair > inner ? pair - inner : 0);
    if (!node->shortest_plus_one)
        return;
    call->shortest_ns = fmin(call->shortest_ns,
                             fmax((double)(node->shortest_plus_one - 1) * scale - inner, 0));
    call->longest_ns = fmax(call->longest_ns, fmax((double)node->longest * scale - inner, 0));
}

/* The place of a node in the table: its index, or a negative code. */
static int64_t find_place(struct loading *loading, uint32_t parent, uint32_t function,
                          bool is_estimated)
{
    uint32_t track = loading->options->is_merged ? VT_NONE : loading->tree->track;
    uint32_t key[4] = {parent, function, track, is_estimated};
    struct vti_call call = {.parent = parent,
                            .function = function,
                            .track = track,
                            .is_estimated = is_estimated,
                            .shortest_ns = NAN,
                            .longest_ns = NAN};
    int is_new;
    int64_t index;
    int64_t at;

    if (vti_grow(&loading->place_calls, vti_map_count(loading->places), &loading->place_room,
                 sizeof *loading->place_calls) ||
        vti_grow(&loading->cost, loading->calls->call_count, &loading->cost_room,
                 sizeof *loading->cost))
        return VTI_E_NOMEM;
    at = vti_map_add(loading->places, key, sizeof key, &is_new);
    if (at < 0 || !is_new)
        return at < 0 ? at : loading->place_calls[at];
    index = vti_calls_add(loading->calls, &call);
    if (index < 0)
        return index;
    loading->cost[index] = 0;
    loading->place_calls[at] = (uint32_t)index;
    return index;
}

static int add_node(struct loading *loading, uint32_t at)
{
    const struct vti_call_tree *tree = loading->tree;
    const struct vti_call_fact *node = &tree->nodes[at];
    int64_t parent_node = vti_ids_find(&tree->node_ids, node->parent);
    uint32_t parent = parent_node < 0 ? VT_NONE : loading->call_of[parent_node];
    int64_t function = vti_call_sites_find(&loading->sites, node->site);
    struct vti_cost_fact cost = {0};
    int64_t place;

    if (function == VTI_E_NOT_FOUND || (!node->calls && !node->resumes)) {
        /* no function, or taken back: its callees count as called by its caller */
        loading->call_of[at] = parent;
        return 0;
    }
    place = function < 0 ? function : find_place(loading, parent, (uint32_t)function, false);
    if (place < 0)
        return (int)place;
    if (!loading->options->is_raw)
        cost = vti_call_cost(&loading->trees, loading->track->process,
                             loading->calls->functions[function].language);
    add_numbers(loading, &loading->calls->calls[place], node, &cost, &loading->cost[place]);
    loading->call_of[at] = (uint32_t)place;
    return 0;
}

static int add_durations(struct loading *loading)
{
    const struct vti_call_tree *tree = loading->tree;
    struct vti_durations durations = {.ns_per_tick = loading->ns_per_tick};
    int code = 0;

    for (uint32_t i = 0; i < tree->site_ids.count && !code; i++) {
        int64_t function = vti_call_sites_find(&loading->sites, tree->durations[i].site);

        if (function == VTI_E_NOT_FOUND)
            continue;
        memcpy(durations.counts, tree->durations[i].counts, sizeof durations.counts);
        code = function < 0 ? (int)function
                            : vti_calls_durations(loading->calls, (uint32_t)function, &durations);
    }
    return code;
}

/* Those that samples met, from one whose caller has its place down to `at`. */
static size_t sample_chain_to(const struct loading *loading, uint32_t at, uint32_t *chain)
{
    const struct vti_call_tree *tree = loading->tree;
    size_t length = 0;
    int64_t next = at;

    while (next >= 0 && loading->sample_call_of[next] == NOT_YET) {
        chain[length++] = (uint32_t)next;
        loading->sample_call_of[next] = VT_NONE;
        next = vti_ids_find(&tree->sample_ids, tree->samples[next].parent);
    }
    return length;
}

static int add_sample(struct loading *loading, uint32_t at)
{
    const struct vti_call_tree *tree = loading->tree;
    const struct vti_sample_fact *sample = &tree->samples[at];
    int64_t above = vti_ids_find(&tree->sample_ids, sample->parent);
    int64_t caller = vti_ids_find(&tree->node_ids, sample->parent);
    uint32_t parent = above >= 0    ? loading->sample_call_of[above]
                      : caller >= 0 ? loading->call_of[caller]
                                    : VT_NONE;
    int64_t function = vti_call_sites_find(&loading->sites, sample->site);
    struct vti_call *call;
    int64_t place;

    loading->sample_call_of[at] = parent;
    if (function < 0)
        return function == VTI_E_NOT_FOUND ? 0 : (int)function;
    place = find_place(loading, parent, (uint32_t)function, true);
    if (place < 0)
        return (int)place;
    call = &loading->calls->calls[place];
    call->samples = vti_add_capped(call->samples, sample->samples);
    call->total_ns += (double)sample->ns;
    loading->sample_call_of[at] = (uint32_t)place;
    return 0;
}

static int add_samples(struct loading *loading)
{
    uint32_t count = loading->tree->sample_ids.count;
    uint32_t *chain = malloc(((size_t)count + 1) * sizeof *chain);
    int code = 0;

    loading->sample_call_of = malloc(((size_t)count + 1) * sizeof *chain);
    if (!chain || !loading->sample_call_of)
        code = VTI_E_NOMEM;
    for (uint32_t i = 0; i < count && !code; i++)
        loading->sample_call_of[i] = NOT_YET;
    for (uint32_t i = 0; i < count && !code; i++) {
        size_t length = sample_chain_to(loading, i, chain);

        while (length && !code)
            code = add_sample(loading, chain[--length]);
    }
    free(chain);
    free(loading->sample_call_of);
    return code;
}

static int add_tree(struct loading *loading)
{
    uint32_t count = loading->tree->node_ids.count;
    uint32_t *chain = malloc(((size_t)count + 1) * sizeof *chain);
    int code = chain ? 0 : VTI_E_NOMEM;

    loading->call_of = malloc(((size_t)count + 1) * sizeof *loading->call_of);
    if (!loading->call_of)
        code = VTI_E_NOMEM;
    for (uint32_t i = 0; i < count && !code; i++)
        loading->call_of[i] = NOT_YET;
    for (uint32_t i = 0; i < count && !code; i++) {
        size_t length = chain_to(loading, i, chain, count);

        while (length && !code)
            code = add_node(loading, chain[--length]);
    }
    if (!code)
        code = add_samples(loading);
    free(chain);
    free(loading->call_of);
    loading->call_of = NULL;
    return code ? code : add_durations(loading);
}

static int load_trees(struct loading *loading)
{
    const struct vti_facts *facts = &loading->recording->facts;
    int code = 0;

    for (uint32_t i = 0; i < loading->trees.track_ids.count && !code; i++) {
        loading->tree = &loading->trees.trees[i];
        loading->track = facts->tracks[loading->tree->track];
        loading->ns_per_tick = facts->clocks.clocks[loading->track->clock].ns_per_tick;
        if (is_wanted(loading->options, loading->track))
            code = add_tree(loading);
    }
    return code;
}

static void count_lost(struct loading *loading)
{
    const struct vti_facts *facts = &loading->recording->facts;

    for (size_t i = 0; i < facts->loss_count; i++)
        if (facts->losses[i].reason == VTI_LOSS_CALLS) {
            loading->calls->lost_calls = vti_add_capped(loading->calls->lost_calls,
                                                        facts->losses[i].events);
            loading->calls->has_unseen |= facts->losses[i].flags & 1;
        }
}

static int load(struct vti_calls *calls, vt_recording *recording,
                const struct vti_calls_options *options, bool has_spans)
{
    struct loading loading = {.calls = calls,
                              .recording = recording,
                              .options = options,
                              .sites = {.calls = calls, .recording = recording}};
    double entries = 0;
    int code;

    vti_calls_init(calls);
    code = vti_call_trees_load(&loading.trees, recording);
    if (!code)
        code = vti_map_create(&loading.places);
    if (!code)
        code = load_trees(&loading);
    if (!code) {
        vti_calls_settle(calls, loading.cost);
        code = vti_calls_fit_samples(calls);
    }
    if (!code) {
        count_lost(&loading);
        code = has_spans ? vti_calls_from_spans(calls, recording, options) : 0;
    }
    if (!code) {
        vti_calls_finish(calls);
        for (size_t i = 0; i < calls->call_count; i++)
            entries += (double)calls->calls[i].calls + (double)calls->calls[i].resumes;
        calls->cost_call_ns = entries > 0 ? calls->cost_ns / entries : 0;
    } else {
        vti_calls_fini(calls);
    }
    vti_map_free(loading.places);
    vti_call_sites_fini(&loading.sites);
    vti_call_trees_fini(&loading.trees);
    free(loading.place_calls);
    free(loading.cost);
    return code;
}

int vti_calls_load(struct vti_calls *calls, vt_recording *recording,
                   const struct vti_calls_options *options)
{
    return load(calls, recording, options, true);
}

int vti_calls_load_trees(struct vti_calls *calls, vt_recording *recording,
                         const struct vti_calls_options *options)
{
    return load(calls, recording, options, false);
}
