/*
 * functions.c - the functions that have an id, and what they are called: to name them in a snapshot, and to hand
 * ids on. Grows with the number of distinct functions; ids are dense, so that it is an array.
 */
#include "functions.h"

#include <venturi/hook.h>

static struct vti_py_function *functions;
static size_t room;

struct vti_py_function *vti_py_function(uint32_t id)
{
    return id < room && functions[id].language ? &functions[id] : NULL;
}

static int grow(uint32_t id)
{
    size_t wanted = room ? room : 1024;
    struct vti_py_function *grown;

    while (wanted <= id)
        wanted *= 2;
    if (wanted == room)
        return 0;
    grown = PyMem_RawRealloc(functions, wanted * sizeof *functions);
    if (!grown)
        return -1;
    memset(grown + room, 0, (wanted - room) * sizeof *grown);
    functions = grown;
    room = wanted;
    return 0;
}

/* Text for the recording; what UTF-8 has no form for is written out. New reference, NULL without memory. */
static PyObject *bytes_of(PyObject *text)
{
    PyObject *bytes = PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace");

    if (!bytes)
        PyErr_Clear();
    return bytes;
}

static uint32_t ask_for_id(const struct vti_py_function *function)
{
    PyObject *file = bytes_of(function->file);
    PyObject *name = bytes_of(function->name);
    PyObject *qualname = bytes_of(function->qualname);
    uint32_t id = 0;

    if (file && name && qualname) {
        const struct vt_function asked = {
            .name = PyBytes_AS_STRING(qualname),
            .function = PyBytes_AS_STRING(name),
            .file = PyBytes_AS_STRING(file),
            .line = function->line,
            .language = function->language,
        };

        id = vt_function_id(&asked);
    }
    Py_XDECREF(qualname);
    Py_XDECREF(name);
    Py_XDECREF(file);
    return id;
}

uint32_t vti_py_function_add(const struct vti_py_function *function)
{
    uint32_t id = ask_for_id(function);

    if (!id || grow(id))
        return 0;
    if (functions[id].language)
        return id; /* "more sites": the first of them stands for all */
    functions[id] = *function;
    Py_INCREF(function->file);
    Py_INCREF(function->name);
    Py_INCREF(function->qualname);
    return id;
}
