/*
 * monitoring.c - the hook of Python 3.12 and later: events of sys.monitoring.
 *
 * An event is only ever disabled in code that a filter ignores: a call site that calls a Python function now
 * may call a built-in one next.
 */
#include "interpreter.h"

#if VTI_PY_HAS_MONITORING

#include "builtins.h"
#include "callback.h"
#include "code.h"
#include "generators.h"
#include "greenlets.h"
#include "hook.h"
#include "pairs.h"
#include "threads.h"

#include <venturi/hook.h>

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
    return vt_call_enter_with((uint32_t)known, Py_None);
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
    return vt_call_leave_with((uint32_t)known, Py_None);
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
    uint32_t id = 0;

    (void)self, (void)count, (void)names;
    if (vti_py_unlikely(is_ignored(args[0])))
        return Py_NewRef(disable);
    if (!Py_IS_TYPE(args[2], &PyFunction_Type))
        id = vti_py_builtin_id(args[2], first_argument(args[3]));
    if (!id)
        Py_RETURN_NONE;
    return vt_call_enter_with(id, Py_None);
}

static PyObject *on_c_return(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    uint32_t id;

    (void)self, (void)count, (void)names;
    if (vti_py_unlikely(is_ignored(args[0])))
        Py_RETURN_NONE;
    id = vti_py_builtin_id(args[2], first_argument(args[3]));
    if (!id)
        Py_RETURN_NONE;
    return vt_call_leave_with(id, Py_None);
}

/* ---- switching on and off -------------------------------------------------------------------- */

static const struct vti_py_event functions[] = {
    {"PY_START", on_start},   {"PY_RESUME", on_resume}, {"PY_THROW", on_throw},
    {"PY_RETURN", on_return}, {"PY_YIELD", on_yield},   {"PY_UNWIND", on_unwind},
};
static const struct vti_py_event builtins[] = {{"CALL", on_call},
                                               {"C_RETURN", on_c_return},
                                               {"C_RAISE", on_c_return}};

/* Registers callbacks, or takes them back; adds their bits. -1 with an exception. */
static int register_all(const struct vti_py_event *table, size_t count, bool is_on, long *bits)
{
    for (size_t i = 0; i < count; i++) {
        long bit = vti_py_event_register(tool, &table[i], is_on);

        if (bit < 0)
            return -1;
        *bits |= bit;
    }
    return 0;
}

#define REGISTER(table, is_on, bits)                                                               \
    register_all(table, sizeof(table) / sizeof *(table), is_on, bits)

int vti_py_hook_start(bool has_builtins)
{
    PyObject *monitoring = vti_py_monitoring();
    long wanted = events;

    if (!monitoring)
        return -1;
    if (!disable)
        disable = PyObject_GetAttrString(monitoring, "DISABLE");
    if (!missing)
        missing = PyObject_GetAttrString(monitoring, "MISSING");
    if (!disable || !missing || vti_py_pairs_learn() || vti_py_tool_claim(&tool, "venturi"))
        return -1;
    if (!REGISTER(functions, true, &wanted) &&
        (!has_builtins || !REGISTER(builtins, true, &wanted)) && !vti_py_events_set(tool, wanted)) {
        events = wanted;
        return 0;
    }
    if (!events)
        vti_py_hook_stop();
    return -1;
}

int vti_py_hook_look_again(void)
{
    int result = vti_py_events_restart();

    if (!result)
        vti_py_pairs_join_running();
    return result;
}

void vti_py_hook_stop(void)
{
    PyObject *type, *value, *traceback;
    long unused = 0;

    PyErr_Fetch(&type, &value, &traceback);
    if (tool >= 0) {
        vti_py_events_set(tool, 0);
        REGISTER(functions, false, &unused);
        REGISTER(builtins, false, &unused);
        vti_py_tool_free(&tool);
    }
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
