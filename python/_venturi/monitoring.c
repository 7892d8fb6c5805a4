/*
 * monitoring.c - the hook of Python 3.12 and later: events of sys.monitoring.
 *
 * The callbacks are objects of a type of our own with a slot for the vector call: calling a built-in
 * function instead costs 5 to 7 ns more for each event. An event is only ever disabled in code that a
 * filter ignores: a call site that calls a Python function now may call a built-in one next.
 */
#include "interpreter.h"

#if VTI_PY_HAS_MONITORING

#include "builtins.h"
#include "code.h"
#include "generators.h"
#include "greenlets.h"
#include "hook.h"
#include "threads.h"

#include <stddef.h>
#include <venturi/hook.h>

struct callback {
    PyObject_HEAD vectorcallfunc call;
};

static PyObject *disable; /* sys.monitoring.DISABLE */
static PyObject *missing; /* sys.monitoring.MISSING: there is no first argument */
static int tool = -1;
static long events; /* that are switched on */

/* ---- functions ------------------------------------------------------------------------------- */

static inline const void *running_frame(void)
{
    const PyThreadState *thread = _PyThreadState_UncheckedGet();

#if PY_VERSION_HEX >= 0x030d0000
    return thread->current_frame;
#else
    return thread->cframe->current_frame;
#endif
}

/* What is known about a function that is unusual; 0 if it is not recorded. *answer is what the callback
 * returns: no more of this, if the function is ignored. */
static uint32_t look(PyObject *code, PyObject **answer)
{
    uint32_t found;

    if (vti_py_thread_is_new())
        vti_py_thread_meet();
    found = vti_py_code_look((PyCodeObject *)code, NULL);
    *answer = found & VTI_PY_CODE_IGNORED ? disable : Py_None;
    Py_INCREF(*answer);
    return found & VTI_PY_CODE_IGNORED ? 0 : found;
}

VTI_PY_SLOW static PyObject *start_slowly(PyObject *code)
{
    PyObject *answer;
    uint32_t found = look(code, &answer);

    if (found)
        vt_call_enter(found & VTI_PY_CODE_ID);
    return answer;
}

static PyObject *on_start(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    uintptr_t known = vti_py_code_known((PyCodeObject *)args[0]);

    (void)self, (void)count, (void)names;
    if (vti_py_unlikely(!vti_py_code_is_usual(known) || vti_py_thread_is_new()))
        return start_slowly(args[0]);
    vt_call_enter((uint32_t)known);
    Py_RETURN_NONE;
}

VTI_PY_SLOW static PyObject *return_slowly(PyObject *code)
{
    PyObject *answer;
    uint32_t found = look(code, &answer);

    if (found)
        vt_call_leave(found & VTI_PY_CODE_ID);
    if (found & VTI_PY_CODE_SPECIAL)
        vti_py_greenlets_came();
    return answer;
}

static PyObject *on_return(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    uintptr_t known = vti_py_code_known((PyCodeObject *)args[0]);

    (void)self, (void)count, (void)names;
    if (vti_py_unlikely(!vti_py_code_is_usual(known)))
        return return_slowly(args[0]);
    vt_call_leave((uint32_t)known);
    Py_RETURN_NONE;
}

static PyObject *on_yield(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    PyObject *answer;
    uint32_t found = look(args[0], &answer);

    (void)self, (void)count, (void)names;
    if (found)
        vti_py_generator_suspend(running_frame(), vt_call_leave(found & VTI_PY_CODE_ID));
    return answer;
}

static PyObject *on_resume(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    PyObject *answer;
    uint32_t found = look(args[0], &answer);

    (void)self, (void)count, (void)names;
    if (found)
        vt_call_resume(found & VTI_PY_CODE_ID, vti_py_generator_since(running_frame()));
    return answer;
}

/* The two that cannot be disabled. */

static PyObject *on_throw(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    const vti_py_frame *frame = running_frame();
    PyObject *answer;
    uint32_t found = look(args[0], &answer);
    uint32_t id = found & VTI_PY_CODE_ID;

    (void)self, (void)count, (void)names;
    if (id && vti_py_generator_is_new(frame))
        vt_call_enter(id);
    else if (id)
        vt_call_resume(id, vti_py_generator_since(frame));
    Py_DECREF(answer);
    Py_RETURN_NONE;
}

static PyObject *on_unwind(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    Py_DECREF(return_slowly(args[0]));
    (void)self, (void)count, (void)names;
    Py_RETURN_NONE;
}

/* ---- built-in functions ---------------------------------------------------------------------- */

/* Those that are called by ignored code are ignored too. */
static inline bool is_ignored(PyObject *code)
{
    return vti_py_unlikely((uint32_t)vti_py_code_known((PyCodeObject *)code) & VTI_PY_CODE_IGNORED);
}

static inline PyObject *first_argument(PyObject *argument)
{
    return argument == missing ? NULL : argument;
}

static PyObject *on_call(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    (void)self, (void)count, (void)names;
    if (vti_py_unlikely(is_ignored(args[0])))
        return Py_NewRef(disable);
    if (!Py_IS_TYPE(args[2], &PyFunction_Type)) {
        uint32_t id = vti_py_builtin_id(args[2], first_argument(args[3]));

        if (id)
            vt_call_enter(id);
    }
    Py_RETURN_NONE;
}

static PyObject *on_c_return(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    uint32_t id;

    (void)self, (void)count, (void)names;
    if (vti_py_unlikely(is_ignored(args[0])))
        Py_RETURN_NONE;
    id = vti_py_builtin_id(args[2], first_argument(args[3]));
    if (id)
        vt_call_leave(id);
    Py_RETURN_NONE;
}

/* ---- switching on and off -------------------------------------------------------------------- */

static PyTypeObject callback_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "venturi._venturi.callback",
    .tp_basicsize = sizeof(struct callback),
    .tp_vectorcall_offset = offsetof(struct callback, call),
    .tp_call = PyVectorcall_Call,
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL,
};

static const struct event {
    const char *name;
    vectorcallfunc call;
    bool is_builtin;
} table[] = {
    {"PY_START", on_start, false},  {"PY_RESUME", on_resume, false},
    {"PY_THROW", on_throw, false},  {"PY_RETURN", on_return, false},
    {"PY_YIELD", on_yield, false},  {"PY_UNWIND", on_unwind, false},
    {"CALL", on_call, true},        {"C_RETURN", on_c_return, true},
    {"C_RAISE", on_c_return, true},
};

/* A call of sys.monitoring that returns a number; -1 with an exception. None counts as 0. */
static long number_of(PyObject *result)
{
    long number = -1;

    if (result)
        number = result == Py_None ? 0 : PyLong_AsLong(result);
    Py_XDECREF(result);
    return number;
}

static PyObject *monitoring_module(void)
{
    PyObject *module = PySys_GetObject("monitoring");

    if (!module)
        PyErr_SetString(PyExc_RuntimeError, "sys.monitoring is gone");
    return module;
}

/* 2 is cProfile's. */
static int claim_tool(PyObject *monitoring)
{
    static const int ids[] = {3, 4, 5, 1, 0};

    for (size_t i = 0; tool < 0 && i < sizeof ids / sizeof *ids; i++) {
        PyObject *done = PyObject_CallMethod(monitoring, "use_tool_id", "is", ids[i], "venturi");

        if (done)
            tool = ids[i];
        else if (!PyErr_ExceptionMatches(PyExc_ValueError))
            return -1;
        PyErr_Clear();
        Py_XDECREF(done);
    }
    if (tool < 0)
        PyErr_SetString(PyExc_RuntimeError, "all tool ids of sys.monitoring are taken");
    return tool < 0 ? -1 : 0;
}

/* Registers one callback, or takes it back; the event's bit, or -1 with an exception. */
static long register_one(PyObject *monitoring, const struct event *event, bool is_on)
{
    PyObject *all = PyObject_GetAttrString(monitoring, "events");
    long bit = all ? number_of(PyObject_GetAttrString(all, event->name)) : -1;
    PyObject *callback = Py_NewRef(Py_None);

    Py_XDECREF(all);
    if (is_on) {
        Py_SETREF(callback, (PyObject *)PyObject_New(struct callback, &callback_type));
        if (callback)
            ((struct callback *)callback)->call = event->call;
    }
    if (bit < 0 || !callback) {
        Py_XDECREF(callback);
        return -1;
    }
    Py_XDECREF(PyObject_CallMethod(monitoring, "register_callback", "ilO", tool, bit, callback));
    Py_DECREF(callback);
    return PyErr_Occurred() ? -1 : bit;
}

static int set_events(PyObject *monitoring, long wanted)
{
    return number_of(PyObject_CallMethod(monitoring, "set_events", "il", tool, wanted)) < 0 ? -1
                                                                                            : 0;
}

int vti_py_hook_start(bool has_builtins)
{
    PyObject *monitoring = monitoring_module();
    long wanted = 0;

    if (!monitoring || PyType_Ready(&callback_type))
        return -1;
    if (!disable)
        disable = PyObject_GetAttrString(monitoring, "DISABLE");
    if (!missing)
        missing = PyObject_GetAttrString(monitoring, "MISSING");
    if (!disable || !missing || (tool < 0 && claim_tool(monitoring)))
        return -1;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        long bit = table[i].is_builtin && !has_builtins ? 0
                                                        : register_one(monitoring, &table[i], true);

        if (bit < 0)
            goto failed;
        wanted |= bit;
    }
    if (!set_events(monitoring, events | wanted)) {
        events |= wanted;
        return 0;
    }
failed:
    if (!events)
        vti_py_hook_stop();
    return -1;
}

int vti_py_hook_look_again(void)
{
    PyObject *monitoring = monitoring_module();

    return monitoring && number_of(PyObject_CallMethod(monitoring, "restart_events", NULL)) >= 0
               ? 0
               : -1;
}

void vti_py_hook_stop(void)
{
    PyObject *type, *value, *traceback;
    PyObject *monitoring;

    PyErr_Fetch(&type, &value, &traceback);
    monitoring = monitoring_module();
    if (monitoring && tool >= 0) {
        set_events(monitoring, 0);
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            register_one(monitoring, &table[i], false);
        Py_XDECREF(PyObject_CallMethod(monitoring, "free_tool_id", "i", tool));
    }
    tool = -1;
    events = 0;
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

const char *vti_py_hook_kind(void)
{
    return "monitoring";
}

int vti_py_hook_tool(void)
{
    return tool;
}

#endif
