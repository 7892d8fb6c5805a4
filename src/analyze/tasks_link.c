/*
 * tasks_link.c - the gathered runs, workers and tasks of a recording get their order, their times, and their edges.
 *
 * Nothing here reads the file. Edges may form cycles: whoever follows them must be able to stop.
 */
#include "analyze/tasks_impl.h"
#include "base/error.h"
#include "venturi/task.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is sorted: a place, and what decides on it. */
struct place {
    uint32_t at; /* where it stands now */
    uint32_t group, number;
    int64_t time_ns;
};

static int by_place(const void *left, const void *right)
{
    const struct place *a = left;
    const struct place *b = right;

    if (a->group != b->group)
        return a->group < b->group ? -1 : 1;
    if (a->time_ns != b->time_ns)
        return a->time_ns < b->time_ns ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->at < b->at ? -1 : a->at > b->at;
}

static void sort_places(struct place *places, uint32_t count)
{
    bool is_sorted = true;

    for (uint32_t i = 1; i < count && is_sorted; i++)
        is_sorted = by_place(&places[i - 1], &places[i]) <= 0;
    if (!is_sorted)
        qsort(places, count, sizeof *places, by_place);
}

/* Brings `count` elements of an array into the order of the places: *array becomes a new one. *moved, to be freed, says where each went. */
static int reorder(void *array, size_t element, struct place *places, uint32_t count,
                   uint32_t **moved)
{
    uint8_t *sorted = malloc(count * element + 1);
    uint8_t *old;

    *moved = malloc(count * sizeof **moved + 1);
    if (!sorted || !*moved) {
        free(sorted);
        return VTI_E_NOMEM;
    }
    sort_places(places, count);
    memcpy(&old, array, sizeof old);
    for (uint32_t i = 0; i < count; i++) {
        memcpy(sorted + i * element, old + places[i].at * element, element);
        (*moved)[places[i].at] = i;
    }
    free(old);
    memcpy(array, &sorted, sizeof sorted);
    return 0;
}

/* ---- times --------------------------------------------------------------------------------------- */

static struct vti_clock *clock_of(const struct vti_facts *facts, uint32_t process)
{
    int64_t at = vti_ids_find(&facts->process_ids, process);

    return &facts->clocks.clocks[at < 0 ? 0 : facts->processes[at].clock];
}

/* Ticks become nanoseconds since 1970; 0 stays unknown, and means nothing else. */
static void resolve_time(const struct vti_facts *facts, struct vti_clock *clock, int64_t *time)
{
    int64_t ns;

    if (!*time)
        return;
    ns = vti_clock_ns(clock, (uint64_t)*time);
    if (__builtin_add_overflow(ns, facts->clocks.start_realtime_ns, time))
        *time = INT64_MAX;
    *time += !*time;
}

static void resolve_times(struct vti_tasks_job *job)
{
    const struct vti_facts *facts = &job->recording->facts;
    struct vti_tasks *all = job->tasks;

    for (uint32_t i = 0; i < all->run_count; i++) {
        struct vti_clock *clock = clock_of(facts, all->runs[i].process);

        resolve_time(facts, clock, &all->runs[i].begin_ns);
        resolve_time(facts, clock, &all->runs[i].end_ns);
    }
    for (uint32_t i = 0; i < all->task_count; i++) {
        struct vti_task *task = &all->tasks[i];
        struct vti_task_run *run = &all->runs[task->run];
        struct vti_clock *clock = clock_of(facts, run->process);

        resolve_time(facts, clock, &task->ready_ns);
        resolve_time(facts, clock, &task->start_ns);
        resolve_time(facts, clock, &task->end_ns);
        resolve_time(facts, clock, &task->freed_ns);
        if (task->start_ns &&
            (!run->begin_ns || (!run->scheduler[0] && task->start_ns < run->begin_ns)))
            run->begin_ns = task->start_ns; /* nobody has seen it begin */
    }
}

/* ---- names and workers --------------------------------------------------------------------------- */

/* Equal names are one text, whatever site they come from. */
static const char *name_of(struct vti_tasks_job *job, uint32_t site)
{
    struct vti_map *names = job->texts->names;
    struct vt_site_info info;
    int is_new;
    int64_t at;

    vt_recording_site_by_id(job->recording, site, &info);
    at = vti_map_add(names, info.name, strlen(info.name), &is_new);
    return at < 0 ? NULL : vti_map_key(names, (uint32_t)at, NULL);
}

static int name_tasks(struct vti_tasks_job *job)
{
    struct vti_tasks *all = job->tasks;
    const char *near[64] = {0}; /* of sites met last */
    uint32_t sites[64] = {0};

    for (uint32_t i = 0; i < all->task_count; i++) {
        struct vti_task *task = &all->tasks[i];
        unsigned slot = task->site % 64;

        if (!near[slot] || sites[slot] != task->site)
            near[slot] = name_of(job, task->site);
        if (!near[slot])
            return VTI_E_NOMEM;
        sites[slot] = task->site;
        task->name = near[slot];
    }
    return 0;
}

/* From its number + 1 to its place, of each task. */
static int find_workers(struct vti_tasks_job *job)
{
    struct vti_tasks *all = job->tasks;
    char label[32];

    for (uint32_t i = 0; i < all->task_count; i++) {
        struct vti_task *task = &all->tasks[i];

        if (!task->worker) {
            task->worker = VTI_NO_TASK;
            continue;
        }
        task->worker = vti_tasks_worker(job, task->run, task->worker - 1);
        if (task->worker == UINT32_MAX)
            return VTI_E_NOMEM;
    }
    for (uint32_t i = 0; i < all->worker_count; i++) {
        if (all->workers[i].label[0])
            continue;
        snprintf(label, sizeof label, "worker %u", (unsigned)all->workers[i].number);
        all->workers[i].label = vti_tasks_text(job, vti_bytes_of(label));
        if (!all->workers[i].label)
            return VTI_E_NOMEM;
    }
    return 0;
}

/* ---- order --------------------------------------------------------------------------------------- */

static int order_runs(struct vti_tasks_job *job, struct place *places)
{
    struct vti_tasks *all = job->tasks;
    uint32_t *moved = NULL;
    int code;

    for (uint32_t i = 0; i < all->run_count; i++) {
        struct vti_task_run *run = &all->runs[i];
        uint32_t parent = run->parent ? vti_pairs_find(&job->runs, run->process, run->parent)
                                      : UINT32_MAX;

        run->parent = parent == i ? VTI_NO_TASK : parent;
        places[i] = (struct place){i, 0, run->number, run->begin_ns};
    }
    code = reorder(&all->runs, sizeof *all->runs, places, all->run_count, &moved);
    for (uint32_t i = 0; i < all->run_count && !code; i++)
        if (all->runs[i].parent != VTI_NO_TASK)
            all->runs[i].parent = moved[all->runs[i].parent];
    for (uint32_t i = 0; i < all->worker_count && !code; i++)
        all->workers[i].run = moved[all->workers[i].run];
    for (uint32_t i = 0; i < all->task_count && !code; i++)
        all->tasks[i].run = moved[all->tasks[i].run];
    for (size_t i = 0; i < job->edges_count && !code; i++)
        job->edges[i].run = moved[job->edges[i].run];
    free(moved);
    return code;
}

static int order_workers(struct vti_tasks_job *job, struct place *places)
{
    struct vti_tasks *all = job->tasks;
    uint32_t *moved = NULL;
    int code;

    for (uint32_t i = 0; i < all->worker_count; i++)
        places[i] = (struct place){i, all->workers[i].run, all->workers[i].number, 0};
    code = reorder(&all->workers, sizeof *all->workers, places, all->worker_count, &moved);
    for (uint32_t i = 0; i < all->task_count && !code; i++)
        if (all->tasks[i].worker != VTI_NO_TASK)
            all->tasks[i].worker = moved[all->tasks[i].worker];
    for (uint32_t i = all->worker_count; i > 0 && !code; i--) {
        struct vti_task_run *run = &all->runs[all->workers[i - 1].run];

        run->first_worker = i - 1;
        run->worker_count++;
    }
    free(moved);
    return code;
}

/* Tasks that never began stand at the end of their run. */
static int order_tasks(struct vti_tasks_job *job, struct place *places)
{
    struct vti_tasks *all = job->tasks;
    struct vti_pairs again = {0};
    uint32_t *moved = NULL;
    int code;

    for (uint32_t i = 0; i < all->task_count; i++) {
        const struct vti_task *task = &all->tasks[i];
        int64_t time = task->start_ns ? task->start_ns : INT64_MAX;

        places[i] = (struct place){i, task->run, task->number, time};
    }
    code = reorder(&all->tasks, sizeof *all->tasks, places, all->task_count, &moved);
    for (uint32_t i = all->task_count; i > 0 && !code; i--) {
        const struct vti_task *task = &all->tasks[i - 1];
        struct vti_task_run *run = &all->runs[task->run];

        run->first_task = i - 1;
        run->task_count++;
        if (task->action == VT_ACTION_COMPUTE &&
            vti_pairs_add(&again, task->run, task->number, i - 1) == UINT32_MAX)
            code = VTI_E_NOMEM;
    }
    free(job->numbers.slots);
    job->numbers = again;
    free(moved);
    return code;
}

static int order_all(struct vti_tasks_job *job)
{
    const struct vti_tasks *all = job->tasks;
    size_t most = all->task_count;
    struct place *places;
    int code;

    most = all->worker_count > most ? all->worker_count : most;
    most = all->run_count > most ? all->run_count : most;
    places = malloc(most * sizeof *places + 1);
    code = places ? order_runs(job, places) : VTI_E_NOMEM;
    if (!code)
        code = order_workers(job, places);
    if (!code)
        code = order_tasks(job, places);
    free(places);
    return code;
}

/* ---- edges --------------------------------------------------------------------------------------- */

/* Entries of EDGES by task: those of task i are order[first[i]] to before order[first[i + 1]]. */
struct edge_order {
    uint32_t *first, *order; /* owned */
};

/* Entries of tasks that are not there are left out. */
static int order_edges(const struct vti_tasks_job *job, struct edge_order *edges)
{
    uint32_t tasks = job->tasks->task_count;
    uint32_t *first = calloc((size_t)tasks + 2, sizeof *first);
    uint32_t *order = malloc(job->edges_count * sizeof *order + 1);

    *edges = (struct edge_order){first, order};
    if (!first || !order)
        return VTI_E_NOMEM;
    for (size_t i = 0; i < job->edges_count; i++) {
        uint32_t at = vti_pairs_find(&job->numbers, job->edges[i].run, job->edges[i].number);

        if (at != UINT32_MAX)
            first[at + 2]++;
    }
    for (uint32_t i = 2; i < tasks + 2; i++)
        first[i] += first[i - 1];
    for (size_t i = 0; i < job->edges_count; i++) {
        uint32_t at = vti_pairs_find(&job->numbers, job->edges[i].run, job->edges[i].number);

        if (at != UINT32_MAX)
            order[first[at + 1]++] = (uint32_t)i;
    }
    return 0;
}

static int by_before(const void *left, const void *right, void *arg)
{
    const struct vti_task_edges *edges = arg;
    const uint32_t *a = left;
    const uint32_t *b = right;

    if (edges[*a].before != edges[*b].before)
        return edges[*a].before < edges[*b].before ? -1 : 1;
    return *a < *b ? -1 : *a > *b;
}

static void lay_out(struct vti_tasks_job *job, const struct vti_task_edges *edges, uint32_t task)
{
    struct vti_tasks *all = job->tasks;

    for (uint32_t i = 0; i < edges->count; i++) {
        uint32_t at = vti_pairs_find(&job->numbers, edges->run,
                                     job->dependencies[edges->first + i]);

        if (at == UINT32_MAX || at == task)
            all->missing_edges++;
        else
            all->edges[all->edge_count++] = at;
    }
}

/* Of entries for the same place the later one counts. */
static void lay_out_task(struct vti_tasks_job *job, uint32_t *order, uint32_t count, uint32_t task)
{
    struct vti_tasks *all = job->tasks;

    if (count > 1)
        qsort_r(order, count, sizeof *order, by_before, job->edges);
    all->tasks[task].first_edge = (uint32_t)all->edge_count;
    for (uint32_t i = 0; i < count; i++) {
        const struct vti_task_edges *edges = &job->edges[order[i]];

        if (i + 1 == count || job->edges[order[i + 1]].before != edges->before)
            lay_out(job, edges, task);
    }
    all->tasks[task].edge_count = (uint32_t)all->edge_count - all->tasks[task].first_edge;
}

static int link_edges(struct vti_tasks_job *job)
{
    struct vti_tasks *all = job->tasks;
    struct edge_order edges;
    int code = order_edges(job, &edges);

    all->edges = malloc(job->dependency_count * sizeof *all->edges + 1);
    if (!code && !all->edges)
        code = VTI_E_NOMEM;
    for (uint32_t i = 0; i < all->task_count && !code; i++)
        lay_out_task(job, edges.order + edges.first[i], edges.first[i + 1] - edges.first[i], i);
    free(edges.first);
    free(edges.order);
    return code;
}

int vti_tasks_link(struct vti_tasks_job *job)
{
    int code;

    resolve_times(job);
    code = name_tasks(job);
    if (!code)
        code = find_workers(job);
    if (!code)
        code = order_all(job);
    if (!code)
        code = vti_tasks_find_repeated(job->tasks);
    return code ? code : link_edges(job);
}
