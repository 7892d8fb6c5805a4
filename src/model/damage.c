/* damage.c - the list of byte ranges that could not be used, in order, each once. */
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

bool vti_damage_note(struct vt_recording *recording, uint64_t begin, uint64_t end, const char *what)
{
    struct vti_damage_list *list = &recording->damage;
    size_t low = 0;
    size_t high = list->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (list->items[middle].begin_offset < begin)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < list->count && list->items[low].begin_offset == begin)
        return false;
    /* Without memory the note is lost, but the damage itself is still stepped over. */
    if (vti_grow(&list->items, list->count, &list->capacity, sizeof *list->items))
        return true;
    memmove(&list->items[low + 1], &list->items[low], (list->count - low) * sizeof *list->items);
    list->items[low] = (struct vt_damage_info){begin, end, what};
    list->count++;
    return true;
}

void vti_damage_note_block(struct vt_recording *recording, const struct vti_block_header *header,
                           const uint8_t *payload)
{
    uint64_t at = (uint64_t)(payload - recording->map.data) - VTI_BLOCK_HEADER_BYTES;

    vti_damage_note(recording, at, at + vti_block_bytes(header),
                    "entries of the block do not parse");
}

void vti_damage_drop_last(struct vti_damage_list *list)
{
    if (list->count)
        list->count--;
}

void vti_damage_fini(struct vti_damage_list *list)
{
    free(list->items);
    *list = (struct vti_damage_list){0};
}
