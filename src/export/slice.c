/*
 * slice.c - a stretch of time of a recording becomes a recording of its own.
 *
 * What was cut away is stated as two losses with a reason of their own, before and after. They
 * count in no total: nothing is missing in the range.
 */
#include "export/slice.h"

#include "analyze/values.h"
#include "base/error.h"
#include "export/copy.h"
#include "model/fact_blocks.h"

#include <string.h>

/* A file of a spool: a slice is none, its ids are not those of the run. */
static bool is_of_spool(const struct vti_meta_fact *meta)
{
    static const char prefix[] = "spool.";

    return meta->key.len >= sizeof prefix - 1 && !memcmp(meta->key.data, prefix, sizeof prefix - 1);
}

static int copy_meta(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    struct vti_copy *copy = arg;
    struct vti_meta_fact meta;
    struct vti_reader in;
    int code = 0;

    if (header->kind != VTI_META)
        return 0;
    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count && !code && vti_meta_read(&in, &meta); i++)
        code = is_of_spool(&meta) ? 0 : vti_copy_meta(copy, &meta);
    return code;
}

static int look_for_sums(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    bool *has_sums = arg;

    (void)payload;
    *has_sums |= header->kind == VTI_CALL_TREE || header->kind == VTI_SAMPLES ||
                 header->kind == VTI_PROFILE || header->kind == VTI_LINES;
    return 0;
}

static int state_cut(struct vti_copy *copy, struct vti_clock *clock, uint64_t events,
                     int64_t begin_ns, int64_t end_ns)
{
    struct vti_loss_fact loss = {.reason = VTI_LOSS_SLICED, .events = events};

    if (!events)
        return 0;
    loss.first = vti_clock_tick_at(clock, begin_ns);
    loss.last = vti_clock_tick_at(clock, end_ns);
    return vti_copy_loss(copy, &loss);
}

static int fill(struct vti_copy *copy, struct vti_copy_input *input, bool has_sums)
{
    struct vti_clock *clock = &input->recording->facts.clocks.clocks[0];
    int64_t begin_ns;
    int64_t end_ns;
    int code = vti_copy_input_start(copy, input);

    vti_recording_extent(input->recording, &begin_ns, &end_ns);
    if (!code)
        code = vti_fact_blocks(input->recording, copy_meta, copy);
    if (!code)
        code = vti_copy_facts(copy, input);
    if (!code)
        code = vti_copy_events(copy, input);
    if (!code)
        code = vti_copy_tasks(copy, input);
    if (!code)
        code = vti_copy_steps(copy, input);
    if (!code && !input->copied && has_sums)
        code = vti_fail(VTI_E_EMPTY,
                        "%s: nothing happened in that range but calls, which it has sums of only",
                        input->recording->path);
    if (!code && !input->copied)
        code = vti_fail(VTI_E_EMPTY, "%s: nothing happened in that range", input->recording->path);
    if (!code)
        code = vti_copy_resources(copy, input);
    if (!code)
        code = vti_copy_energy(copy, input);
    if (!code)
        code = state_cut(copy, clock, input->cut_before, begin_ns, input->from_ns);
    if (!code)
        code = state_cut(copy, clock, input->cut_after, input->to_ns, end_ns);
    return code;
}

int vti_slice(const struct vti_slice *slice, struct vti_slice_report *report)
{
    struct vti_copy_input input = {.recording = slice->recording,
                                   .from_ns = slice->from_ns,
                                   .to_ns = slice->to_ns,
                                   .is_alone = true};
    struct vti_copy copy;
    int code = vti_copy_open(&copy, slice->output, slice->force, slice->is_stopped);

    if (code)
        return code;
    report->has_sums = false;
    code = vti_fact_blocks(slice->recording, look_for_sums, &report->has_sums);
    if (!code)
        code = fill(&copy, &input, report->has_sums);
    if (!code)
        code = vti_copy_commit(&copy, &report->file);
    else
        vti_copy_abandon(&copy);
    report->cut_events = input.cut_before + input.cut_after;
    vti_copy_input_fini(&input);
    return code;
}
