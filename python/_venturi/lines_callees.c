/*
 * lines_callees.c - how long the functions take that a profiled function calls, line by line.
 *
 * A stack for each thread of the calls that were made by profiled functions themselves. A call whose end nobody has
 * told is dropped when an outer one ends, and is not counted.
 */
#include "lines_callees.h"

#include "code.h"
#include "lines.h"

#include <venturi/hook.h>

struct callee {
    const vti_py_frame *frame;
    const vti_py_frame *caller;
    uint64_t begin; /* ticks */
    uint32_t function;
};

static __thread struct {
    struct callee *calls; /* owned by the thread, and never given back */
    size_t count, room;
} own __attribute__((tls_model("initial-exec")));

bool vti_py_lines_have_callees;

static const vti_py_frame *caller_of(const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030c0000
    const vti_py_frame *caller = frame->previous;

    while (caller && caller->owner == FRAME_OWNED_BY_CSTACK)
        caller = caller->previous;
    return caller;
#elif PY_VERSION_HEX >= 0x030b0000
    (void)frame; /* it is linked when it is evaluated, which is next */
    return _PyThreadState_UncheckedGet()->cframe->current_frame;
#else
    return frame->f_back;
#endif
}

static const PyCodeObject *code_of(const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030d0000
    return (const PyCodeObject *)frame->f_executable;
#else
    return frame->f_code;
#endif
}

/* On 3.11 the frame of a call that makes a generator passes by; that is no call of its function. */
static bool makes_generator(const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000
    return frame->owner != FRAME_OWNED_BY_GENERATOR &&
           frame->f_code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR);
#else
    (void)frame;
    return false;
#endif
}

static bool has_room(void)
{
    size_t room = own.room ? 2 * own.room : 64;
    struct callee *grown;

    if (own.count < own.room)
        return true;
    grown = PyMem_RawRealloc(own.calls, room * sizeof *grown);
    if (!grown)
        return false;
    own.calls = grown;
    own.room = room;
    return true;
}

void vti_py_callee_begin(const vti_py_frame *frame)
{
    const vti_py_frame *caller = caller_of(frame);
    uint32_t found;

    if (!caller || !vti_py_lines_of(code_of(caller)) || makes_generator(frame) || !has_room())
        return;
    found = vti_py_code_look((PyCodeObject *)(uintptr_t)code_of(frame), frame);
    if (found & VTI_PY_CODE_IGNORED || !(found & VTI_PY_CODE_ID))
        return;
    if (own.count && own.calls[own.count - 1].frame == frame)
        own.count--;
    own.calls[own.count++] = (struct callee){frame, caller, vt_ticks(), found & VTI_PY_CODE_ID};
}

void vti_py_callee_end(const vti_py_frame *frame)
{
    size_t at = own.count;

    while (at && own.calls[at - 1].frame != frame)
        at--;
    if (!at)
        return;
    own.count = at - 1;
    vt_line_callee(own.calls[own.count].caller, own.calls[own.count].function,
                   vt_ticks() - own.calls[own.count].begin);
}
