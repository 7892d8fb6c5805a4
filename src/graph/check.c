/*
 * check.c - lines that tell what is wrong with a graph: which keys are missing and who needs them, and which tasks need themselves.
 *
 * Only called when something is wrong, so it may take its time, but not recurse: a cycle may be as long as the graph.
 */
#include "base/buf.h"
#include "base/error.h"
#include "graph/graph.h"

#include <stdlib.h>

#define KEY_SHOWN "%.100s"
#define MISSING_SHOWN 8
#define CYCLE_FIRST 12 /* keys shown of a cycle that is longer than both together */
#define CYCLE_LAST 4

static int say(vt_graph *graph, int code, struct vti_buf *buf)
{
    vti_buf_add_u8(buf, 0);
    code = buf->failed ? vti_graph_fail(graph, VTI_E_NOMEM, "no memory to check the graph")
                       : vti_graph_fail(graph, code, "%s", (const char *)buf->data);
    vti_buf_fini(buf);
    return code;
}

static void add_key(struct vti_buf *buf, const vt_graph *graph, uint32_t node)
{
    char room[16];

    vti_buf_printf(buf, KEY_SHOWN, vti_graph_key(graph, node, room));
}

int vti_graph_say_missing(vt_graph *graph)
{
    struct vti_buf buf = {0};
    size_t found = 0;
    uint32_t i, k;

    for (i = 0; i < graph->count; i++) {
        const struct vti_node *node = &graph->nodes[i];

        if (node->type == VTI_NODE_LITERAL)
            continue;
        for (k = 0; k < node->arg_count; k++) {
            uint32_t arg = graph->args[node->first_arg + k];

            if ((arg & VTI_ARG_TYPE) == VTI_ARG_VALUE || vti_graph_named(graph, arg) < graph->count)
                continue;
            if (found++ >= MISSING_SHOWN)
                continue;
            vti_buf_add_text(&buf, found > 1 ? ", " : "missing: ");
            if ((arg & VTI_ARG_TYPE) == VTI_ARG_KEY)
                vti_buf_printf(&buf, "key '" KEY_SHOWN "'",
                               vti_texts_get(&graph->keys, arg & VTI_ARG_NUMBER));
            else
                vti_buf_printf(&buf, "task #%u", arg & VTI_ARG_NUMBER);
            vti_buf_add_text(&buf, ", needed by '");
            add_key(&buf, graph, i);
            vti_buf_add_text(&buf, "'");
        }
    }
    if (found > MISSING_SHOWN)
        vti_buf_printf(&buf, " and %zu more", found - MISSING_SHOWN);
    return say(graph, VTI_E_NOT_FOUND, &buf);
}

/* A walk along arguments: the path that led here, and which argument of each is next. */
struct walk {
    uint32_t *path;
    uint32_t *next;
    uint8_t *seen; /* 0 not yet, 1 on the path, 2 left for good */
    size_t length;
};

/* Goes on until a node of the path is met again; its place on the path, or SIZE_MAX. */
static size_t walk_from(const vt_graph *graph, struct walk *walk, uint32_t from)
{
    walk->path[0] = from;
    walk->next[0] = 0;
    walk->seen[from] = 1;
    walk->length = 1;
    while (walk->length > 0) {
        size_t top = walk->length - 1;
        uint32_t at = walk->path[top];
        const struct vti_node *node = &graph->nodes[at];
        uint32_t other;

        if (node->type == VTI_NODE_LITERAL || walk->next[top] == node->arg_count) {
            walk->seen[at] = 2;
            walk->length--;
            continue;
        }
        other = vti_graph_named(graph, graph->args[node->first_arg + walk->next[top]++]);
        if (other >= graph->count || walk->seen[other] == 2)
            continue;
        if (walk->seen[other] == 1) {
            while (walk->path[top] != other)
                top--;
            return top;
        }
        walk->seen[other] = 1;
        walk->path[walk->length] = other;
        walk->next[walk->length++] = 0;
    }
    return SIZE_MAX;
}

static void add_cycle(struct vti_buf *buf, const vt_graph *graph, const uint32_t *path,
                      size_t count)
{
    size_t i;

    vti_buf_add_text(buf, "cycle: ");
    for (i = 0; i < count; i++) {
        if (count > CYCLE_FIRST + CYCLE_LAST && i == CYCLE_FIRST) {
            i = count - CYCLE_LAST;
            vti_buf_printf(buf, "(%zu more) -> ", count - CYCLE_FIRST - CYCLE_LAST);
        }
        add_key(buf, graph, path[i]);
        vti_buf_add_text(buf, " -> ");
    }
    add_key(buf, graph, path[0]);
    if (count > CYCLE_FIRST + CYCLE_LAST)
        vti_buf_printf(buf, " (%zu keys)", count);
}

int vti_graph_say_cycle(vt_graph *graph)
{
    struct walk walk = {malloc(graph->count * sizeof *walk.path),
                        malloc(graph->count * sizeof *walk.next), calloc(graph->count, 1), 0};
    struct vti_buf buf = {0};
    size_t place = SIZE_MAX;
    uint32_t i;

    if (walk.path == NULL || walk.next == NULL || walk.seen == NULL)
        buf.failed = true;
    for (i = 0; i < graph->count && !buf.failed && place == SIZE_MAX; i++)
        if (walk.seen[i] == 0)
            place = walk_from(graph, &walk, i);
    if (place != SIZE_MAX)
        add_cycle(&buf, graph, walk.path + place, walk.length - place);
    free(walk.path);
    free(walk.next);
    free(walk.seen);
    return say(graph, VTI_E_USAGE, &buf);
}

int vt_graph_check(vt_graph *graph)
{
    return vti_graph_plan(graph);
}
