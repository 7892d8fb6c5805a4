/*
 * graph_source.c - see graph_source.h. The engine's state only changes while the thread that called get() has the interpreter lock.
 */
#include "graph_source.h"

#include "graph_errors.h"

enum { IS_TASK = 0x80 };

/* Everything by the numbers of keys. */
struct vti_py_kept {
    struct vti_py_keys keys;
    uint8_t *phases;    /* and IS_TASK */
    uint32_t *first[2]; /* of what it depends on, and of what depends on it */
    uint32_t *near[2];
    uint32_t *ready;
    uint32_t ready_count;
    uint64_t counts[VT_PHASE_FAILED + 1]; /* of tasks */
    PyObject *cache;                      /* a dict of the values that are left */
};

struct vti_py_source *vti_py_source_new(struct vti_py_run *run)
{
    struct vti_py_source *source = PyObject_GC_New(struct vti_py_source, &vti_py_source_type);

    if (source) {
        Py_INCREF(run);
        source->run = run;
        source->kept = NULL;
        PyObject_GC_Track(source);
    }
    return source;
}

PyObject *vti_py_source_hold(const struct vti_py_source *source)
{
    Py_XINCREF(source->run);
    return (PyObject *)source->run;
}

static const struct vti_py_keys *keys_of(const struct vti_py_source *source)
{
    static const struct vti_py_keys none;

    if (source->run)
        return &source->run->graph.keys;
    return source->kept ? &source->kept->keys : &none;
}

uint32_t vti_py_source_count(const struct vti_py_source *source)
{
    return keys_of(source)->count;
}

PyObject *vti_py_source_key(const struct vti_py_source *source, uint32_t number)
{
    return keys_of(source)->keys[number].key;
}

uint32_t vti_py_source_find(const struct vti_py_source *source, PyObject *key)
{
    return vti_py_keys_find(keys_of(source), key);
}

bool vti_py_source_is_task(const struct vti_py_source *source, uint32_t number)
{
    if (source->run)
        return source->run->graph.templates[number] != NULL;
    return source->kept && (source->kept->phases[number] & IS_TASK);
}

/* To dask, a task that failed is still running, and what it takes with it waits: a run is over then. */
static unsigned phase_of(const struct vti_py_source *source, uint32_t number)
{
    const struct vti_py_run *run = source->run;
    struct vt_task known;
    unsigned phase;
    int is_estimated;

    if (!run)
        return source->kept ? source->kept->phases[number] & ~(unsigned)IS_TASK : 0;
    phase = run->live ? vt_state_phase(run->live, number) : 0;
    if (phase != VT_PHASE_FAILED || run->keeps_going)
        return phase;
    vt_run_task(run->run, number, &known, &is_estimated);
    return known.state == VT_TASK_SKIPPED ? VT_PHASE_WAITING : VT_PHASE_RUNNING;
}

bool vti_py_source_is_in(const struct vti_py_source *source, uint32_t number, unsigned phases)
{
    return phases >> phase_of(source, number) & 1;
}

/* The engine's own counts do not know what dask says of failures. */
static uint64_t count_anew(const struct vti_py_source *source, unsigned phases)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < vti_py_source_count(source); i++)
        sum += vti_py_source_is_task(source, i) && vti_py_source_is_in(source, i, phases);
    return sum;
}

uint64_t vti_py_source_tasks(const struct vti_py_source *source, unsigned phases)
{
    const struct vti_py_run *run = source->run;
    uint64_t sum = 0;

    if (run && (!run->live || (!run->keeps_going && vt_state_count(run->live, VT_PHASE_FAILED))))
        return count_anew(source, phases);
    for (int phase = VT_PHASE_WAITING; phase <= VT_PHASE_FAILED; phase++) {
        if (!(phases >> phase & 1))
            continue;
        if (run)
            sum += vt_state_count(run->live, phase);
        else if (source->kept)
            sum += source->kept->counts[phase];
    }
    return sum;
}

size_t vti_py_source_near(const struct vti_py_source *source, uint32_t number, bool is_down,
                          const uint32_t **numbers)
{
    const struct vti_py_run *run = source->run;
    const struct vti_py_kept *kept = source->kept;

    if (run && run->live)
        return is_down ? vt_state_dependents(run->live, number, numbers)
                       : vt_state_dependencies(run->live, number, numbers);
    if (run || !kept)
        return 0;
    *numbers = kept->near[is_down] + kept->first[is_down][number];
    return kept->first[is_down][number + 1] - kept->first[is_down][number];
}

uint32_t vti_py_source_ready(const struct vti_py_source *source, uint32_t place)
{
    uint32_t task;

    if (source->run) {
        task = source->run->live ? vt_state_ready(source->run->live, place) : VT_NO_TASK;
        return task == VT_NO_TASK ? VTI_PY_NO_KEY : task;
    }
    return source->kept && place < source->kept->ready_count ? source->kept->ready[place]
                                                             : VTI_PY_NO_KEY;
}

/* Keys may compare by code of their own, during which other threads run: nothing here is borrowed meanwhile. */
static PyObject *find(PyObject *values, PyObject *key)
{
    PyObject *value;

    if (!values)
        return NULL;
    Py_INCREF(values);
    Py_INCREF(key);
    value = PyDict_GetItemWithError(values, key);
    Py_XINCREF(value);
    Py_DECREF(key);
    Py_DECREF(values);
    return value;
}

static const struct vt_datum *live_datum(const struct vti_py_source *source, uint32_t number)
{
    return source->run && source->run->live ? vt_state_value(source->run->live, number) : NULL;
}

/* Of what other processes made, results are what the caller gets, not made once more. A run may end while its results are searched. */
PyObject *vti_py_source_value(const struct vti_py_source *source, uint32_t number)
{
    const struct vt_datum *known = live_datum(source, number);
    PyObject *value = NULL;

    if (source->run && !known)
        return NULL;
    if (source->run)
        value = find(source->run->results, source->run->graph.keys.keys[number].key);
    if (value || PyErr_Occurred())
        return value;
    if (source->run) {
        known = live_datum(source, number);
        return known ? vti_py_run_object(source->run, known) : NULL;
    }
    return source->kept ? find(source->kept->cache, vti_py_source_key(source, number)) : NULL;
}

/* ---- how it ended ----------------------------------------------------------------------------- */

static void kept_free(struct vti_py_kept *kept)
{
    if (!kept)
        return;
    vti_py_keys_fini(&kept->keys);
    PyMem_RawFree(kept->phases);
    for (int i = 0; i < 2; i++) {
        PyMem_RawFree(kept->first[i]);
        PyMem_RawFree(kept->near[i]);
    }
    PyMem_RawFree(kept->ready);
    Py_XDECREF(kept->cache);
    PyMem_RawFree(kept);
}

static int keep_phases(struct vti_py_kept *kept, const struct vti_py_source *source)
{
    uint32_t count = vti_py_source_count(source);

    kept->phases = PyMem_RawMalloc((size_t)count + 1);
    if (!kept->phases)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        unsigned phase = phase_of(source, i);
        bool is_task = vti_py_source_is_task(source, i);

        kept->phases[i] = (uint8_t)(phase | (is_task ? IS_TASK : 0));
        kept->counts[phase] += is_task;
    }
    return 0;
}

static int keep_near(struct vti_py_kept *kept, const struct vti_py_source *source, bool is_down)
{
    uint32_t count = vti_py_source_count(source);
    uint32_t *first = PyMem_RawMalloc(((size_t)count + 1) * sizeof *first);
    const uint32_t *numbers;
    size_t sum = 0, place = 0;

    kept->first[is_down] = first;
    if (!first)
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        first[i] = (uint32_t)sum;
        sum += vti_py_source_near(source, i, is_down, &numbers);
    }
    first[count] = (uint32_t)sum;
    kept->near[is_down] = PyMem_RawMalloc((sum + 1) * sizeof *first);
    if (!kept->near[is_down])
        return -1;
    for (uint32_t i = 0; i < count; i++) {
        size_t some = vti_py_source_near(source, i, is_down, &numbers);

        if (some)
            memcpy(kept->near[is_down] + place, numbers, some * sizeof *numbers);
        place += some;
    }
    return 0;
}

static int keep_ready(struct vti_py_kept *kept, const struct vti_py_source *source)
{
    size_t count = (size_t)vti_py_source_tasks(source, VTI_PY_READY);

    kept->ready = PyMem_RawMalloc((count + 1) * sizeof *kept->ready);
    if (!kept->ready)
        return -1;
    for (; kept->ready_count < count; kept->ready_count++) {
        uint32_t number = vti_py_source_ready(source, kept->ready_count);

        if (number == VTI_PY_NO_KEY)
            break;
        kept->ready[kept->ready_count] = number;
    }
    return 0;
}

/* A value that cannot be made of what another process sent is none. */
static int keep_values(struct vti_py_kept *kept, const struct vti_py_source *source)
{
    kept->cache = PyDict_New();
    for (uint32_t i = 0; kept->cache && i < vti_py_source_count(source); i++) {
        PyObject *value;

        if (!vti_py_source_is_in(source, i, VTI_PY_FINISHED))
            continue;
        value = vti_py_source_value(source, i);
        if (value)
            PyDict_SetItem(kept->cache, vti_py_source_key(source, i), value);
        Py_XDECREF(value);
        PyErr_Clear();
    }
    return kept->cache ? 0 : -1;
}

void vti_py_source_keep(struct vti_py_source *source)
{
    struct vti_py_run *run = source->run;
    struct vti_py_kept *kept;
    PyObject *exception;

    if (!run)
        return;
    exception = vti_py_error_take();
    kept = PyMem_RawCalloc(1, sizeof *kept);
    if (kept && (vti_py_keys_copy(&kept->keys, &run->graph.keys) || keep_phases(kept, source) ||
                 keep_near(kept, source, false) || keep_near(kept, source, true) ||
                 keep_ready(kept, source) || keep_values(kept, source))) {
        kept_free(kept);
        kept = NULL;
    }
    PyErr_Clear();
    source->kept = kept;
    source->run = NULL;
    Py_DECREF(run);
    if (exception)
        vti_py_error_give(exception);
}

/* ---- the type --------------------------------------------------------------------------------- */

static int traverse(struct vti_py_source *source, visitproc visit, void *arg)
{
    Py_VISIT(source->run);
    if (!source->kept)
        return 0;
    Py_VISIT(source->kept->cache);
    for (uint32_t i = 0; i < source->kept->keys.count; i++)
        Py_VISIT(source->kept->keys.keys[i].key);
    return 0;
}

static int clear(struct vti_py_source *source)
{
    struct vti_py_kept *kept = source->kept;

    source->kept = NULL;
    kept_free(kept);
    Py_CLEAR(source->run);
    return 0;
}

static void dealloc(struct vti_py_source *source)
{
    PyObject_GC_UnTrack(source);
    clear(source);
    PyObject_GC_Del(source);
}

PyTypeObject vti_py_source_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.Source",
    .tp_doc = "How far a run has got.",
    .tp_basicsize = sizeof(struct vti_py_source),
    .tp_dealloc = (destructor)dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = (traverseproc)traverse,
    .tp_clear = (inquiry)clear,
};
