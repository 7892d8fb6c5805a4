/*
 * copy_tasks.c - runs of task graphs of a recording, with new processes and sites.
 *
 * Entries are decoded and encoded again, block by block. Of a slice: all runs and workers, the tasks that reach into it, and their
 * edges; of a task that never began nothing is known that would keep it out.
 */
#include "base/error.h"
#include "export/copy.h"
#include "format/tasks.h"
#include "model/fact_blocks.h"

struct job {
    struct vti_copy *copy;
    struct vti_copy_input *input;
    struct vti_task_codec from, to;
    struct vti_map *kept; /* owned; tasks of a slice: process, run, number; NULL: all */
    uint64_t copied;
};

static struct vti_clock *clock_of(const struct vti_copy_input *input, uint32_t process)
{
    const struct vti_facts *facts = &input->recording->facts;
    int64_t at = vti_ids_find(&facts->process_ids, process);

    return &facts->clocks.clocks[at < 0 ? 0 : facts->processes[at].clock];
}

static bool is_inside(const struct job *job, uint32_t process, const struct vti_task_fact *fact)
{
    struct vti_clock *clock = clock_of(job->input, process);

    if (!job->kept || fact->type != VTI_TASK_TASK || !fact->start)
        return true;
    return vti_clock_ns(clock, fact->start) < job->input->to_ns &&
           vti_clock_ns(clock, fact->end) >= job->input->from_ns;
}

/* 0, 1 if it is to be left out, or a negative code. */
static int keep_task(struct job *job, uint32_t process, struct vti_task_fact *fact)
{
    const uint32_t key[3] = {process, fact->run, fact->number};
    int is_new;

    if (!is_inside(job, process, fact))
        return 1;
    if (fact->type != VTI_TASK_TASK)
        return 0;
    job->copied++;
    if (job->kept && vti_map_add(job->kept, key, sizeof key, &is_new) < 0)
        return VTI_E_NOMEM;
    return vti_copy_site(job->copy, job->input, fact->site, &fact->site);
}

static int copy_tasks(struct job *job, const struct vti_block_header *header, struct vti_reader *in)
{
    struct vti_task_fact fact;
    uint32_t count = 0;
    int code = 0;

    for (uint32_t i = 0; i < header->count && code >= 0; i++) {
        if (!vti_task_read(in, &job->from, &fact))
            break;
        if (fact.type < VTI_TASK_RUN || fact.type > VTI_TASK_RUN_END)
            continue;
        code = keep_task(job, header->owner, &fact);
        if (code)
            continue;
        vti_task_write(&job->copy->entry, &job->to, &fact);
        count++;
    }
    if (code >= 0)
        code = vti_copy_owned_write(job->copy, VTI_TASKS,
                                    vti_renumber(&job->input->numbers->processes, header->owner),
                                    header->last, &count);
    return code;
}

static int copy_edges(struct job *job, const struct vti_block_header *header, struct vti_reader *in)
{
    struct vti_edges_fact fact;
    uint32_t count = 0;

    for (uint32_t i = 0; i < header->count && vti_edges_read(in, &job->from, &fact); i++) {
        const uint32_t key[3] = {header->owner, fact.run, fact.number};

        if (job->kept && vti_map_find(job->kept, key, sizeof key) < 0)
            continue;
        vti_edges_write(&job->copy->entry, &job->to, &fact);
        count++;
    }
    return vti_copy_owned_write(job->copy, VTI_EDGES,
                                vti_renumber(&job->input->numbers->processes, header->owner),
                                header->last, &count);
}

static int copy_block(struct job *job, const struct vti_block_header *header,
                      const uint8_t *payload)
{
    struct vti_reader in;

    vti_task_codec_clear(&job->from);
    vti_task_codec_clear(&job->to);
    vti_reader_init(&in, payload, header->payload_bytes);
    return header->kind == VTI_TASKS ? copy_tasks(job, header, &in) : copy_edges(job, header, &in);
}

static int take_tasks(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    return header->kind == VTI_TASKS ? copy_block(arg, header, payload) : 0;
}

static int take_edges(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    return header->kind == VTI_EDGES ? copy_block(arg, header, payload) : 0;
}

int vti_copy_tasks(struct vti_copy *copy, struct vti_copy_input *input)
{
    struct job job = {.copy = copy, .input = input};
    bool is_sliced = input->from_ns != INT64_MIN || input->to_ns != INT64_MAX;
    int code = is_sliced ? vti_map_create(&job.kept) : 0;

    /* Which edges are wanted is known after all tasks. */
    if (!code)
        code = vti_fact_blocks(input->recording, take_tasks, &job);
    if (!code)
        code = vti_fact_blocks(input->recording, take_edges, &job);
    input->copied += job.copied;
    vti_buf_clear(&copy->entry);
    vti_task_codec_fini(&job.from);
    vti_task_codec_fini(&job.to);
    vti_map_free(job.kept);
    return code == VTI_E_NOMEM ? vti_fail(VTI_E_NOMEM, "out of memory") : code;
}
