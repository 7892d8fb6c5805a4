/* deque.c - the deque of work stealing. Orders are those of operations, not of fences, so that tools that find races understand them. */
#include "graph/deque.h"

#include <stdlib.h>
#include <venturi/graph.h>

struct vti_deque_room {
    struct vti_deque_room *before; /* smaller, kept for thieves */
    int64_t size;                  /* a power of two */
    uint32_t tasks[];
};

static struct vti_deque_room *room_new(int64_t size, struct vti_deque_room *before)
{
    struct vti_deque_room *room = malloc(sizeof *room + (size_t)size * sizeof room->tasks[0]);

    if (room == NULL)
        return NULL;
    room->size = size;
    room->before = before;
    return room;
}

int vti_deque_open(struct vti_deque *deque)
{
    deque->top = deque->bottom = 0;
    deque->room = room_new(256, NULL);
    return deque->room == NULL ? -1 : 0;
}

void vti_deque_close(struct vti_deque *deque)
{
    while (deque->room != NULL) {
        struct vti_deque_room *before = deque->room->before;

        free(deque->room);
        deque->room = before;
    }
}

static uint32_t *place(struct vti_deque_room *room, int64_t number)
{
    return &room->tasks[number & (room->size - 1)];
}

static struct vti_deque_room *grow(struct vti_deque *deque, int64_t top, int64_t bottom,
                                   int64_t needed)
{
    struct vti_deque_room *old = deque->room;
    struct vti_deque_room *room;
    int64_t size = old->size * 2, i;

    while (size < needed)
        size *= 2;
    room = room_new(size, old);
    if (room == NULL)
        return NULL;
    for (i = top; i < bottom; i++)
        *place(room, i) = __atomic_load_n(place(old, i), __ATOMIC_RELAXED);
    __atomic_store_n(&deque->room, room, __ATOMIC_RELEASE);
    return room;
}

int vti_deque_put(struct vti_deque *deque, const uint32_t *tasks, size_t count)
{
    int64_t bottom = __atomic_load_n(&deque->bottom, __ATOMIC_RELAXED);
    int64_t top = __atomic_load_n(&deque->top, __ATOMIC_ACQUIRE);
    struct vti_deque_room *room = deque->room;
    size_t i;

    if (bottom - top + (int64_t)count > room->size)
        room = grow(deque, top, bottom, bottom - top + (int64_t)count);
    if (room == NULL)
        return -1;
    for (i = 0; i < count; i++)
        __atomic_store_n(place(room, bottom + (int64_t)i), tasks[i], __ATOMIC_RELAXED);
    /* Not only release: the owner then looks whether somebody sleeps, who looked here before. */
    __atomic_store_n(&deque->bottom, bottom + (int64_t)count, __ATOMIC_SEQ_CST);
    return 0;
}

uint32_t vti_deque_take(struct vti_deque *deque)
{
    int64_t bottom = __atomic_load_n(&deque->bottom, __ATOMIC_RELAXED) - 1;
    int64_t top;
    uint32_t task;

    if (bottom < __atomic_load_n(&deque->top, __ATOMIC_RELAXED))
        return VT_NO_TASK; /* only the owner could put something there */
    __atomic_store_n(&deque->bottom, bottom, __ATOMIC_SEQ_CST);
    top = __atomic_load_n(&deque->top, __ATOMIC_SEQ_CST);
    if (top > bottom) {
        __atomic_store_n(&deque->bottom, bottom + 1, __ATOMIC_RELAXED);
        return VT_NO_TASK;
    }
    task = __atomic_load_n(place(deque->room, bottom), __ATOMIC_RELAXED);
    if (top < bottom)
        return task;
    /* The last one: thieves may be after it. */
    if (!__atomic_compare_exchange_n(&deque->top, &top, top + 1, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED))
        task = VT_NO_TASK;
    __atomic_store_n(&deque->bottom, bottom + 1, __ATOMIC_RELAXED);
    return task;
}

uint32_t vti_deque_steal(struct vti_deque *deque)
{
    int64_t top = __atomic_load_n(&deque->top, __ATOMIC_SEQ_CST);
    int64_t bottom = __atomic_load_n(&deque->bottom, __ATOMIC_SEQ_CST);
    uint32_t task;

    if (top >= bottom)
        return VT_NO_TASK;
    task = __atomic_load_n(place(__atomic_load_n(&deque->room, __ATOMIC_ACQUIRE), top),
                           __ATOMIC_RELAXED);
    if (!__atomic_compare_exchange_n(&deque->top, &top, top + 1, 0, __ATOMIC_SEQ_CST,
                                     __ATOMIC_RELAXED))
        return VT_NO_TASK;
    return task;
}
