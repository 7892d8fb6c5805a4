/* node.c - what is known of single nodes: keys and names, and what few tasks are given beside. Reads the graph; only the setters write. */
#include "base/error.h"
#include "graph/graph.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint32_t vt_graph_find(const vt_graph *graph, const char *key)
{
    uint32_t number = key == NULL ? VTI_NO_TEXT : vti_texts_find(&graph->keys, key);

    return number == VTI_NO_TEXT ? VT_NO_TASK : graph->key_nodes[number];
}

uint32_t vt_graph_count(const vt_graph *graph)
{
    return graph->count;
}

const char *vti_graph_key(const vt_graph *graph, uint32_t node, char *room)
{
    if (node < graph->count && graph->nodes[node].key != VTI_NO_TEXT)
        return vti_texts_get(&graph->keys, graph->nodes[node].key);
    snprintf(room, 16, "#%u", node);
    return room;
}

const char *vt_graph_key(const vt_graph *graph, uint32_t task)
{
    static _Thread_local char rooms[8][16]; /* so that one line can name several */
    static _Thread_local unsigned next;

    return vti_graph_key(graph, task, rooms[next++ % 8]);
}

const char *vt_graph_name(const vt_graph *graph, uint32_t task)
{
    if (task >= graph->count || graph->nodes[task].name == VTI_NO_TEXT)
        return "";
    return vti_texts_get(&graph->names, graph->nodes[task].name);
}

int vt_graph_user_bytes(vt_graph *graph, uint32_t task, const void *data, size_t size)
{
    struct vti_node *node;
    void *copy;

    if (task >= graph->count || graph->nodes[task].type != VTI_NODE_TASK)
        return vti_graph_fail(graph, VTI_E_NOT_FOUND, "there is no task %u", task);
    if (size > UINT32_MAX)
        return vti_graph_fail(graph, VTI_E_LIMIT, "%zu bytes for a task are too many", size);
    copy = malloc(size + 1);
    if (copy == NULL)
        return vti_graph_fail(graph, VTI_E_NOMEM, "no memory for %zu bytes of a task", size);
    if (size > 0)
        memcpy(copy, data, size);
    node = &graph->nodes[task];
    if (node->owns_user)
        free(node->user);
    node->user = copy;
    node->user_bytes = (uint32_t)size;
    node->owns_user = 1;
    return 0;
}

/* The entry of a task that has one from then on; without memory it goes without. */
static struct vti_special *special_of(vt_graph *graph, uint32_t task)
{
    struct vti_node *node;

    if (task >= graph->count || graph->nodes[task].type != VTI_NODE_TASK)
        return NULL;
    node = &graph->nodes[task];
    if (node->special == 0) {
        if (graph->special_count == graph->special_room) {
            size_t room = graph->special_room == 0 ? 16 : graph->special_room * 2;
            struct vti_special *moved = realloc(graph->specials, room * sizeof *moved);

            if (moved == NULL)
                return NULL;
            graph->specials = moved;
            graph->special_room = room;
        }
        graph->specials[graph->special_count++] = (struct vti_special){0, -1, -1.0};
        node->special = (uint32_t)graph->special_count;
    }
    return &graph->specials[node->special - 1];
}

const struct vti_special *vti_graph_special(const vt_graph *graph, uint32_t task)
{
    uint32_t number = graph->nodes[task].special;

    return number == 0 ? NULL : &graph->specials[number - 1];
}

void vt_graph_priority(vt_graph *graph, uint32_t task, int32_t priority)
{
    struct vti_special *special = special_of(graph, task);

    if (special == NULL)
        return;
    special->priority = priority;
    graph->has_priorities |= priority != 0;
}

void vt_graph_retries(vt_graph *graph, uint32_t task, unsigned retries)
{
    struct vti_special *special = special_of(graph, task);

    if (special != NULL)
        special->retries = retries;
}

void vt_graph_timeout(vt_graph *graph, uint32_t task, double seconds)
{
    struct vti_special *special = special_of(graph, task);

    if (special == NULL)
        return;
    special->timeout = seconds > 0 ? seconds : 0;
    graph->has_timeouts |= special->timeout > 0;
}

int vti_graph_sites(vt_graph *graph)
{
    int code = 0;
    uint32_t i;

    vti_graph_lock(graph);
    if (graph->site_count < graph->names.count) {
        struct vt_site **sites = malloc(graph->names.count * sizeof *sites);

        if (sites == NULL) {
            code = VTI_E_NOMEM;
            goto out;
        }
        for (i = 0; i < graph->names.count; i++)
            sites[i] = vt_site_intern(vti_texts_get(&graph->names, i));
        free(graph->sites);
        graph->sites = sites;
        graph->site_count = graph->names.count;
    }
out:
    vti_graph_unlock(graph);
    return code;
}

uint32_t vti_graph_named(const vt_graph *graph, uint32_t arg)
{
    switch (arg & VTI_ARG_TYPE) {
    case VTI_ARG_TASK:
        return arg & VTI_ARG_NUMBER;
    case VTI_ARG_KEY:
        return graph->key_nodes[arg & VTI_ARG_NUMBER];
    default:
        return VT_NO_TASK;
    }
}

uint32_t vti_plan_target(const struct vti_plan *plan, const vt_graph *graph, uint32_t node)
{
    if (graph->nodes[node].type == VTI_NODE_ALIAS)
        return plan->args[graph->nodes[node].first_arg] & VTI_ARG_NUMBER;
    return node;
}
