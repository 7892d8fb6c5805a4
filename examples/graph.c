/*
 * graph.c - an image in tiles as a task graph: each tile is computed, smoothed with the tiles beside it, and counted; the counts are
 * brought together two at a time.
 *
 *     compute(0) --> smooth(0) --> count(0) --+
 *               \ /                            merge --+
 *               / \                            |       |
 *     compute(1) --> smooth(1) --> count(1) --+        merge --> the histogram of the image
 *
 * Tasks say what they need; the engine finds an order, runs them on all CPUs, and destroys each result after its last use. Run it with
 *
 *     venturi run -o image.vt ./graph [tiles]
 */
#include <stdio.h>
#include <stdlib.h>
#include <venturi/graph.h>

#define WIDTH 512 /* pixels of the image, and of a tile */
#define HEIGHT 16 /* rows of a tile */
#define LEVELS 8  /* of brightness */
#define STEPS 300

struct tile {
    int number, count; /* which of how many */
};

/* A tile of the Mandelbrot set: WIDTH x HEIGHT bytes of brightness. */
static int compute(struct vt_call *call)
{
    const struct tile *tile = call->user;
    unsigned char *pixels = vt_call_bytes(call, WIDTH * HEIGHT);
    int row, column;

    if (pixels == NULL)
        return vt_call_fail(call, "no memory for tile %d", tile->number);
    for (row = 0; row < HEIGHT; row++)
        for (column = 0; column < WIDTH; column++) {
            double x = 3.0 * column / WIDTH - 2.2;
            double y = 2.4 * (tile->number * HEIGHT + row) / (tile->count * HEIGHT) - 1.2;
            double real = 0, imaginary = 0;
            int step = 0;

            for (; step < STEPS && real * real + imaginary * imaginary < 4; step++) {
                double next = real * real - imaginary * imaginary + x;

                imaginary = 2 * real * imaginary + y;
                real = next;
            }
            pixels[row * WIDTH + column] = (unsigned char)(step * 255 / STEPS);
        }
    return 0;
}

/* The first argument is the tile itself, the others are those beside it: their nearest rows count too. */
static int smooth(struct vt_call *call)
{
    const unsigned char *from = call->args[0]->as.data;
    unsigned char *pixels = vt_call_bytes(call, WIDTH * HEIGHT);
    int i;

    if (pixels == NULL)
        return vt_call_fail(call, "no memory to smooth a tile");
    for (i = 0; i < WIDTH * HEIGHT; i++) {
        int sum = from[i], count = 1;
        size_t k;

        if (i >= WIDTH)
            sum += from[i - WIDTH], count++;
        if (i < WIDTH * (HEIGHT - 1))
            sum += from[i + WIDTH], count++;
        for (k = 1; k < call->arg_count; k++)
            sum += ((const unsigned char *)call->args[k]->as.data)[i % WIDTH], count++;
        pixels[i] = (unsigned char)(sum / count);
    }
    return 0;
}

/* How many pixels there are of each brightness. */
static int count(struct vt_call *call)
{
    const unsigned char *pixels = call->args[0]->as.data;
    int64_t *levels = vt_call_bytes(call, LEVELS * sizeof *levels);
    int i;

    if (levels == NULL)
        return vt_call_fail(call, "no memory for %d counts", LEVELS);
    for (i = 0; i < LEVELS; i++)
        levels[i] = 0;
    for (i = 0; i < WIDTH * HEIGHT; i++)
        levels[pixels[i] * LEVELS / 256]++;
    return 0;
}

static int merge(struct vt_call *call)
{
    int64_t *levels = vt_call_bytes(call, LEVELS * sizeof *levels);
    size_t i, k;

    if (levels == NULL)
        return vt_call_fail(call, "no memory for %d counts", LEVELS);
    for (i = 0; i < LEVELS; i++)
        for (levels[i] = 0, k = 0; k < call->arg_count; k++)
            levels[i] += ((const int64_t *)call->args[k]->as.data)[i];
    return 0;
}

/* Tasks by key, so that the recording reads well; numbers where a key would only cost time. */
static uint32_t add_tile(vt_graph *graph, int number, int tiles)
{
    struct tile tile = {number, tiles};
    struct vt_arg args[3] = {{VT_ARG_IS_KEY, NULL, 0, {0}},
                             {VT_ARG_IS_KEY, NULL, 0, {0}},
                             {VT_ARG_IS_KEY, NULL, 0, {0}}};
    char key[3][32], name[32];
    size_t needs = 0;
    uint32_t task;
    int i;

    snprintf(name, sizeof name, "compute-%d", number);
    task = vt_graph_task(graph, name, "compute", compute, NULL, NULL, 0);
    vt_graph_user_bytes(graph, task, &tile, sizeof tile); /* a copy, in whatever process it runs */
    for (i = 0; i < 3; i++) {
        int other = number + (i == 0 ? 0 : i == 1 ? -1 : 1);

        if (other < 0 || other >= tiles)
            continue;
        snprintf(key[needs], sizeof key[0], "compute-%d", other); /* may be added later */
        args[needs].key = key[needs];
        needs++;
    }
    snprintf(name, sizeof name, "smooth-%d", number);
    task = vt_graph_task(graph, name, "smooth", smooth, NULL, args, needs);
    return vt_graph_call(graph, "count", count, NULL, &task, 1);
}

static uint32_t add_image(vt_graph *graph, int tiles)
{
    uint32_t *level = malloc((size_t)tiles * sizeof *level);
    uint32_t last = VT_NO_TASK;
    int left = tiles, i;

    if (level == NULL)
        return VT_NO_TASK;
    for (i = 0; i < tiles; i++)
        level[i] = add_tile(graph, i, tiles);
    for (; left > 1; left = (left + 1) / 2)
        for (i = 0; i < left; i += 2)
            level[i / 2] = vt_graph_call(graph, "merge", merge, NULL, level + i,
                                         i + 1 < left ? 2 : 1);
    last = level[0];
    free(level);
    return last;
}

static void show(const struct vt_datum *histogram, int tiles)
{
    const int64_t *levels = histogram->as.data;
    int i, k;

    printf("%d x %d pixels by brightness:\n", WIDTH, tiles * HEIGHT);
    for (i = 0; i < LEVELS; i++) {
        double part = (double)levels[i] / ((double)WIDTH * HEIGHT * tiles);

        printf("  %3d - %3d %9lld  ", i * 256 / LEVELS, (i + 1) * 256 / LEVELS - 1,
               (long long)levels[i]);
        for (k = 0; k < (int)(part * 60 + 0.5); k++)
            putchar('#');
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    struct vt_run_options options = {
        .size = sizeof options, .scheduler = VT_THREADS, .progress = 1};
    int tiles = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 128;
    vt_graph *graph = vt_graph_new();
    uint32_t last = graph == NULL || tiles < 1 || tiles > 100000 ? VT_NO_TASK
                                                                 : add_image(graph, tiles);
    vt_run *run = last == VT_NO_TASK ? NULL : vt_run_new(graph, &options);
    int code = 1;

    if (run == NULL) {
        fprintf(stderr, "usage: graph [tiles]\n");
        goto out;
    }
    vt_run_want_task(run, last);
    if (vt_run_go(run) != 0) {
        fprintf(stderr, "%s\n", vt_run_error(run)->message);
        goto out;
    }
    show(vt_run_result(run, 0), tiles);
    if (vt_run_number(run) == 0)
        printf("To see which task ran when, and what waited for what:\n"
               "  venturi run -o image.vt %s && venturi tasks image.vt --critical-path\n",
               argv[0]);
    code = 0;
out:
    vt_run_free(run);
    vt_graph_free(graph);
    return code;
}
