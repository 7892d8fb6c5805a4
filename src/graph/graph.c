/*
 * graph.c - graphs as they are built: nodes, arguments and texts in large arrays that double.
 *
 * One thread builds a graph. What was added stays as it is; only the plan (plan.c) is made anew after something was added.
 */
#include "graph/graph.h"

#include "base/error.h"
#include "graph/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

vt_graph *vt_graph_new(void)
{
    vt_graph *graph = calloc(1, sizeof *graph);

    if (graph == NULL)
        return NULL;
    pthread_mutex_init(&graph->lock, NULL);
    graph->holders = 1;
    graph->last_name = VTI_NO_TEXT;
    return graph;
}

static void graph_free(vt_graph *graph)
{
    size_t i;

    for (i = 0; i < graph->value_count; i++)
        vti_value_destroy(&graph->values[i]);
    for (i = 0; i < graph->count; i++)
        if (graph->nodes[i].owns_user)
            free(graph->nodes[i].user);
    vti_plan_drop(graph->plan);
    vti_texts_fini(&graph->keys);
    vti_texts_fini(&graph->names);
    free(graph->nodes);
    free(graph->args);
    free(graph->values);
    free(graph->specials);
    free(graph->key_nodes);
    free(graph->sites);
    free(graph->error);
    pthread_mutex_destroy(&graph->lock);
    free(graph);
}

void vti_graph_hold(vt_graph *graph)
{
    __atomic_add_fetch(&graph->holders, 1, __ATOMIC_RELAXED);
}

void vti_graph_drop(vt_graph *graph)
{
    if (__atomic_sub_fetch(&graph->holders, 1, __ATOMIC_ACQ_REL) == 0)
        graph_free(graph);
}

void vt_graph_free(vt_graph *graph)
{
    if (graph != NULL)
        vti_graph_drop(graph);
}

int vti_graph_fail(vt_graph *graph, int code, const char *format, ...)
{
    char *line;
    va_list list;

    va_start(list, format);
    line = vti_text_line(format, list);
    va_end(list);
    free(graph->error);
    graph->error = line;
    return code;
}

const char *vt_graph_error(const vt_graph *graph)
{
    return graph->error == NULL ? "" : graph->error;
}

static int no_memory(vt_graph *graph)
{
    return vti_graph_fail(graph, VTI_E_NOMEM, "no memory for a graph of %u nodes",
                          graph->count + 1);
}

/* Room for so many more elements of an array that doubles: where it is then, or NULL. */
static void *grown(void *array, size_t *room, size_t count, size_t more, size_t bytes)
{
    size_t next = *room < 16 ? 16 : *room;
    void *moved;

    if (array != NULL && *room - count >= more)
        return array;
    while (next - count < more)
        next *= 2;
    moved = realloc(array, next * bytes);
    if (moved != NULL)
        *room = next;
    return moved;
}

#define HAS_ROOM(array, room, count, more)                                                         \
    ({                                                                                             \
        void *moved_ = grown(array, room, count, more, sizeof *(array));                           \
        if (moved_ != NULL)                                                                        \
            (array) = moved_;                                                                      \
        moved_ != NULL;                                                                            \
    })

/* A plan is for a graph that no longer grows. */
static void forget_plan(vt_graph *graph)
{
    if (graph->plan != NULL)
        vti_plan_drop(graph->plan);
    graph->plan = NULL;
}

/* The number of a key that is named; its node may come later. */
static uint32_t key_number(vt_graph *graph, const char *key)
{
    uint32_t before = graph->keys.count;
    uint32_t number;

    if (before > VTI_ARG_NUMBER || !HAS_ROOM(graph->key_nodes, &graph->key_room, before, 1))
        return VTI_NO_TEXT;
    number = vti_texts_add(&graph->keys, key);
    if (number == VTI_NO_TEXT || number < before)
        return number;
    graph->key_nodes[number] = VT_NO_TASK;
    return number;
}

static uint32_t name_number(vt_graph *graph, const char *name)
{
    if (graph->last_name == VTI_NO_TEXT ||
        strcmp(vti_texts_get(&graph->names, graph->last_name), name) != 0)
        graph->last_name = vti_texts_add(&graph->names, name);
    return graph->last_name;
}

/* A node at the end, without arguments; NULL: an error was said. */
static struct vti_node *node_add(vt_graph *graph, const char *key, enum vti_node_type type)
{
    uint32_t number = VTI_NO_TEXT;
    struct vti_node *node;

    forget_plan(graph);
    if (graph->count >= VTI_MAX_NODES) {
        vti_graph_fail(graph, VTI_E_LIMIT, "a graph has at most %u nodes", VTI_MAX_NODES);
        return NULL;
    }
    if (!HAS_ROOM(graph->nodes, &graph->room, graph->count, 1))
        goto memory;
    if (key != NULL) {
        number = key_number(graph, key);
        if (number == VTI_NO_TEXT)
            goto memory;
        if (graph->key_nodes[number] != VT_NO_TASK) {
            vti_graph_fail(graph, VTI_E_EXISTS, "key '%.200s' is there already", key);
            return NULL;
        }
        graph->key_nodes[number] = graph->count;
    }
    node = &graph->nodes[graph->count++];
    memset(node, 0, sizeof *node);
    node->key = number;
    node->name = VTI_NO_TEXT;
    node->type = type;
    node->first_arg = (uint32_t)graph->arg_count;
    graph->has_others |= type != VTI_NODE_TASK;
    return node;

memory:
    no_memory(graph);
    return NULL;
}

/* Keeps a value; its number, or VTI_NO_TEXT after destroying it. */
static uint32_t value_add(vt_graph *graph, const struct vt_datum *value)
{
    struct vt_datum kept = *value;

    if (graph->value_count >= VTI_MAX_NODES ||
        !HAS_ROOM(graph->values, &graph->value_room, graph->value_count, 1)) {
        vti_value_destroy(&kept);
        return VTI_NO_TEXT;
    }
    graph->values[graph->value_count] = kept;
    return (uint32_t)graph->value_count++;
}

static int args_room(vt_graph *graph, size_t count)
{
    if (count > VTI_MAX_NODES || graph->arg_count + count > UINT32_MAX)
        return -1;
    return HAS_ROOM(graph->args, &graph->arg_room, graph->arg_count, count) ? 0 : -1;
}

/* What an argument is kept as; VTI_NO_TEXT: no memory. */
static uint32_t arg_kept(vt_graph *graph, const struct vt_arg *arg)
{
    uint32_t number;

    switch (arg->type) {
    case VT_ARG_IS_KEY:
        number = key_number(graph, arg->key);
        if (number == VTI_NO_TEXT)
            return number;
        if (graph->key_nodes[number] != VT_NO_TASK)
            return VTI_ARG_TASK | graph->key_nodes[number];
        graph->has_others = true;
        return VTI_ARG_KEY | number;
    case VT_ARG_IS_TASK:
        return VTI_ARG_TASK | (arg->task > VTI_ARG_NUMBER ? VTI_ARG_NUMBER : arg->task);
    default:
        number = value_add(graph, &arg->value);
        return number == VTI_NO_TEXT ? number : VTI_ARG_VALUE | number;
    }
}

/* Takes back the node that was added last: what it was given is destroyed. */
static uint32_t take_back(vt_graph *graph, size_t arg_count, size_t value_count)
{
    struct vti_node *node = &graph->nodes[--graph->count];

    if (node->key != VTI_NO_TEXT)
        graph->key_nodes[node->key] = VT_NO_TASK;
    graph->arg_count = arg_count;
    while (graph->value_count > value_count)
        vti_value_destroy(&graph->values[--graph->value_count]);
    no_memory(graph);
    return VT_NO_TASK;
}

static void destroy_values(const struct vt_arg *args, size_t count)
{
    size_t i;

    for (i = 0; i < count; i++) {
        struct vt_datum value = args[i].value;

        if (args[i].type == VT_ARG_IS_VALUE)
            vti_value_destroy(&value);
    }
}

/* Whether nothing is NULL that must not be. */
static bool is_complete(vt_graph *graph, const char *key, vt_function *function,
                        const struct vt_arg *args, size_t count)
{
    char room[16];
    size_t i;

    for (i = 0; i < count; i++)
        if (args[i].type == VT_ARG_IS_KEY && args[i].key == NULL)
            break;
    if (function != NULL && i == count)
        return true;
    if (key == NULL)
        key = vti_graph_key(graph, graph->count, room);
    if (function == NULL)
        return vti_graph_fail(graph, 0, "task '%.200s' has no function", key);
    return vti_graph_fail(graph, 0, "argument %zu of '%.200s' names no key", i, key);
}

uint32_t vt_graph_task(vt_graph *graph, const char *key, const char *name, vt_function *function,
                       void *user, const struct vt_arg *args, size_t arg_count)
{
    size_t args_before = graph->arg_count;
    size_t values_before = graph->value_count;
    struct vti_node *node = is_complete(graph, key, function, args, arg_count)
                                ? node_add(graph, key, VTI_NODE_TASK)
                                : NULL;
    size_t i;

    if (node == NULL) {
        destroy_values(args, arg_count);
        return VT_NO_TASK;
    }
    node->function = function;
    node->user = user;
    node->arg_count = (uint32_t)arg_count;
    node->name = name_number(graph, name == NULL ? "" : name);
    if (node->name == VTI_NO_TEXT || args_room(graph, arg_count) != 0) {
        destroy_values(args, arg_count);
        return take_back(graph, args_before, values_before);
    }
    for (i = 0; i < arg_count; i++) {
        uint32_t kept = arg_kept(graph, &args[i]);

        if (kept == VTI_NO_TEXT) {
            destroy_values(args + i + 1, arg_count - i - 1);
            return take_back(graph, args_before, values_before);
        }
        graph->args[graph->arg_count++] = kept;
    }
    return graph->count - 1;
}

uint32_t vt_graph_call(vt_graph *graph, const char *name, vt_function *function, void *user,
                       const uint32_t *tasks, size_t count)
{
    size_t args_before = graph->arg_count;
    struct vti_node *node = is_complete(graph, NULL, function, NULL, 0)
                                ? node_add(graph, NULL, VTI_NODE_TASK)
                                : NULL;
    size_t i;

    if (node == NULL)
        return VT_NO_TASK;
    node->function = function;
    node->user = user;
    node->arg_count = (uint32_t)count;
    node->name = name_number(graph, name == NULL ? "" : name);
    if (node->name == VTI_NO_TEXT || args_room(graph, count) != 0)
        return take_back(graph, args_before, graph->value_count);
    for (i = 0; i < count; i++)
        graph->args[graph->arg_count++] = VTI_ARG_TASK |
                                          (tasks[i] > VTI_ARG_NUMBER ? VTI_ARG_NUMBER : tasks[i]);
    return graph->count - 1;
}

uint32_t vt_graph_literal(vt_graph *graph, const char *key, struct vt_datum value)
{
    struct vti_node *node = node_add(graph, key, VTI_NODE_LITERAL);
    uint32_t number;

    if (node == NULL) {
        vti_value_destroy(&value);
        return VT_NO_TASK;
    }
    number = value_add(graph, &value);
    if (number == VTI_NO_TEXT)
        return take_back(graph, graph->arg_count, graph->value_count);
    node->first_arg = number;
    return graph->count - 1;
}

uint32_t vt_graph_alias(vt_graph *graph, const char *key, const char *target)
{
    struct vt_arg arg = {.type = VT_ARG_IS_KEY, .key = target};
    size_t args_before = graph->arg_count;
    struct vti_node *node;
    uint32_t kept;

    if (target == NULL) {
        vti_graph_fail(graph, 0, "alias '%.200s' names no key", key == NULL ? "" : key);
        return VT_NO_TASK;
    }
    node = node_add(graph, key, VTI_NODE_ALIAS);
    if (node == NULL)
        return VT_NO_TASK;
    node->arg_count = 1;
    kept = args_room(graph, 1) != 0 ? VTI_NO_TEXT : arg_kept(graph, &arg);
    if (kept == VTI_NO_TEXT)
        return take_back(graph, args_before, graph->value_count);
    graph->args[graph->arg_count++] = kept;
    return graph->count - 1;
}
