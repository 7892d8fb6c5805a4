/*
 * scenes.c - graphs with an end that the tests know: scenes NAME SCHEDULER [COUNT]. Prints the result, or the error, and returns 0 or 1.
 */
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>
#include <venturi/graph.h>

static struct vt_run_options options = {.size = sizeof options, .workers = 2};
static pid_t program;

static int sum(struct vt_call *call)
{
    int64_t total = 1;
    size_t i;

    for (i = 0; i < call->arg_count; i++)
        total += call->args[i]->as.number;
    call->result = vt_datum_int(total);
    return 0;
}

static int fail(struct vt_call *call)
{
    return vt_call_fail(call, "no luck in try %u", call->try_);
}

static int leave(struct vt_call *call)
{
    (void)call;
    exit(3);
}

static int crash(struct vt_call *call)
{
    (void)call;
    raise(SIGSEGV);
    return 0;
}

static int hang(struct vt_call *call)
{
    (void)call;
    while (pause() < 0) {
    }
    return 0;
}

/* The program, also where this is only one of its workers. */
static int kill_it(struct vt_call *call)
{
    kill(program, SIGKILL);
    return hang(call);
}

static int doze(struct vt_call *call)
{
    struct timespec time = {0, 30000000};

    nanosleep(&time, NULL);
    return sum(call);
}

static int finish(vt_run *run)
{
    int code = vt_run_go(run);

    if (code == 0)
        printf("%" PRId64 "\n", vt_run_result(run, 0)->as.number);
    else
        printf("%s\n", vt_run_error(run)->message);
    vt_run_free(run);
    return code == 0 ? 0 : 1;
}

/* a -> b -> c, and four that b needs, each with a key. */
static vt_graph *small(vt_function *middle)
{
    vt_graph *graph = vt_graph_new();
    struct vt_arg args[5] = {VT_ARG_KEY("a")};
    char key[16];
    int i;

    vt_graph_task(graph, "a", "first", sum, NULL, NULL, 0);
    for (i = 0; i < 4; i++) {
        snprintf(key, sizeof key, "leaf-%d", i);
        args[i + 1] = (struct vt_arg){
            VT_ARG_IS_TASK, NULL, vt_graph_task(graph, key, "leaf", sum, NULL, NULL, 0), {0}};
    }
    vt_graph_task(graph, "b", "middle", middle, NULL, args, 5);
    vt_graph_task(graph, "c", "last", sum, NULL, (struct vt_arg[]){VT_ARG_KEY("b")}, 1);
    return graph;
}

static int run_inside(struct vt_call *call)
{
    vt_graph *graph = small(sum);
    vt_run *run = vt_run_new(graph, &options);
    int code = vt_run_go(run);

    call->result = vt_datum_int(code);
    vt_run_free(run);
    vt_graph_free(graph);
    return code;
}

static int run_small(vt_function *middle)
{
    vt_graph *graph = small(middle);
    vt_run *run = vt_run_new(graph, &options);
    int code;

    vt_run_want(run, "c");
    code = finish(run);
    vt_graph_free(graph);
    return code;
}

/* So many next to each other, or one after the other, of which one kills the program; then what the process took at most. */
static int run_many(uint32_t count, int is_chain, uint32_t killer)
{
    vt_graph *graph = vt_graph_new();
    struct rusage used;
    uint32_t i;
    int code;

    for (i = 0; i < count; i++)
        vt_graph_call(graph, "one", i == killer ? kill_it : sum, NULL, (uint32_t[]){i - 1},
                      is_chain && i > 0);
    if (is_chain) {
        vt_run *run = vt_run_new(graph, &options);

        vt_run_want_task(run, count - 1);
        code = finish(run);
    } else {
        code = finish(vt_run_new(graph, &options));
    }
    vt_graph_free(graph);
    getrusage(RUSAGE_SELF, &used);
    printf("%ld\n", used.ru_maxrss / 1024);
    return code;
}

static int run_slowly(uint32_t count)
{
    vt_graph *graph = vt_graph_new();
    vt_run *run;
    uint32_t i;
    int code;

    for (i = 0; i < count; i++)
        vt_graph_call(graph, "doze", doze, NULL, NULL, 0);
    options.progress = 1;
    run = vt_run_new(graph, &options);
    code = finish(run);
    vt_graph_free(graph);
    return code;
}

int main(int argc, char **argv)
{
    uint32_t count = argc > 3 ? (uint32_t)strtoul(argv[3], NULL, 10) : 0;
    const char *scene = argc > 2 ? argv[1] : "";

    setvbuf(stdout, NULL, _IOLBF, 0);
    program = getpid();
    options.scheduler = argc > 2 && strcmp(argv[2], "threads") == 0     ? VT_THREADS
                        : argc > 2 && strcmp(argv[2], "processes") == 0 ? VT_PROCESSES
                                                                        : VT_SYNC;
    if (strcmp(scene, "good") == 0)
        return run_small(sum);
    if (strcmp(scene, "nested") == 0)
        return run_small(run_inside);
    if (strcmp(scene, "exits") == 0)
        return run_small(leave);
    if (strcmp(scene, "crashes") == 0)
        return run_small(crash);
    if (strcmp(scene, "wide") == 0 || strcmp(scene, "chain") == 0)
        return run_many(count, *scene == 'c', UINT32_MAX);
    if (strcmp(scene, "killed") == 0)
        return run_many(count, 1, count / 2);
    if (strcmp(scene, "slow") == 0)
        return run_slowly(count);
    options.timeout = 0.1;
    if (strcmp(scene, "hangs") == 0)
        return run_small(hang);
    options.retries = 1;
    options.keep_going = 1;
    if (strcmp(scene, "fails") == 0)
        return run_small(fail);
    fprintf(stderr, "usage: scenes SCENE sync|threads|processes [COUNT]\n");
    return 2;
}
