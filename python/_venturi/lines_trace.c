/*
 * lines_trace.c - the hook for lines of Python 3.9 to 3.11: a C trace function that is there only while a profiled
 * function itself runs.
 *
 * From when a profiled function is called (lines_entry.c) every frame passes by here (PEP 523). That of the profiled function
 * gets the trace function; for what it calls both are taken away again, so that it runs at full speed, and
 * put back afterwards. Profiled generators are resumed by anybody: while there are any the hook of frames stays. A
 * trace function of somebody else (coverage, a debugger) is called with every event and put back as it was.
 */
#include "interpreter.h"

#if !VTI_PY_HAS_MONITORING

#include <internal/pycore_interp.h>

#include "generators.h"
#include "lines.h"
#include "lines_callees.h"
#include "lines_trace.h"
#include "threads.h"

struct line_thread {
    Py_tracefunc chained; /* the trace function that was there before */
    unsigned held; /* why this thread wants the hook of frames: profiled calls that are innermost */
};

static __thread struct line_thread own __attribute__((tls_model("initial-exec")));
static _PyFrameEvalFunction evaluate_next;
static unsigned demand;     /* of all threads */
static unsigned deep_count; /* threads that are too deep for it */
static bool
    is_always; /* code is profiled whose functions do not tell: the demand is one more for it */

static PyObject *evaluate(PyThreadState *thread, vti_py_frame *frame, int is_throw);

/* ---- who wants the hook of frames ------------------------------------------------------------ */

static void install_or_remove(void)
{
    PyInterpreterState *interpreter = PyInterpreterState_Get();
    _PyFrameEvalFunction now = _PyInterpreterState_GetEvalFrameFunc(interpreter);

    bool is_wanted = demand && !deep_count;

    if (is_wanted && now != evaluate) {
        evaluate_next = now;
        _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate);
    } else if (!is_wanted && now == evaluate) {
        _PyInterpreterState_SetEvalFrameFunc(interpreter, evaluate_next);
    }
}

static inline void hold(unsigned wanted)
{
    bool was_wanted = demand != 0;

    demand += wanted - own.held;
    own.held = wanted;
    if (was_wanted != (demand != 0))
        install_or_remove();
}

unsigned vti_py_lines_hold(void)
{
    unsigned before = own.held;

    hold(before + 1);
    return before;
}

void vti_py_lines_release(unsigned before)
{
    hold(before);
}

/* ---- the trace function ---------------------------------------------------------------------- */

static inline const vti_py_frame *frame_of(PyFrameObject *object)
{
#if PY_VERSION_HEX >= 0x030b0000
    return object->f_frame;
#else
    return object;
#endif
}

static inline size_t unit_of(const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return (size_t)_PyInterpreterFrame_LASTI(frame);
#elif PY_VERSION_HEX >= 0x030a0000
    return (size_t)frame->f_lasti;
#else
    return (size_t)frame->f_lasti / 2;
#endif
}

static void note(struct vti_py_lines *lines, PyFrameObject *object, int what)
{
    const vti_py_frame *frame = frame_of(object);
    uint32_t mark = vti_py_lines_mark(lines, unit_of(frame));

    if (vti_py_likely(what == PyTrace_LINE))
        vti_py_lines_reach(lines, frame, mark);
    else if (what == PyTrace_OPCODE && mark & VTI_PY_MARK_EXTRA)
        vt_line_reach_in(&lines->lines, frame, (mark >> VTI_PY_MARK_SHIFT) - 1,
                         VT_LINE_STARTS | VT_LINE_UNTOLD);
    else if (what == PyTrace_CALL && lines->has_extra)
        object->f_trace_opcodes = 1;
}

static int trace(PyObject *with, PyFrameObject *object, int what, PyObject *argument)
{
    struct vti_py_lines *lines = vti_py_lines_of(frame_of(object)->f_code);

    if (vti_py_likely(lines))
        note(lines, object, what);
    if (vti_py_likely(!own.chained) || (what == PyTrace_OPCODE && lines && lines->has_extra))
        return 0;
    return own.chained(with, object, what, argument);
}

/* ---- putting it in and out ------------------------------------------------------------------- */

/* The interpreter's own function for this would ask the program's audit hooks, and costs more than a line. The
 * object stays the one of the trace function that was there before. */
static inline void set_tracer(PyThreadState *thread, Py_tracefunc call)
{
    bool is_traced = call || thread->c_profilefunc;

#if PY_VERSION_HEX < 0x030a0000
    thread->interp->ceval.tracing_possible += (call != NULL) - (thread->c_tracefunc != NULL);
    thread->use_tracing = is_traced;
#else
    if (!thread->tracing)
        thread->cframe->use_tracing = is_traced ? 255 : 0;
#endif
    thread->c_tracefunc = call;
}

/* Ours goes in front of what is there. */
static inline void trace_on(PyThreadState *thread)
{
    if (thread->c_tracefunc != trace)
        own.chained = thread->c_tracefunc;
    set_tracer(thread, trace);
}

/* What was there comes back; what the program has set in between stays. */
static inline void trace_off(PyThreadState *thread)
{
    if (thread->c_tracefunc == trace)
        set_tracer(thread, own.chained);
}

/* ---- frames ---------------------------------------------------------------------------------- */

static inline bool is_resumed(const struct vti_py_lines *lines, const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return lines->is_generator && !vti_py_generator_is_new(frame);
#else
    return lines->is_generator && frame->f_lasti >= 0;
#endif
}

/* On 3.11 the frame of a call that makes a generator passes by. */
static inline bool makes_generator(const struct vti_py_lines *lines, const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return lines->is_generator && frame->owner != FRAME_OWNED_BY_GENERATOR;
#else
    (void)lines, (void)frame;
    return false;
#endif
}

/* Whether a generator has yielded and not come to its end. */
static inline bool is_suspended(vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return _PyFrame_GetGenerator(frame)->gi_frame_state == FRAME_SUSPENDED;
#elif PY_VERSION_HEX >= 0x030a0000
    return frame->f_state == FRAME_SUSPENDED;
#else
    return frame->f_stacktop != NULL;
#endif
}

static void begin(struct vti_py_lines *lines, const vti_py_frame *frame)
{
    if (is_resumed(lines, frame))
        vti_py_lines_resume(lines, frame, vti_py_lines_mark(lines, unit_of(frame)));
    else
        vt_lines_enter(&lines->lines, frame);
}

static PyObject *evaluate_profiled(PyThreadState *thread, vti_py_frame *frame, int is_throw,
                                   struct vti_py_lines *lines)
{
    unsigned before = own.held;
    bool was_traced = thread->c_tracefunc == trace;
    PyObject *result;

    trace_on(thread);
    hold(before + 1);
    begin(lines, frame);
    result = evaluate_next(thread, frame, is_throw);
    if (lines->is_generator && is_suspended(frame))
        vti_py_lines_suspend(frame);
    else
        vt_lines_leave(frame);
    hold(before);
    if (was_traced)
        trace_on(thread);
    else
        trace_off(thread);
    return result;
}

/* Called by a profiled function: neither the trace function nor the hook is wanted in there. */
static PyObject *evaluate_called(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    unsigned before = own.held;
    PyObject *result;

    trace_off(thread);
    hold(0);
    result = evaluate_next(thread, frame, is_throw);
    hold(before);
    trace_on(thread);
    return result;
}

/* So deep that the C stack must not be used any further: nothing is seen down there. */
static PyObject *evaluate_deep(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    bool was_traced = thread->c_tracefunc == trace;
    PyObject *result;

    if (vti_py_lines_of(frame->f_code))
        vt_line_lost();
    trace_off(thread);
    deep_count++;
    install_or_remove();
    result = evaluate_next(thread, frame, is_throw);
    deep_count--;
    install_or_remove();
    if (was_traced)
        trace_on(thread);
    return result;
}

static PyObject *evaluate_some(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    struct vti_py_lines *lines = vti_py_lines_of(frame->f_code);

    if (vti_py_thread_is_new())
        vti_py_thread_meet();
    if (vti_py_unlikely(vti_py_lines_are_watching) &&
        vti_py_lines_meet(frame->f_code, frame->f_globals)) {
        demand--;
        install_or_remove();
        lines = vti_py_lines_of(frame->f_code);
    }
    if (vti_py_unlikely(vti_py_thread_is_deep()))
        return evaluate_deep(thread, frame, is_throw);
    if (lines && vti_py_lines_are_on && !makes_generator(lines, frame))
        return evaluate_profiled(thread, frame, is_throw, lines);
    if (own.held)
        return evaluate_called(thread, frame, is_throw);
    return evaluate_next(thread, frame, is_throw);
}

static PyObject *evaluate(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    PyObject *result;

    if (vti_py_likely(!vti_py_lines_have_callees || !own.held))
        return evaluate_some(thread, frame, is_throw);
    vti_py_callee_begin(frame);
    result = evaluate_some(thread, frame, is_throw);
    vti_py_callee_end(frame);
    return result;
}

/* A frame that another greenlet was in is innermost now; what was set for that one does not hold for this. */
void vti_py_lines_switched(void)
{
    PyThreadState *thread = PyThreadState_Get();
#if PY_VERSION_HEX >= 0x030b0000
    const vti_py_frame *frame = thread->cframe->current_frame;
#else
    const vti_py_frame *frame = thread->frame;
#endif
    bool is_profiled = vti_py_lines_are_on && frame && vti_py_lines_of(frame->f_code);

    hold(is_profiled);
    if (is_profiled)
        trace_on(thread);
    else
        trace_off(thread);
}

/* ---- switching on and off -------------------------------------------------------------------- */

int vti_py_lines_hook_start(void)
{
    vti_py_epoch++;
    return 0;
}

int vti_py_lines_hook_frames(void)
{
    demand += !is_always;
    is_always = true;
    install_or_remove();
    return 0;
}

int vti_py_lines_hook_watch(void)
{
    demand++;
    install_or_remove();
    return 0;
}

int vti_py_lines_hook_code(struct vti_py_lines *lines)
{
    return lines->is_generator ? vti_py_lines_hook_frames() : 0;
}

void vti_py_lines_hook_stop(void)
{
    demand -= is_always;
    is_always = false;
    install_or_remove();
}

#endif
