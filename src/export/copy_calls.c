/*
 * copy_calls.c - the trees of calls of a recording, with new sites and tracks.
 *
 * They are totals over a thread's whole life, so a slice of time leaves them out.
 */
#include "export/copy.h"
#include "model/call_tree.h"

#define BLOCK_ENTRIES 4096u

struct job {
    struct vti_copy *copy;
    struct vti_copy_input *input;
    uint32_t track; /* new */
    uint64_t last;  /* ticks */
};

static int write_block(const struct job *job, enum vti_kind kind, uint32_t *count)
{
    return vti_copy_owned_write(job->copy, kind, job->track, job->last, count);
}

static int copy_nodes(const struct job *job, const struct vti_call_tree *tree)
{
    uint32_t count = 0;
    int code = 0;

    for (uint32_t i = 0; i < tree->node_ids.count && !code; i++) {
        struct vti_call_fact node = tree->nodes[i];

        code = vti_copy_site(job->copy, job->input, node.site, &node.site);
        vti_call_write(&job->copy->entry, &node);
        if (!code && ++count == BLOCK_ENTRIES)
            code = write_block(job, VTI_CALL_TREE, &count);
    }
    return code ? code : write_block(job, VTI_CALL_TREE, &count);
}

static int copy_durations(const struct job *job, const struct vti_call_tree *tree)
{
    uint32_t count = 0;
    int code = 0;

    for (uint32_t i = 0; i < tree->site_ids.count && !code; i++) {
        struct vti_durations_fact durations = tree->durations[i];

        code = vti_copy_site(job->copy, job->input, durations.site, &durations.site);
        vti_durations_write(&job->copy->entry, &durations);
        if (!code && ++count == BLOCK_ENTRIES)
            code = write_block(job, VTI_DURATIONS, &count);
    }
    return code ? code : write_block(job, VTI_DURATIONS, &count);
}

static int copy_samples(const struct job *job, const struct vti_call_tree *tree)
{
    uint32_t count = 0;
    int code = 0;

    for (uint32_t i = 0; i < tree->sample_ids.count && !code; i++) {
        struct vti_sample_fact sample = tree->samples[i];

        code = vti_copy_site(job->copy, job->input, sample.site, &sample.site);
        vti_sample_write(&job->copy->entry, &sample);
        if (!code && ++count == BLOCK_ENTRIES)
            code = write_block(job, VTI_SAMPLES, &count);
    }
    return code ? code : write_block(job, VTI_SAMPLES, &count);
}

static int copy_samplings(const struct job *job, const struct vti_call_trees *trees)
{
    int code = 0;

    for (size_t i = 0; i < trees->sampling_count && !code; i++) {
        struct vti_sampling_fact sampling = trees->samplings[i];

        sampling.process = vti_renumber(&job->input->numbers->processes, sampling.process);
        vti_sampling_write(&job->copy->entry, &sampling);
        code = vti_writer_facts(job->copy->writer, VTI_SAMPLING, &job->copy->entry, 1, 0, 0);
        vti_buf_clear(&job->copy->entry);
    }
    return code;
}

static int copy_costs(const struct job *job, const struct vti_call_trees *trees)
{
    int code = 0;

    for (size_t i = 0; i < trees->cost_count && !code; i++) {
        struct vti_cost_fact cost = trees->costs[i];

        cost.process = vti_renumber(&job->input->numbers->processes, cost.process);
        vti_cost_write(&job->copy->entry, &cost);
        code = vti_writer_facts(job->copy->writer, VTI_COSTS, &job->copy->entry, 1, 0, 0);
        vti_buf_clear(&job->copy->entry);
    }
    return code;
}

int vti_copy_calls(struct vti_copy *copy, struct vti_copy_input *input)
{
    const struct vti_facts *facts = &input->recording->facts;
    struct job job = {.copy = copy, .input = input};
    struct vti_call_trees trees;
    int code = vti_call_trees_load(&trees, input->recording);

    if (code)
        return code;
    code = copy_costs(&job, &trees);
    if (!code)
        code = copy_samplings(&job, &trees);
    for (uint32_t i = 0; i < trees.track_ids.count && !code; i++) {
        const struct vti_track *track = facts->tracks[trees.trees[i].track];

        job.track = vti_renumber(&input->numbers->tracks, track->id);
        job.last = track->end;
        code = copy_nodes(&job, &trees.trees[i]);
        if (!code)
            code = copy_durations(&job, &trees.trees[i]);
        if (!code)
            code = copy_samples(&job, &trees.trees[i]);
    }
    vti_call_trees_fini(&trees);
    return code;
}
