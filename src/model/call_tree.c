/* call_tree.c - the trees of calls of a recording, as they stand in the file. */
#include "model/call_tree.h"

#include "base/error.h"
#include "model/fact_blocks.h"

#include <stdlib.h>
#include <string.h>

struct load {
    struct vti_call_trees *trees;
    vt_recording *recording;
};

static struct vti_call_tree *tree_of(struct load *load, uint32_t track)
{
    struct vti_call_trees *trees = load->trees;
    uint32_t known = trees->track_ids.count;
    int64_t index;
    int64_t at;

    if (vti_grow(&trees->trees, known, &trees->tree_room, sizeof *trees->trees) ||
        !vti_facts_track(&load->recording->facts, track))
        return NULL;
    at = vti_ids_add(&trees->track_ids, track);
    index = vti_ids_find(&load->recording->facts.track_ids, track);
    if (at < 0 || index < 0)
        return NULL;
    if (at == known)
        trees->trees[at] = (struct vti_call_tree){.track = (uint32_t)index};
    return &trees->trees[at];
}

static int take_call(struct vti_call_tree *tree, struct vti_reader *in)
{
    struct vti_call_fact fact;
    int64_t at;

    if (!vti_call_read(in, &fact))
        return VTI_E_DAMAGED;
    if (vti_grow(&tree->nodes, tree->node_ids.count, &tree->node_room, sizeof *tree->nodes))
        return VTI_E_NOMEM;
    at = vti_ids_add(&tree->node_ids, fact.node);
    if (at >= 0)
        tree->nodes[at] = fact;
    return at < 0 ? (int)at : 0;
}

static int take_durations(struct vti_call_tree *tree, struct vti_reader *in)
{
    struct vti_durations_fact fact;
    int64_t at;

    if (!vti_durations_read(in, &fact))
        return VTI_E_DAMAGED;
    if (vti_grow(&tree->durations, tree->site_ids.count, &tree->duration_room,
                 sizeof *tree->durations))
        return VTI_E_NOMEM;
    at = vti_ids_add(&tree->site_ids, fact.site);
    if (at >= 0)
        tree->durations[at] = fact;
    return at < 0 ? (int)at : 0;
}

static int take_cost(struct vti_call_trees *trees, struct vti_reader *in)
{
    struct vti_cost_fact fact;

    if (!vti_cost_read(in, &fact))
        return VTI_E_DAMAGED;
    if (vti_grow(&trees->costs, trees->cost_count, &trees->cost_room, sizeof *trees->costs))
        return VTI_E_NOMEM;
    trees->costs[trees->cost_count++] = fact;
    return 0;
}

static int take_sample(struct vti_call_tree *tree, struct vti_reader *in)
{
    struct vti_sample_fact fact;
    int64_t at;

    if (!vti_sample_read(in, &fact))
        return VTI_E_DAMAGED;
    if (vti_grow(&tree->samples, tree->sample_ids.count, &tree->sample_room, sizeof *tree->samples))
        return VTI_E_NOMEM;
    at = vti_ids_add(&tree->sample_ids, fact.node);
    if (at >= 0)
        tree->samples[at] = fact;
    return at < 0 ? (int)at : 0;
}

static int take_sampling(struct vti_call_trees *trees, struct vti_reader *in)
{
    struct vti_sampling_fact fact;

    if (!vti_sampling_read(in, &fact))
        return VTI_E_DAMAGED;
    if (vti_grow(&trees->samplings, trees->sampling_count, &trees->sampling_room,
                 sizeof *trees->samplings))
        return VTI_E_NOMEM;
    trees->samplings[trees->sampling_count++] = fact;
    return 0;
}

static int take_entry(struct load *load, unsigned kind, struct vti_call_tree *tree,
                      struct vti_reader *in)
{
    switch (kind) {
    case VTI_CALL_TREE:
        return take_call(tree, in);
    case VTI_DURATIONS:
        return take_durations(tree, in);
    case VTI_SAMPLES:
        return take_sample(tree, in);
    case VTI_COSTS:
        return take_cost(load->trees, in);
    default:
        return take_sampling(load->trees, in);
    }
}

static int take_block(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    struct load *load = arg;
    struct vti_call_tree *tree = NULL;
    struct vti_reader in;
    int code = 0;
    bool is_owned = header->kind == VTI_CALL_TREE || header->kind == VTI_DURATIONS ||
                    header->kind == VTI_SAMPLES;

    if (!is_owned && header->kind != VTI_COSTS && header->kind != VTI_SAMPLING)
        return 0;
    if (is_owned) {
        tree = tree_of(load, header->owner);
        if (!tree)
            return VTI_E_NOMEM;
    }
    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count && !code; i++)
        code = take_entry(load, header->kind, tree, &in);
    if (code == VTI_E_DAMAGED) {
        vti_damage_note_block(load->recording, header, payload);
        code = 0;
    }
    return code;
}

int vti_call_trees_load(struct vti_call_trees *trees, vt_recording *recording)
{
    struct load load = {trees, recording};
    int code;

    memset(trees, 0, sizeof *trees);
    code = vti_fact_blocks(recording, take_block, &load);
    if (code)
        vti_call_trees_fini(trees);
    return code ? vti_fail(code, "%s: out of memory", recording->path) : 0;
}

void vti_call_trees_fini(struct vti_call_trees *trees)
{
    for (uint32_t i = 0; i < trees->track_ids.count; i++) {
        vti_ids_fini(&trees->trees[i].node_ids);
        vti_ids_fini(&trees->trees[i].site_ids);
        vti_ids_fini(&trees->trees[i].sample_ids);
        free(trees->trees[i].samples);
        free(trees->trees[i].nodes);
        free(trees->trees[i].durations);
    }
    vti_ids_fini(&trees->track_ids);
    free(trees->trees);
    free(trees->costs);
    free(trees->samplings);
    memset(trees, 0, sizeof *trees);
}

struct vti_cost_fact vti_call_cost(const struct vti_call_trees *trees, uint32_t process,
                                   const char *language)
{
    static const char *const languages[] = {"", "python", "builtin", "c"};
    struct vti_cost_fact none = {.process = process};

    for (size_t i = trees->cost_count; i-- > 0;) {
        const struct vti_cost_fact *cost = &trees->costs[i];

        if (cost->process == process && cost->language < sizeof languages / sizeof *languages &&
            !strcmp(languages[cost->language], language))
            return *cost;
    }
    return none;
}
