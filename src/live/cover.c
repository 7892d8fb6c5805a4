/*
 * cover.c - how much of a stretch of time others cover.
 *
 * Intervals come nearly in order, so that nearly all are added at the end. When there are too many the first becomes a number: a span that has
 * a million children one after the other takes as much memory as one that has a thousand.
 */
#include "live/cover.h"

#include <stdlib.h>
#include <string.h>

#define MOST 1024
#define ROOM 4

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t largest(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static void remove_some(struct vti_cover *cover, uint32_t at, uint32_t count)
{
    memmove(cover->list + at, cover->list + at + count,
            (cover->count - at - count) * sizeof *cover->list);
    cover->count -= count;
}

/* Half of them at a time: then each is moved about once. */
static void seal(struct vti_cover *cover)
{
    uint32_t count = cover->count / 2;

    for (uint32_t i = 0; i < count; i++)
        cover->sealed += cover->list[i].end - cover->list[i].begin;
    cover->sealed_until = cover->list[count - 1].end;
    remove_some(cover, 0, count);
}

static int make_room(struct vti_cover *cover)
{
    struct vti_interval *list;
    uint32_t room = cover->room ? 2 * cover->room : ROOM;

    if (cover->count == MOST)
        seal(cover);
    if (cover->count < cover->room)
        return 1;
    list = realloc(cover->list, room * sizeof *list);
    if (!list)
        return 0;
    cover->list = list;
    cover->room = room;
    return 1;
}

void vti_cover_add(struct vti_cover *cover, int64_t begin, int64_t end)
{
    uint32_t first, behind;

    if (cover->sealed)
        begin = largest(begin, cover->sealed_until);
    if (begin >= end || !make_room(cover))
        return;
    /* From `first` to before `behind` they touch it. */
    for (behind = cover->count; behind && cover->list[behind - 1].begin > end; behind--)
        ;
    for (first = behind; first && cover->list[first - 1].end >= begin; first--)
        ;
    if (first == behind) {
        memmove(cover->list + first + 1, cover->list + first,
                (cover->count - first) * sizeof *cover->list);
        cover->list[first] = (struct vti_interval){begin, end};
        cover->count++;
        return;
    }
    cover->list[first].begin = least(cover->list[first].begin, begin);
    cover->list[first].end = largest(cover->list[behind - 1].end, end);
    remove_some(cover, first + 1, behind - first - 1);
}

int64_t vti_cover_sum(const struct vti_cover *cover, int64_t begin, int64_t end)
{
    int64_t sum = cover->sealed;

    for (uint32_t i = 0; i < cover->count; i++) {
        int64_t from = largest(cover->list[i].begin, begin);
        int64_t to = least(cover->list[i].end, end);

        sum += to > from ? to - from : 0;
    }
    return least(sum, largest(end - begin, 0));
}

void vti_cover_fini(struct vti_cover *cover)
{
    free(cover->list);
    *cover = (struct vti_cover){0};
}
