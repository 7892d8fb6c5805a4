/*
 * greenlets.c - stacks of greenlets are followed by the trace function of the package greenlet.
 *
 * It is called after every switch, in the greenlet that goes on, and belongs to one thread. A trace
 * function that was there before is called after ours; one that is set later replaces ours, and calls
 * are then sorted out as well as they can be. Never imports the package by itself.
 */
#include "greenlets.h"

#include "lines_trace.h"
#include "threads.h"

#include <stdint.h>
#include <string.h>
#include <venturi/hook.h>

struct stack {
    PyObject *greenlet; /* borrowed: only its address counts */
    uint32_t number;
};

struct vti_py_greenlets {
    PyObject *chained;    /* owned; NULL: none */
    PyObject *home;       /* borrowed: the greenlet that was running when we began */
    struct stack *stacks; /* in no order */
    size_t count, room;
};

static PyObject *on_switch(PyObject *self, PyObject *const *args, Py_ssize_t count);

static PyMethodDef tracer_def = {"venturi_greenlets", (PyCFunction)(void (*)(void))on_switch,
                                 METH_FASTCALL, NULL};
static PyObject *tracer;

int vti_py_greenlets_init(void)
{
    if (!tracer)
        tracer = PyCFunction_New(&tracer_def, NULL);
    return tracer ? 0 : -1;
}

static bool ends_with(PyObject *text, const char *end)
{
    Py_ssize_t size = 0;
    const char *bytes = PyUnicode_AsUTF8AndSize(text, &size);

    if (!bytes)
        PyErr_Clear();
    return bytes && (size_t)size >= strlen(end) && !strcmp(bytes + size - strlen(end), end);
}

bool vti_py_greenlets_comes_with(PyCodeObject *code)
{
    return PyUnicode_CompareWithASCIIString(code->co_name, "<module>") == 0 &&
           ends_with(code->co_filename, "/greenlet/__init__.py");
}

void vti_py_greenlets_came(void)
{
    vti_py_epoch++;
}

static struct stack *find(struct vti_py_greenlets *all, PyObject *greenlet)
{
    for (size_t i = all->count; i-- > 0;)
        if (all->stacks[i].greenlet == greenlet)
            return &all->stacks[i];
    return NULL;
}

static uint32_t stack_of(struct vti_py_greenlets *all, PyObject *greenlet)
{
    struct stack *known = greenlet == all->home ? NULL : find(all, greenlet);

    if (greenlet == all->home)
        return 0;
    if (known && !known->number)
        known->number = vt_stack_open(); /* nobody counted when it was first met */
    if (known)
        return known->number;
    if (all->count == all->room) {
        size_t room = all->room ? 2 * all->room : 64;
        struct stack *grown = PyMem_RawRealloc(all->stacks, room * sizeof *grown);

        if (!grown)
            return 0;
        all->stacks = grown;
        all->room = room;
    }
    all->stacks[all->count] = (struct stack){greenlet, vt_stack_open()};
    return all->stacks[all->count++].number;
}

static void forget_if_dead(struct vti_py_greenlets *all, PyObject *greenlet)
{
    struct stack *known = find(all, greenlet);
    PyObject *is_dead = known ? PyObject_GetAttrString(greenlet, "dead") : NULL;

    if (is_dead == Py_True) {
        vt_stack_close(known->number);
        *known = all->stacks[--all->count];
    }
    Py_XDECREF(is_dead);
    PyErr_Clear();
}

static PyObject *on_switch(PyObject *self, PyObject *const *args, Py_ssize_t count)
{
    struct vti_py_greenlets *all = vti_py_thread.greenlets;
    PyObject *type, *value, *traceback;

    (void)self;
    if (!all)
        Py_RETURN_NONE;
    if (count == 2 && PyTuple_Check(args[1]) && PyTuple_GET_SIZE(args[1]) == 2) {
        PyErr_Fetch(&type, &value, &traceback);
        vt_stack_switch(stack_of(all, PyTuple_GET_ITEM(args[1], 1)));
        forget_if_dead(all, PyTuple_GET_ITEM(args[1], 0));
        vti_py_lines_switched();
        PyErr_Restore(type, value, traceback);
    }
    return all->chained ? PyObject_Vectorcall(all->chained, args, (size_t)count, NULL)
                        : Py_NewRef(Py_None);
}

static void begin(PyObject *getcurrent, PyObject *settrace)
{
    struct vti_py_greenlets *all = vti_py_thread.greenlets;
    PyObject *home = PyObject_CallFunctionObjArgs(getcurrent, NULL);
    PyObject *chained = home ? PyObject_CallFunctionObjArgs(settrace, tracer, NULL) : NULL;

    if (chained && !all)
        all = vti_py_thread.greenlets = PyMem_RawCalloc(1, sizeof *all);
    if (chained && all) {
        all->home = home;
        while (all->count)
            vt_stack_close(all->stacks[--all->count].number);
        if (chained != tracer)
            Py_XSETREF(all->chained, chained == Py_None ? NULL : Py_NewRef(chained));
    }
    Py_XDECREF(chained);
    Py_XDECREF(home); /* it is running, so it lives */
    PyErr_Clear();
}

/* A function of the package, which is written in C; borrowed. NULL: it is not the package, whatever its name. */
static PyObject *function_of(PyObject *module, const char *name)
{
    PyObject *names = module && PyModule_Check(module) ? PyModule_GetDict(module) : NULL;
    PyObject *function = names ? PyDict_GetItemString(names, name) : NULL;

    return function && PyCFunction_Check(function) ? function : NULL;
}

void vti_py_greenlets_follow(void)
{
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "greenlet");
    PyObject *getcurrent = function_of(module, "getcurrent");
    PyObject *settrace = function_of(module, "settrace");

    if (getcurrent && settrace)
        begin(getcurrent, settrace);
}
