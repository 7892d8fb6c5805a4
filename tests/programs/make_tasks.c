/*
 * make_tasks.c - writes a recording of task graphs that it reads from standard input, for tests of what shows them. The way of vti_tasks_write().
 *
 * Lines of fields with tabs between them; runs, each followed by its workers and tasks:
 *   run     scheduler  parent (0: none, else its place from 1 on)  planned  lost  begin  end  error
 *   worker  number  label  pid  tid
 *   task    number  key  name  worker (-1: none)  state  action  retries  ready  start  end  freed  cpu (-1: unknown)  bytes (-1)  estimated (0, 1)  dependencies
 * Times are nanoseconds since 1970, dependencies numbers of tasks with commas between them.
 */
#include "export/tasks_write.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 17

static void *grow(void *array, size_t count, size_t element)
{
    if (count & (count - 1))
        return array;
    array = realloc(array, (count ? 2 * count : 1) * element);
    if (!array)
        abort();
    return array;
}

static char *keep(const char *text)
{
    char *copy = strdup(text);

    if (!copy)
        abort();
    return copy;
}

static int64_t number(const char *text)
{
    return strtoll(text, NULL, 10);
}

static void add_run(struct vti_tasks *all, char **fields)
{
    int64_t parent = number(fields[2]);

    all->runs = grow(all->runs, all->run_count, sizeof *all->runs);
    all->runs[all->run_count] = (struct vti_task_run){.number = all->run_count + 1,
                                                      .parent = parent ? (uint32_t)parent - 1
                                                                       : VTI_NO_TASK,
                                                      .scheduler = keep(fields[1]),
                                                      .planned = (uint64_t)number(fields[3]),
                                                      .lost = (uint64_t)number(fields[4]),
                                                      .begin_ns = number(fields[5]),
                                                      .end_ns = number(fields[6]),
                                                      .error = keep(fields[7]),
                                                      .first_task = all->task_count,
                                                      .first_worker = all->worker_count};
    all->run_count++;
}

static void add_worker(struct vti_tasks *all, char **fields)
{
    all->workers = grow(all->workers, all->worker_count, sizeof *all->workers);
    all->workers[all->worker_count++] = (struct vti_task_worker){
        .run = all->run_count - 1,
        .number = (uint32_t)number(fields[1]),
        .label = keep(fields[2]),
        .pid = (uint64_t)number(fields[3]),
        .tid = (uint64_t)number(fields[4])};
    all->runs[all->run_count - 1].worker_count++;
}

/* Dependencies stay numbers until all tasks are known. */
static void add_task(struct vti_tasks *all, char **fields)
{
    struct vti_task_run *run = &all->runs[all->run_count - 1];
    int64_t worker = number(fields[4]);
    struct vti_task *task;
    char *rest = fields[15];

    all->tasks = grow(all->tasks, all->task_count, sizeof *all->tasks);
    task = &all->tasks[all->task_count++];
    *task = (struct vti_task){.run = all->run_count - 1,
                              .number = (uint32_t)number(fields[1]),
                              .key = keep(fields[2]),
                              .name = keep(fields[3]),
                              .worker = worker < 0 ? VTI_NO_TASK
                                                   : run->first_worker + (uint32_t)worker,
                              .state = (uint8_t)number(fields[5]),
                              .action = (uint8_t)number(fields[6]),
                              .retries = (uint16_t)number(fields[7]),
                              .ready_ns = number(fields[8]),
                              .start_ns = number(fields[9]),
                              .end_ns = number(fields[10]),
                              .freed_ns = number(fields[11]),
                              .cpu_ns = (uint64_t)number(fields[12]),
                              .bytes = (uint64_t)number(fields[13]),
                              .cpu_is_estimated = *fields[14] == '1',
                              .first_edge = (uint32_t)all->edge_count};
    run->task_count++;
    while (*rest) {
        all->edges = grow(all->edges, all->edge_count, sizeof *all->edges);
        all->edges[all->edge_count++] = (uint32_t)strtoul(rest, &rest, 10);
        rest += *rest == ',';
        task->edge_count++;
    }
}

/* From numbers to places, run by run. */
static void link_tasks(struct vti_tasks *all)
{
    for (uint32_t i = 0; i < all->run_count; i++) {
        const struct vti_task_run *run = &all->runs[i];
        uint32_t end = run->first_task + run->task_count;
        uint32_t most = 0;
        uint32_t *places;

        for (uint32_t j = run->first_task; j < end; j++)
            most = all->tasks[j].number > most ? all->tasks[j].number : most;
        places = calloc((size_t)most + 1, sizeof *places);
        if (!places)
            abort();
        for (uint32_t j = run->first_task; j < end; j++)
            if (!all->tasks[j].action)
                places[all->tasks[j].number] = j;
        for (uint32_t j = run->first_task; j < end; j++)
            for (uint32_t k = 0; k < all->tasks[j].edge_count; k++) {
                uint32_t *edge = &all->edges[all->tasks[j].first_edge + k];

                *edge = places[*edge <= most ? *edge : 0];
            }
        free(places);
    }
}

static unsigned split(char *line, char **fields)
{
    unsigned count = 0;

    for (line[strcspn(line, "\n")] = 0; count < FIELDS; line += strlen(line) + 1) {
        char *tab = strchr(line, '\t');

        fields[count++] = line;
        if (!tab)
            break;
        *tab = 0;
    }
    return count;
}

int main(int argc, char **argv)
{
    static struct vti_tasks all; /* not on the stack: what is left at the end is still held */
    struct vti_tasks_in in = {.tasks = &all, .command = "make_tasks", .pid = 42};
    char *line = NULL;
    size_t room = 0;
    char *fields[FIELDS];

    if (argc != 2)
        return 2;
    while (getline(&line, &room, stdin) > 0) {
        unsigned count = split(line, fields);

        if (!strcmp(fields[0], "run") && count == 8)
            add_run(&all, fields);
        else if (!strcmp(fields[0], "worker") && count == 5 && all.run_count)
            add_worker(&all, fields);
        else if (!strcmp(fields[0], "task") && count == 16 && all.run_count)
            add_task(&all, fields);
        else
            return 2;
    }
    free(line);
    link_tasks(&all);
    return vti_tasks_write(argv[1], true, &in) ? 1 : 0;
}
