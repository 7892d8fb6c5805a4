/* blocks_graph.c - one block as a graph of its own: its tasks, copies of the literals that they use, its inputs as empty literals. */
#include "base/error.h"
#include "graph/blocks.h"
#include "graph/run.h"
#include "graph/save.h"

#include <stdlib.h>
#include <string.h>

struct copy {
    const vt_blocks *blocks;
    vt_graph *from, *to;
    uint32_t block;
    struct vt_arg *args; /* of one task; owned */
    size_t room;
};

static void drop_values(struct vt_arg *args, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (args[i].type == VT_ARG_IS_VALUE && args[i].value.destroy != NULL)
            vti_value_destroy(&args[i].value);
}

static int fail_value(const struct copy *copy, uint32_t node, int code)
{
    if (code == VTI_E_NOMEM)
        return vti_graph_fail(copy->from, code, "no memory for a block");
    return vti_graph_fail(copy->from, code,
                          "'%.200s' has a value that is an object: only numbers and bytes can be "
                          "in a block",
                          vt_graph_key(copy->from, node));
}

/* Arguments by key: tasks of the block, and inputs. */
static int take_args(struct copy *copy, uint32_t task, char (*rooms)[16])
{
    const struct vti_node *node = &copy->from->nodes[task];
    int result;

    for (uint32_t i = 0; i < node->arg_count; i++) {
        uint32_t arg = copy->blocks->plan->args[node->first_arg + i];
        struct vt_arg *to = &copy->args[i];

        memset(to, 0, sizeof *to);
        if ((arg & VTI_ARG_TYPE) == VTI_ARG_TASK) {
            to->type = VT_ARG_IS_KEY;
            to->key = vti_graph_key(copy->from, arg & VTI_ARG_NUMBER, rooms[i]);
            continue;
        }
        to->type = VT_ARG_IS_VALUE;
        result = vti_value_copy(&copy->from->values[arg & VTI_ARG_NUMBER], &to->value);
        if (result != 0) {
            drop_values(copy->args, i);
            return fail_value(copy, task, result);
        }
    }
    return 0;
}

static int set_special(struct copy *copy, uint32_t task, uint32_t added)
{
    const struct vti_node *node = &copy->from->nodes[task];
    const struct vti_special *special = vti_graph_special(copy->from, task);

    if (special != NULL && special->priority)
        vt_graph_priority(copy->to, added, special->priority);
    if (special != NULL && special->retries >= 0)
        vt_graph_retries(copy->to, added, (unsigned)special->retries);
    if (special != NULL && special->timeout >= 0)
        vt_graph_timeout(copy->to, added, special->timeout);
    return node->owns_user ? vt_graph_user_bytes(copy->to, added, node->user, node->user_bytes) : 0;
}

static int add_task(struct copy *copy, uint32_t task)
{
    const struct vti_node *node = &copy->from->nodes[task];
    char room[16], (*rooms)[16] = malloc((node->arg_count + 1) * sizeof *rooms);
    uint32_t added;
    int result = VTI_E_NOMEM;

    if (node->arg_count > copy->room) {
        struct vt_arg *args = realloc(copy->args, node->arg_count * sizeof *args);

        if (args == NULL)
            goto out;
        copy->args = args;
        copy->room = node->arg_count;
    }
    if (rooms == NULL)
        goto out;
    result = take_args(copy, task, rooms);
    if (result != 0)
        goto out;
    added = vt_graph_task(copy->to, vti_graph_key(copy->from, task, room),
                          vt_graph_name(copy->from, task), node->function,
                          node->owns_user ? NULL : node->user, copy->args, node->arg_count);
    if (added == VT_NO_TASK || set_special(copy, task, added) != 0)
        result = vti_graph_fail(copy->from, VTI_E_LIMIT, "%s", vt_graph_error(copy->to));
out:
    free(rooms);
    return result;
}

/* Of what is wanted, tasks are there already. */
static int add_output(struct copy *copy, uint32_t node)
{
    const struct vti_node *known = &copy->from->nodes[node];
    uint32_t target = vti_plan_target(copy->blocks->plan, copy->from, node);
    char room[16], other[16];
    const char *key = vti_graph_key(copy->from, node, room);
    struct vt_datum value;
    int result = 0;

    if (copy->from->nodes[target].type == VTI_NODE_LITERAL) {
        result = vti_value_copy(&copy->from->values[copy->from->nodes[target].first_arg], &value);
        if (result != 0)
            return fail_value(copy, node, result);
        result = vt_graph_literal(copy->to, key, value) == VT_NO_TASK ? VTI_E_LIMIT : 0;
    } else if (known->type == VTI_NODE_ALIAS) {
        key = vti_graph_key(copy->from, node, room);
        result = vt_graph_alias(copy->to, key, vti_graph_key(copy->from, target, other)) ==
                         VT_NO_TASK
                     ? VTI_E_LIMIT
                     : 0;
    }
    return result ? vti_graph_fail(copy->from, result, "%s", vt_graph_error(copy->to)) : 0;
}

vt_graph *vt_blocks_graph(vt_blocks *blocks, uint32_t block)
{
    struct copy copy = {.blocks = blocks, .from = blocks->graph, .block = block};
    struct vt_block known;
    int result = vt_blocks_get(blocks, block, &known);
    char room[16];

    copy.to = result == 0 ? vt_graph_new() : NULL;
    if (copy.to == NULL)
        return NULL;
    for (size_t i = 0; i < known.input_count && result == 0; i++)
        if (vt_graph_literal(copy.to, vti_graph_key(copy.from, known.inputs[i], room),
                             (struct vt_datum){0}) == VT_NO_TASK)
            result = vti_graph_fail(copy.from, VTI_E_LIMIT, "%s", vt_graph_error(copy.to));
    for (uint32_t i = 0; i < known.tasks && result == 0; i++)
        result = add_task(&copy, blocks->order[blocks->blocks[block].first + i]);
    for (size_t i = 0; i < known.output_count && result == 0; i++)
        result = add_output(&copy, known.outputs[i]);
    free(copy.args);
    if (result == 0)
        return copy.to;
    vt_graph_free(copy.to);
    return NULL;
}
