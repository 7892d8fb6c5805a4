/* peer_graph_starpu.c - StarPU on 2 CPU workers: tasks without data, dependencies between tasks. */
#include "peer_graph.h"

#include <starpu.h>
#include <stdio.h>
#include <stdlib.h>

const char *const peer_name = "starpu";

static void nothing(void *buffers[], void *with)
{
    (void)buffers;
    (void)with;
}

static struct starpu_codelet codelet = {.cpu_funcs = {nothing}, .nbuffers = 0, .name = "nothing"};

void peer_open(void)
{
    struct starpu_conf conf;

    setenv("STARPU_SILENT", "1", 0);
    starpu_conf_init(&conf);
    conf.ncpus = 2;
    conf.ncuda = conf.nopencl = 0;
    if (starpu_init(&conf) != 0) {
        fprintf(stderr, "StarPU does not start\n");
        exit(1);
    }
}

void peer_close(void)
{
    starpu_shutdown();
}

static struct starpu_task *task_new(struct starpu_task **needs, unsigned count)
{
    struct starpu_task *task = starpu_task_create();

    task->cl = &codelet;
    task->destroy = 0;
    if (count > 0)
        starpu_task_declare_deps_array(task, count, needs);
    return task;
}

/* All are made first, then handed in, in an order that suits their dependencies. */
static void run(struct starpu_task **tasks, uint32_t count)
{
    uint32_t i;

    for (i = 0; i < count; i++)
        if (starpu_task_submit(tasks[i]) != 0)
            exit(1);
    starpu_task_wait_for_all();
    for (i = 0; i < count; i++)
        starpu_task_destroy(tasks[i]);
    free(tasks);
}

void peer_ep(uint32_t count)
{
    struct starpu_task **tasks = malloc(count * sizeof(struct starpu_task *));
    uint32_t i;

    for (i = 0; i < count; i++)
        tasks[i] = task_new(NULL, 0);
    run(tasks, count);
}

void peer_chain(uint32_t count)
{
    struct starpu_task **tasks = malloc(count * sizeof(struct starpu_task *));
    uint32_t i;

    for (i = 0; i < count; i++)
        tasks[i] = task_new(tasks + i - 1, i > 0);
    run(tasks, count);
}

void peer_tree(uint32_t count)
{
    struct starpu_task **tasks = malloc((count + 64) * sizeof(struct starpu_task *));
    uint32_t from = 0, to = count / 2, i;

    for (i = 0; i < to; i++)
        tasks[i] = task_new(NULL, 0);
    while (to - from > 1) {
        uint32_t end = to;

        for (i = from; i < to; i += 2, end++)
            tasks[end] = task_new(tasks + i, i + 1 < to ? 2 : 1);
        from = to;
        to = end;
    }
    run(tasks, to);
}
