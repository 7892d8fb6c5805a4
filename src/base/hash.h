/* hash.h - a 64-bit hash of bytes, and a map from byte strings to small numbers. */
#ifndef VENTURI_BASE_HASH_H
#define VENTURI_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

/* Not for secrets: quick and well spread. */
uint64_t vti_hash(const void *bytes, size_t count);

/*
 * Open addressing over keys that are copied into one pool. Values are indices 0, 1, 2 … in order of
 * first appearance, so that a caller keeps its own array beside the map. One thread at a time.
 */
struct vti_map;

int vti_map_create(struct vti_map **map); /* 0 or VTI_E_NOMEM */
void vti_map_free(struct vti_map *map);

/* The key's index, added if new (then *is_new is 1). A negative code when memory is short. */
int64_t vti_map_add(struct vti_map *map, const void *key, size_t len, int *is_new);

/* The key's index, or -1. */
int64_t vti_map_find(const struct vti_map *map, const void *key, size_t len);

uint32_t vti_map_count(const struct vti_map *map);

/* The copied key of an index below vti_map_count(); terminated by a zero byte that *len excludes. */
const char *vti_map_key(const struct vti_map *map, uint32_t index, size_t *len);

#endif
