/*
 * rank_open.c - the spans of a log that have begun and not ended.
 *
 * Open addressing with linear probing; removal closes the gap it leaves, so that a log of any
 * length never needs more room than the spans that are open at one time.
 */
#include "analyze/rank_impl.h"

#include "base/error.h"

#include <stdlib.h>
#include <string.h>

#define PLACES_FIRST 64

/* A hash of all of it, and its two ends as they are: two ids of one key are not met in practice. */
void vti_open_key(uint64_t key[2], const char *id, size_t len)
{
    uint64_t head = 0;
    uint64_t tail = 0;

    memcpy(&head, id, len < 8 ? len : 8);
    if (len > 8)
        memcpy(&tail, id + len - 8, 8);
    key[0] = vti_hash(id, len);
    key[1] = head ^ (tail << 32 | tail >> 32);
    if ((key[0] | key[1]) == 0)
        key[1] = 1;
}

static bool is_free(const struct vti_open_span *span)
{
    return (span->key[0] | span->key[1]) == 0;
}

static size_t home(const struct vti_open_spans *open, const uint64_t key[2])
{
    return (size_t)key[0] & (open->place_count - 1);
}

/* Where the key is, or the free place where it would go. */
static struct vti_open_span *locate(const struct vti_open_spans *open, const uint64_t key[2])
{
    size_t at = home(open, key);

    while (!is_free(&open->places[at]) &&
           (open->places[at].key[0] != key[0] || open->places[at].key[1] != key[1]))
        at = (at + 1) & (open->place_count - 1);
    return &open->places[at];
}

int vti_open_init(struct vti_open_spans *open)
{
    open->used = 0;
    open->place_count = PLACES_FIRST;
    open->places = calloc(open->place_count, sizeof *open->places);
    return open->places ? 0 : VTI_E_NOMEM;
}

static int grow(struct vti_open_spans *open)
{
    struct vti_open_spans bigger = {.place_count = open->place_count * 2, .used = open->used};

    bigger.places = calloc(bigger.place_count, sizeof *bigger.places);
    if (!bigger.places)
        return VTI_E_NOMEM;
    for (size_t i = 0; i < open->place_count; i++)
        if (!is_free(&open->places[i]))
            *locate(&bigger, open->places[i].key) = open->places[i];
    free(open->places);
    *open = bigger;
    return 0;
}

int vti_open_add(struct vti_open_spans *open, const uint64_t key[2], uint32_t row,
                 int64_t *replaced)
{
    struct vti_open_span *span;

    if (open->used * 2 >= open->place_count && grow(open))
        return VTI_E_NOMEM;
    span = locate(open, key);
    *replaced = is_free(span) ? -1 : (int64_t)span->row;
    open->used += is_free(span);
    *span = (struct vti_open_span){{key[0], key[1]}, 0, row};
    return 0;
}

struct vti_open_span *vti_open_find(const struct vti_open_spans *open, const uint64_t key[2])
{
    struct vti_open_span *span = locate(open, key);

    return is_free(span) ? NULL : span;
}

void vti_open_remove(struct vti_open_spans *open, struct vti_open_span *span)
{
    size_t mask = open->place_count - 1;
    size_t gap = (size_t)(span - open->places);

    /* What was pushed past the gap moves into it, unless its own home lies behind the gap. */
    for (size_t at = (gap + 1) & mask; !is_free(&open->places[at]); at = (at + 1) & mask) {
        size_t pushed = (at - home(open, open->places[at].key)) & mask;

        if (pushed >= ((at - gap) & mask)) {
            open->places[gap] = open->places[at];
            gap = at;
        }
    }
    memset(&open->places[gap], 0, sizeof open->places[gap]);
    open->used--;
}

void vti_open_fini(struct vti_open_spans *open)
{
    free(open->places);
    memset(open, 0, sizeof *open);
}
