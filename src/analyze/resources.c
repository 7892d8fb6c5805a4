/*
 * resources.c - the RESOURCES blocks of a recording become series and sums.
 *
 * Everything in them is untrusted: numbers index nothing, times may be in any order.
 */
#include "analyze/resources.h"

#include "base/error.h"
#include "base/number.h"
#include "model/fact_blocks.h"

#include <stdlib.h>
#include <string.h>

#define SHORTEST_NS                                                                                \
    100000000 /* below this the machine's own steps of 10 ms are most of what they say */

#define STARTED_NS 200000000 /* shorter runs are start-up: nothing is said of their machine */

struct job {
    struct vti_resources *resources; /* the result, as it grows */
    struct vti_ids trees;            /* by number */
    struct vti_map *processes;       /* owned; by tree and number */
    size_t tree_capacity, process_capacity;
    struct vti_buf parents; /* u32 each: the number of a process's parent */
};

/* ---- gathering ----------------------------------------------------------------------------------- */

static int64_t tree_at(struct job *job, uint32_t number)
{
    struct vti_resources *all = job->resources;
    int64_t at;

    if (vti_grow(&all->trees, all->tree_count, &job->tree_capacity, sizeof *all->trees))
        return VTI_E_NOMEM;
    at = vti_ids_add(&job->trees, number);
    if (at >= 0 && (size_t)at == all->tree_count) {
        all->trees[at] = (struct vti_resource_tree){
            .number = number, .machine_busy = -1, .others_busy = -1};
        all->tree_count++;
    }
    return at;
}

static char *text_of(struct vti_bytes bytes, char instead_of_zero)
{
    char *text = malloc(bytes.len + 1);

    for (size_t i = 0; text && i < bytes.len; i++)
        text[i] = bytes.data[i] ? bytes.data[i] : instead_of_zero;
    if (text)
        text[bytes.len] = 0;
    return text;
}

/* One that nobody defines has no name. */
static int64_t process_at(struct job *job, uint32_t tree, uint32_t number)
{
    const struct vti_bytes none = {"", 0};
    struct vti_resources *all = job->resources;
    const uint32_t key[2] = {tree, number};
    int is_new;
    int64_t at;

    if (vti_grow(&all->processes, all->process_count, &job->process_capacity,
                 sizeof *all->processes))
        return VTI_E_NOMEM;
    at = vti_map_add(job->processes, key, sizeof key, &is_new);
    if (at >= 0 && is_new) {
        all->processes[at] = (struct vti_resource_process){.tree = tree,
                                                           .number = number,
                                                           .name = text_of(none, 0),
                                                           .command = text_of(none, 0),
                                                           .parent = VT_NONE,
                                                           .process = VT_NONE,
                                                           .end_ns = INT64_MAX};
        all->process_count++;
        vti_buf_add_u32(&job->parents, 0);
        if (!all->processes[at].name || !all->processes[at].command)
            return VTI_E_NOMEM;
    }
    return job->parents.failed ? VTI_E_NOMEM : at;
}

/* Times are ticks until all clocks are known. */
static int add_point(struct vti_resource_series *series, const struct vti_resource_fact *fact,
                     uint64_t ticks)
{
    struct vti_resource_point *point;

    if (vti_grow(&series->points, series->count, &series->capacity, sizeof *series->points))
        return VTI_E_NOMEM;
    point = &series->points[series->count++];
    *point = (struct vti_resource_point){.time_ns = (int64_t)ticks, .known = fact->known};
    memcpy(point->values, fact->values, sizeof point->values);
    return 0;
}

static int define(struct job *job, int64_t tree, const struct vti_resource_fact *fact)
{
    struct vti_resource_process *process;
    int64_t at;

    job->resources->trees[tree].host = fact->host;
    job->resources->trees[tree].domain = fact->domain;
    if (!fact->number)
        return 0;
    at = process_at(job, (uint32_t)tree, fact->number);
    if (at < 0)
        return VTI_E_NOMEM;
    process = &job->resources->processes[at];
    free(process->name);
    free(process->command);
    process->name = text_of(fact->name, '?');
    process->command = text_of(fact->command, ' ');
    process->process = fact->process_plus_one ? fact->process_plus_one - 1 : VT_NONE;
    process->pid = fact->pid;
    process->start_ns = (int64_t)fact->start;
    process->end_ns = fact->end ? (int64_t)fact->end : INT64_MAX;
    if (!process->name || !process->command)
        return VTI_E_NOMEM;
    vti_put_u32(job->parents.data + 4 * at, fact->parent);
    return 0;
}

static int take_entry(struct job *job, const struct vti_resource_fact *fact, uint64_t ticks)
{
    int64_t tree = tree_at(job, fact->tree);
    int64_t at;

    if (tree < 0)
        return VTI_E_NOMEM;
    if (fact->type == VTI_RESOURCE_PROCESS)
        return define(job, tree, fact);
    if (!fact->number)
        return add_point(&job->resources->trees[tree].series, fact, ticks);
    at = process_at(job, (uint32_t)tree, fact->number);
    if (at < 0)
        return VTI_E_NOMEM;
    return add_point(&job->resources->processes[at].series, fact, ticks);
}

static int take_block(const struct vti_block_header *header, const uint8_t *payload, void *arg)
{
    struct vti_resource_fact fact;
    struct vti_reader in;
    uint64_t ticks = 0;
    int code = 0;

    if (header->kind != VTI_RESOURCES)
        return 0;
    vti_reader_init(&in, payload, header->payload_bytes);
    for (uint32_t i = 0; i < header->count && !code && vti_resource_read(&in, &fact); i++) {
        if (fact.type != VTI_RESOURCE_PROCESS && fact.type != VTI_RESOURCE_READING)
            continue;
        ticks = vti_add_capped(ticks, fact.ticks);
        code = take_entry(arg, &fact, ticks);
    }
    return code;
}

/* ---- times --------------------------------------------------------------------------------------- */

static int by_time(const void *left, const void *right)
{
    const struct vti_resource_point *a = left;
    const struct vti_resource_point *b = right;

    return a->time_ns < b->time_ns ? -1 : a->time_ns > b->time_ns;
}

static void resolve_series(struct vti_resource_series *series, struct vti_clock *clock)
{
    bool is_sorted = true;

    for (size_t i = 0; i < series->count; i++) {
        series->points[i].time_ns = vti_clock_ns(clock, (uint64_t)series->points[i].time_ns);
        is_sorted &= !i || series->points[i - 1].time_ns <= series->points[i].time_ns;
    }
    if (!is_sorted)
        qsort(series->points, series->count, sizeof *series->points, by_time);
}

static void resolve_process(const struct job *job, struct vti_resource_process *process,
                            uint32_t parent, struct vti_clock *clock)
{
    const uint32_t key[2] = {process->tree, parent};
    struct vti_resource_series *series = &process->series;
    int64_t at = parent ? vti_map_find(job->processes, key, sizeof key) : -1;

    process->parent = at < 0 ? VT_NONE : (uint32_t)at;
    resolve_series(series, clock);
    if (process->end_ns != INT64_MAX)
        process->end_ns = vti_clock_ns(clock, (uint64_t)process->end_ns);
    if (process->start_ns)
        process->start_ns = vti_clock_ns(clock, (uint64_t)process->start_ns);
    else if (series->count)
        process->start_ns = series->points[0].time_ns;
    for (size_t i = 0; i < series->count; i++) {
        const uint64_t *values = series->points[i].values;

        process->last = series->points[i];
        if (values[VTI_RESOURCE_MEMORY_BYTES] > process->peak_bytes)
            process->peak_bytes = values[VTI_RESOURCE_MEMORY_BYTES];
        if (values[VTI_RESOURCE_PEAK_BYTES] > process->peak_bytes)
            process->peak_bytes = values[VTI_RESOURCE_PEAK_BYTES];
    }
}

/* A process that was there before the first reading of all, as in the later files of a spool, has used some before. */
static void count_cpu(struct vti_resource_process *process, const struct vti_resource_tree *tree)
{
    const struct vti_resource_series *series = &process->series;
    const uint32_t cpu = 1u << VTI_RESOURCE_CPU_NS;
    const uint64_t *first = NULL;
    const uint64_t *last = NULL;

    for (size_t i = 0; i < series->count; i++) {
        if (!(series->points[i].known & cpu))
            continue;
        last = &series->points[i].values[VTI_RESOURCE_CPU_NS];
        first = first ? first : last;
    }
    if (!last)
        return;
    if (!tree->series.count || process->start_ns >= tree->series.points[0].time_ns)
        process->cpu_ns = *last;
    else if (*last > *first)
        process->cpu_ns = *last - *first;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

/* By how much a value has grown from the first to the last point that knows it. */
static uint64_t growth(struct vti_resource_tree *tree, enum vti_resource which)
{
    const struct vti_resource_series *series = &tree->series;
    const struct vti_resource_point *first = NULL;
    const struct vti_resource_point *last = NULL;

    for (size_t i = 0; i < series->count; i++) {
        if (!(series->points[i].known & 1u << which))
            continue;
        last = &series->points[i];
        first = first ? first : last;
    }
    if (!first || last == first)
        return 0;
    tree->known |= 1u << which;
    return last->values[which] > first->values[which] ? last->values[which] - first->values[which]
                                                      : 0;
}

static double share(double part, double whole)
{
    return part <= 0 ? 0 : part >= whole ? 1 : part / whole;
}

static void sum_machine(struct vti_resource_tree *tree)
{
    double busy_ns = (double)growth(tree, VTI_RESOURCE_MACHINE_NS);
    double all_ns = (double)(tree->end_ns - tree->begin_ns) * tree->cpu_count;

    if (!(tree->known & 1u << VTI_RESOURCE_MACHINE_NS) || all_ns < SHORTEST_NS)
        return;
    tree->machine_busy = share(busy_ns, all_ns);
    if (tree->known & 1u << VTI_RESOURCE_CPU_NS)
        tree->others_busy = share(busy_ns - tree->cpu_s * 1e9, all_ns);
}

static void sum_memory(struct vti_resource_tree *tree)
{
    for (size_t i = 0; i < tree->series.count; i++) {
        const struct vti_resource_point *point = &tree->series.points[i];

        for (unsigned v = VTI_RESOURCE_MEMORY_BYTES; v <= VTI_RESOURCE_PEAK_BYTES; v++)
            if (point->values[v] > tree->peak_bytes)
                tree->peak_bytes = point->values[v];
    }
    if (tree->peak_bytes)
        tree->known |= 1u << VTI_RESOURCE_PEAK_BYTES;
}

static void sum_tree(struct vti_resource_tree *tree, const struct vti_facts *facts)
{
    int64_t host = vti_ids_find(&facts->host_ids, tree->host);

    tree->cpu_count = host < 0 ? 0 : facts->hosts[host].cpu_count;
    if (!tree->series.count)
        return;
    tree->last = tree->series.points[tree->series.count - 1];
    tree->begin_ns = tree->series.points[0].time_ns;
    tree->end_ns = tree->last.time_ns;
    tree->cpu_s = (double)growth(tree, VTI_RESOURCE_CPU_NS) / 1e9;
    tree->user_s = (double)growth(tree, VTI_RESOURCE_USER_NS) / 1e9;
    if (tree->user_s > tree->cpu_s)
        tree->user_s = tree->cpu_s;
    if (tree->end_ns > tree->begin_ns)
        tree->cores = tree->cpu_s * 1e9 / (double)(tree->end_ns - tree->begin_ns);
    tree->read_bytes = growth(tree, VTI_RESOURCE_READ_BYTES);
    tree->written_bytes = growth(tree, VTI_RESOURCE_WRITTEN_BYTES);
    tree->disk_read_bytes = growth(tree, VTI_RESOURCE_DISK_READ_BYTES);
    tree->disk_written_bytes = growth(tree, VTI_RESOURCE_DISK_WRITTEN_BYTES);
    sum_memory(tree);
    sum_machine(tree);
}

static struct vti_clock *clock_of(const struct vti_facts *facts,
                                  const struct vti_resource_tree *tree)
{
    int64_t at = vti_ids_find(&facts->clocks.ids, tree->domain);

    return &facts->clocks.clocks[at < 0 ? 0 : at];
}

static void resolve(struct job *job, const struct vti_facts *facts)
{
    struct vti_resources *all = job->resources;

    for (size_t i = 0; i < all->process_count; i++) {
        struct vti_resource_tree *tree = &all->trees[all->processes[i].tree];

        tree->process_count++;
        resolve_process(job, &all->processes[i], vti_get_u32(job->parents.data + 4 * i),
                        clock_of(facts, tree));
    }
    for (size_t i = 0; i < all->tree_count; i++) {
        resolve_series(&all->trees[i].series, clock_of(facts, &all->trees[i]));
        sum_tree(&all->trees[i], facts);
    }
    for (size_t i = 0; i < all->process_count; i++)
        count_cpu(&all->processes[i], &all->trees[all->processes[i].tree]);
}

/* ---- what others call ------------------------------------------------------------------------------ */

int vti_resources_load(struct vti_resources *resources, vt_recording *recording)
{
    struct job job = {.resources = resources};
    int code;

    memset(resources, 0, sizeof *resources);
    code = vti_map_create(&job.processes);
    if (!code)
        code = vti_fact_blocks(recording, take_block, &job);
    if (!code)
        resolve(&job, &recording->facts);
    vti_map_free(job.processes);
    vti_ids_fini(&job.trees);
    vti_buf_fini(&job.parents);
    if (!code)
        return 0;
    vti_resources_fini(resources);
    return vti_fail(VTI_E_NOMEM, "out of memory");
}

void vti_resources_fini(struct vti_resources *resources)
{
    for (size_t i = 0; i < resources->process_count; i++) {
        free(resources->processes[i].name);
        free(resources->processes[i].command);
        free(resources->processes[i].series.points);
    }
    for (size_t i = 0; i < resources->tree_count; i++)
        free(resources->trees[i].series.points);
    free(resources->processes);
    free(resources->trees);
    memset(resources, 0, sizeof *resources);
}

const struct vti_resource_point *vti_resource_at(const struct vti_resource_series *series,
                                                 int64_t time_ns)
{
    size_t low = 0;
    size_t high = series->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (series->points[middle].time_ns <= time_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low ? &series->points[low - 1] : NULL;
}

double vti_resources_others(const struct vti_resources *resources)
{
    double most = 0;

    for (size_t i = 0; i < resources->tree_count; i++) {
        const struct vti_resource_tree *tree = &resources->trees[i];

        if (tree->others_busy >= VTI_OTHERS_BUSY && tree->others_busy > most &&
            tree->end_ns - tree->begin_ns >= STARTED_NS)
            most = tree->others_busy;
    }
    return most;
}

static void add_bytes(struct vti_buf *out, const struct vti_resource_tree *tree,
                      enum vti_resource which, const char *what, uint64_t bytes)
{
    char text[VTI_NUMBER_BYTES];

    if (tree->known & 1u << which)
        vti_buf_printf(out, ", %s %s", what, vti_text_bytes(text, bytes));
}

void vti_resources_sentence(struct vti_buf *out, const struct vti_resource_tree *tree)
{
    char text[VTI_NUMBER_BYTES];

    vti_buf_printf(out, "Resources: CPU ");
    if (!(tree->known & 1u << VTI_RESOURCE_CPU_NS))
        vti_buf_printf(out, "unknown");
    else if (tree->cores < 0.9995)
        vti_buf_printf(out, "%s (%.0f %% of one core)", vti_text_duration(text, tree->cpu_s * 1e9),
                       100 * tree->cores);
    else
        vti_buf_printf(out, "%s (%.1f cores)", vti_text_duration(text, tree->cpu_s * 1e9),
                       tree->cores);
    add_bytes(out, tree, VTI_RESOURCE_PEAK_BYTES, "peak memory", tree->peak_bytes);
    add_bytes(out, tree, VTI_RESOURCE_READ_BYTES, "read", tree->read_bytes);
    add_bytes(out, tree, VTI_RESOURCE_WRITTEN_BYTES, "wrote", tree->written_bytes);
}
