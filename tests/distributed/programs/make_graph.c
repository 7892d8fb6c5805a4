/*
 * make_graph.c - make_graph LIBRARY SIGN FILE KIND: saves a graph whose tasks are functions of a library.
 *
 * sums: 8 branches of 40 tasks that add one to the one before, and their total. values: bytes and half their size. slow: 8 slow tasks and
 * their total. bad: a sum of one that fails.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <venturi/blocks.h>

#define BRANCHES 8
#define LENGTH 40

static const char *library;
static vt_graph *graph;

static vt_function *find(const char *name)
{
    char text[4096];
    vt_function *function;

    snprintf(text, sizeof text, "%s:%s", library, name);
    function = vt_function_find(text);
    if (!function) {
        fprintf(stderr, "there is no %s\n", text);
        exit(2);
    }
    return function;
}

static void total(const char *prefix, int count)
{
    char keys[BRANCHES][32];
    struct vt_arg args[BRANCHES] = {0};

    for (int i = 0; i < count; i++) {
        snprintf(keys[i], sizeof keys[i], "%s-%d", prefix, i);
        args[i].type = VT_ARG_IS_KEY;
        args[i].key = keys[i];
    }
    vt_graph_task(graph, "total", "total", find("add"), NULL, args, (size_t)count);
}

static void sums(void)
{
    for (int i = 0; i < BRANCHES; i++) {
        char key[32], before[32] = "";

        for (int j = 0; j < LENGTH; j++) {
            struct vt_arg args[2] = {VT_ARG_INT(1), VT_ARG_KEY(before)};

            snprintf(key, sizeof key, j < LENGTH - 1 ? "step-%d-%d" : "end-%d", i, j);
            vt_graph_task(graph, key, "step", find("add"), NULL, args, j ? 2 : 1);
            memcpy(before, key, sizeof before);
        }
    }
    total("end", BRANCHES);
}

static void slow(const char *sign)
{
    for (int i = 0; i < BRANCHES; i++) {
        struct vt_arg arg = VT_ARG_INT(i);
        char key[32];
        uint32_t task;

        snprintf(key, sizeof key, "slow-%d", i);
        task = vt_graph_task(graph, key, "slow", find("add_slowly"), NULL, &arg, 1);
        vt_graph_user_bytes(graph, task, sign, strlen(sign) + 1);
    }
    total("slow", BRANCHES);
}

static void values(void)
{
    vt_graph_task(graph, "bytes", "fill", find("fill"), NULL, (struct vt_arg[]){VT_ARG_INT(200001)},
                  1);
    vt_graph_task(graph, "half", "half", find("half"), NULL, (struct vt_arg[]){VT_ARG_KEY("bytes")},
                  1);
    vt_graph_task(graph, NULL, "fill", find("fill"), NULL, (struct vt_arg[]){VT_ARG_INT(3)}, 1);
}

static void bad(void)
{
    struct vt_arg args[] = {VT_ARG_KEY("good-0"), VT_ARG_KEY("bad")};

    vt_graph_task(graph, "good-0", "good", find("add"), NULL, (struct vt_arg[]){VT_ARG_INT(1)}, 1);
    vt_graph_task(graph, "bad", "bad", find("fail"), NULL, NULL, 0);
    vt_graph_task(graph, "total", "total", find("add"), NULL, args, 2);
}

int main(int argc, char **argv)
{
    void *bytes = NULL;
    size_t size = 0;
    FILE *file;

    if (argc != 5)
        return 2;
    library = argv[1];
    graph = vt_graph_new();
    if (!strcmp(argv[4], "sums"))
        sums();
    else if (!strcmp(argv[4], "slow"))
        slow(argv[2]);
    else if (!strcmp(argv[4], "values"))
        values();
    else
        bad();
    if (vt_graph_save(graph, &bytes, &size) != 0) {
        fprintf(stderr, "%s\n", vt_graph_error(graph));
        return 2;
    }
    file = fopen(argv[3], "wb");
    if (!file || fwrite(bytes, 1, size, file) != size || fclose(file))
        return 2;
    free(bytes);
    vt_graph_free(graph);
    return 0;
}
