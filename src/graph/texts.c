/* texts.c - texts that are kept once: one pool of bytes, and a table with open addressing over their numbers. Never gives one up. */
#include "graph/texts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void vti_texts_fini(struct vti_texts *texts)
{
    free(texts->pool);
    free(texts->hashes);
    free(texts->places);
    free(texts->slots);
    memset(texts, 0, sizeof *texts);
}

/* FNV-1a over eight bytes at a time would be quicker, but keys are short. */
static uint32_t hash_of(const char *text, size_t *bytes)
{
    uint64_t hash = 14695981039346656037u;
    const char *at = text;

    for (; *at != 0; at++)
        hash = (hash ^ (uint8_t)*at) * 1099511628211u;
    *bytes = (size_t)(at - text);
    return (uint32_t)(hash ^ (hash >> 32));
}

const char *vti_texts_get(const struct vti_texts *texts, uint32_t number)
{
    return texts->pool + texts->places[number];
}

/* The slot that holds the text, or the free one where it belongs. */
static uint32_t *slot_of(const struct vti_texts *texts, const char *text, uint32_t hash)
{
    uint32_t mask = texts->slot_count - 1;
    uint32_t place = hash & mask;

    while (texts->slots[place] != 0) {
        uint32_t number = texts->slots[place] - 1;

        if (texts->hashes[number] == hash && strcmp(vti_texts_get(texts, number), text) == 0)
            break;
        place = (place + 1) & mask;
    }
    return &texts->slots[place];
}

uint32_t vti_texts_find(const struct vti_texts *texts, const char *text)
{
    size_t bytes;
    uint32_t hash;

    if (texts->count == 0)
        return VTI_NO_TEXT;
    hash = hash_of(text, &bytes);
    return *slot_of(texts, text, hash) - 1; /* a free one is 0: VTI_NO_TEXT */
}

/* More slots: at least a quarter stays free. */
static int grow_slots(struct vti_texts *texts)
{
    uint32_t count = texts->slot_count == 0 ? 64 : texts->slot_count * 2;
    uint32_t *slots;
    uint32_t i;

    if (count > UINT32_MAX / 2 || (slots = calloc(count, sizeof *slots)) == NULL)
        return -1;
    for (i = 0; i < texts->count; i++) {
        uint32_t place = texts->hashes[i] & (count - 1);

        while (slots[place] != 0)
            place = (place + 1) & (count - 1);
        slots[place] = i + 1;
    }
    free(texts->slots);
    texts->slots = slots;
    texts->slot_count = count;
    return 0;
}

static int grow_texts(struct vti_texts *texts)
{
    uint32_t room = texts->room == 0 ? 32 : texts->room * 2;
    uint32_t *hashes = realloc(texts->hashes, room * sizeof *hashes);
    uint64_t *places;

    if (hashes == NULL)
        return -1;
    texts->hashes = hashes;
    places = realloc(texts->places, room * sizeof *places);
    if (places == NULL)
        return -1;
    texts->places = places;
    texts->room = room;
    return 0;
}

static int grow_pool(struct vti_texts *texts, size_t more)
{
    size_t room = texts->pool_room == 0 ? 1024 : texts->pool_room;
    char *pool;

    while (room - texts->pool_bytes < more)
        room *= 2;
    pool = realloc(texts->pool, room);
    if (pool == NULL)
        return -1;
    texts->pool = pool;
    texts->pool_room = room;
    return 0;
}

uint32_t vti_texts_add(struct vti_texts *texts, const char *text)
{
    size_t bytes;
    uint32_t hash = hash_of(text, &bytes);
    uint32_t *slot;

    if (texts->count + 1 > texts->slot_count / 4 * 3 && grow_slots(texts) != 0)
        return VTI_NO_TEXT;
    slot = slot_of(texts, text, hash);
    if (*slot != 0)
        return *slot - 1;
    if (texts->count == texts->room && grow_texts(texts) != 0)
        return VTI_NO_TEXT;
    if (texts->pool_room - texts->pool_bytes <= bytes && grow_pool(texts, bytes + 1) != 0)
        return VTI_NO_TEXT;
    memcpy(texts->pool + texts->pool_bytes, text, bytes + 1);
    texts->places[texts->count] = texts->pool_bytes;
    texts->hashes[texts->count] = hash;
    texts->pool_bytes += bytes + 1;
    *slot = ++texts->count;
    return texts->count - 1;
}

char *vti_text_line(const char *format, va_list list)
{
    char *line = NULL, *at;

    if (vasprintf(&line, format, list) < 0)
        return NULL;
    for (at = line; *at != 0; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    return line;
}
