/*
 * lines_trace.c - the hook for lines of Python 3.9 to 3.11: a C trace function that is there only while a profiled
 * function itself runs.
 *
 * From when a profiled function is called (lines_entry.c) or a generator goes on (lines_generators.c) every frame passes by
 * here (PEP 523). That of the profiled function gets the trace function; for what it calls both are taken away again, so that
 * it runs at full speed, and put back afterwards. Where only the code object is known, and not the functions that have it,
 * the hook of frames stays. Where the C stack is too deep for it the trace function stays, and sees calls as well. One of
 * somebody else (coverage, a debugger) is called with every event and put back as it was.
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
    bool is_deep; /* the C stack must not be used any further: the trace function sees all frames */
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

/* ---- frames ---------------------------------------------------------------------------------- */

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

/* ---- calls ----------------------------------------------------------------------------------- */

/* The trace function is told of a call when its frame stands at the first instruction of all, or where it goes on. */
static inline bool is_resumed(const struct vti_py_lines *lines, const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    return lines->is_generator &&
           (own.is_deep ? _Py_OPARG(*frame->prev_instr) != 0 : !vti_py_generator_is_new(frame));
#else
    return lines->is_generator && frame->f_lasti >= 0;
#endif
}

static void begin(struct vti_py_lines *lines, const vti_py_frame *frame)
{
    if (is_resumed(lines, frame))
        vti_py_lines_resume(lines, frame, vti_py_lines_mark(lines, unit_of(frame)));
    else
        vt_lines_enter(&lines->lines, frame);
}

static void end(const struct vti_py_lines *lines, const vti_py_frame *frame)
{
    if (lines->is_generator && vti_py_generator_is_suspended(frame))
        vti_py_lines_suspend(frame);
    else
        vt_lines_leave(frame);
}

/* ---- the trace function ---------------------------------------------------------------------- */

VTI_PY_SLOW static void note_other(struct vti_py_lines *lines, PyFrameObject *object, int what)
{
    const vti_py_frame *frame = frame_of(object);
    uint32_t mark = what == PyTrace_OPCODE ? vti_py_lines_mark(lines, unit_of(frame)) : 0;

    if (mark & VTI_PY_MARK_EXTRA)
        vt_line_reach_in(&lines->lines, frame, (mark >> VTI_PY_MARK_SHIFT) - 1,
                         VT_LINE_STARTS | VT_LINE_UNTOLD);
    if (what == PyTrace_CALL && lines->has_extra)
        object->f_trace_opcodes = 1;
    if (what == PyTrace_CALL && own.is_deep)
        begin(lines, frame);
    if (what == PyTrace_RETURN && own.is_deep)
        end(lines, frame);
}

static inline void note(struct vti_py_lines *lines, PyFrameObject *object, int what)
{
    const vti_py_frame *frame = frame_of(object);

    if (vti_py_likely(what == PyTrace_LINE))
        vti_py_lines_reach(lines, frame, vti_py_lines_mark(lines, unit_of(frame)));
    else
        note_other(lines, object, what);
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

/* The same if nobody else traces: what is usual saves no registers. */
static int trace_alone(PyObject *with, PyFrameObject *object, int what, PyObject *argument)
{
    const vti_py_frame *frame = frame_of(object);
    struct vti_py_lines *lines = vti_py_lines_of(frame->f_code);

    if (vti_py_unlikely(!lines || what != PyTrace_LINE))
        return trace(with, object, what, argument);
    vti_py_lines_reach(lines, frame, vti_py_lines_mark(lines, unit_of(frame)));
    return 0;
}

static inline bool is_traced_by_us(const PyThreadState *thread)
{
    return thread->c_tracefunc == trace_alone || thread->c_tracefunc == trace;
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
    if (!is_traced_by_us(thread))
        own.chained = thread->c_tracefunc;
    set_tracer(thread, own.chained ? trace : trace_alone);
}

/* What was there comes back; what the program has set in between stays. */
static inline void trace_off(PyThreadState *thread)
{
    if (is_traced_by_us(thread))
        set_tracer(thread, own.chained);
}

static void dive(int step)
{
    own.is_deep = step > 0;
    deep_count += (unsigned)step;
    install_or_remove();
}

struct vti_py_lines_hold vti_py_lines_hold(void)
{
    PyThreadState *thread = PyThreadState_Get();
    bool is_deep = !own.is_deep && vti_py_unlikely(vti_py_thread_is_deep() || deep_count);
    struct vti_py_lines_hold now = {own.held, is_traced_by_us(thread), is_deep};

    if (is_deep) {
        dive(1);
        trace_on(thread);
    }
    hold(now.before + 1);
    return now;
}

/* What the interpreter has called on the way to the frame, or after it, leaves the trace function behind. */
void vti_py_lines_release(struct vti_py_lines_hold then)
{
    PyThreadState *thread = PyThreadState_Get();

    hold(then.before);
    if (then.is_deep)
        dive(-1);
    if (then.was_traced)
        trace_on(thread);
    else
        trace_off(thread);
}

/* ---- frames ---------------------------------------------------------------------------------- */

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

static PyObject *evaluate_profiled(PyThreadState *thread, vti_py_frame *frame, int is_throw,
                                   struct vti_py_lines *lines)
{
    struct vti_py_lines_hold hold = vti_py_lines_hold();
    PyObject *result;

    trace_on(thread);
    begin(lines, frame);
    result = evaluate_next(thread, frame, is_throw);
    end(lines, frame);
    vti_py_lines_release(hold);
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

/* Whatever is called from here on, without the hook. */
static PyObject *evaluate_deep(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    struct vti_py_lines_hold hold = vti_py_lines_hold();
    PyObject *result = evaluate_next(thread, frame, is_throw);

    vti_py_lines_release(hold);
    return result;
}

static PyObject *evaluate_known(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    struct vti_py_lines *lines = vti_py_lines_of(frame->f_code);

    if (vti_py_unlikely(vti_py_thread_is_deep()) && (lines || is_always))
        return evaluate_deep(thread, frame, is_throw);
    if (lines && vti_py_lines_are_on && !makes_generator(lines, frame))
        return evaluate_profiled(thread, frame, is_throw, lines);
    if (own.held)
        return evaluate_called(thread, frame, is_throw);
    return evaluate_next(thread, frame, is_throw);
}

/* The frame of the main program may go as it came, and another one run with its names. */
static PyObject *evaluate_watched(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    PyObject *locals = frame->f_locals ? frame->f_locals : frame->f_globals;
    PyObject *instead;
    PyObject *result;

    if (vti_py_lines_meet(frame->f_code, frame->f_globals, &instead)) {
        demand--;
        install_or_remove();
    }
    if (!instead)
        return evaluate_known(thread, frame, is_throw);
    result = PyEval_EvalCode(instead, frame->f_globals, locals);
    Py_DECREF(instead);
    return result;
}

static PyObject *evaluate_some(PyThreadState *thread, vti_py_frame *frame, int is_throw)
{
    if (vti_py_thread_is_new())
        vti_py_thread_meet();
    if (vti_py_unlikely(vti_py_lines_are_watching))
        return evaluate_watched(thread, frame, is_throw);
    return evaluate_known(thread, frame, is_throw);
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

bool vti_py_lines_see_frames(void)
{
    return is_always;
}

int vti_py_lines_hook_watch(void)
{
    demand++;
    install_or_remove();
    return 0;
}

int vti_py_lines_hook_code(struct vti_py_lines *lines)
{
    (void)lines;
    return 0;
}

void vti_py_lines_hook_stop(void)
{
    demand -= is_always;
    is_always = false;
    install_or_remove();
}

#endif
