/*
 * async.c - async spans on the way between their begin and their end, found by process and id.
 *
 * Open addressing without marks for the removed: what follows moves up. Memory grows with the spans
 * that are open at one time, not with all of them.
 */
#include "base/error.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define SLOTS_START 64

static size_t slot_of(const struct vti_asyncs *asyncs, uint32_t process, uint64_t id)
{
    uint64_t key[2] = {process, id};

    return (size_t)vti_hash(key, sizeof key) & (asyncs->slot_count - 1);
}

static struct vti_async *find_slot(const struct vti_asyncs *asyncs, uint32_t process, uint64_t id)
{
    size_t at = slot_of(asyncs, process, id);

    while (asyncs->slots[at].is_used &&
           (asyncs->slots[at].id != id || asyncs->slots[at].process != process))
        at = (at + 1) & (asyncs->slot_count - 1);
    return &asyncs->slots[at];
}

static bool grow(struct vti_asyncs *asyncs)
{
    struct vti_asyncs grown = {.count = asyncs->count};

    grown.slot_count = asyncs->slot_count ? asyncs->slot_count * 2 : SLOTS_START;
    grown.slots = calloc(grown.slot_count, sizeof *grown.slots);
    if (!grown.slots)
        return false;
    for (size_t i = 0; i < asyncs->slot_count; i++)
        if (asyncs->slots[i].is_used)
            *find_slot(&grown, asyncs->slots[i].process, asyncs->slots[i].id) = asyncs->slots[i];
    free(asyncs->slots);
    *asyncs = grown;
    return true;
}

struct vti_async *vti_asyncs_get(struct vti_asyncs *asyncs, uint32_t process, uint64_t id)
{
    struct vti_async *async;

    if (asyncs->count >= asyncs->slot_count / 2 && !grow(asyncs)) {
        vti_fail(VTI_E_NOMEM, "out of memory");
        return NULL;
    }
    async = find_slot(asyncs, process, id);
    if (!async->is_used) {
        *async = (struct vti_async){.is_used = true, .process = process, .id = id};
        asyncs->count++;
    }
    return async;
}

struct vti_async *vti_asyncs_find(const struct vti_asyncs *asyncs, uint32_t process, uint64_t id)
{
    struct vti_async *async = asyncs->slots ? find_slot(asyncs, process, id) : NULL;

    return async && async->is_used ? async : NULL;
}

void vti_asyncs_remove(struct vti_asyncs *asyncs, struct vti_async *async)
{
    size_t mask = asyncs->slot_count - 1;
    size_t hole = (size_t)(async - asyncs->slots);

    free(async->attrs);
    for (size_t at = (hole + 1) & mask; asyncs->slots[at].is_used; at = (at + 1) & mask) {
        size_t home = slot_of(asyncs, asyncs->slots[at].process, asyncs->slots[at].id);

        /* It may move up unless its home lies after the hole. */
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            asyncs->slots[hole] = asyncs->slots[at];
            hole = at;
        }
    }
    memset(&asyncs->slots[hole], 0, sizeof asyncs->slots[hole]);
    asyncs->count--;
}

void vti_asyncs_fini(struct vti_asyncs *asyncs)
{
    for (size_t i = 0; i < asyncs->slot_count; i++)
        if (asyncs->slots[i].is_used)
            free(asyncs->slots[i].attrs);
    free(asyncs->slots);
    *asyncs = (struct vti_asyncs){0};
}
