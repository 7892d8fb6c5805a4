/*
 * tile_cache.c - tiles that were used lately, so that a window that is asked for again, or moved a
 * bit, costs no more than putting it together. Bounded; the one not used for the longest time goes
 * first.
 */
#include "base/error.h"
#include "model/tile.h"

#include <stdlib.h>

#define BYTES_MOST ((size_t)64 << 20)
#define SLOTS 4096

struct vti_tiles {
    struct vti_tile_builder *builder; /* owned */
    struct vti_tile *slots[SLOTS];    /* owned, with those that follow them */
    struct vti_tile *newest, *oldest;
    size_t bytes;
    uint64_t held; /* tiles used since the last vti_tiles_hold() carry this number */
};

static int tiles_create(struct vt_recording *recording)
{
    struct vti_tiles *tiles = calloc(1, sizeof *tiles);

    if (!tiles)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (vti_tile_builder_create(&tiles->builder, recording)) {
        free(tiles);
        return VTI_E_NOMEM;
    }
    recording->tiles = tiles;
    return 0;
}

void vti_tiles_free(struct vti_tiles *tiles)
{
    if (!tiles)
        return;
    for (struct vti_tile *tile = tiles->oldest; tile;) {
        struct vti_tile *newer = tile->newer;

        free(tile);
        tile = newer;
    }
    vti_tile_builder_free(tiles->builder);
    free(tiles);
}

static struct vti_tile **slot_of(struct vti_tiles *tiles, uint32_t order, uint32_t zoom,
                                 int64_t number)
{
    uint64_t key[2] = {(uint64_t)order << 32 | zoom, (uint64_t)number};

    return &tiles->slots[vti_hash(key, sizeof key) % SLOTS];
}

static void unlink_used(struct vti_tiles *tiles, struct vti_tile *tile)
{
    *(tile->newer ? &tile->newer->older : &tiles->newest) = tile->older;
    *(tile->older ? &tile->older->newer : &tiles->oldest) = tile->newer;
}

static void link_used(struct vti_tiles *tiles, struct vti_tile *tile)
{
    tile->newer = NULL;
    tile->older = tiles->newest;
    *(tile->older ? &tile->older->newer : &tiles->oldest) = tile;
    tiles->newest = tile;
    tile->used = tiles->held;
}

static void drop_oldest(struct vti_tiles *tiles)
{
    struct vti_tile *tile = tiles->oldest;
    struct vti_tile **link = slot_of(tiles, tile->order, tile->zoom, tile->number);

    while (*link != tile)
        link = &(*link)->next;
    *link = tile->next;
    unlink_used(tiles, tile);
    tiles->bytes -= tile->bytes;
    free(tile);
}

void vti_tiles_hold(struct vt_recording *recording)
{
    if (recording->tiles)
        recording->tiles->held++;
}

struct vti_tile *vti_tiles_get(struct vt_recording *recording, uint32_t order, uint32_t zoom,
                               int64_t number)
{
    struct vti_tiles *tiles;
    struct vti_tile **slot;
    struct vti_tile *tile;

    if (!recording->tiles && tiles_create(recording))
        return NULL;
    tiles = recording->tiles;
    slot = slot_of(tiles, order, zoom, number);
    for (tile = *slot; tile; tile = tile->next)
        if (tile->order == order && tile->zoom == zoom && tile->number == number) {
            unlink_used(tiles, tile);
            link_used(tiles, tile);
            return tile;
        }
    tile = vti_tile_build(tiles->builder, order, zoom, number);
    if (!tile)
        return NULL;
    tile->next = *slot;
    *slot = tile;
    link_used(tiles, tile);
    tiles->bytes += tile->bytes;
    while (tiles->bytes > BYTES_MOST && tiles->oldest->used != tiles->held)
        drop_oldest(tiles);
    return tile;
}
