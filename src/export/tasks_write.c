/*
 * tasks_write.c - runs of task graphs as a recording of their own: one host, one process, a clock in nanoseconds.
 *
 * Its texts and times come from other programs' mouths: times may lie anywhere, in any order.
 */
#include "export/tasks_write.h"

#include "base/error.h"
#include "export/copy.h"
#include "format/host.h"
#include "format/resources.h"
#include "venturi/task.h"

#include <string.h>

#define BLOCK_ENTRIES 4096u

struct job {
    struct vti_copy copy;
    const struct vti_tasks_in *in;
    int64_t base_ns; /* tick 0 */
    uint64_t last;   /* largest tick */
    uint64_t block_last;
    struct vti_task_codec codec;
    uint32_t count;         /* entries of the block to come */
    const char *name;       /* of the task before … */
    uint32_t site;          /* … and its site */
    struct vti_buf numbers; /* scratch: dependencies of a task */
};

/* ---- times --------------------------------------------------------------------------------------- */

static void see_time(int64_t ns, int64_t *first, int64_t *last)
{
    if (ns && ns < *first)
        *first = ns;
    if (ns && ns > *last)
        *last = ns;
}

static void find_times(struct job *job)
{
    const struct vti_tasks *all = job->in->tasks;
    int64_t first = INT64_MAX;
    int64_t last = 0;

    for (uint32_t i = 0; i < all->run_count; i++) {
        see_time(all->runs[i].begin_ns, &first, &last);
        see_time(all->runs[i].end_ns, &first, &last);
    }
    for (uint32_t i = 0; i < all->task_count; i++) {
        see_time(all->tasks[i].ready_ns, &first, &last);
        see_time(all->tasks[i].start_ns, &first, &last);
        see_time(all->tasks[i].end_ns, &first, &last);
        see_time(all->tasks[i].freed_ns, &first, &last);
    }
    for (size_t i = 0; i < job->in->reading_count; i++)
        see_time(job->in->readings[i].time_ns, &first, &last);
    if (first == INT64_MAX || first < 1)
        first = 1;
    job->base_ns = first - 1; /* tick 0 means that a time is not known */
    job->last = last > job->base_ns ? (uint64_t)(last - job->base_ns) : 1;
}

static uint64_t ticks_of(struct job *job, int64_t ns)
{
    uint64_t ticks = ns > job->base_ns ? (uint64_t)(ns - job->base_ns) : 0;

    if (ticks > job->block_last)
        job->block_last = ticks;
    return ticks;
}

/* ---- blocks -------------------------------------------------------------------------------------- */

static int end_block(struct job *job, enum vti_kind kind)
{
    struct vti_copy *copy = &job->copy;
    int code = copy->entry.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;

    if (!code)
        code = vti_copy_owned_write(copy, kind, 0, job->block_last, &job->count);
    vti_buf_clear(&copy->entry);
    vti_task_codec_clear(&job->codec);
    job->count = 0;
    job->block_last = 0;
    return code;
}

static int add_entry(struct job *job, const struct vti_task_fact *fact)
{
    vti_task_write(&job->copy.entry, &job->codec, fact);
    return ++job->count == BLOCK_ENTRIES ? end_block(job, VTI_TASKS) : 0;
}

static int write_one(struct job *job, enum vti_kind kind, uint32_t count, uint64_t last)
{
    job->count = count;
    job->block_last = last;
    return end_block(job, kind);
}

static int write_facts(struct job *job)
{
    struct vti_buf *entry = &job->copy.entry;
    struct vti_anchor anchor = {.realtime_ns = (uint64_t)job->base_ns};
    struct vti_bytes command = vti_bytes_of(job->in->command);
    bool has_name = job->in->name && *job->in->name;
    struct vti_process_fact process = {.pid = job->in->pid,
                                       .start = 1,
                                       .end = job->last,
                                       .name = vti_bytes_of(has_name ? job->in->name : "tasks"),
                                       .command = command};
    int code;

    vti_meta_write(entry,
                   &(struct vti_meta_fact){vti_bytes_of("venturi"), vti_bytes_of(VENTURI_VERSION)});
    vti_meta_write(entry, &(struct vti_meta_fact){vti_bytes_of("command"), command});
    code = write_one(job, VTI_META, 2, 0);
    vti_host_write_this(entry, 0);
    if (!code)
        code = write_one(job, VTI_HOST, 1, 0);
    vti_clock_write(entry, &(struct vti_clock_fact){.type = VTI_CLOCK_MONOTONIC_NS,
                                                    .anchor_count = 1,
                                                    .anchors = &anchor});
    if (!code)
        code = write_one(job, VTI_CLOCK, 1, 0);
    vti_process_write(entry, &process);
    return code ? code : write_one(job, VTI_PROCESS, 1, job->last);
}

/* ---- tasks --------------------------------------------------------------------------------------- */

static int write_runs(struct job *job)
{
    const struct vti_tasks *all = job->in->tasks;
    int code = 0;

    for (uint32_t i = 0; i < all->run_count && !code; i++) {
        const struct vti_task_run *run = &all->runs[i];

        code = add_entry(job,
                         &(struct vti_task_fact){
                             .type = VTI_TASK_RUN,
                             .run = i + 1,
                             .ticks = ticks_of(job, run->begin_ns),
                             .parent = run->parent < all->run_count ? run->parent + 1 : 0,
                             .planned = run->planned,
                             .workers = run->begun_workers ? run->begun_workers : run->worker_count,
                             .text = vti_bytes_of(run->scheduler)});
    }
    for (uint32_t i = 0; i < all->worker_count && !code; i++) {
        const struct vti_task_worker *worker = &all->workers[i];

        code = add_entry(job, &(struct vti_task_fact){.type = VTI_TASK_WORKER,
                                                      .run = worker->run + 1,
                                                      .number = worker->number,
                                                      .pid = worker->pid,
                                                      .tid = worker->tid,
                                                      .text = vti_bytes_of(worker->label)});
    }
    return code;
}

static int write_ends(struct job *job)
{
    const struct vti_tasks *all = job->in->tasks;
    int code = 0;

    for (uint32_t i = 0; i < all->run_count && !code; i++)
        if (all->runs[i].end_ns)
            code = add_entry(job,
                             &(struct vti_task_fact){.type = VTI_TASK_RUN_END,
                                                     .run = i + 1,
                                                     .ticks = ticks_of(job, all->runs[i].end_ns),
                                                     .lost = all->runs[i].lost,
                                                     .text = vti_bytes_of(all->runs[i].error)});
    return code ? code : end_block(job, VTI_TASKS);
}

/* The site of a name, written when it is new. */
static int find_site(struct job *job, const char *name)
{
    struct vti_copy *copy = &job->copy;
    struct vti_site_fact site = {.name = vti_bytes_of(name)};
    int is_new = 0;
    int64_t at;

    if (job->name == name && job->site)
        return 0;
    at = vti_map_add(copy->sites, site.name.data, site.name.len, &is_new);
    if (at < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    site.site = job->site = (uint32_t)at + 1;
    job->name = name;
    if (is_new) {
        vti_site_write(&copy->new_sites, &site);
        copy->new_site_count++;
    }
    return 0;
}

static int write_task(struct job *job, const struct vti_task *task)
{
    const struct vti_tasks *all = job->in->tasks;
    int code = find_site(job, task->name);

    if (code)
        return code;
    return add_entry(
        job, &(struct vti_task_fact){.type = VTI_TASK_TASK,
                                     .run = task->run + 1,
                                     .number = task->number,
                                     .site = job->site,
                                     .worker_plus_one = task->worker < all->worker_count
                                                            ? all->workers[task->worker].number + 1
                                                            : 0,
                                     .retries = task->retries,
                                     .state = task->state,
                                     .action = task->action,
                                     .cpu_is_estimated = task->cpu_is_estimated,
                                     .ready = ticks_of(job, task->ready_ns),
                                     .start = ticks_of(job, task->start_ns),
                                     .end = ticks_of(job, task->end_ns),
                                     .freed = ticks_of(job, task->freed_ns),
                                     .cpu_ns = task->cpu_ns,
                                     .bytes = task->bytes,
                                     .key = vti_bytes_of(task->key)});
}

static int write_tasks(struct job *job)
{
    const struct vti_tasks *all = job->in->tasks;
    int code = write_runs(job);

    for (uint32_t i = 0; i < all->task_count && !code; i++)
        code = write_task(job, &all->tasks[i]);
    return code ? code : write_ends(job);
}

static int write_edges(struct job *job)
{
    const struct vti_tasks *all = job->in->tasks;
    int code = 0;

    for (uint32_t i = 0; i < all->task_count && !code; i++) {
        const struct vti_task *task = &all->tasks[i];
        struct vti_edges_fact fact = {
            .run = task->run + 1, .number = task->number, .count = task->edge_count};

        if (!task->edge_count || task->action != VT_ACTION_COMPUTE)
            continue;
        vti_buf_clear(&job->numbers);
        for (uint32_t e = 0; e < task->edge_count; e++)
            vti_buf_add(&job->numbers, &all->tasks[all->edges[task->first_edge + e]].number,
                        sizeof fact.number);
        if (job->numbers.failed)
            return vti_fail(VTI_E_NOMEM, "out of memory");
        fact.dependencies = (const void *)job->numbers.data;
        vti_edges_write(&job->copy.entry, &job->codec, &fact);
        if (++job->count == BLOCK_ENTRIES)
            code = end_block(job, VTI_EDGES);
    }
    return code ? code : end_block(job, VTI_EDGES);
}

/* ---- resources ----------------------------------------------------------------------------------- */

static int write_readings(struct job *job)
{
    const struct vti_tasks_in *in = job->in;
    uint64_t before = 0;
    double cpu_ns = 0;

    for (size_t i = 0; i < in->reading_count; i++) {
        const struct vti_task_reading *reading = &in->readings[i];
        uint64_t ticks = ticks_of(job, reading->time_ns);
        struct vti_resource_fact fact = {.type = VTI_RESOURCE_READING};

        ticks = ticks > before ? ticks : before;
        if (reading->cpu_percent >= 0) {
            fact.known |= 1u << VTI_RESOURCE_CPU_NS;
            if (i)
                cpu_ns += reading->cpu_percent / 100 * (double)(ticks - before);
            fact.values[VTI_RESOURCE_CPU_NS] = cpu_ns < 1e18 ? (uint64_t)cpu_ns : (uint64_t)1e18;
        }
        if (reading->memory_bytes != VTI_TASK_UNKNOWN) {
            fact.known |= 1u << VTI_RESOURCE_MEMORY_BYTES;
            fact.values[VTI_RESOURCE_MEMORY_BYTES] = reading->memory_bytes;
        }
        fact.ticks = ticks - before;
        before = ticks;
        vti_resource_write(&job->copy.entry, &fact);
    }
    return write_one(job, VTI_RESOURCES, (uint32_t)in->reading_count, before);
}

int vti_tasks_write(const char *path, bool force, const struct vti_tasks_in *in)
{
    struct job job = {.in = in};
    struct vti_writer_stats stats;
    int code = vti_copy_open(&job.copy, path, force, NULL);

    if (code)
        return code;
    find_times(&job);
    code = write_facts(&job);
    if (!code)
        code = write_tasks(&job);
    if (!code)
        code = write_edges(&job);
    if (!code)
        code = write_readings(&job);
    vti_task_codec_fini(&job.codec);
    vti_buf_fini(&job.numbers);
    if (!code)
        return vti_copy_commit(&job.copy, &stats);
    vti_copy_abandon(&job.copy);
    return code;
}
