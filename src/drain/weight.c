/*
 * weight.c - how much of a recording a function is: in how many of the samples it was, at any depth.
 *
 * Read from the arena, which the program can have filled with anything: indices are checked, ways are bounded.
 */
#include "drain/weight.h"

#include "drain/target.h"
#include "share/tree.h"

#include <stdlib.h>
#include <string.h>

#define DEEPEST 1024
#define MOST_SITES (1u << 24)

static void add(struct vti_weights *weights, uint32_t site, uint64_t count)
{
    if (!site || site >= MOST_SITES)
        return;
    if (site >= weights->room) {
        size_t room = 2 * (size_t)site + 256;
        uint64_t *grown = realloc(weights->by_site, room * sizeof *grown);

        if (!grown)
            return;
        memset(grown + weights->room, 0, (room - weights->room) * sizeof *grown);
        weights->by_site = grown;
        weights->room = room;
    }
    if (count > UINT64_MAX - weights->by_site[site])
        count = UINT64_MAX - weights->by_site[site];
    weights->by_site[site] += count;
}

static const struct vti_node *node_at(const struct vti_target *process, uint32_t unit)
{
    const struct vti_chunk *chunk = vti_arena_chunk(process->arena, unit / VTI_CHUNK_UNITS);

    if (!chunk || __atomic_load_n(&chunk->type, __ATOMIC_RELAXED) != VTI_CHUNK_SAMPLES)
        return NULL;
    return (const struct vti_node *)((const uint8_t *)chunk +
                                     (size_t)(unit % VTI_CHUNK_UNITS) * VTI_UNIT_BYTES);
}

static void add_function(struct vti_weights *weights, struct vti_target *process,
                         const struct vti_node *node, uint64_t count)
{
    uint32_t site = __atomic_load_n(&node->site, __ATOMIC_RELAXED);

    if (site) /* a root has none */
        add(weights, vti_target_site(process, site), count);
}

/* A sample met the function, and all that had called it. */
static void add_sample(struct vti_weights *weights, struct vti_target *process, uint32_t unit)
{
    const struct vti_node *node = node_at(process, unit);
    uint64_t count = node ? __atomic_load_n(&node->calls, __ATOMIC_RELAXED) : 0;

    weights->samples += count;
    for (int depth = 0; count && node && depth < DEEPEST; depth++) {
        uint32_t parent = __atomic_load_n(&node->parent, __ATOMIC_RELAXED);

        add_function(weights, process, node, count);
        node = parent ? node_at(process, parent) : NULL;
    }
}

void vti_weights_add_tree(struct vti_weights *weights, struct vti_target *process, uint32_t slot_at)
{
    const struct vti_slot *slot = vti_arena_slot(process->arena, slot_at);
    uint32_t next = __atomic_load_n(&slot->chunks, __ATOMIC_ACQUIRE);
    uint32_t left = VTI_CHUNK_COUNT;
    const struct vti_chunk *chunk;

    for (; next && left--; next = __atomic_load_n(&chunk->next, __ATOMIC_ACQUIRE)) {
        uint32_t used, type;

        chunk = vti_arena_chunk(process->arena, next - 1);
        if (!chunk)
            return;
        used = __atomic_load_n(&chunk->used, __ATOMIC_ACQUIRE);
        type = __atomic_load_n(&chunk->type, __ATOMIC_RELAXED);
        for (uint32_t i = 1; i < used && i < VTI_CHUNK_UNITS; i++) {
            const struct vti_node *node = (const struct vti_node *)((const uint8_t *)chunk +
                                                                    (size_t)i * VTI_UNIT_BYTES);

            if (type == VTI_CHUNK_SAMPLES)
                add_sample(weights, process, (next - 1) * VTI_CHUNK_UNITS + i);
            else if (type == VTI_CHUNK_NODES)
                add_function(weights, process, node, UINT64_MAX);
        }
    }
}

uint32_t vti_weights_share(const struct vti_weights *weights, uint32_t site)
{
    uint64_t count = site < weights->room ? weights->by_site[site] : 0;

    if (!weights->samples || count >= weights->samples)
        return 1000;
    return (uint32_t)(1000.0 * (double)count / (double)weights->samples);
}

void vti_weights_fini(struct vti_weights *weights)
{
    free(weights->by_site);
    *weights = (struct vti_weights){0};
}
