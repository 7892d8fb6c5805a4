/*
 * ended.c - calls of threads that have ended, kept while somebody counts in this process.
 *
 * The first of them are kept as they were; further ones are added up along the same paths, so that memory grows with
 * the number of different paths and not with that of threads. Not those of which somebody has read a part, who will
 * ask for the difference. Slow path only, with the runtime locked; no malloc.
 */
#include "core/chunk.h"
#include "core/reading.h"
#include "core/runtime.h"

#include <string.h>
#include <sys/mman.h>

#define ENDED_MAX 1024
#define DURATIONS_PARENT UINT32_MAX /* no node: the edges from here lead to durations */

struct ended {
    struct ended *next;
    size_t bytes; /* of the whole mapping */
    size_t node_count, duration_count;
    struct vt_call_thread thread;
    uint64_t lost_calls;
    /* nodes, then durations */
};

/* An array that grows; the memory is our own. */
struct list {
    void *items;
    size_t count, room;
};

/* Those beyond ENDED_MAX. The number of a node is its place from 1 on. */
struct rest {
    struct list nodes, durations;
    struct vti_edges edges;  /* by parent << 32 | function */
    struct vti_edges places; /* of the thread that is added: number of its node to that here */
    uint64_t lost_calls;
};

/* In memory that a forked child sees as zero, as it does all that these lead to. */
static struct ended_threads {
    struct ended *first, *last;
    size_t count;
    struct rest rest;
} * threads;

static const struct vt_call_node *nodes_of(const struct ended *ended)
{
    return (const struct vt_call_node *)(ended + 1);
}

static const struct vt_call_durations *durations_of(const struct ended *ended)
{
    return (const struct vt_call_durations *)(nodes_of(ended) + ended->node_count);
}

/* A copy of what a thread has counted; NULL without memory. */
static struct ended *copy_of(const struct vti_thread *self)
{
    struct vti_reading reading = {.now = self->slot->end};
    struct ended *copy;
    size_t bytes;

    vti_reading_thread(&reading, self->arena, self->slot);
    bytes = sizeof *copy + reading.node_count * sizeof *reading.nodes +
            reading.duration_count * sizeof *reading.durations;
    copy = vti_private_map(bytes);
    if (!copy)
        return NULL;
    copy->bytes = bytes;
    copy->node_count = reading.node_count;
    copy->duration_count = reading.duration_count;
    reading = (struct vti_reading){.now = self->slot->end,
                                   .nodes = (struct vt_call_node *)(copy + 1),
                                   .node_room = copy->node_count,
                                   .threads = &copy->thread,
                                   .thread_room = 1,
                                   .duration_room = copy->duration_count};
    reading.durations = (struct vt_call_durations *)(reading.nodes + copy->node_count);
    vti_reading_thread(&reading, self->arena, self->slot);
    copy->lost_calls = reading.lost_calls;
    return copy;
}

/* ---- adding up ------------------------------------------------------------------------------- */

static bool has_room(struct list *list, size_t size)
{
    size_t room = list->room ? 2 * list->room : 64;
    void *grown;

    if (list->count < list->room)
        return true;
    grown = vti_private_map(room * size);
    if (!grown)
        return false;
    if (list->count)
        memcpy(grown, list->items, list->count * size);
    if (list->items)
        munmap(list->items, list->room * size);
    list->items = grown;
    list->room = room;
    return true;
}

/* The place, from 1 on, of what a key stands for; a new one if need be. 0 without memory. */
static uint32_t place_of(struct rest *rest, struct list *list, size_t size, uint64_t key)
{
    uint32_t place = vti_edges_find(&rest->edges, key);

    if (place)
        return place;
    if (!vti_edges_room(&rest->edges) || !has_room(list, size))
        return 0;
    place = (uint32_t)++list->count;
    vti_edges_add(&rest->edges, key, place);
    return place;
}

static bool add_node(struct rest *rest, const struct vt_call_node *node)
{
    uint32_t parent = node->parent ? vti_edges_find(&rest->places, node->parent) : 0;
    uint32_t place = place_of(rest, &rest->nodes, sizeof *node,
                              (uint64_t)parent << 32 | node->function);
    struct vt_call_node *sum = (struct vt_call_node *)rest->nodes.items + place - 1;

    if (!place || !vti_edges_room(&rest->places))
        return false;
    vti_edges_add(&rest->places, node->node, place);
    if (!sum->node)
        *sum = (struct vt_call_node){.thread = VT_THREAD_MORE,
                                     .node = place,
                                     .parent = parent,
                                     .function = node->function,
                                     .shortest = UINT64_MAX};
    sum->calls += node->calls;
    sum->resumes += node->resumes;
    sum->total += node->total;
    sum->suspended += node->suspended;
    sum->shortest = node->shortest < sum->shortest ? node->shortest : sum->shortest;
    sum->longest = node->longest > sum->longest ? node->longest : sum->longest;
    return true;
}

static void add_durations(struct rest *rest, const struct vt_call_durations *durations)
{
    uint32_t place = place_of(rest, &rest->durations, sizeof *durations,
                              (uint64_t)DURATIONS_PARENT << 32 | durations->function);
    struct vt_call_durations *sum = (struct vt_call_durations *)rest->durations.items + place - 1;

    if (!place)
        return;
    sum->thread = VT_THREAD_MORE;
    sum->function = durations->function;
    for (size_t i = 0; i < VT_DURATION_BUCKETS; i++)
        sum->counts[i] += durations->counts[i];
}

static void add_to_rest(struct rest *rest, const struct ended *ended)
{
    const struct vt_call_node *nodes = nodes_of(ended);
    bool has_memory = vti_edges_start(&rest->places) &&
                      (rest->edges.table || vti_edges_start(&rest->edges));

    rest->lost_calls += ended->lost_calls;
    for (size_t i = 0; i < ended->node_count; i++)
        if (!has_memory || !add_node(rest, &nodes[i]))
            rest->lost_calls += nodes[i].calls + nodes[i].resumes;
    for (size_t i = 0; i < ended->duration_count && has_memory; i++)
        add_durations(rest, &durations_of(ended)[i]);
}

void vti_ended_keep(const struct vti_thread *self, bool is_new)
{
    struct ended *ended;

    if (!threads)
        threads = vti_private_map(sizeof *threads);
    ended = threads ? copy_of(self) : NULL;
    if (!ended)
        return;
    if (is_new && threads->count++ >= ENDED_MAX) {
        add_to_rest(&threads->rest, ended);
        munmap(ended, ended->bytes);
        return;
    }
    if (threads->last)
        threads->last->next = ended;
    else
        threads->first = ended;
    threads->last = ended;
}

/* ---- reading --------------------------------------------------------------------------------- */

static size_t copy_some(void *to, size_t room, size_t done, const void *from, size_t count,
                        size_t size)
{
    size_t some = done >= room ? 0 : room - done < count ? room - done : count;

    if (some)
        memcpy((char *)to + done * size, from, some * size);
    return done + count;
}

static void copy_thread(struct vti_reading *reading, const struct vt_call_thread *thread,
                        const struct list *nodes, const struct list *durations)
{
    reading->node_count = copy_some(reading->nodes, reading->node_room, reading->node_count,
                                    nodes->items, nodes->count, sizeof *reading->nodes);
    reading->duration_count = copy_some(reading->durations, reading->duration_room,
                                        reading->duration_count, durations->items, durations->count,
                                        sizeof *reading->durations);
    reading->thread_count = copy_some(reading->threads, reading->thread_room, reading->thread_count,
                                      thread, 1, sizeof *thread);
}

void vti_ended_read(struct vti_reading *reading)
{
    static const struct vt_call_thread more = {.thread = VT_THREAD_MORE, .name = "(more threads)"};

    for (const struct ended *ended = threads ? threads->first : NULL; ended; ended = ended->next) {
        struct list nodes = {.items = (void *)nodes_of(ended), .count = ended->node_count};
        struct list durations = {.items = (void *)durations_of(ended),
                                 .count = ended->duration_count};

        copy_thread(reading, &ended->thread, &nodes, &durations);
        reading->lost_calls += ended->lost_calls;
    }
    if (threads && threads->rest.nodes.count)
        copy_thread(reading, &more, &threads->rest.nodes, &threads->rest.durations);
    reading->lost_calls += threads ? threads->rest.lost_calls : 0;
}

static void forget_list(struct list *list, size_t size)
{
    if (list->items)
        munmap(list->items, list->room * size);
    *list = (struct list){0};
}

void vti_ended_forget(void)
{
    while (threads && threads->first) {
        struct ended *next = threads->first->next;

        munmap(threads->first, threads->first->bytes);
        threads->first = next;
    }
    if (!threads)
        return;
    forget_list(&threads->rest.nodes, sizeof(struct vt_call_node));
    forget_list(&threads->rest.durations, sizeof(struct vt_call_durations));
    if (threads->rest.edges.table)
        vti_edges_start(&threads->rest.edges);
    threads->rest.lost_calls = 0;
    threads->last = NULL;
    threads->count = 0;
}
