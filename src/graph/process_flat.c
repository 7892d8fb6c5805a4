/*
 * process_flat.c - a task as another process can see it: its function, what it was made with and its arguments. A forked worker finds
 * what was there before by its address; for one that was started anew everything is copied once, and functions have names.
 */
#include "base/error.h"
#include "base/hash.h"
#include "graph/functions.h"
#include "graph/process.h"

#include <stdlib.h>
#include <string.h>

/* Blocks by the address of what they are a copy of: literals and the names of functions. */
struct vti_names {
    struct vti_map *map;
    uint64_t *offsets;
    size_t room;
};

void vti_names_free(struct vti_names *names)
{
    if (names == NULL)
        return;
    vti_map_free(names->map);
    free(names->offsets);
    free(names);
}

static int no_room(const struct vti_processes *all, uint64_t size)
{
    return vti_fail(VTI_E_LIMIT,
                    "no room for %llu bytes of arguments: %llu of %llu bytes of shared memory are "
                    "free; raise shared_bytes of the run's options",
                    (unsigned long long)size,
                    (unsigned long long)vti_segments_left(&all->memory->segments),
                    (unsigned long long)all->memory->segments.count * all->memory->segments.bytes);
}

static int copy(struct vti_processes *all, const void *data, size_t size, uint64_t *offset)
{
    *offset = vti_space_take(&all->memory->space, size);
    if (!*offset)
        return no_room(all, size);
    memcpy((uint8_t *)all->memory->header + *offset, data, size);
    return 0;
}

/* Copies it the first time that it is seen. */
static int copy_once(struct vti_processes *all, const void *data, size_t size, uint64_t *offset)
{
    const uint64_t known_by[2] = {(uint64_t)(uintptr_t)data, size};
    struct vti_names *names = all->names;
    int64_t index;
    int is_new = 0;

    if (names == NULL) {
        names = all->names = calloc(1, sizeof *names);
        if (names == NULL || vti_map_create(&names->map) != 0)
            return vti_fail(VTI_E_NOMEM, "no memory for arguments");
    }
    index = vti_map_add(names->map, known_by, sizeof known_by, &is_new);
    if (index >= 0 && (size_t)index >= names->room) {
        size_t room = names->room ? names->room * 2 : 64;
        uint64_t *offsets = realloc(names->offsets, room * sizeof *offsets);

        if (offsets == NULL)
            return vti_fail(VTI_E_NOMEM, "no memory for arguments");
        memset(offsets + names->room, 0, (room - names->room) * sizeof *offsets);
        names->offsets = offsets;
        names->room = room;
    }
    if (index < 0)
        return vti_fail(VTI_E_NOMEM, "no memory for arguments");
    if (!names->offsets[index] && copy(all, data, size, &names->offsets[index]) != 0)
        return VTI_E_LIMIT;
    *offset = names->offsets[index];
    return 0;
}

static int flatten(struct vti_processes *all, const struct vt_datum *value, struct vti_flat *flat)
{
    uint64_t offset = 0;

    *flat = (struct vti_flat){.type = value->type, .size = value->size};
    if (value->type == VT_DATUM_OBJECT)
        return vti_fail(VTI_E_USAGE,
                        "an argument is an object: only numbers and bytes can go to a process");
    if (value->type != VT_DATUM_BYTES) {
        memcpy(&flat->bits, &value->as, sizeof flat->bits);
        return 0;
    }
    if (!value->size)
        return 0;
    flat->place = VTI_FLAT_SHARED;
    if (vti_memory_has(all->memory, value->as.data, value->size, &offset)) {
        flat->bits = offset;
    } else if (all->memory->header->is_forked) {
        flat->place = VTI_FLAT_ADDRESS;
        memcpy(&flat->bits, &value->as, sizeof flat->bits);
    } else if (copy_once(all, value->as.data, value->size, &flat->bits) != 0) {
        return VTI_E_LIMIT;
    }
    return 0;
}

static int fill_function(struct vti_processes *all, struct vti_sent *sent, struct vti_slot *slot,
                         const struct vti_node *node)
{
    const char *name;

    if (all->memory->header->is_forked) {
        memcpy(&slot->function, &node->function, sizeof slot->function);
        memcpy(&slot->user, &node->user, sizeof slot->user);
        return 0;
    }
    name = vti_function_name(node->function);
    if (name == NULL)
        return vti_fail(VTI_E_USAGE, "its function has no name that a started worker could find: "
                                     "see vt_function_register()");
    if (node->user != NULL && !node->owns_user)
        return vti_fail(VTI_E_USAGE, "what it was made with is an address, which a started worker "
                                     "does not have: see vt_graph_user_bytes()");
    if (copy_once(all, name, strlen(name) + 1, &slot->function) != 0)
        return VTI_E_LIMIT;
    slot->user = 0;
    if (node->owns_user) {
        if (copy(all, node->user, node->user_bytes, &sent->user) != 0)
            return VTI_E_LIMIT;
        slot->user = sent->user;
    }
    return 0;
}

/* What is still to come from this lane is named by its slot. */
static int fill_arg(struct vti_processes *all, struct vti_crew *crew, struct vti_sent *sent,
                    uint32_t arg, const struct vt_datum *value, struct vti_flat *flat)
{
    uint32_t place = (arg & VTI_ARG_TYPE) == VTI_ARG_TASK ? all->where[arg & VTI_ARG_NUMBER]
                                                          : VTI_NOWHERE;
    struct vti_sent *need;

    if (place == VTI_NOWHERE)
        return flatten(all, value, flat);
    place &= VTI_LANE_SLOTS - 1;
    *flat = (struct vti_flat){.place = VTI_FLAT_SLOT, .bits = place};
    need = &crew->sent[place];
    need->pins++;
    sent->needs[sent->need_count++] = (uint16_t)place;
    return 0;
}

static int make_room(struct vti_processes *all, size_t count)
{
    const struct vt_datum **args;

    if (count <= all->arg_room)
        return 0;
    args = realloc(all->args, count * 2 * sizeof *args);
    if (args == NULL)
        return vti_fail(VTI_E_NOMEM, "no memory for %zu arguments", count);
    all->args = args;
    all->arg_room = count * 2;
    return 0;
}

int vti_processes_fill(struct vti_processes *all, struct vti_crew *crew, uint32_t number)
{
    struct vti_sent *sent = &crew->sent[number];
    struct vti_slot *slot = &crew->lane->slots[number];
    const vt_graph *graph = all->executor.run->graph;
    const struct vti_node *node = &graph->nodes[sent->task];
    struct vti_flat *flat = slot->here;
    int result = make_room(all, node->arg_count);

    slot->args = 0;
    slot->arg_count = node->arg_count;
    if (result == 0)
        result = fill_function(all, sent, slot, node);
    if (result == 0 && node->arg_count > VTI_SLOT_ARGS) {
        sent->args = vti_space_take(&all->memory->space, node->arg_count * sizeof *flat);
        if (!sent->args)
            return no_room(all, node->arg_count * sizeof *flat);
        slot->args = sent->args;
        flat = (struct vti_flat *)((uint8_t *)all->memory->header + sent->args);
    }
    if (result != 0)
        return result;
    vti_run_args(all->executor.run, sent->task, all->args);
    for (uint32_t i = 0; i < node->arg_count && result == 0; i++)
        result = fill_arg(all, crew, sent, all->executor.run->plan->args[node->first_arg + i],
                          all->args[i], &flat[i]);
    return result;
}
