/*
 * save_load.c - a graph from bytes that save.c made, or from any others: every count is bounded by what is there, and nothing is believed.
 * Functions are looked up by name; which functions there are is what the sender is trusted with.
 */
#include "base/error.h"
#include "graph/graph.h"
#include "graph/save.h"

#include <stdlib.h>
#include <string.h>
#include <venturi/blocks.h>

struct load {
    struct vti_reader reader;
    vt_graph *graph;
    char **names; /* owned */
    size_t name_count;
    vt_function **functions; /* owned */
    size_t function_count;
    struct vt_arg *args; /* of one task; owned */
    size_t arg_room;
};

static int damaged(const struct load *load, const void *begin)
{
    return vti_fail(VTI_E_DAMAGED, "saved graph: byte %zu: not what can be there",
                    (size_t)(load->reader.at - (const uint8_t *)begin));
}

/* A text of its own; NULL: it is cut, has a zero byte, or there is no memory. */
static char *get_text(struct vti_reader *reader, size_t size)
{
    const uint8_t *bytes = vti_reader_bytes(reader, size);

    if (bytes == NULL || memchr(bytes, 0, size) != NULL)
        return NULL;
    return strndup((const char *)bytes, size);
}

static size_t get_count(struct vti_reader *reader)
{
    return (size_t)vti_reader_count(reader, vti_reader_left(reader));
}

static int get_names(struct load *load)
{
    size_t count = get_count(&load->reader);

    load->names = calloc(count + 1, sizeof *load->names);
    for (; load->names != NULL && load->name_count < count; load->name_count++) {
        load->names[load->name_count] = get_text(&load->reader, get_count(&load->reader));
        if (load->names[load->name_count] == NULL)
            return -1;
    }
    return load->names != NULL && !load->reader.failed ? 0 : -1;
}

static int get_functions(struct load *load, const void *begin)
{
    size_t count = get_count(&load->reader);

    load->functions = calloc(count + 1, sizeof *load->functions);
    for (; load->functions != NULL && load->function_count < count; load->function_count++) {
        char *name = get_text(&load->reader, get_count(&load->reader));
        vt_function *function = name ? vt_function_find(name) : NULL;
        int result = 0;

        if (name == NULL)
            result = damaged(load, begin);
        else if (function == NULL)
            result = vti_fail(VTI_E_NOT_FOUND, "function '%.200s' is not known here", name);
        free(name);
        if (result != 0)
            return result;
        load->functions[load->function_count] = function;
    }
    return load->functions != NULL && !load->reader.failed ? 0 : damaged(load, begin);
}

/* Arguments are whole or none: values of a list that breaks off are destroyed. */
static int get_args(struct load *load, size_t count)
{
    struct vt_arg *args = load->args;
    size_t i = 0;

    if (count > load->arg_room) {
        args = realloc(load->args, count * sizeof *args);
        if (args == NULL)
            return -1;
        load->args = args;
        load->arg_room = count;
    }
    for (; i < count && !load->reader.failed; i++) {
        uint64_t number = vti_reader_count(&load->reader, VTI_MAX_NODES);

        memset(&args[i], 0, sizeof args[i]);
        args[i].type = number ? VT_ARG_IS_TASK : VT_ARG_IS_VALUE;
        args[i].task = number ? (uint32_t)number - 1 : 0;
        if (!number && vti_value_get(&load->reader, &args[i].value) != 0)
            load->reader.failed = true;
    }
    if (!load->reader.failed)
        return 0;
    while (i--)
        if (args[i].value.destroy != NULL)
            args[i].value.destroy(args[i].value.as.data, args[i].value.with);
    return -1;
}

static double get_double(struct vti_reader *reader)
{
    uint64_t bits = vti_reader_u64(reader);
    double real;

    memcpy(&real, &bits, sizeof real);
    return real;
}

static int get_task(struct load *load, const char *key, bool has_special)
{
    struct vti_reader *reader = &load->reader;
    size_t name = (size_t)vti_reader_varint(reader);
    size_t function = (size_t)vti_reader_varint(reader);
    size_t user_size = get_count(reader);
    const uint8_t *user = user_size ? vti_reader_bytes(reader, user_size - 1) : NULL;
    int64_t priority = has_special ? vti_reader_signed(reader) : 0;
    int64_t retries = has_special ? vti_reader_signed(reader) : -1;
    double timeout = has_special ? get_double(reader) : -1;
    size_t count = get_count(reader);
    uint32_t task;

    if (reader->failed || name >= load->name_count || function >= load->function_count ||
        priority < INT32_MIN || priority > INT32_MAX || retries > UINT16_MAX ||
        get_args(load, count) != 0)
        return -1;
    task = vt_graph_task(load->graph, key, load->names[name], load->functions[function], NULL,
                         load->args, count);
    if (task == VT_NO_TASK ||
        (user_size && vt_graph_user_bytes(load->graph, task, user, user_size - 1) != 0))
        return -1;
    if (priority)
        vt_graph_priority(load->graph, task, (int32_t)priority);
    if (retries >= 0)
        vt_graph_retries(load->graph, task, (unsigned)retries);
    if (timeout >= 0)
        vt_graph_timeout(load->graph, task, timeout);
    return 0;
}

static int get_alias(struct load *load, const char *key)
{
    char *target = get_text(&load->reader, get_count(&load->reader));
    uint32_t node = VT_NO_TASK;

    if (target != NULL && key != NULL)
        node = vt_graph_alias(load->graph, key, target);
    free(target);
    return node == VT_NO_TASK ? -1 : 0;
}

static int get_node(struct load *load)
{
    uint8_t type = vti_reader_u8(&load->reader);
    size_t key_size = get_count(&load->reader);
    char *key = key_size ? get_text(&load->reader, key_size - 1) : NULL;
    struct vt_datum value;
    int result = -1;

    if (load->reader.failed || (key_size && key == NULL))
        goto out;
    switch (type & ~VTI_SAVE_HAS_SPECIAL) {
    case VTI_NODE_TASK:
        result = get_task(load, key, (type & VTI_SAVE_HAS_SPECIAL) != 0);
        break;
    case VTI_NODE_LITERAL:
        result = vti_value_get(&load->reader, &value);
        if (result == 0 && vt_graph_literal(load->graph, key, value) == VT_NO_TASK)
            result = -1;
        break;
    case VTI_NODE_ALIAS:
        result = get_alias(load, key);
        break;
    default:
        break;
    }
out:
    free(key);
    return result;
}

static int get_graph(struct load *load, const void *bytes, size_t size)
{
    size_t magic = strlen(VTI_SAVE_MAGIC), count;
    int result;

    vti_reader_init(&load->reader, bytes, size);
    if (size < magic || memcmp(vti_reader_bytes(&load->reader, magic), VTI_SAVE_MAGIC, magic) != 0)
        return vti_fail(VTI_E_DAMAGED, "those bytes are no saved graph");
    if (get_names(load) != 0)
        return damaged(load, bytes);
    result = get_functions(load, bytes);
    if (result != 0)
        return result;
    count = get_count(&load->reader);
    for (size_t i = 0; i < count; i++)
        if (get_node(load) != 0)
            return vt_graph_error(load->graph) && *vt_graph_error(load->graph)
                       ? vti_fail(VTI_E_DAMAGED, "saved graph: %s", vt_graph_error(load->graph))
                       : damaged(load, bytes);
    return load->reader.failed || vti_reader_left(&load->reader) ? damaged(load, bytes) : 0;
}

vt_graph *vt_graph_load(const void *bytes, size_t size, const char **why)
{
    struct load load = {.graph = vt_graph_new()};
    int result = load.graph ? get_graph(&load, bytes, size)
                            : vti_fail(VTI_E_NOMEM, "no memory for a graph");

    for (size_t i = 0; load.names != NULL && load.names[i] != NULL; i++)
        free(load.names[i]);
    free(load.names);
    free(load.functions);
    free(load.args);
    if (result == 0)
        return load.graph;
    vt_graph_free(load.graph);
    if (why != NULL)
        *why = vti_error_message(result);
    return NULL;
}
