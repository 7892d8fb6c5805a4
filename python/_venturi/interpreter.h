/*
 * interpreter.h - what differs from one CPython to the next, in one place: frames, code objects, the
 * names of functions that moved. Everything of _venturi includes this instead of Python.h.
 */
#ifndef VENTURI_PY_INTERPRETER_H
#define VENTURI_PY_INTERPRETER_H

#define PY_SSIZE_T_CLEAN
#define Py_BUILD_CORE_MODULE 1
#include <Python.h>
#include <frameobject.h>
#include <internal/pycore_context.h>
#if PY_VERSION_HEX >= 0x030b0000
#include <internal/pycore_frame.h>
#include <opcode.h>
#endif

#if PY_VERSION_HEX < 0x03090000 || PY_VERSION_HEX >= 0x030e0000
#error "Python 3.9 to 3.13"
#endif
#ifdef Py_GIL_DISABLED
#error "the tables of functions are kept together by the interpreter lock"
#endif

#define VTI_PY_HAS_MONITORING (PY_VERSION_HEX >= 0x030c0000)

#if PY_VERSION_HEX >= 0x030b0000
typedef _PyInterpreterFrame vti_py_frame;
#else
typedef PyFrameObject vti_py_frame;
#endif

#if PY_VERSION_HEX >= 0x030c0000
#define vti_py_extra_index PyUnstable_Eval_RequestCodeExtraIndex
#define vti_py_extra_set PyUnstable_Code_SetExtra
#else
#define vti_py_extra_index _PyEval_RequestCodeExtraIndex
#define vti_py_extra_set _PyCode_SetExtra
#endif

#if PY_VERSION_HEX < 0x030a0000
static inline PyObject *vti_py_new_ref(PyObject *object)
{
    Py_INCREF(object);
    return object;
}
#define Py_NewRef vti_py_new_ref
#endif

#define vti_py_likely(x) __builtin_expect(!!(x), 1)
#define vti_py_unlikely(x) __builtin_expect(!!(x), 0)

/* Said where a variable is declared, not only where it is defined: one instruction less for each access. */
#define VTI_PY_HIDDEN __attribute__((visibility("hidden")))

/* Slow twins stay out of line: merged into the fast path they would make it save more registers. */
#define VTI_PY_SLOW __attribute__((noinline, cold))

#endif
