/*
 * pairs.c - pairs of instructions that Python 3.12 runs as one (LOAD_FAST and LOAD_CONST, …).
 *
 * It joins them when a code object is made, parts them as soon as any tool wants any event of it, and leaves it at that,
 * which makes loops without any call up to 6 % slower. We join them again. The interpreter parts them by itself before
 * it puts an event of lines or instructions anywhere, so that none is ever passed by: all that is needed here is to join
 * nothing but two plain instructions. Which opcodes there are for pairs it shows us by a function that is never run.
 */
#include "pairs.h"

#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030d0000

#include "identity.h"

#include <stdbool.h>
#include <stdint.h>

enum kind { KIND_LOAD, KIND_CONSTANT, KIND_STORE, KINDS };

static uint8_t joined[KINDS][KINDS]; /* the opcode of both; 0: not run as one */

static enum kind kind_of(uint8_t opcode)
{
    switch (opcode) {
    case LOAD_FAST:
        return KIND_LOAD;
    case LOAD_CONST:
        return KIND_CONSTANT;
    case STORE_FAST:
        return KIND_STORE;
    default:
        return KINDS;
    }
}

/* The place of a pair's opcode in the table, by the two as they were compiled; NULL: no such pair. Caches are no
 * instructions, and zero in what was compiled. */
static uint8_t *place_of(const uint8_t *compiled)
{
    enum kind first = kind_of(compiled[0]);
    enum kind second = kind_of(compiled[sizeof(_Py_CODEUNIT)]);

    return first < KINDS && second < KINDS ? &joined[first][second] : NULL;
}

/* Looks at what the interpreter has joined (`learns`), or joins the same. */
static void go_through(PyCodeObject *code, bool learns)
{
    PyObject *copy = vti_py_identity_instructions(code);
    const uint8_t *compiled = copy ? (const uint8_t *)PyBytes_AS_STRING(copy) : NULL;
    _Py_CODEUNIT *units = _PyCode_CODE(code);

    for (Py_ssize_t i = 0; copy && i < Py_SIZE(code) - 1; i++) {
        const uint8_t *here = compiled + (size_t)i * sizeof *units;
        uint8_t *place = place_of(here);

        if (!place)
            continue;
        if (learns && units[i].op.code != here[0])
            *place = units[i].op.code;
        if (!learns && *place && units[i].op.code == here[0] &&
            units[i + 1].op.code == here[sizeof *units])
            units[i].op.code = *place;
    }
    if (!copy)
        PyErr_Clear(); /* no memory: it stays as it is */
    Py_XDECREF(copy);
}

int vti_py_pairs_learn(void)
{
    static const char source[] = "def pairs(a, b):\n"
                                 "    c = d = a\n"
                                 "    return a, b, 1, a\n";
    static bool is_done;
    PyCodeObject *code;

    if (is_done)
        return 0;
    code = (PyCodeObject *)Py_CompileString(source, "<venturi>", Py_file_input);
    if (!code)
        return -1;
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(code->co_consts); i++) {
        PyObject *constant = PyTuple_GET_ITEM(code->co_consts, i);

        if (PyCode_Check(constant))
            go_through((PyCodeObject *)constant, true);
    }
    Py_DECREF(code);
    is_done = true;
    return 0;
}

void vti_py_pairs_join(PyCodeObject *code)
{
    go_through(code, false);
}

void vti_py_pairs_join_running(void)
{
    PyThreadState *thread = PyInterpreterState_ThreadHead(PyInterpreterState_Get());

    for (; thread; thread = PyThreadState_Next(thread)) {
        const vti_py_frame *frame = thread->cframe->current_frame;

        for (; frame; frame = frame->previous)
            if (frame->owner != FRAME_OWNED_BY_CSTACK)
                vti_py_pairs_join(frame->f_code);
    }
}

#else

int vti_py_pairs_learn(void)
{
    return 0;
}

void vti_py_pairs_join(PyCodeObject *code)
{
    (void)code;
}

void vti_py_pairs_join_running(void)
{
}

#endif
