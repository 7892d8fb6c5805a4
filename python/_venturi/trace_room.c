/*
 * trace_room.c - calls that go through a trace point count twice for Python 3.12 and 3.13: as calls, and as calls through C, of which they allow few.
 *
 * What such a call takes of the second count is given back for as long as it lasts, while the thread's stack has room for all that this count
 * would still allow and more. Otherwise a recursive function would fail for having a decorator.
 */
#include "trace.h"

#include <pthread.h>

#if PY_VERSION_HEX >= 0x030c0000 && PY_VERSION_HEX < 0x030e0000

enum { UNITS = 2, LOW = 1000, UNIT_BYTES = 1024, SPARE_BYTES = 512 << 10 };

/* Of this thread's stack; high is 0 until it is known. */
static __thread struct {
    uintptr_t low, high;
} stack __attribute__((tls_model("initial-exec")));

VTI_PY_SLOW static void find_stack(void)
{
    pthread_attr_t attr;
    void *low = NULL;
    size_t size = 0;

    stack.high = 1;
    if (pthread_getattr_np(pthread_self(), &attr))
        return;
    if (!pthread_attr_getstack(&attr, &low, &size)) {
        stack.low = (uintptr_t)low;
        stack.high = (uintptr_t)low + size;
    }
    pthread_attr_destroy(&attr);
}

static bool has_room(const PyThreadState *thread)
{
    uintptr_t here = (uintptr_t)__builtin_frame_address(0);
    size_t needed = SPARE_BYTES + (size_t)UNIT_BYTES * (size_t)thread->c_recursion_remaining;

    if (!stack.high)
        find_stack();
    return here > stack.low && here < stack.high && here - stack.low > needed;
}

VTI_PY_SLOW static PyObject *call_deep(PyThreadState *thread, PyObject *function,
                                       PyObject *const *args, size_t flags, PyObject *names)
{
    int given = thread->c_recursion_remaining > 0 && has_room(thread) ? UNITS : 0;
    PyObject *result;

    thread->c_recursion_remaining += given;
    result = PyObject_Vectorcall(function, args, flags, names);
    thread->c_recursion_remaining -= given;
    return result;
}

PyObject *vti_py_trace_call(PyObject *function, PyObject *const *args, size_t flags,
                            PyObject *names)
{
    PyThreadState *thread = PyThreadState_Get();

    if (vti_py_unlikely(thread->c_recursion_remaining < LOW))
        return call_deep(thread, function, args, flags, names);
    return PyObject_Vectorcall(function, args, flags, names);
}

#else

PyObject *vti_py_trace_call(PyObject *function, PyObject *const *args, size_t flags,
                            PyObject *names)
{
    return PyObject_Vectorcall(function, args, flags, names);
}

#endif
