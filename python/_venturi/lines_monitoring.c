/*
 * lines_monitoring.c - the hook for lines of Python 3.12 and later: events of sys.monitoring that are set on the profiled code
 * objects alone, so that all others run as without us. Only exceptions are told of every function, and all calls if
 * what lines call is asked for.
 *
 * An event may be missing (3.13.0 does not tell the end of a generator that is closed): every event names its
 * frame, and the runtime puts the rest right. A tool id of its own: functions may be switched on and off beside it.
 */
#include "interpreter.h"

#if VTI_PY_HAS_MONITORING

#include "callback.h"
#include "generators.h"
#include "lines.h"
#include "lines_callees.h"
#include "lines_trace.h"
#include "threads.h"

#include <link.h>
#include <stddef.h>

static PyObject *disable; /* sys.monitoring.DISABLE */
static int tool = -1;
static long local_events, global_events, instruction_event, start_event;

/* ---- the thread state ------------------------------------------------------------------------- */

/* Where the interpreter keeps the thread state of this thread: asking for it takes two calls, one of them of the loader.
 * NULL: not looked for yet, or not found. */
static __thread PyThreadState *const *current __attribute__((tls_model("initial-exec")));
static bool is_hidden; /* it was not found once: nobody looks again */

struct search {
    const PyThreadState *thread;
    PyThreadState *const *found;
    size_t count;
};

/* Looks through the thread-local variables of the module that has the interpreter. */
static int look_through(struct dl_phdr_info *module, size_t size, void *data)
{
    ElfW(Addr) code = (ElfW(Addr))_PyThreadState_UncheckedGet - module->dlpi_addr;
    PyThreadState *const *words = module->dlpi_tls_data;
    struct search *search = data;
    size_t count = 0;
    bool is_it = false;

    (void)size;
    for (size_t i = 0; i < module->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &module->dlpi_phdr[i];

        is_it |= part->p_type == PT_LOAD && code - part->p_vaddr < part->p_memsz;
        if (part->p_type == PT_TLS && part->p_align >= sizeof *words)
            count = part->p_memsz / sizeof *words;
    }
    for (size_t i = 0; is_it && words && i < count; i++)
        if (words[i] == search->thread) {
            search->found = &words[i];
            search->count++;
        }
    return is_it;
}

VTI_PY_SLOW static const PyThreadState *ask_current(void)
{
    struct search search = {PyThreadState_Get(), NULL, 0};

    if (!is_hidden)
        dl_iterate_phdr(look_through, &search);
    if (search.count == 1) /* of several nobody knows which it is */
        current = search.found;
    is_hidden = !current;
    return search.thread;
}

/* ---- events ---------------------------------------------------------------------------------- */

static inline const vti_py_frame *running_frame(void)
{
    const PyThreadState *thread = vti_py_likely(current) ? *current : ask_current();

#if PY_VERSION_HEX >= 0x030d0000
    return thread->current_frame;
#else
    return thread->cframe->current_frame;
#endif
}

/* The mark of the instruction that a frame is at. */
static inline uint32_t mark_of(const struct vti_py_lines *lines, const vti_py_frame *frame,
                               PyObject *code)
{
#if PY_VERSION_HEX >= 0x030d0000
    const _Py_CODEUNIT *at = frame->instr_ptr;
#else
    const _Py_CODEUNIT *at = frame->prev_instr;
#endif

    return vti_py_lines_mark(lines, (size_t)(at - _PyCode_CODE((PyCodeObject *)code)));
}

static PyObject *on_line(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    const vti_py_frame *frame = running_frame();
    struct vti_py_lines *lines = vti_py_lines_of((PyCodeObject *)args[0]);

    (void)self, (void)count, (void)names;
    if (vti_py_likely(lines))
        vti_py_lines_reach(lines, frame, mark_of(lines, frame, args[0]));
    Py_RETURN_NONE;
}

/* Only at the few instructions that begin a statement without a line being told. */
static PyObject *on_instruction(PyObject *self, PyObject *const *args, size_t count,
                                PyObject *names)
{
    struct vti_py_lines *lines = vti_py_lines_of((PyCodeObject *)args[0]);
    const vti_py_frame *frame = running_frame();
    uint32_t mark = lines ? mark_of(lines, frame, args[0]) : 0;

    (void)self, (void)count, (void)names;
    if (!(mark & VTI_PY_MARK_EXTRA))
        return Py_NewRef(disable);
    vt_line_reach_in(&lines->lines, frame, (mark >> VTI_PY_MARK_SHIFT) - 1,
                     VT_LINE_STARTS | VT_LINE_UNTOLD);
    Py_RETURN_NONE;
}

static PyObject *on_start(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    struct vti_py_lines *lines = vti_py_lines_of((PyCodeObject *)args[0]);
    const vti_py_frame *frame = running_frame();
    PyObject *instead = NULL; /* never here */

    (void)self, (void)count, (void)names;
    if (vti_py_thread_is_new())
        vti_py_thread_meet();
    if (vti_py_unlikely(vti_py_lines_are_watching) &&
        vti_py_lines_meet((PyCodeObject *)args[0], frame->f_globals, &instead) &&
        vti_py_events_set(tool, global_events))
        return NULL;
    Py_XDECREF(instead);
    if (vti_py_unlikely(vti_py_lines_have_callees))
        vti_py_callee_begin(frame);
    if (lines)
        vt_lines_enter(&lines->lines, frame);
    Py_RETURN_NONE;
}

static PyObject *on_return(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    const vti_py_frame *frame = running_frame();

    (void)self, (void)count, (void)names;
    if (vti_py_lines_of((PyCodeObject *)args[0]))
        vt_lines_leave(frame);
    if (vti_py_unlikely(vti_py_lines_have_callees))
        vti_py_callee_end(frame);
    Py_RETURN_NONE;
}

static PyObject *on_yield(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    const vti_py_frame *frame = running_frame();

    (void)self, (void)count, (void)names;
    if (vti_py_lines_of((PyCodeObject *)args[0]))
        vti_py_lines_suspend(frame);
    if (vti_py_unlikely(vti_py_lines_have_callees))
        vti_py_callee_end(frame);
    Py_RETURN_NONE;
}

static PyObject *on_resume(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    struct vti_py_lines *lines = vti_py_lines_of((PyCodeObject *)args[0]);
    const vti_py_frame *frame = running_frame();

    (void)self, (void)count, (void)names;
    if (vti_py_unlikely(vti_py_lines_have_callees))
        vti_py_callee_begin(frame);
    if (lines)
        vti_py_lines_resume(lines, frame, mark_of(lines, frame, args[0]));
    Py_RETURN_NONE;
}

/* Told of every function. An exception thrown into a generator resumes it; one that has not begun, enters it. */
static PyObject *on_throw(PyObject *self, PyObject *const *args, size_t count, PyObject *names)
{
    struct vti_py_lines *lines = vti_py_lines_of((PyCodeObject *)args[0]);
    const vti_py_frame *frame = running_frame();

    (void)self, (void)count, (void)names;
    if (vti_py_unlikely(vti_py_lines_have_callees))
        vti_py_callee_begin(frame);
    if (lines && vti_py_generator_is_new(frame))
        vt_lines_enter(&lines->lines, frame);
    else if (lines)
        vti_py_lines_resume(lines, frame, mark_of(lines, frame, args[0]));
    Py_RETURN_NONE;
}

/* ---- switching on and off -------------------------------------------------------------------- */

enum { LINE, START, RESUMED, RETURN, YIELD, LOCAL_COUNT, INSTRUCTION = LOCAL_COUNT, UNWIND, THROW };

static const struct vti_py_event table[] = {
    [LINE] = {"LINE", on_line},           [START] = {"PY_START", on_start},
    [RESUMED] = {"PY_RESUME", on_resume}, [RETURN] = {"PY_RETURN", on_return},
    [YIELD] = {"PY_YIELD", on_yield},     [INSTRUCTION] = {"INSTRUCTION", on_instruction},
    [UNWIND] = {"PY_UNWIND", on_return},  [THROW] = {"PY_THROW", on_throw},
};

static int set_local(struct vti_py_lines *lines, long events)
{
    PyObject *monitoring = vti_py_monitoring();
    PyObject *done = monitoring ? PyObject_CallMethod(monitoring, "set_local_events", "iOl", tool,
                                                      lines->code, events)
                                : NULL;

    Py_XDECREF(done);
    return done ? 0 : -1;
}

int vti_py_lines_hook_code(struct vti_py_lines *lines)
{
    return set_local(lines, local_events | (lines->has_extra ? instruction_event : 0));
}

int vti_py_lines_hook_function(PyFunctionObject *function, const struct vti_py_lines *lines)
{
    (void)function, (void)lines;
    return 0;
}

bool vti_py_lines_sees_function(const PyFunctionObject *function)
{
    (void)function;
    return true;
}

/* Nothing is set for a thread here. */
void vti_py_lines_switched(void)
{
}

int vti_py_lines_hook_frames(void)
{
    return 0;
}

int vti_py_lines_hook_watch(void)
{
    return vti_py_events_set(tool, global_events | start_event);
}

int vti_py_lines_hook_start(void)
{
    PyObject *monitoring = vti_py_monitoring();
    long bits[sizeof table / sizeof *table];

    if (!monitoring)
        return -1;
    if (!disable)
        disable = PyObject_GetAttrString(monitoring, "DISABLE");
    if (!disable || vti_py_tool_claim(&tool, "venturi lines"))
        return -1;
    vti_py_epoch++;
    local_events = 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        bits[i] = vti_py_event_register(tool, &table[i], true);
        if (bits[i] < 0)
            goto failed;
        local_events |= i < LOCAL_COUNT ? bits[i] : 0;
    }
    start_event = bits[START];
    instruction_event = bits[INSTRUCTION];
    global_events = bits[UNWIND] | bits[THROW];
    if (vti_py_lines_have_callees)
        global_events |= local_events & ~bits[LINE];
    if (!vti_py_events_set(tool, global_events))
        return 0;
failed:
    vti_py_lines_hook_stop();
    return -1;
}

void vti_py_lines_hook_stop(void)
{
    PyObject *type, *value, *traceback;

    PyErr_Fetch(&type, &value, &traceback);
    for (struct vti_py_lines *at = vti_py_lines_all; tool >= 0 && at; at = at->next)
        if (at->code && set_local(at, 0))
            PyErr_Clear();
    if (tool >= 0) {
        vti_py_events_set(tool, 0);
        for (size_t i = 0; i < sizeof table / sizeof *table; i++)
            vti_py_event_register(tool, &table[i], false);
        vti_py_tool_free(&tool);
    }
    PyErr_Clear();
    PyErr_Restore(type, value, traceback);
}

#endif
