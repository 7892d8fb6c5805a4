/*
 * profile_function.c - the profile function of a thread (Python 3.9 to 3.11), for what the evaluation of frames does
 * not show: built-in functions, and calls below the floor of the stack.
 *
 * A profile function that was there before is called after ours with every event; one that is set later
 * takes our place until the next frame puts ours in front of it.
 */
#include "interpreter.h"

#if !VTI_PY_HAS_MONITORING

#include "builtins.h"
#include "code.h"
#include "deep.h"
#include "generators.h"
#include "hook.h"
#include "profile_function.h"
#include "threads.h"

#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_runtime.h>
#endif
#include <venturi/hook.h>

bool vti_py_has_builtins;

static uintptr_t known_of(PyFrameObject *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return vti_py_code_known(frame->f_frame->f_code);
#else
    return vti_py_code_known(frame->f_code);
#endif
}

static void note_builtin(PyFrameObject *frame, int what, PyObject *called)
{
    uint32_t id = 0;

    if (vti_py_thread.is_deep && vti_py_deep_is_lost(what))
        return;
    if (!((uint32_t)known_of(frame) & VTI_PY_CODE_IGNORED))
        id = vti_py_builtin_id(called, NULL);
    if (!id)
        return;
    if (what == PyTrace_C_CALL)
        vt_call_enter(id);
    else
        vt_call_leave(id);
}

#if PY_VERSION_HEX >= 0x030b0000

/* While a thread is deep the hook of frames is off for all of them (deep.c), but for its built-in functions: if
 * the interpreter lock has changed hands in between, others have run unseen. */
static unsigned long noted_switch;

static void note_switches(void)
{
    noted_switch = _PyRuntime.ceval.gil.switch_number;
}

static void watch_others(int what)
{
    bool had_hook = (what == PyTrace_C_RETURN || what == PyTrace_C_EXCEPTION) &&
                    !vti_py_thread.is_called_back;

    if (!had_hook && noted_switch != _PyRuntime.ceval.gil.switch_number) {
        vti_py_unseen++;
        vt_calls_unseen();
    }
    note_switches();
}

#else

static void note_switches(void)
{
}

static void watch_others(int what)
{
    (void)what;
}

#endif

int vti_py_profile_function(PyObject *with, PyFrameObject *frame, int what, PyObject *argument)
{
    Py_tracefunc chained = vti_py_thread.chained;
    PyObject *chained_with = vti_py_thread.chained_with;
    bool is_c = what == PyTrace_C_CALL || what == PyTrace_C_RETURN || what == PyTrace_C_EXCEPTION;
    int result = 0;

    (void)with;
    if (is_c && what == PyTrace_C_CALL && vti_py_has_builtins)
        note_builtin(frame, what, argument);
    if (vti_py_thread.is_deep) {
        watch_others(what);
        vti_py_deep_event(frame, what);
    } else if (!vti_py_has_builtins)
        vti_py_profile_function_unset(PyThreadState_Get());
    if (is_c && what != PyTrace_C_CALL && vti_py_has_builtins)
        note_builtin(frame, what, argument);
    if (chained) {
        Py_XINCREF(chained_with);
        result = chained(chained_with, frame, what, argument);
        Py_XDECREF(chained_with);
    }
    return result;
}

/* Its argument is that of the function it stands before: sys.getprofile() shows what the program set. */
static void set(Py_tracefunc function, PyObject *with)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    PyEval_SetProfile(function, with);
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

void vti_py_profile_function_set(PyThreadState *thread)
{
    note_switches();
    if (thread->c_profilefunc == vti_py_profile_function)
        return;
    vti_py_thread.chained = thread->c_profilefunc;
    Py_XINCREF(thread->c_profileobj);
    Py_XSETREF(vti_py_thread.chained_with, thread->c_profileobj);
    set(vti_py_profile_function, thread->c_profileobj);
}

void vti_py_profile_function_unset(PyThreadState *thread)
{
    PyObject *with = vti_py_thread.chained_with;

    if (thread->c_profilefunc == vti_py_profile_function)
        set(vti_py_thread.chained, with);
    vti_py_thread.chained = NULL;
    vti_py_thread.chained_with = NULL;
    Py_XDECREF(with);
}

#endif
