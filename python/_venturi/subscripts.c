/*
 * subscripts.c - Python 3.11.0 to 3.11.3: a subscript that has become fast calls __getitem__ without asking who evaluates frames.
 *
 * Which class has one cannot be known, and an instruction may become fast when it runs for the first time. So subscripts
 * stay as they were compiled, for good. The interpreter makes instructions adaptive some calls later, all those of a code object
 * at once: where there are subscripts we do that in its place, for all but them.
 */
#include "subscripts.h"

#if PY_VERSION_HEX >= 0x030b0000 && PY_VERSION_HEX < 0x030c0000

#include "identity.h"

#include <stdbool.h>
#include <stdint.h>

static bool are_needed(void)
{
    return Py_Version < 0x030b0400;
}

static int adaptive_form(int opcode)
{
    switch (opcode) {
    case BINARY_OP:
        return BINARY_OP_ADAPTIVE;
    case CALL:
        return CALL_ADAPTIVE;
    case COMPARE_OP:
        return COMPARE_OP_ADAPTIVE;
    case LOAD_ATTR:
        return LOAD_ATTR_ADAPTIVE;
    case LOAD_GLOBAL:
        return LOAD_GLOBAL_ADAPTIVE;
    case LOAD_METHOD:
        return LOAD_METHOD_ADAPTIVE;
    case PRECALL:
        return PRECALL_ADAPTIVE;
    case STORE_ATTR:
        return STORE_ATTR_ADAPTIVE;
    case STORE_SUBSCR:
        return STORE_SUBSCR_ADAPTIVE;
    case UNPACK_SEQUENCE:
        return UNPACK_SEQUENCE_ADAPTIVE;
    case JUMP_BACKWARD:
        return JUMP_BACKWARD_QUICK;
    case RESUME:
        return RESUME_QUICK;
    default:
        return opcode;
    }
}

/* Which instruction was compiled to a place. Caches are none, and zero there. */
static int compiled_at(PyObject *compiled, Py_ssize_t i)
{
    return (uint8_t)PyBytes_AS_STRING(compiled)[(size_t)i * sizeof(_Py_CODEUNIT)];
}

static bool has_subscripts(PyObject *compiled, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        if (compiled_at(compiled, i) == BINARY_SUBSCR)
            return true;
    return false;
}

/* What runs but once is not worth being made adaptive. */
static void pin_all(PyCodeObject *code, PyObject *compiled)
{
    bool is_worth_it = code->co_warmup && code->co_flags & CO_OPTIMIZED;

    for (Py_ssize_t i = 0; i < Py_SIZE(code); i++) {
        int opcode = compiled_at(compiled, i);

        if (opcode == BINARY_SUBSCR)
            _Py_SET_OPCODE(_PyCode_CODE(code)[i], opcode);
        else if (is_worth_it && adaptive_form(opcode) != opcode)
            _Py_SET_OPCODE(_PyCode_CODE(code)[i], adaptive_form(opcode));
    }
    code->co_warmup = 0; /* the interpreter takes it for done */
}

void vti_py_subscripts_pin(PyCodeObject *code)
{
    PyObject *compiled;

    if (!are_needed())
        return;
    compiled = vti_py_identity_instructions(code);
    if (!compiled)
        PyErr_Clear(); /* no memory: calls of __getitem__ may be missing */
    else if (has_subscripts(compiled, Py_SIZE(code)))
        pin_all(code, compiled);
    Py_XDECREF(compiled);
}

void vti_py_subscripts_pin_running(void)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());

    for (; are_needed() && thread; thread = PyThreadState_Next(thread)) {
        const vti_py_frame *frame = thread->cframe->current_frame;

        for (; frame; frame = frame->previous)
            vti_py_subscripts_pin(frame->f_code);
    }
}

#else

void vti_py_subscripts_pin(PyCodeObject *code)
{
    (void)code;
}

void vti_py_subscripts_pin_running(void)
{
}

#endif
