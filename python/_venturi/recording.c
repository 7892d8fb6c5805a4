/*
 * recording.c - recordings that a program starts itself (session.h), and the texts of its source files.
 */
#include "recording.h"

#include <stdbool.h>
#include <sys/mman.h>
#include <unistd.h>
#include <venturi/line.h>
#include <venturi/session.h>

static PyObject *done(int code)
{
    if (!code)
        Py_RETURN_NONE;
    PyErr_SetString(PyExc_OSError, vt_session_error());
    return NULL;
}

PyObject *vti_py_session_start(PyObject *module, PyObject *path)
{
    PyObject *bytes = NULL;
    struct vt_session_options options = {.size = sizeof options, .force = 1};
    int code;

    (void)module;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    options.output = PyBytes_AS_STRING(bytes);
    code = vt_session_start(&options);
    Py_DECREF(bytes);
    return done(code);
}

PyObject *vti_py_session_spool(PyObject *module, PyObject *path)
{
    PyObject *bytes = NULL;
    struct vt_session_options options = {.size = sizeof options};
    int code;

    (void)module;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    options.spool = PyBytes_AS_STRING(bytes);
    code = vt_session_start(&options);
    Py_DECREF(bytes);
    return done(code);
}

PyObject *vti_py_session_stop(PyObject *module, PyObject *unused)
{
    int code;

    (void)module, (void)unused;
    Py_BEGIN_ALLOW_THREADS;
    code = vt_session_stop();
    Py_END_ALLOW_THREADS;
    return done(code);
}

PyObject *vti_py_session_flush(PyObject *module, PyObject *unused)
{
    int code;

    (void)module, (void)unused;
    Py_BEGIN_ALLOW_THREADS;
    code = vt_session_flush();
    Py_END_ALLOW_THREADS;
    return done(code);
}

static bool write_all(int fd, const char *bytes, size_t size)
{
    while (size) {
        ssize_t count = write(fd, bytes, size);

        if (count <= 0)
            return false;
        bytes += count;
        size -= (size_t)count;
    }
    return true;
}

PyObject *vti_py_session_give(PyObject *module, PyObject *args)
{
    const char *file, *bytes;
    Py_ssize_t size;
    bool is_taken;
    int fd;

    (void)module;
    if (!PyArg_ParseTuple(args, "yy#:session_give", &file, &bytes, &size))
        return NULL;
    fd = memfd_create("venturi-source", MFD_CLOEXEC);
    is_taken = fd >= 0 && write_all(fd, bytes, (size_t)size) &&
               !vt_session_give(VT_GIFT_SOURCE, file, fd);
    if (fd >= 0)
        close(fd);
    return PyBool_FromLong(is_taken);
}
