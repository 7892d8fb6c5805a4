/*
 * copy_calls.c - the trees of calls of a recording, with new sites and tracks.
 *
 * They are totals over a thread's whole life, so a slice of time leaves them out.
 */
#include "export/copy.h"
#include "model/call_tree.h"

static int copy_nodes(const struct vti_copy_track *to, const struct vti_call_tree *tree)
{
    uint32_t count = 0;
    int code = 0;

    for (uint32_t i = 0; i < tree->node_ids.count && !code; i++) {
        struct vti_call_fact node = tree->nodes[i];

        code = vti_copy_site(to->copy, to->input, node.site, &node.site);
        vti_call_write(&to->copy->entry, &node);
        if (!code)
            code = vti_copy_track_add(to, VTI_CALL_TREE, &count);
    }
    return code ? code : vti_copy_track_end(to, VTI_CALL_TREE, &count);
}

static int copy_durations(const struct vti_copy_track *to, const struct vti_call_tree *tree)
{
    uint32_t count = 0;
    int code = 0;

    for (uint32_t i = 0; i < tree->site_ids.count && !code; i++) {
        struct vti_durations_fact durations = tree->durations[i];

        code = vti_copy_site(to->copy, to->input, durations.site, &durations.site);
        vti_durations_write(&to->copy->entry, &durations);
        if (!code)
            code = vti_copy_track_add(to, VTI_DURATIONS, &count);
    }
    return code ? code : vti_copy_track_end(to, VTI_DURATIONS, &count);
}

static int copy_samples(const struct vti_copy_track *to, const struct vti_call_tree *tree)
{
    uint32_t count = 0;
    int code = 0;

    for (uint32_t i = 0; i < tree->sample_ids.count && !code; i++) {
        struct vti_sample_fact sample = tree->samples[i];

        code = vti_copy_site(to->copy, to->input, sample.site, &sample.site);
        vti_sample_write(&to->copy->entry, &sample);
        if (!code)
            code = vti_copy_track_add(to, VTI_SAMPLES, &count);
    }
    return code ? code : vti_copy_track_end(to, VTI_SAMPLES, &count);
}

static int copy_samplings(const struct vti_copy_track *to, const struct vti_call_trees *trees)
{
    int code = 0;

    for (size_t i = 0; i < trees->sampling_count && !code; i++) {
        struct vti_sampling_fact sampling = trees->samplings[i];

        sampling.process = vti_renumber(&to->input->numbers->processes, sampling.process);
        vti_sampling_write(&to->copy->entry, &sampling);
        code = vti_writer_facts(to->copy->writer, VTI_SAMPLING, &to->copy->entry, 1, 0, 0);
        vti_buf_clear(&to->copy->entry);
    }
    return code;
}

static int copy_costs(const struct vti_copy_track *to, const struct vti_call_trees *trees)
{
    int code = 0;

    for (size_t i = 0; i < trees->cost_count && !code; i++) {
        struct vti_cost_fact cost = trees->costs[i];

        cost.process = vti_renumber(&to->input->numbers->processes, cost.process);
        vti_cost_write(&to->copy->entry, &cost);
        code = vti_writer_facts(to->copy->writer, VTI_COSTS, &to->copy->entry, 1, 0, 0);
        vti_buf_clear(&to->copy->entry);
    }
    return code;
}

int vti_copy_calls(struct vti_copy *copy, struct vti_copy_input *input)
{
    struct vti_copy_track to = {.copy = copy, .input = input};
    struct vti_call_trees trees;
    int code = vti_call_trees_load(&trees, input->recording);

    if (code)
        return code;
    code = copy_costs(&to, &trees);
    if (!code)
        code = copy_samplings(&to, &trees);
    for (uint32_t i = 0; i < trees.track_ids.count && !code; i++) {
        vti_copy_track_start(&to, trees.trees[i].track);
        code = copy_nodes(&to, &trees.trees[i]);
        if (!code)
            code = copy_durations(&to, &trees.trees[i]);
        if (!code)
            code = copy_samples(&to, &trees.trees[i]);
    }
    vti_call_trees_fini(&trees);
    return code;
}
