/*
 * copy_profile.c - the imported function tables of a recording, with new sites. Functions that several inputs
 * know are added up by whoever reads them.
 */
#include "export/copy.h"
#include "format/profiles.h"
#include "model/fact_blocks.h"

struct job {
    struct vti_copy *copy;
    struct vti_copy_input *input;
};

/* One entry with the new number of its site; false if it does not parse. */
static bool copy_numbers(const struct job *job, struct vti_reader *in, int *code)
{
    struct vti_profile_fact fact;

    if (*code || !vti_profile_read(in, &fact))
        return false;
    *code = vti_copy_site(job->copy, job->input, fact.site, &fact.site);
    vti_profile_write(&job->copy->entry, &fact);
    return !*code;
}

static bool copy_row(const struct job *job, struct vti_reader *in, int *code)
{
    uint64_t callers;
    bool is_whole = copy_numbers(job, in, code);

    callers = vti_reader_count(in, vti_reader_left(in));
    vti_buf_add_varint(&job->copy->entry, callers);
    for (uint64_t i = 0; i < callers && is_whole; i++)
        is_whole = copy_numbers(job, in, code);
    return is_whole && !in->failed;
}

static int copy_block(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    const struct job *job = arg;
    struct vti_copy *copy = job->copy;
    struct vti_reader in;
    uint32_t count = 0;
    size_t whole = 0;
    int code = 0;

    if (header->kind != VTI_PROFILE)
        return 0;
    vti_reader_init(&in, payload, header->payload_bytes);
    vti_buf_clear(&copy->entry);
    while (count < header->count && copy_row(job, &in, &code)) {
        whole = copy->entry.len;
        count++;
    }
    copy->entry.len = whole; /* without what did not parse */
    if (!code)
        code = vti_copy_sites_write(copy);
    if (!code && count)
        code = vti_writer_facts(copy->writer, VTI_PROFILE, &copy->entry, count, 0, 0);
    vti_buf_clear(&copy->entry);
    return code;
}

int vti_copy_profile(struct vti_copy *copy, struct vti_copy_input *input)
{
    struct job job = {.copy = copy, .input = input};

    return vti_fact_blocks(input->recording, copy_block, &job);
}
