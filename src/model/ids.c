/*
 * ids.c - a table from 32-bit ids to small indices.
 *
 * Ids come from the file and may be anything, so they never index an array themselves: memory grows
 * with the number of different ids, not with their size.
 */
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_START 64

static uint32_t slot_of(uint32_t id, uint32_t slot_count)
{
    return (uint32_t)((id * 0x9e3779b97f4a7c15u) >> 32) & (slot_count - 1);
}

int64_t vti_ids_find(const struct vti_ids *ids, uint32_t id)
{
    uint32_t at;

    if (!ids->slots)
        return -1;
    at = slot_of(id, ids->slot_count);
    while (ids->slots[at].index_plus_one) {
        if (ids->slots[at].id == id)
            return (int64_t)ids->slots[at].index_plus_one - 1;
        at = (at + 1) & (ids->slot_count - 1);
    }
    return -1;
}

static void place(struct vti_ids *ids, struct vti_id_slot slot)
{
    uint32_t at = slot_of(slot.id, ids->slot_count);

    while (ids->slots[at].index_plus_one)
        at = (at + 1) & (ids->slot_count - 1);
    ids->slots[at] = slot;
}

static int grow(struct vti_ids *ids)
{
    struct vti_ids grown = {.count = ids->count};

    if (ids->slot_count > UINT32_MAX / 2)
        return VTI_E_NOMEM;
    grown.slot_count = ids->slot_count ? ids->slot_count * 2 : SLOTS_START;
    grown.slots = calloc(grown.slot_count, sizeof *grown.slots);
    if (!grown.slots)
        return VTI_E_NOMEM;
    for (uint32_t i = 0; i < ids->slot_count; i++)
        if (ids->slots[i].index_plus_one)
            place(&grown, ids->slots[i]);
    free(ids->slots);
    *ids = grown;
    return 0;
}

int64_t vti_ids_add(struct vti_ids *ids, uint32_t id)
{
    int64_t found = vti_ids_find(ids, id);

    if (found >= 0)
        return found;
    if (ids->count >= ids->slot_count / 2 && grow(ids))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    place(ids, (struct vti_id_slot){id, ids->count + 1});
    return ids->count++;
}

void vti_ids_fini(struct vti_ids *ids)
{
    free(ids->slots);
    *ids = (struct vti_ids){0};
}

int vti_grow(void *array, size_t count, size_t *capacity, size_t element)
{
    size_t wanted = *capacity ? *capacity * 2 : 16;
    void *old;
    void *grown;

    if (count < *capacity)
        return 0;
    if (wanted > SIZE_MAX / 2 / element)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    /* Copied, because the caller's pointer is of another type. */
    memcpy(&old, array, sizeof old);
    grown = realloc(old, wanted * element);
    if (!grown)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    memcpy(array, &grown, sizeof grown);
    *capacity = wanted;
    return 0;
}
