/*
 * graph_state.c - see graph_state.h. Everything is looked up in the engine's state, which only changes while the thread that
 * called get() has the interpreter lock.
 */
#include "graph_state.h"

struct state {
    PyObject_HEAD struct vti_py_run *run; /* owned */
};

PyObject *vti_py_state_new(struct vti_py_run *run)
{
    struct state *state = PyObject_GC_New(struct state, &vti_py_state_type);

    if (state) {
        Py_INCREF(run);
        state->run = run;
        PyObject_GC_Track(state);
    }
    return (PyObject *)state;
}

/* The run can be cleared, so that this need not be. */
static int traverse(struct state *state, visitproc visit, void *arg)
{
    Py_VISIT(state->run);
    return 0;
}

static void dealloc(struct state *state)
{
    PyObject_GC_UnTrack(state);
    Py_DECREF(state->run);
    PyObject_GC_Del(state);
}

static bool is_task(const struct state *state, uint32_t number)
{
    return state->run->graph.templates[number] != NULL;
}

static enum vt_task_phase phase_of(const struct state *state, uint32_t number)
{
    return state->run->live ? vt_state_phase(state->run->live, number) : 0;
}

/* -1 with a KeyError. */
static int number_of(const struct state *state, PyObject *key, uint32_t *number)
{
    *number = vti_py_keys_find(&state->run->graph.keys, key);
    if (*number != VTI_PY_NO_KEY)
        return 0;
    if (!PyErr_Occurred())
        PyErr_SetObject(PyExc_KeyError, key);
    return -1;
}

static PyObject *key_at(const struct state *state, uint32_t number)
{
    return state->run->graph.keys.keys[number].key;
}

/* Tasks in any of the phases of the mask. */
static PyObject *count(struct state *state, PyObject *mask)
{
    unsigned long phases = PyLong_AsUnsignedLong(mask);
    uint64_t sum = 0;

    if (PyErr_Occurred())
        return NULL;
    for (int phase = VT_PHASE_WAITING; state->run->live && phase <= VT_PHASE_FAILED; phase++)
        if (phases >> phase & 1)
            sum += vt_state_count(state->run->live, phase);
    return PyLong_FromUnsignedLongLong(sum);
}

static PyObject *phase(struct state *state, PyObject *key)
{
    uint32_t number = vti_py_keys_find(&state->run->graph.keys, key);

    if (PyErr_Occurred())
        return NULL;
    return PyLong_FromLong(number == VTI_PY_NO_KEY ? 0 : (long)phase_of(state, number));
}

static PyObject *is_task_key(struct state *state, PyObject *key)
{
    uint32_t number;

    return number_of(state, key, &number) ? NULL : PyBool_FromLong(is_task(state, number));
}

/* keys(phases, tasks_only) */
static PyObject *keys(struct state *state, PyObject *args)
{
    unsigned long phases;
    int tasks_only;
    PyObject *list;

    if (!PyArg_ParseTuple(args, "kp:keys", &phases, &tasks_only))
        return NULL;
    list = PyList_New(0);
    for (uint32_t i = 0; list && i < state->run->graph.keys.count; i++)
        if ((phases >> phase_of(state, i) & 1) && (!tasks_only || is_task(state, i)) &&
            PyList_Append(list, key_at(state, i)))
            Py_CLEAR(list);
    return list;
}

/* The next one is the last, as in dask. */
static PyObject *ready(struct state *state, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    uint32_t task;

    (void)unused;
    for (uint32_t i = 0; list && state->run->live; i++) {
        task = vt_state_ready(state->run->live, i);
        if (task == VT_NO_TASK)
            break;
        if (PyList_Append(list, key_at(state, task)))
            Py_CLEAR(list);
    }
    if (list && PyList_Reverse(list))
        Py_CLEAR(list);
    return list;
}

static PyObject *value(struct state *state, PyObject *key)
{
    const struct vti_py_run *run = state->run;
    const struct vt_datum *known = NULL;
    PyObject *kept;
    uint32_t number;

    kept = run->results ? PyDict_GetItemWithError(run->results, key) : NULL;
    if (kept)
        return Py_NewRef(kept);
    if (PyErr_Occurred() || number_of(state, key, &number))
        return NULL;
    if (run->live)
        known = vt_state_value(run->live, number);
    if (known && known->type != VT_DATUM_NONE)
        return vti_py_run_object(run, known);
    PyErr_SetObject(PyExc_KeyError, key);
    return NULL;
}

/* Those of some tasks that are in the phases. */
static PyObject *set_of(const struct state *state, const uint32_t *tasks, size_t count,
                        unsigned long phases)
{
    PyObject *set = PySet_New(NULL);

    for (size_t i = 0; set && i < count; i++)
        if ((phases >> phase_of(state, tasks[i]) & 1) && PySet_Add(set, key_at(state, tasks[i])))
            Py_CLEAR(set);
    return set;
}

/* near(key, dependents, phases): its dependencies, or dependents, in those phases. */
static PyObject *near(struct state *state, PyObject *args)
{
    const uint32_t *tasks = NULL;
    size_t count = 0;
    PyObject *key;
    int is_down;
    unsigned long phases;
    uint32_t number;

    if (!PyArg_ParseTuple(args, "Opk:near", &key, &is_down, &phases) ||
        number_of(state, key, &number))
        return NULL;
    if (state->run->live)
        count = is_down ? vt_state_dependents(state->run->live, number, &tasks)
                        : vt_state_dependencies(state->run->live, number, &tasks);
    return set_of(state, tasks, count, phases);
}

#define METHOD(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef methods[] = {
    {"count", METHOD(count), METH_O, "Tasks in some phases."},
    {"phase", METHOD(phase), METH_O, "Of a key; 0: it is not needed."},
    {"is_task", METHOD(is_task_key), METH_O, "Whether a key is computed."},
    {"keys", METHOD(keys), METH_VARARGS, "Keys in some phases."},
    {"ready", METHOD(ready), METH_NOARGS, "What can begin; the last one is next."},
    {"value", METHOD(value), METH_O, "Of a key, if it is there."},
    {"near", METHOD(near), METH_VARARGS, "Dependencies or dependents in some phases."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject vti_py_state_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.State",
    .tp_doc = "How far a run has got.",
    .tp_basicsize = sizeof(struct state),
    .tp_dealloc = (destructor)dealloc,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_traverse = (traverseproc)traverse,
    .tp_methods = methods,
};
