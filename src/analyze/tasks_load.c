/*
 * tasks_load.c - what the TASKS and EDGES blocks of a recording say, gathered.
 *
 * Everything in them is untrusted: numbers index nothing before they were looked up, and a task that is told again has the later
 * meaning. Runs and workers that nobody has defined are made up.
 */
#include "analyze/tasks_impl.h"
#include "base/error.h"
#include "model/fact_blocks.h"
#include "venturi/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_CHUNK 65536
#define NEIGHBOURS 16
#define MOST (UINT32_MAX - 1) /* of anything: places are numbers of 32 bits */

/* ---- pairs --------------------------------------------------------------------------------------- */

/* Numbers that follow one another lie together: they are looked for one after the other. */
static size_t slot_of(const struct vti_pairs *pairs, uint32_t a, uint32_t b)
{
    uint64_t mixed = ((uint64_t)a << 32 | b / NEIGHBOURS) * 0x9e3779b97f4a7c15u;
    size_t at = ((mixed >> 28) * NEIGHBOURS + b % NEIGHBOURS) & (pairs->slot_count - 1);

    /* Past the neighbours, which are likely taken too; an odd step comes by all slots. */
    while (pairs->slots[at].at_plus_one && (pairs->slots[at].a != a || pairs->slots[at].b != b))
        at = (at + NEIGHBOURS + 1) & (pairs->slot_count - 1);
    return at;
}

static int grow_pairs(struct vti_pairs *pairs)
{
    struct vti_pairs larger = {.slot_count = pairs->slot_count ? 2 * pairs->slot_count : 64,
                               .count = pairs->count};

    larger.slots = calloc(larger.slot_count, sizeof *larger.slots);
    if (!larger.slots)
        return VTI_E_NOMEM;
    for (size_t i = 0; i < pairs->slot_count; i++)
        if (pairs->slots[i].at_plus_one)
            larger.slots[slot_of(&larger, pairs->slots[i].a, pairs->slots[i].b)] = pairs->slots[i];
    free(pairs->slots);
    *pairs = larger;
    return 0;
}

uint32_t vti_pairs_add(struct vti_pairs *pairs, uint32_t a, uint32_t b, uint32_t at)
{
    struct vti_pair *slot;

    if (2 * pairs->count >= pairs->slot_count && grow_pairs(pairs))
        return UINT32_MAX;
    slot = &pairs->slots[slot_of(pairs, a, b)];
    if (!slot->at_plus_one) {
        *slot = (struct vti_pair){a, b, at + 1};
        pairs->count++;
    }
    return slot->at_plus_one - 1;
}

uint32_t vti_pairs_find(const struct vti_pairs *pairs, uint32_t a, uint32_t b)
{
    /* The place of none is 0 - 1. */
    return pairs->slot_count ? pairs->slots[slot_of(pairs, a, b)].at_plus_one - 1 : UINT32_MAX;
}

/* ---- texts --------------------------------------------------------------------------------------- */

const char *vti_tasks_text(struct vti_tasks_job *job, struct vti_bytes text)
{
    struct vti_task_texts *texts = job->texts;
    size_t chunk = text.len < TEXT_CHUNK / 4 ? TEXT_CHUNK : text.len + 1;
    char *copy;

    if (!text.len)
        return "";
    if (!texts->count || text.len + 1 > texts->size - texts->used) {
        if (vti_grow(&texts->chunks, texts->count, &texts->capacity, sizeof *texts->chunks))
            return NULL;
        copy = malloc(chunk);
        if (!copy)
            return NULL;
        texts->chunks[texts->count++] = copy;
        texts->size = chunk;
        texts->used = 0;
    }
    copy = texts->chunks[texts->count - 1] + texts->used;
    memcpy(copy, text.data, text.len);
    copy[text.len] = 0;
    texts->used += text.len + 1;
    return copy;
}

static void free_texts(struct vti_task_texts *texts)
{
    if (!texts)
        return;
    for (size_t i = 0; i < texts->count; i++)
        free(texts->chunks[i]);
    free(texts->chunks);
    vti_map_free(texts->names);
    free(texts);
}

/* ---- entries ------------------------------------------------------------------------------------- */

static uint32_t run_at(struct vti_tasks_job *job, uint32_t process, uint32_t number)
{
    struct vti_tasks *all = job->tasks;
    uint32_t at;

    if (all->run_count >= MOST ||
        vti_grow(&all->runs, all->run_count, &job->run_capacity, sizeof *all->runs))
        return UINT32_MAX;
    at = vti_pairs_add(&job->runs, process, number, all->run_count);
    if (at == all->run_count)
        all->runs[all->run_count++] = (struct vti_task_run){
            .process = process, .number = number, .scheduler = "", .error = ""};
    return at;
}

uint32_t vti_tasks_worker(struct vti_tasks_job *job, uint32_t run, uint32_t number)
{
    struct vti_tasks *all = job->tasks;
    uint32_t at;

    if (all->worker_count >= MOST ||
        vti_grow(&all->workers, all->worker_count, &job->worker_capacity, sizeof *all->workers))
        return UINT32_MAX;
    at = vti_pairs_add(&job->workers, run, number, all->worker_count);
    if (at == all->worker_count)
        all->workers[all->worker_count++] = (struct vti_task_worker){
            .run = run, .number = number, .label = ""};
    return at;
}

static int take_run(struct vti_tasks_job *job, uint32_t at, const struct vti_task_fact *fact)
{
    struct vti_task_run *run = &job->tasks->runs[at];
    const char *text = vti_tasks_text(job, fact->text);

    if (!text)
        return VTI_E_NOMEM;
    if (fact->type == VTI_TASK_RUN) {
        run->parent = fact->parent;
        run->planned = fact->planned;
        run->begun_workers = fact->workers;
        run->begin_ns = (int64_t)fact->ticks;
        run->scheduler = text;
    } else {
        run->end_ns = (int64_t)fact->ticks;
        run->lost = fact->lost;
        run->error = text;
    }
    return 0;
}

static int take_worker(struct vti_tasks_job *job, uint32_t run, const struct vti_task_fact *fact)
{
    uint32_t at = vti_tasks_worker(job, run, fact->number);
    const char *label = vti_tasks_text(job, fact->text);

    if (at == UINT32_MAX || !label)
        return VTI_E_NOMEM;
    job->tasks->workers[at].label = label;
    job->tasks->workers[at].pid = fact->pid;
    job->tasks->workers[at].tid = fact->tid;
    return 0;
}

/* One without a key, or with one that ends before it begins, is known by its number, written as in the engine's messages. */
static const char *key_of(struct vti_tasks_job *job, const struct vti_task_fact *fact)
{
    char number[16];

    if (fact->key.len && *fact->key.data)
        return vti_tasks_text(job, fact->key);
    snprintf(number, sizeof number, "#%u", (unsigned)fact->number);
    return vti_tasks_text(job, vti_bytes_of(number));
}

static int take_task(struct vti_tasks_job *job, uint32_t run, const struct vti_task_fact *fact)
{
    struct vti_tasks *all = job->tasks;
    const char *key = key_of(job, fact);
    uint32_t at = all->task_count;

    if (!key || at >= MOST ||
        vti_grow(&all->tasks, all->task_count, &job->task_capacity, sizeof *all->tasks))
        return VTI_E_NOMEM;
    if (fact->action == VT_ACTION_COMPUTE)
        at = vti_pairs_add(&job->numbers, run, fact->number, at);
    if (at == UINT32_MAX)
        return VTI_E_NOMEM;
    all->task_count += at == all->task_count;
    all->tasks[at] = (struct vti_task){
        .key = key,
        .run = run,
        .number = fact->number,
        .worker = fact->worker_plus_one,
        .site = fact->site,
        .retries = (uint16_t)(fact->retries < UINT16_MAX ? fact->retries : UINT16_MAX),
        .state = fact->state,
        .action = fact->action,
        .cpu_is_estimated = fact->cpu_is_estimated,
        .ready_ns = (int64_t)fact->ready,
        .start_ns = (int64_t)fact->start,
        .end_ns = (int64_t)fact->end,
        .freed_ns = (int64_t)fact->freed,
        .cpu_ns = fact->cpu_ns,
        .bytes = fact->bytes};
    return 0;
}

static int take_edges(struct vti_tasks_job *job, uint32_t run, const struct vti_edges_fact *fact)
{
    if (job->edges_count >= MOST || job->dependency_count + fact->count >= MOST ||
        vti_grow(&job->edges, job->edges_count, &job->edges_capacity, sizeof *job->edges))
        return VTI_E_NOMEM;
    job->edges[job->edges_count++] = (struct vti_task_edges){
        .before = fact->before,
        .run = run,
        .number = fact->number,
        .first = (uint32_t)job->dependency_count,
        .count = fact->count};
    for (uint32_t i = 0; i < fact->count; i++) {
        if (vti_grow(&job->dependencies, job->dependency_count, &job->number_capacity,
                     sizeof *job->dependencies))
            return VTI_E_NOMEM;
        job->dependencies[job->dependency_count++] = fact->dependencies[i];
    }
    return 0;
}

/* ---- blocks -------------------------------------------------------------------------------------- */

static int take_entry(struct vti_tasks_job *job, uint32_t process, const struct vti_task_fact *fact)
{
    uint32_t run = run_at(job, process, fact->run);

    if (run == UINT32_MAX)
        return VTI_E_NOMEM;
    if (fact->type == VTI_TASK_TASK)
        return take_task(job, run, fact);
    return fact->type == VTI_TASK_WORKER ? take_worker(job, run, fact) : take_run(job, run, fact);
}

/* One entry: 0, VTI_E_NOMEM, or 1 if it does not parse. */
static int take_next(struct vti_tasks_job *job, const struct vti_block_header *header,
                     struct vti_reader *in)
{
    struct vti_task_fact fact;
    struct vti_edges_fact edges;
    uint32_t run;

    if (header->kind == VTI_TASKS) {
        if (!vti_task_read(in, &job->codec, &fact))
            return 1;
        if (fact.type < VTI_TASK_RUN || fact.type > VTI_TASK_RUN_END)
            return 0;
        return take_entry(job, header->owner, &fact);
    }
    if (!vti_edges_read(in, &job->codec, &edges))
        return 1;
    run = run_at(job, header->owner, edges.run);
    return run == UINT32_MAX ? VTI_E_NOMEM : take_edges(job, run, &edges);
}

static int take_block(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    struct vti_tasks_job *job = arg;
    struct vti_reader in;
    int code = 0;

    if (header->kind != VTI_TASKS && header->kind != VTI_EDGES)
        return 0;
    vti_task_codec_clear(&job->codec);
    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count && !code; i++)
        code = take_next(job, header, &in);
    if (code > 0)
        vti_damage_note_block(job->recording, header, payload);
    return code > 0 ? 0 : code;
}

int vti_tasks_load(struct vt_recording *recording, struct vti_tasks *tasks)
{
    struct vti_tasks_job job = {.recording = recording, .tasks = tasks};
    int code;

    memset(tasks, 0, sizeof *tasks);
    tasks->texts = job.texts = calloc(1, sizeof *job.texts);
    code = job.texts ? vti_map_create(&job.texts->names) : VTI_E_NOMEM;
    if (!code)
        code = vti_fact_blocks(recording, take_block, &job);
    if (!code)
        code = vti_tasks_link(&job);
    vti_task_codec_fini(&job.codec);
    free(job.runs.slots);
    free(job.workers.slots);
    free(job.numbers.slots);
    free(job.edges);
    free(job.dependencies);
    if (!code)
        return 0;
    vti_tasks_free(tasks);
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

void vti_tasks_free(struct vti_tasks *tasks)
{
    free(tasks->runs);
    free(tasks->workers);
    free(tasks->tasks);
    free(tasks->edges);
    free_texts(tasks->texts);
    memset(tasks, 0, sizeof *tasks);
}
