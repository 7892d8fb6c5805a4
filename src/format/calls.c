/* calls.c - entries of the blocks that hold calls: CALL_TREE, DURATIONS, COSTS, SAMPLES, SAMPLING. */
#include "format/calls.h"

#include <string.h>

static uint32_t get_u32(struct vti_reader *in)
{
    return (uint32_t)vti_reader_count(in, UINT32_MAX);
}

void vti_call_write(struct vti_buf *out, const struct vti_call_fact *fact)
{
    vti_buf_add_varint(out, fact->node);
    vti_buf_add_varint(out, fact->parent);
    vti_buf_add_varint(out, fact->site);
    vti_buf_add_varint(out, fact->calls);
    vti_buf_add_varint(out, fact->resumes);
    vti_buf_add_varint(out, fact->total);
    vti_buf_add_varint(out, fact->suspended);
    vti_buf_add_varint(out, fact->shortest_plus_one);
    vti_buf_add_varint(out, fact->longest);
    vti_buf_add_varint(out, fact->open_plus_one);
}

bool vti_call_read(struct vti_reader *in, struct vti_call_fact *fact)
{
    fact->node = get_u32(in);
    fact->parent = get_u32(in);
    fact->site = get_u32(in);
    fact->calls = vti_reader_varint(in);
    fact->resumes = vti_reader_varint(in);
    fact->total = vti_reader_varint(in);
    fact->suspended = vti_reader_varint(in);
    fact->shortest_plus_one = vti_reader_varint(in);
    fact->longest = vti_reader_varint(in);
    fact->open_plus_one = vti_reader_varint(in);
    return !in->failed && fact->node;
}

void vti_duration_counts_write(struct vti_buf *out, const uint64_t counts[VTI_DURATIONS_MAX])
{
    uint32_t pairs = 0;

    for (uint32_t i = 0; i < VTI_DURATIONS_MAX; i++)
        pairs += counts[i] != 0;
    vti_buf_add_varint(out, pairs);
    for (uint32_t i = 0; i < VTI_DURATIONS_MAX; i++) {
        if (!counts[i])
            continue;
        vti_buf_add_varint(out, i);
        vti_buf_add_varint(out, counts[i]);
    }
}

bool vti_duration_counts_read(struct vti_reader *in, uint64_t counts[VTI_DURATIONS_MAX])
{
    uint64_t pairs = vti_reader_count(in, VTI_DURATIONS_MAX);

    memset(counts, 0, VTI_DURATIONS_MAX * sizeof *counts);
    for (uint64_t i = 0; i < pairs && !in->failed; i++) {
        uint64_t bucket = vti_reader_count(in, VTI_DURATIONS_MAX - 1);

        counts[bucket] = vti_reader_varint(in);
    }
    return !in->failed;
}

void vti_durations_write(struct vti_buf *out, const struct vti_durations_fact *fact)
{
    vti_buf_add_varint(out, fact->site);
    vti_duration_counts_write(out, fact->counts);
}

bool vti_durations_read(struct vti_reader *in, struct vti_durations_fact *fact)
{
    fact->site = get_u32(in);
    return vti_duration_counts_read(in, fact->counts);
}

void vti_cost_write(struct vti_buf *out, const struct vti_cost_fact *fact)
{
    vti_buf_add_varint(out, fact->process);
    vti_buf_add_varint(out, fact->language);
    vti_buf_add_varint(out, fact->pair_millis);
    vti_buf_add_varint(out, fact->inner_millis);
}

bool vti_cost_read(struct vti_reader *in, struct vti_cost_fact *fact)
{
    fact->process = get_u32(in);
    fact->language = get_u32(in);
    fact->pair_millis = vti_reader_varint(in);
    fact->inner_millis = vti_reader_varint(in);
    return !in->failed;
}

void vti_sample_write(struct vti_buf *out, const struct vti_sample_fact *fact)
{
    vti_buf_add_varint(out, fact->node);
    vti_buf_add_varint(out, fact->parent);
    vti_buf_add_varint(out, fact->site);
    vti_buf_add_varint(out, fact->samples);
    vti_buf_add_varint(out, fact->ns);
}

bool vti_sample_read(struct vti_reader *in, struct vti_sample_fact *fact)
{
    fact->node = get_u32(in);
    fact->parent = get_u32(in);
    fact->site = get_u32(in);
    fact->samples = vti_reader_varint(in);
    fact->ns = vti_reader_varint(in);
    return !in->failed && fact->node;
}

void vti_sampling_write(struct vti_buf *out, const struct vti_sampling_fact *fact)
{
    vti_buf_add_varint(out, fact->process);
    vti_buf_add_varint(out, fact->clock);
    vti_buf_add_varint(out, fact->is_stopped);
    vti_buf_add_varint(out, fact->period_ns);
    vti_buf_add_varint(out, fact->samples);
    vti_buf_add_varint(out, fact->ours);
    vti_buf_add_varint(out, fact->cut);
    vti_buf_add_varint(out, fact->lost);
    vti_buf_add_varint(out, fact->spent);
}

bool vti_sampling_read(struct vti_reader *in, struct vti_sampling_fact *fact)
{
    fact->process = get_u32(in);
    fact->clock = get_u32(in);
    fact->is_stopped = get_u32(in);
    fact->period_ns = vti_reader_varint(in);
    fact->samples = vti_reader_varint(in);
    fact->ours = vti_reader_varint(in);
    fact->cut = vti_reader_varint(in);
    fact->lost = vti_reader_varint(in);
    fact->spent = vti_reader_varint(in);
    return !in->failed;
}
