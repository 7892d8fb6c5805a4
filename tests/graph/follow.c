/*
 * follow.c - runs a graph that is read from standard input and says in which order its tasks were begun and how many results were there
 * at a time. A line for each task: the numbers of those that it depends on, all of earlier lines. Tasks that nothing depends on are wanted.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <venturi/graph.h>

static long live, peak;

static void gone(void *data, void *with)
{
    (void)data;
    (void)with;
    live--;
}

static int make(struct vt_call *call)
{
    static char something;

    call->result = vt_datum_object(&something, 1, gone, NULL);
    if (++live > peak)
        peak = live;
    return 0;
}

static int say(vt_run *run, uint32_t task, vt_state *state, void *user)
{
    (void)run;
    (void)state;
    (void)user;
    printf("%" PRIu32 " ", task);
    return 0;
}

int main(void)
{
    struct vt_callbacks callbacks = {.pretask = say};
    const struct vt_callbacks *all[] = {&callbacks};
    struct vt_run_options options = {.size = sizeof options, .callbacks = all, .callback_count = 1};
    vt_graph *graph = vt_graph_new();
    char *line = NULL;
    size_t room = 0;
    vt_run *run;
    int code;

    while (getline(&line, &room, stdin) > 0) {
        uint32_t needs[4096];
        size_t count = 0;
        char *at = line, *end;

        for (; count < 4096; at = end) {
            needs[count] = (uint32_t)strtoul(at, &end, 10);
            if (end == at)
                break;
            count++;
        }
        vt_graph_call(graph, "make", make, NULL, needs, count);
    }
    free(line);
    run = vt_run_new(graph, &options);
    code = vt_run_go(run);
    printf("\n%ld\n", peak);
    if (code != 0)
        printf("%s\n", vt_run_error(run)->message);
    vt_run_free(run);
    vt_graph_free(graph);
    return code == 0 && live == 0 ? 0 : 1;
}
