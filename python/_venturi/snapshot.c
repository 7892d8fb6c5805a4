/*
 * snapshot.c - how far the calls of this process had got at some time: a copy, which Python code holds and gives
 * back to profile().
 */
#include "snapshot.h"

#include <stdlib.h>

static int compare_numbers(uint32_t a, uint32_t b)
{
    return a < b ? -1 : a > b;
}

static int compare_places(const struct vt_call_node *left, uint32_t thread, uint32_t node)
{
    int order = compare_numbers(left->thread, thread);

    return order ? order : compare_numbers(left->node, node);
}

static int compare_indices(const void *a, const void *b, void *nodes)
{
    const struct vt_call_node *all = nodes;
    const struct vt_call_node *right = &all[*(const uint32_t *)b];

    return compare_places(&all[*(const uint32_t *)a], right->thread, right->node);
}

static int compare_durations(const void *a, const void *b)
{
    const struct vt_call_durations *left = a;
    const struct vt_call_durations *right = b;
    int order = compare_numbers(left->thread, right->thread);

    return order ? order : compare_numbers(left->function, right->function);
}

/* Other threads go on while they are read: there may be more the second time. */
static int read_nodes(struct vti_py_snapshot *snapshot)
{
    size_t room = vt_calls_read(NULL, 0);

    for (;;) {
        room += 256;
        free(snapshot->nodes);
        snapshot->nodes = malloc(room * sizeof *snapshot->nodes);
        if (!snapshot->nodes)
            return -1;
        snapshot->node_count = vt_calls_read(snapshot->nodes, room);
        if (snapshot->node_count <= room)
            return 0;
        room = snapshot->node_count;
    }
}

static int read_durations(struct vti_py_snapshot *snapshot)
{
    size_t room = vt_calls_durations(NULL, 0);

    for (;;) {
        room += 64;
        free(snapshot->durations);
        snapshot->durations = malloc(room * sizeof *snapshot->durations);
        if (!snapshot->durations)
            return -1;
        snapshot->duration_count = vt_calls_durations(snapshot->durations, room);
        if (snapshot->duration_count <= room)
            return 0;
        room = snapshot->duration_count;
    }
}

static int read_threads(struct vti_py_snapshot *snapshot)
{
    size_t room = vt_calls_threads(NULL, 0);

    for (;;) {
        room += 16;
        free(snapshot->threads);
        snapshot->threads = malloc(room * sizeof *snapshot->threads);
        if (!snapshot->threads)
            return -1;
        snapshot->thread_count = vt_calls_threads(snapshot->threads, room);
        if (snapshot->thread_count <= room)
            return 0;
        room = snapshot->thread_count;
    }
}

static int put_in_order(struct vti_py_snapshot *snapshot)
{
    size_t count = snapshot->node_count;

    snapshot->order = malloc((count + 1) * sizeof *snapshot->order);
    if (!snapshot->order)
        return -1;
    for (size_t i = 0; i < count; i++)
        snapshot->order[i] = (uint32_t)i;
    qsort_r(snapshot->order, count, sizeof *snapshot->order, compare_indices, snapshot->nodes);
    return 0;
}

PyObject *vti_py_snapshot_take(void)
{
    struct vti_py_snapshot *snapshot = PyObject_New(struct vti_py_snapshot, &vti_py_snapshot_type);

    if (!snapshot)
        return NULL;
    snapshot->nodes = NULL;
    snapshot->order = NULL;
    snapshot->durations = NULL;
    snapshot->threads = NULL;
    if (read_nodes(snapshot) || read_durations(snapshot) || read_threads(snapshot) ||
        put_in_order(snapshot)) {
        Py_DECREF(snapshot);
        return PyErr_NoMemory();
    }
    qsort(snapshot->durations, snapshot->duration_count, sizeof *snapshot->durations,
          compare_durations);
    snapshot->lost_calls = vt_calls_lost();
    snapshot->ticks_per_second = vt_ticks_per_second();
    return (PyObject *)snapshot;
}

int64_t vti_py_snapshot_find(const struct vti_py_snapshot *snapshot, uint32_t thread, uint32_t node)
{
    size_t low = 0;
    size_t high = snapshot ? snapshot->node_count : 0;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        uint32_t at = snapshot->order[middle];
        int order = compare_places(&snapshot->nodes[at], thread, node);

        if (!order)
            return at;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

const struct vt_call_durations *vti_py_snapshot_durations(const struct vti_py_snapshot *snapshot,
                                                          const struct vt_call_durations *like)
{
    return snapshot ? bsearch(like, snapshot->durations, snapshot->duration_count, sizeof *like,
                              compare_durations)
                    : NULL;
}

static void drop(PyObject *self)
{
    struct vti_py_snapshot *snapshot = (struct vti_py_snapshot *)self;

    free(snapshot->nodes);
    free(snapshot->order);
    free(snapshot->durations);
    free(snapshot->threads);
    PyObject_Free(self);
}

PyTypeObject vti_py_snapshot_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "venturi._venturi.Snapshot",
    .tp_basicsize = sizeof(struct vti_py_snapshot),
    .tp_dealloc = drop,
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "How far the calls of this process had got.",
};
