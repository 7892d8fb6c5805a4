/*
 * ship_waiting.c - how many documents of steps a recording holds, from the headers of its blocks alone: it is asked once a second, of all that a spool
 * has, while the store may be away for days.
 *
 * What was counted is remembered, so that only what is new in a file is looked at. How many documents traces will give is not known before
 * they are made.
 */
#include "store/ship_impl.h"

#include "base/file.h"
#include "format/layout.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

/* From where it stopped; a part that is no block yet is looked at again the next time. */
static void count_on(struct vti_ship_counted *counted, const struct vti_mapping *map)
{
    uint64_t at = counted->to;

    while (at < map->size) {
        struct vti_block_header header;

        if (!vti_block_header_parse(map->data + at, map->size - at, &header) ||
            header.payload_bytes > map->size - at - VTI_BLOCK_HEADER_BYTES) {
            at += VTI_BLOCK_ALIGN;
            continue;
        }
        if (header.kind == VTI_STEPS)
            counted->steps += header.count;
        at += vti_block_bytes(&header);
        counted->to = at;
    }
}

static struct vti_ship_counted *entry_of(struct vti_ship_waiting *waiting, const char *path)
{
    struct vti_ship_counted *counted;

    for (size_t i = 0; i < waiting->count; i++)
        if (!strcmp(waiting->files[i].path, path))
            return &waiting->files[i];
    if (vti_grow(&waiting->files, waiting->count, &waiting->room, sizeof *waiting->files))
        return NULL;
    counted = &waiting->files[waiting->count];
    *counted = (struct vti_ship_counted){.path = strdup(path)};
    if (!counted->path)
        return NULL;
    waiting->count++;
    return counted;
}

uint64_t vti_ship_count_steps(struct vti_ship_waiting *waiting, const char *path,
                              const struct stat *info)
{
    struct vti_ship_counted *counted = entry_of(waiting, path);
    struct vti_mapping map;

    if (!counted)
        return 0;
    counted->is_there = true;
    if (counted->inode != info->st_ino || counted->size > (uint64_t)info->st_size) {
        counted->inode = info->st_ino;
        counted->to = VTI_FILE_HEADER_BYTES;
        counted->steps = counted->size = 0;
    }
    if (counted->size == (uint64_t)info->st_size || vti_mapping_open(&map, path))
        return counted->steps;
    count_on(counted, &map);
    counted->size = map.size;
    vti_mapping_close(&map);
    return counted->steps;
}

void vti_ship_waiting_prune(struct vti_ship_waiting *waiting)
{
    size_t kept = 0;

    for (size_t i = 0; i < waiting->count; i++) {
        struct vti_ship_counted counted = waiting->files[i];

        if (!counted.is_there) {
            free(counted.path);
            continue;
        }
        counted.is_there = false;
        waiting->files[kept++] = counted;
    }
    waiting->count = kept;
}

void vti_ship_waiting_fini(struct vti_ship_waiting *waiting)
{
    for (size_t i = 0; i < waiting->count; i++)
        free(waiting->files[i].path);
    free(waiting->files);
    *waiting = (struct vti_ship_waiting){0};
}
