/*
 * deep.c - calls so deep that the hook of frames must not use the C stack any further (Python 3.9 to 3.11).
 *
 * 3.9 and 3.10 use the C stack for every call by themselves: we get out of the way before the interpreter
 * goes on, and such calls are counted as lost. 3.11 does not, but for the hook: it is taken away, which is
 * possible for all threads only, and the thread's profile function sees the calls instead. While that
 * thread is in a built-in function, where it may wait for others, the hook is back; Python functions that such a
 * function calls take it away again, and leave nothing of ours on the stack.
 */
#include "deep.h"

#if !VTI_PY_HAS_MONITORING

#include "code.h"
#include "frames.h"
#include "generators.h"
#include "hook.h"
#include "profile_function.h"
#include "threads.h"

#include <sys/resource.h>
#include <venturi/hook.h>

/*
 * The main thread's stack is made longer, once: what our frames take must not make the program end sooner
 * than alone. The kernel looks at the limit whenever the stack grows. False if it may not be raised.
 */
static bool extend_stack(void)
{
    static bool is_tried, is_longer;
    struct rlimit limit;

    if (is_tried)
        return is_longer;
    is_tried = true;
    if (getrlimit(RLIMIT_STACK, &limit))
        return false;
    is_longer = limit.rlim_cur == RLIM_INFINITY;
    limit.rlim_cur += limit.rlim_cur / 2;
    if (!is_longer && (limit.rlim_max == RLIM_INFINITY || limit.rlim_cur <= limit.rlim_max))
        is_longer = !setrlimit(RLIMIT_STACK, &limit);
    return is_longer;
}

#if PY_VERSION_HEX < 0x030b0000

bool vti_py_deep_retreat(void)
{
    if (vti_py_thread.is_main && vti_py_thread.last_floor && extend_stack()) {
        vti_py_thread.floor = vti_py_thread.last_floor;
        vti_py_thread.last_floor = 0;
    }
    return !vti_py_thread_is_deep();
}

/* A profile function makes the interpreter need more of the stack for each built-in function. */
static PyObject *without_builtins(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    PyObject *result;

    vti_py_profile_function_unset(thread);
    result = vti_py_evaluate_next(thread, frame, is_throw);
    vti_py_profile_function_set(thread);
    return result;
}

/* The last call is a jump (gcc and clang from -O1 on): our frame is gone when the next one begins. */
PyObject *vti_py_evaluate_deep(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    vt_call_lost();
    if (thread->c_profilefunc == vti_py_profile_function)
        return without_builtins(thread, frame, is_throw);
    return vti_py_evaluate_next(thread, frame, is_throw);
}

void vti_py_deep_event(PyFrameObject *frame, int what)
{
    (void)frame, (void)what;
}

bool vti_py_deep_is_lost(int what)
{
    (void)what;
    return false;
}

#else

/* Not here: what is below the floor belongs to the C code of the program. */
bool vti_py_deep_retreat(void)
{
    return false;
}

static PyObject *go_down(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    PyObject *result;

    if (vti_py_thread.is_main && extend_stack())
        vti_py_thread.bottom = 0;
    vti_py_profile_function_set(thread);
    vti_py_thread.is_deep = true;
    vti_py_frames_hook(false);
    result = vti_py_evaluate_next(thread, frame, is_throw);
    vti_py_frames_hook(true);
    vti_py_thread.is_deep = vti_py_thread.is_called_back = false;
    vti_py_thread.lost = 0;
    if (!vti_py_has_builtins)
        vti_py_profile_function_unset(thread);
    return result;
}

/* The last call is a jump: what a program needs of the stack for each call must not become more. */
PyObject *vti_py_evaluate_deep(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    if (!vti_py_thread.is_deep)
        return go_down(thread, frame, is_throw);
    vti_py_thread.is_called_back = true;
    vti_py_profile_function_set(thread);
    vti_py_frames_hook(false);
    return vti_py_evaluate_next(thread, frame, is_throw);
}

bool vti_py_deep_is_lost(int what)
{
    bool is_begin = what == PyTrace_CALL || what == PyTrace_C_CALL;

    if (is_begin && (vti_py_thread.lost || vti_py_stack_pointer() < vti_py_thread.bottom)) {
        vti_py_thread.lost++;
        vt_call_lost();
        return true;
    }
    if (is_begin || !vti_py_thread.lost)
        return false;
    vti_py_thread.lost--;
    return true;
}

/* The event comes with the first instruction of the function, and with that after a yield. */
static bool is_resumed(const vti_py_frame *frame)
{
    int code = _Py_OPCODE(*frame->prev_instr);

    if (frame->owner != FRAME_OWNED_BY_GENERATOR || code == RETURN_GENERATOR)
        return false;
    return (code != RESUME && code != RESUME_QUICK) || _Py_OPARG(*frame->prev_instr);
}

static void enter(const vti_py_frame *frame)
{
    uint32_t found = vti_py_code_look(frame->f_code, frame);
    uint32_t id = found & VTI_PY_CODE_IGNORED ? 0 : found & VTI_PY_CODE_ID;

    if (is_resumed(frame))
        vt_call_resume(id, vti_py_generator_since(frame));
    else
        vt_call_enter(id);
}

static void leave(const vti_py_frame *frame)
{
    uint32_t found = (uint32_t)vti_py_code_known(frame->f_code);
    uint64_t ticks;

    if (found & VTI_PY_CODE_IGNORED)
        return;
    ticks = vt_call_leave(found & VTI_PY_CODE_ID);
    if (vti_py_generator_is_suspended(frame))
        vti_py_generator_suspend(frame, ticks);
}

void vti_py_deep_event(PyFrameObject *frame, int what)
{
    if (what == PyTrace_C_CALL)
        vti_py_frames_hook(true);
    else if (what != PyTrace_CALL && what != PyTrace_RETURN)
        vti_py_frames_hook(false);
    else if (vti_py_deep_is_lost(what))
        return;
    else if (what == PyTrace_CALL)
        enter(frame->f_frame);
    else
        leave(frame->f_frame);
}

#endif
#endif
