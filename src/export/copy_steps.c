/*
 * copy_steps.c - messages of steps of a recording, with new processes and sites.
 *
 * Entries are decoded and encoded again, block by block: each keeps its number, and its block what tells its real time. Of a slice: those
 * that reach into it.
 */
#include "base/error.h"
#include "export/copy.h"
#include "format/steps.h"
#include "model/fact_blocks.h"

struct job {
    struct vti_copy *copy;
    struct vti_copy_input *input;
    struct vti_step_codec from, to;
};

static struct vti_clock *clock_of(const struct vti_copy_input *input, uint32_t process)
{
    const struct vti_facts *facts = &input->recording->facts;
    int64_t at = vti_ids_find(&facts->process_ids, process);

    return &facts->clocks.clocks[at < 0 ? 0 : facts->processes[at].clock];
}

static bool is_inside(const struct job *job, uint32_t process, const struct vti_step_fact *fact)
{
    const struct vti_copy_input *input = job->input;
    struct vti_clock *clock = clock_of(input, process);

    if (input->from_ns == INT64_MIN && input->to_ns == INT64_MAX)
        return true;
    return vti_clock_ns(clock, fact->received) < input->to_ns &&
           vti_clock_ns(clock, fact->sent) >= input->from_ns;
}

static int copy_entries(struct job *job, const struct vti_block_header *header,
                        struct vti_reader *in)
{
    struct vti_buf *entry = &job->copy->entry;
    struct vti_step_fact fact;
    uint32_t count = 0;
    int code = 0;

    for (uint32_t i = 0; i < header->count && !code; i++) {
        if (!vti_step_read(in, &job->from, &fact))
            break;
        if (fact.type != VTI_STEP_DONE || !is_inside(job, header->owner, &fact))
            continue;
        code = vti_copy_site(job->copy, job->input, fact.site, &fact.site);
        vti_step_write(entry, &job->to, &fact);
        count++;
    }
    job->input->copied += count;
    if (!code && entry->failed)
        code = VTI_E_NOMEM;
    return code ? code
                : vti_copy_owned_write(job->copy, VTI_STEPS,
                                       vti_renumber(&job->input->numbers->processes, header->owner),
                                       header->last, &count);
}

static int copy_block(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    struct job *job = arg;
    struct vti_steps_head head;
    struct vti_reader in;

    if (header->kind != VTI_STEPS)
        return 0;
    vti_reader_init(&in, payload, header->payload_bytes);
    if (!vti_steps_head_read(&in, &head))
        return 0;
    vti_step_codec_clear(&job->from);
    vti_step_codec_clear(&job->to);
    vti_buf_clear(&job->copy->entry);
    vti_steps_head_write(&job->copy->entry, &head);
    return copy_entries(job, header, &in);
}

int vti_copy_steps(struct vti_copy *copy, struct vti_copy_input *input)
{
    struct job job = {.copy = copy, .input = input};
    int code = vti_fact_blocks(input->recording, copy_block, &job);

    vti_buf_clear(&copy->entry);
    vti_step_codec_fini(&job.from);
    vti_step_codec_fini(&job.to);
    return code == VTI_E_NOMEM ? vti_fail(VTI_E_NOMEM, "out of memory") : code;
}
