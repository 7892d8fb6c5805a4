/*
 * save.c - a graph as bytes: names of tasks and of functions once each, then the nodes as they were added. Only what another process can
 * understand is saved; everything else is refused by its key.
 */
#include "graph/save.h"

#include "base/error.h"
#include "base/hash.h"
#include "graph/functions.h"
#include "graph/graph.h"

#include <string.h>
#include <venturi/blocks.h>

/* An optional text or run of bytes: its size + 1, or 0. */
static void put_optional(struct vti_buf *buf, const void *bytes, size_t size, bool is_there)
{
    vti_buf_add_varint(buf, is_there ? size + 1 : 0);
    if (is_there)
        vti_buf_add(buf, bytes, size);
}

static int put_value(struct vti_buf *buf, vt_graph *graph, uint32_t node, uint32_t value)
{
    char room[16];

    if (vti_value_put(buf, &graph->values[value]) != 0)
        return vti_graph_fail(graph, VTI_E_USAGE,
                              "'%.200s' has a value that is an object: only numbers and bytes can "
                              "be saved",
                              vti_graph_key(graph, node, room));
    return 0;
}

static int put_task(struct vti_buf *buf, vt_graph *graph, uint32_t task, struct vti_map *functions)
{
    const struct vti_node *node = &graph->nodes[task];
    const struct vti_special *special = vti_graph_special(graph, task);
    const char *function = vti_function_name(node->function);
    int64_t number;
    uint64_t bits;
    int is_new, result = 0;

    if (node->user != NULL && !node->owns_user)
        return vti_graph_fail(graph, VTI_E_USAGE,
                              "'%.200s' was made with an address, which cannot be saved: see "
                              "vt_graph_user_bytes()",
                              vt_graph_key(graph, task));
    number = vti_map_add(functions, function, strlen(function), &is_new);
    if (number < 0)
        return vti_graph_fail(graph, VTI_E_NOMEM, "no memory to save a graph");
    vti_buf_add_varint(buf, node->name);
    vti_buf_add_varint(buf, (uint64_t)number);
    put_optional(buf, node->user, node->user_bytes, node->owns_user);
    if (special != NULL) {
        memcpy(&bits, &special->timeout, sizeof bits);
        vti_buf_add_signed(buf, special->priority);
        vti_buf_add_signed(buf, special->retries);
        vti_buf_add_u64(buf, bits);
    }
    vti_buf_add_varint(buf, node->arg_count);
    for (uint32_t i = 0; i < node->arg_count && result == 0; i++) {
        uint32_t arg = graph->args[node->first_arg + i];
        bool is_value = (arg & VTI_ARG_TYPE) == VTI_ARG_VALUE;

        vti_buf_add_varint(buf, is_value ? 0 : (arg & VTI_ARG_NUMBER) + 1);
        if (is_value)
            result = put_value(buf, graph, task, arg & VTI_ARG_NUMBER);
    }
    return result;
}

static int put_node(struct vti_buf *buf, vt_graph *graph, uint32_t number,
                    struct vti_map *functions)
{
    const struct vti_node *node = &graph->nodes[number];
    bool has_key = node->key != VTI_NO_TEXT;
    const char *key = vt_graph_key(graph, number);

    vti_buf_add_u8(buf, (uint8_t)(node->type | (node->special ? VTI_SAVE_HAS_SPECIAL : 0)));
    put_optional(buf, key, has_key ? strlen(key) : 0, has_key);
    switch (node->type) {
    case VTI_NODE_TASK:
        return put_task(buf, graph, number, functions);
    case VTI_NODE_LITERAL:
        return put_value(buf, graph, number, node->first_arg);
    default:
        vti_buf_add_string(buf, vt_graph_key(graph, graph->args[node->first_arg] & VTI_ARG_NUMBER));
        return 0;
    }
}

/* Every function has a name; said for the first task that has none. */
static int check_functions(vt_graph *graph)
{
    for (uint32_t i = 0; i < graph->count; i++)
        if (graph->nodes[i].type == VTI_NODE_TASK &&
            vti_function_name(graph->nodes[i].function) == NULL)
            return vti_graph_fail(graph, VTI_E_USAGE,
                                  "the function of '%.200s' has no name: see "
                                  "vt_function_register()",
                                  vt_graph_key(graph, i));
    return 0;
}

static void put_head(struct vti_buf *buf, const vt_graph *graph, const struct vti_map *functions)
{
    vti_buf_add(buf, VTI_SAVE_MAGIC, strlen(VTI_SAVE_MAGIC));
    vti_buf_add_varint(buf, graph->names.count);
    for (uint32_t i = 0; i < graph->names.count; i++)
        vti_buf_add_string(buf, vti_texts_get(&graph->names, i));
    vti_buf_add_varint(buf, vti_map_count(functions));
    for (uint32_t i = 0; i < vti_map_count(functions); i++)
        vti_buf_add_string(buf, vti_map_key(functions, i, &(size_t){0}));
    vti_buf_add_varint(buf, graph->count);
}

int vt_graph_save(vt_graph *graph, void **bytes, size_t *size)
{
    struct vti_buf head = {0}, nodes = {0};
    struct vti_map *functions = NULL;
    int result = vti_graph_plan(graph);

    if (result == 0)
        result = check_functions(graph);
    if (result == 0 && vti_map_create(&functions) != 0)
        result = vti_graph_fail(graph, VTI_E_NOMEM, "no memory to save a graph");
    for (uint32_t i = 0; i < graph->count && result == 0; i++)
        result = put_node(&nodes, graph, i, functions);
    if (result != 0)
        goto out;
    put_head(&head, graph, functions);
    vti_buf_add(&head, nodes.data, nodes.len);
    if (head.failed || nodes.failed) {
        result = vti_graph_fail(graph, VTI_E_NOMEM, "no memory to save a graph");
        goto out;
    }
    *bytes = head.data;
    *size = head.len;
    vti_buf_init(&head);
out:
    vti_buf_fini(&head);
    vti_buf_fini(&nodes);
    vti_map_free(functions);
    return result;
}
