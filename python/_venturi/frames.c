/*
 * frames.c - the hook of Python 3.9 to 3.11: a function of ours evaluates every frame (PEP 523).
 *
 * It sees every thread, costs nothing where nothing is called, and cannot miss the end of a call. But a frame
 * of ours lies on the C stack for each call, and on 3.11 the interpreter's own as well, which alone would call
 * Python functions from Python without it. Below the floor of the stack (threads.c) it therefore steps
 * aside: see deep.c.
 */
#include "interpreter.h"

#if !VTI_PY_HAS_MONITORING

#include "code.h"
#include "deep.h"
#include "frames.h"
#include "generators.h"
#include "greenlets.h"
#include "hook.h"
#include "profile_function.h"
#include "subscripts.h"
#include "threads.h"

#include <venturi/hook.h>

_PyFrameEvalFunction vti_py_evaluate_next;

static bool is_on;
static bool is_buried; /* a hook that was set after ours still calls ours */

static inline bool is_new(const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return vti_py_generator_is_new(frame);
#else
    return frame->f_lasti < 0;
#endif
}

/* Making a generator passes by here on 3.11; that is no call of its function. */
static inline bool is_made_now(const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return frame->owner != FRAME_OWNED_BY_GENERATOR;
#else
    (void)frame;
    return false;
#endif
}

/* Where the frame stands: a call that the recursion limit refuses does not move. */
static inline intptr_t position(const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return (intptr_t)frame->prev_instr;
#else
    return frame->f_lasti;
#endif
}

static inline intptr_t first_position(const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return (intptr_t)(_PyCode_CODE(frame->f_code) - 1);
#else
    (void)frame;
    return -1;
#endif
}

/* As cProfile counts: a call that was refused is none. */
VTI_PY_SLOW static void leave_failed(const vti_py_frame *frame, uint32_t id)
{
    if (position(frame) == first_position(frame))
        vt_call_undo(id);
    else
        vt_call_leave(id);
}

/* The id is read again afterwards: kept, it would cost one register more and with it 16 bytes of stack. */
static inline PyObject *evaluate_function(PyThreadState *thread, vti_py_frame *frame, int is_throw,
                                          uint32_t id)
{
    PyObject *result;

    vt_call_enter(id);
    result = vti_py_evaluate_next(thread, frame, is_throw);
    id = (uint32_t)vti_py_code_known(frame->f_code) & VTI_PY_CODE_ID;
    if (vti_py_likely(result != NULL))
        return vt_call_leave_with(id, result);
    leave_failed(frame, id);
    return NULL;
}

static PyObject *evaluate_generator(PyThreadState *thread, vti_py_frame *frame, int is_throw,
                                    uint32_t id)
{
    PyObject *result;
    uint64_t ticks;

    if (is_made_now(frame))
        return vti_py_evaluate_next(thread, frame, is_throw);
    if (is_new(frame))
        vt_call_enter(id);
    else
        vt_call_resume(id, vti_py_generator_since(frame));
    result = vti_py_evaluate_next(thread, frame, is_throw);
    ticks = vt_call_leave(id);
    if (result && vti_py_generator_is_suspended(frame))
        vti_py_generator_suspend(frame, ticks);
    return result;
}

static PyObject *evaluate_slowly(PyThreadState *thread, vti_py_frame *frame, int is_throw)
    __attribute__((noinline));

static PyObject *evaluate_slowly(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    uint32_t found;
    uint32_t id;
    PyObject *result;

    if (!is_on)
        return vti_py_evaluate_next(thread, frame, is_throw);
    if (vti_py_thread_is_new())
        vti_py_thread_meet();
    if (vti_py_thread_is_deep() && !vti_py_deep_retreat())
        return vti_py_evaluate_deep(thread, frame, is_throw);
    if (vti_py_has_builtins)
        vti_py_profile_function_set(thread);
    found = vti_py_code_look(frame->f_code, frame);
    id = found & VTI_PY_CODE_ID;
    if (!id || found & VTI_PY_CODE_IGNORED)
        return vti_py_evaluate_next(thread, frame, is_throw);
    if (found & VTI_PY_CODE_GENERATOR)
        return evaluate_generator(thread, frame, is_throw, id);
    result = evaluate_function(thread, frame, is_throw, id);
    if (found & VTI_PY_CODE_SPECIAL)
        vti_py_greenlets_came();
    return result;
}

static PyObject *evaluate(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    uintptr_t known = vti_py_code_known(frame->f_code);

    if (vti_py_unlikely(!vti_py_code_is_usual(known) || vti_py_thread_is_new() ||
                        vti_py_thread_is_deep()))
        return evaluate_slowly(thread, frame, is_throw);
    return evaluate_function(thread, frame, is_throw, (uint32_t)known);
}

/* Where a profile function is needed each frame makes sure that it is still there. */
static PyObject *evaluate_with_function(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    if (vti_py_unlikely(thread->c_profilefunc != vti_py_profile_function))
        return evaluate_slowly(thread, frame, is_throw);
    return evaluate(thread, frame, is_throw);
}

/* ---- switching on and off -------------------------------------------------------------------- */

static bool is_ours(_PyFrameEvalFunction function)
{
    return function == evaluate || function == evaluate_with_function;
}

static _PyFrameEvalFunction installed(void)
{
    return _PyInterpreterState_GetEvalFrameFunc(PyInterpreterState_Get());
}

static void install(_PyFrameEvalFunction function)
{
    _PyInterpreterState_SetEvalFrameFunc(PyInterpreterState_Get(), function);
}

void vti_py_frames_hook(bool on)
{
    _PyFrameEvalFunction now = installed();

    if (on && is_on && now == vti_py_evaluate_next)
        install(vti_py_has_builtins ? evaluate_with_function : evaluate);
    else if (!on && is_ours(now))
        install(vti_py_evaluate_next);
}

int vti_py_hook_start(bool builtins)
{
    vti_py_has_builtins = vti_py_has_builtins || builtins;
    is_on = true;
    vti_py_subscripts_pin_running();
    vti_py_frames_hook(false);
    if (!is_buried || installed() == vti_py_evaluate_next) {
        vti_py_evaluate_next = installed();
        is_buried = false;
        vti_py_frames_hook(true);
    }
    return 0;
}

int vti_py_hook_look_again(void)
{
    return 0;
}

/* The profile functions of other threads take themselves away at their next event. */
void vti_py_hook_stop(void)
{
    is_on = false;
    vti_py_has_builtins = false;
    is_buried = !is_ours(installed());
    vti_py_frames_hook(false);
    vti_py_profile_function_unset(PyThreadState_Get());
    if (is_buried)
        vti_py_code_judge_again(); /* so that it takes the slow path, which sees that it is off */
}

const char *vti_py_hook_kind(void)
{
    return "frame";
}

int vti_py_hook_tool(void)
{
    return -1;
}

#endif
