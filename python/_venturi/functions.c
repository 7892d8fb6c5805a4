/*
 * functions.c - the functions that have an id, and what they are called: to name them in a snapshot, and to hand
 * ids on. Grows with the number of distinct functions; ids are dense, so that it is an array.
 */
#include "functions.h"

#include "collect/symtab.h"

#include <stdlib.h>
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

    if (id == VT_FUNCTION_MORE)
        return id; /* and has no texts */
    if (!id || grow(id))
        return 0;
    functions[id] = *function;
    Py_INCREF(function->file);
    Py_INCREF(function->name);
    Py_INCREF(function->qualname);
    return id;
}

/* "module+0xoffset", which is all that the hooks of C know, becomes the symbol there. */
static const char *symbol_of(const struct vt_function *function, char *symbol)
{
    struct vti_module module = {0};
    const char *offset = strrchr(function->name, '+');

    if (!offset || strlen(function->file) >= sizeof module.path)
        return function->name;
    memcpy(module.path, function->file, strlen(function->file) + 1);
    return vti_symtab_name(&module, strtoul(offset + 1, NULL, 16), symbol, VTI_SYMBOL_BYTES)
               ? symbol
               : function->name;
}

static PyObject *text_of(const char *bytes)
{
    return PyUnicode_DecodeUTF8(bytes, (Py_ssize_t)strlen(bytes), "replace");
}

struct vti_py_function *vti_py_function_meet(uint32_t id)
{
    char texts[3 * VTI_MODULE_PATH];
    char symbol[VTI_SYMBOL_BYTES];
    struct vt_function found;
    struct vti_py_function function = {0};

    if (!vt_function_read(id, &found, texts, sizeof texts) || grow(id))
        return NULL;
    function.file = text_of(found.file);
    function.name = text_of(symbol_of(&found, symbol));
    function.qualname = function.name ? Py_NewRef(function.name) : NULL;
    function.line = found.line;
    function.language = found.language ? found.language : VT_LANGUAGE_C;
    if (!function.file || !function.name) {
        Py_XDECREF(function.file);
        Py_XDECREF(function.name);
        Py_XDECREF(function.qualname);
        PyErr_Clear();
        return NULL;
    }
    functions[id] = function;
    return &functions[id];
}
