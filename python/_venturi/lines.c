/*
 * lines.c - the code objects whose lines are profiled: their rows, and which row each code unit belongs to, so that
 * an event of a line needs neither a number nor a search.
 */
#include "lines.h"

#include "greenlets.h"
#include "lines_calibrate.h"
#include "lines_callees.h"

#include <string.h>

#define ROWS_MAX 1000000
#define PLACES 65536u

Py_ssize_t vti_py_lines_slot = -1;
struct vti_py_lines *vti_py_lines_all;
bool vti_py_lines_are_on;

static void on_code_gone(void *value)
{
    struct vti_py_lines *lines = value;

    if (lines)
        lines->code = NULL;
}

int vti_py_lines_init(void)
{
    if (vti_py_code_init() || vti_py_greenlets_init())
        return -1;
    if (vti_py_lines_slot < 0)
        vti_py_lines_slot = vti_py_extra_index(on_code_gone);
    if (vti_py_lines_slot >= 0)
        return 0;
    PyErr_SetString(PyExc_RuntimeError, "no place left in code objects (co_extra)");
    return -1;
}

/* ---- generators ------------------------------------------------------------------------------ */

/* As in generators.c: two frames that share a place forget the older one. */
static struct {
    const void *frame;
    struct vt_line_pause pause;
} pauses[PLACES];

static unsigned place_of(const void *frame)
{
    return (unsigned)(((uintptr_t)frame >> 4) * 0x9e3779b97f4a7c15u >> 48) % PLACES;
}

void vti_py_lines_suspend(const void *frame)
{
    unsigned at = place_of(frame);

    pauses[at].frame = frame;
    vt_lines_suspend(frame, &pauses[at].pause);
}

void vti_py_lines_resume(struct vti_py_lines *lines, const void *frame, uint32_t mark)
{
    static const struct vt_line_pause unknown;
    unsigned at = place_of(frame);

    vt_lines_resume(&lines->lines, frame, (mark >> VTI_PY_MARK_SHIFT) - 1,
                    pauses[at].frame == frame ? &pauses[at].pause : &unknown);
}

/* ---- the registry ---------------------------------------------------------------------------- */

/* Of a function, or one itself. */
static PyCodeObject *code_of(PyObject *object)
{
    if (PyObject_TypeCheck(object, &PyFunction_Type))
        return (PyCodeObject *)((PyFunctionObject *)object)->func_code;
    if (PyCode_Check(object))
        return (PyCodeObject *)object;
    PyErr_SetString(PyExc_TypeError, "neither a Python function nor a code object");
    return NULL;
}

static int see_calls(PyObject *object, const struct vti_py_lines *lines)
{
    if (PyCode_Check(object))
        return lines->is_told ? 0 : vti_py_lines_hook_frames();
    return vti_py_lines_hook_function((PyFunctionObject *)object, lines);
}

/* Ids are given while somebody records: what was added before gets its own now. */
static void name_it(struct vti_py_lines *lines, PyObject *qualname)
{
    if (!lines->lines.function && lines->code)
        lines->lines.function = vti_py_code_name(lines->code, qualname);
}

static bool is_equal(const struct vti_py_lines *a, const struct vti_py_lines *b)
{
    return a->lines.function == b->lines.function && a->lines.row_count == b->lines.row_count &&
           a->lines.last_line == b->lines.last_line && a->unit_count == b->unit_count &&
           !memcmp(a->lines.rows, b->lines.rows, a->lines.row_count * sizeof *a->lines.rows) &&
           !memcmp(a->marks, b->marks, a->unit_count * sizeof *a->marks);
}

static void forget(struct vti_py_lines *lines)
{
    PyMem_RawFree((void *)(uintptr_t)lines->lines.rows);
    PyMem_RawFree(lines->marks);
    PyMem_RawFree(lines);
}

/* One whose code object is gone and that was equal to this; else it is added to the list. */
static struct vti_py_lines *keep_or_inherit(struct vti_py_lines *made)
{
    for (struct vti_py_lines *at = vti_py_lines_all; at && made->lines.function; at = at->next)
        if (!at->code && is_equal(at, made)) {
            at->code = made->code;
            forget(made);
            return at;
        }
    made->next = vti_py_lines_all;
    vti_py_lines_all = made;
    return made;
}

static void *copy(const void *bytes, size_t size)
{
    void *made = PyMem_RawMalloc(size + 1);

    return made ? memcpy(made, bytes, size) : NULL;
}

static struct vti_py_lines *make(PyCodeObject *code, const struct vti_py_lines *given)
{
    struct vti_py_lines *made = PyMem_RawCalloc(1, sizeof *made);

    if (!made)
        return NULL;
    *made = *given;
    made->code = code;
    made->lines.rows = copy(given->lines.rows, given->lines.row_count * sizeof *given->lines.rows);
    made->marks = copy(given->marks, given->unit_count * sizeof *given->marks);
    made->is_generator = code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR);
    if (made->lines.rows && made->marks)
        return made;
    forget(made);
    return NULL;
}

/* Every row that is named is there. */
static bool is_sound(const struct vti_py_lines *lines)
{
    for (uint32_t i = 0; i < lines->lines.row_count; i++)
        if (lines->lines.rows[i].statement >= lines->lines.row_count)
            return false;
    for (uint32_t i = 0; i < lines->unit_count; i++)
        if (lines->marks[i] >> VTI_PY_MARK_SHIFT > lines->lines.row_count)
            return false;
    return lines->lines.row_count <= ROWS_MAX;
}

int vti_py_lines_register(PyObject *object, PyObject *qualname, const struct vti_py_lines *given)
{
    PyCodeObject *code = code_of(object);
    struct vti_py_lines *made = NULL;

    if (!code || vti_py_lines_init())
        return -1;
    if (vti_py_lines_of(code))
        return see_calls(object, vti_py_lines_of(code));
    if (is_sound(given))
        made = make(code, given);
    else
        PyErr_SetString(PyExc_ValueError, "rows and marks do not belong together");
    if (!made) {
        if (!PyErr_Occurred())
            PyErr_NoMemory();
        return -1;
    }
    name_it(made, qualname);
    made = keep_or_inherit(made);
    if (vti_py_extra_set((PyObject *)code, vti_py_lines_slot, made)) {
        made->code = NULL;
        return -1;
    }
    if (vti_py_lines_are_on && vti_py_lines_hook_code(made))
        return -1;
    return see_calls(object, made);
}

PyObject *vti_py_lines_add(PyObject *module, PyObject *args)
{
    struct vti_py_lines given = {0};
    PyObject *object, *qualname;
    Py_buffer rows, marks;
    int has_extra, is_told;
    int result;

    (void)module;
    if (!PyArg_ParseTuple(args, "OUy*y*pIp:lines_add", &object, &qualname, &rows, &marks,
                          &has_extra, &given.lines.last_line, &is_told))
        return NULL;
    given.lines.rows = rows.buf;
    given.lines.row_count = (uint32_t)((size_t)rows.len / sizeof *given.lines.rows);
    given.marks = marks.buf;
    given.unit_count = (uint32_t)((size_t)marks.len / sizeof *given.marks);
    given.has_extra = has_extra != 0;
    given.is_told = is_told != 0;
    result = vti_py_lines_register(object, qualname, &given);
    PyBuffer_Release(&rows);
    PyBuffer_Release(&marks);
    return result ? NULL : Py_NewRef(Py_None);
}

PyObject *vti_py_lines_know(PyObject *module, PyObject *object)
{
    PyCodeObject *code = code_of(object);
    struct vti_py_lines *lines = code && vti_py_lines_slot >= 0 ? vti_py_lines_of(code) : NULL;

    (void)module;
    if (!code || (lines && see_calls(object, lines)))
        return NULL;
    return PyBool_FromLong(lines != NULL);
}

/* ---- functions that nobody told of ------------------------------------------------------------ */

static int count_unseen(PyObject *counts, PyFunctionObject *function)
{
    PyObject *before = PyDict_GetItemWithError(counts, function->func_qualname);
    PyObject *now = PyErr_Occurred() ? NULL
                                     : PyLong_FromLong(before ? PyLong_AsLong(before) + 1 : 1);
    int result = now ? PyDict_SetItem(counts, function->func_qualname, now) : -1;

    Py_XDECREF(now);
    return result;
}

PyObject *vti_py_lines_unseen(PyObject *module, PyObject *objects)
{
    PyObject *counts = PyDict_New();

    (void)module;
    for (Py_ssize_t i = 0; counts && PyList_Check(objects) && i < PyList_GET_SIZE(objects); i++) {
        PyFunctionObject *function = (PyFunctionObject *)PyList_GET_ITEM(objects, i);

        if (PyFunction_Check(function) && vti_py_lines_slot >= 0 &&
            vti_py_lines_of((PyCodeObject *)function->func_code) &&
            !vti_py_lines_sees_function(function) && count_unseen(counts, function))
            Py_CLEAR(counts);
    }
    return counts;
}

/* ---- the main program ------------------------------------------------------------------------ */

bool vti_py_lines_are_watching;
static PyObject *watcher; /* owned */

PyObject *vti_py_lines_watch(PyObject *module, PyObject *function)
{
    (void)module;
    if (vti_py_lines_init())
        return NULL;
    Py_XSETREF(watcher, Py_NewRef(function));
    vti_py_lines_are_watching = true;
    if (vti_py_lines_hook_watch())
        return NULL;
    Py_RETURN_NONE;
}

/* Processes that multiprocessing spawns know the main program by the second name. */
static bool is_main(PyCodeObject *code, PyObject *globals)
{
    PyObject *name = PyUnicode_CompareWithASCIIString(code->co_name, "<module>") == 0
                         ? PyDict_GetItemString(globals, "__name__")
                         : NULL;

    return name && PyUnicode_Check(name) &&
           (!PyUnicode_CompareWithASCIIString(name, "__main__") ||
            !PyUnicode_CompareWithASCIIString(name, "__mp_main__"));
}

bool vti_py_lines_meet(PyCodeObject *code, PyObject *globals, PyObject **instead)
{
    PyObject *done;

    *instead = NULL;
    if (!is_main(code, globals))
        return false;
    vti_py_lines_are_watching = false; /* while it looks */
    done = PyObject_CallFunctionObjArgs(watcher, code, globals, NULL);
    PyErr_Clear(); /* it is the program's turn, whatever became of ours */
    vti_py_lines_are_watching = done == Py_False;
    if (done && PyCode_Check(done))
        *instead = done;
    else
        Py_XDECREF(done);
    return !vti_py_lines_are_watching;
}

/* ---- on and off ------------------------------------------------------------------------------ */

PyObject *vti_py_lines_start(PyObject *module, PyObject *args)
{
    int has_callees = 0;

    (void)module;
    if (!PyArg_ParseTuple(args, "|p:lines_start", &has_callees))
        return NULL;
    if (vti_py_lines_are_on)
        Py_RETURN_NONE;
    vti_py_lines_have_callees = has_callees != 0;
    if (vti_py_lines_init() || vti_py_lines_hook_start())
        return NULL;
    vti_py_lines_are_on = true;
    for (struct vti_py_lines *at = vti_py_lines_all; at; at = at->next) {
        if (at->code)
            name_it(at, at->code->co_name);
        if (at->code && vti_py_lines_hook_code(at))
            goto failed;
    }
    if (!vti_py_lines_calibrate())
        Py_RETURN_NONE;
failed:
    vti_py_lines_are_on = false;
    vti_py_lines_hook_stop();
    return NULL;
}

PyObject *vti_py_lines_stop(PyObject *module, PyObject *unused)
{
    (void)module, (void)unused;
    if (vti_py_lines_are_on)
        vti_py_lines_hook_stop();
    vti_py_lines_are_on = false;
    Py_RETURN_NONE;
}
