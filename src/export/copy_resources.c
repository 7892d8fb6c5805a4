/*
 * copy_resources.c - readings of CPU, memory and I/O of a recording, with new trees and processes.
 *
 * A slice begins with what held when it begins, so that its sums are those of its time.
 */
#include "analyze/resources.h"
#include "base/error.h"
#include "export/copy.h"
#include "model/fact_blocks.h"

#define BLOCK_ENTRIES 4096u

struct job {
    struct vti_copy *copy;
    struct vti_copy_input *input;
    const struct vti_resources *all;
    struct vti_clock *clock; /* of the tree at hand */
    const struct vti_resource_tree *tree;
    uint32_t number; /* new, of the tree */
    uint32_t count;  /* entries of the block to come */
    uint64_t ticks;  /* of the last reading in it */
};

static int end_block(struct job *job)
{
    struct vti_copy *copy = job->copy;
    int code = 0;

    if (job->count)
        code = vti_writer_owned(copy->writer, VTI_RESOURCES, 0, &copy->entry, job->count,
                                job->ticks);
    vti_buf_clear(&copy->entry);
    job->count = 0;
    job->ticks = 0;
    return code;
}

static int add(struct job *job, struct vti_resource_fact *fact)
{
    fact->tree = job->number;
    vti_resource_write(&job->copy->entry, fact);
    return ++job->count == BLOCK_ENTRIES ? end_block(job) : 0;
}

static uint64_t ticks_at(const struct job *job, int64_t ns)
{
    return vti_clock_tick_at(job->clock, ns);
}

static int copy_process(struct job *job, const struct vti_resource_process *process)
{
    struct vti_copy_input *input = job->input;
    struct vti_resource_fact fact = {
        .type = VTI_RESOURCE_PROCESS,
        .number = process->number,
        .host = vti_renumber(&input->numbers->hosts, job->tree->host),
        .domain = vti_renumber(&input->numbers->domains, job->tree->domain),
        .pid = process->pid,
        .start = ticks_at(job, process->start_ns),
        .end = process->end_ns == INT64_MAX ? 0 : ticks_at(job, process->end_ns),
        .name = vti_bytes_of(process->name),
        .command = vti_bytes_of(process->command)};

    if (process->parent != VT_NONE)
        fact.parent = job->all->processes[process->parent].number;
    if (process->process != VT_NONE)
        fact.process_plus_one = vti_renumber(&input->numbers->processes, process->process) + 1;
    return add(job, &fact);
}

static int copy_series(struct job *job, const struct vti_resource_series *series, uint32_t number)
{
    const struct vti_copy_input *input = job->input;
    const struct vti_resource_point *held = vti_resource_at(series, input->from_ns);
    int code = 0;

    for (size_t i = held ? (size_t)(held - series->points) : 0; i < series->count && !code; i++) {
        const struct vti_resource_point *point = &series->points[i];
        struct vti_resource_fact fact = {
            .type = VTI_RESOURCE_READING, .number = number, .known = point->known};
        uint64_t ticks;

        if (point->time_ns > input->to_ns)
            break;
        ticks = ticks_at(job, point->time_ns > input->from_ns ? point->time_ns : input->from_ns);
        if (ticks < job->ticks) /* another series begins: blocks count upwards */
            code = end_block(job);
        fact.ticks = ticks - job->ticks;
        job->ticks = ticks;
        for (unsigned v = 0; v < VTI_RESOURCE_COUNT; v++)
            fact.values[v] = point->values[v];
        if (!code)
            code = add(job, &fact);
    }
    return code;
}

static bool is_wanted(const struct vti_copy_input *input,
                      const struct vti_resource_process *process)
{
    return process->start_ns <= input->to_ns && process->end_ns >= input->from_ns;
}

static int copy_tree(struct job *job, uint32_t at)
{
    struct vti_resource_fact whole = {
        .type = VTI_RESOURCE_PROCESS,
        .host = vti_renumber(&job->input->numbers->hosts, job->tree->host),
        .domain = vti_renumber(&job->input->numbers->domains, job->tree->domain)};
    int code = add(job, &whole);

    for (size_t i = 0; i < job->all->process_count && !code; i++) {
        const struct vti_resource_process *process = &job->all->processes[i];

        if (process->tree != at || !is_wanted(job->input, process))
            continue;
        code = copy_process(job, process);
        if (!code)
            code = copy_series(job, &process->series, process->number);
    }
    if (!code)
        code = copy_series(job, &job->tree->series, 0);
    return code ? code : end_block(job);
}

int vti_copy_resources(struct vti_copy *copy, struct vti_copy_input *input)
{
    const struct vti_clocks *clocks = &input->recording->facts.clocks;
    struct job job = {.copy = copy, .input = input};
    struct vti_resources all;
    int code = vti_resources_load(&all, input->recording);

    job.all = &all;
    for (size_t i = 0; !code && i < all.tree_count; i++) {
        int64_t clock = vti_ids_find(&clocks->ids, all.trees[i].domain);

        job.tree = &all.trees[i];
        job.clock = &clocks->clocks[clock < 0 ? 0 : clock];
        job.number = vti_renumber(&input->numbers->trees, all.trees[i].number);
        code = copy_tree(&job, (uint32_t)i);
    }
    vti_buf_clear(&copy->entry);
    vti_resources_fini(&all);
    return code;
}
