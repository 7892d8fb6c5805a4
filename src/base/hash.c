/* hash.c - a 64-bit hash of bytes, and a map from byte strings to small numbers. */
#include "base/hash.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct entry {
    uint64_t hash;
    char *key; /* owned, terminated */
    size_t len;
};

struct vti_map {
    struct entry *entries; /* owned, in order of first appearance */
    uint32_t count;
    uint32_t capacity;
    uint32_t *slots; /* owned: index + 1, 0 is free; slot_count is a power of two */
    uint32_t slot_count;
};

static uint64_t mix(uint64_t a, uint64_t b)
{
    __uint128_t product = (__uint128_t)(a ^ 0x9e3779b97f4a7c15u) * (b ^ 0xc2b2ae3d27d4eb4fu);

    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

uint64_t vti_hash(const void *bytes, size_t count)
{
    const uint8_t *at = bytes;
    uint64_t hash = count;
    uint64_t word = 0;

    for (; count >= 8; at += 8, count -= 8) {
        memcpy(&word, at, 8);
        hash = mix(hash, word);
    }
    word = 0;
    if (count)
        memcpy(&word, at, count);
    return mix(hash, word ^ 0xd6e8feb86659fd93u);
}

static void place(struct vti_map *map, uint32_t index)
{
    uint32_t at = (uint32_t)map->entries[index].hash & (map->slot_count - 1);

    while (map->slots[at])
        at = (at + 1) & (map->slot_count - 1);
    map->slots[at] = index + 1;
}

static int grow(struct vti_map *map)
{
    uint32_t slot_count = map->slot_count ? map->slot_count * 2 : 64;
    uint32_t capacity = slot_count / 2;
    uint32_t *slots = calloc(slot_count, sizeof *slots);
    struct entry *entries = realloc(map->entries, capacity * sizeof *entries);

    if (entries) {
        map->entries = entries;
        map->capacity = capacity;
    }
    if (!slots || !entries) {
        free(slots);
        return VTI_E_NOMEM;
    }
    free(map->slots);
    map->slots = slots;
    map->slot_count = slot_count;
    for (uint32_t i = 0; i < map->count; i++)
        place(map, i);
    return 0;
}

int vti_map_create(struct vti_map **out)
{
    struct vti_map *map = calloc(1, sizeof *map);

    if (!map)
        return VTI_E_NOMEM;
    if (grow(map)) {
        vti_map_free(map);
        return VTI_E_NOMEM;
    }
    *out = map;
    return 0;
}

void vti_map_free(struct vti_map *map)
{
    if (!map)
        return;
    for (uint32_t i = 0; i < map->count; i++)
        free(map->entries[i].key);
    free(map->entries);
    free(map->slots);
    free(map);
}

static int64_t lookup(const struct vti_map *map, uint64_t hash, const void *key, size_t len)
{
    uint32_t at = (uint32_t)hash & (map->slot_count - 1);

    for (; map->slots[at]; at = (at + 1) & (map->slot_count - 1)) {
        const struct entry *entry = &map->entries[map->slots[at] - 1];

        if (entry->hash == hash && entry->len == len && !memcmp(entry->key, key, len))
            return map->slots[at] - 1;
    }
    return -1;
}

int64_t vti_map_find(const struct vti_map *map, const void *key, size_t len)
{
    return lookup(map, vti_hash(key, len), key, len);
}

int64_t vti_map_add(struct vti_map *map, const void *key, size_t len, int *is_new)
{
    uint64_t hash = vti_hash(key, len);
    int64_t found = lookup(map, hash, key, len);
    char *copy;

    *is_new = 0;
    if (found >= 0)
        return found;
    if (map->count == map->capacity && grow(map))
        return VTI_E_NOMEM;
    copy = malloc(len + 1);
    if (!copy)
        return VTI_E_NOMEM;
    if (len)
        memcpy(copy, key, len);
    copy[len] = 0;
    map->entries[map->count] = (struct entry){hash, copy, len};
    place(map, map->count);
    *is_new = 1;
    return map->count++;
}

uint32_t vti_map_count(const struct vti_map *map)
{
    return map->count;
}

const char *vti_map_key(const struct vti_map *map, uint32_t index, size_t *len)
{
    if (len)
        *len = map->entries[index].len;
    return map->entries[index].key;
}
