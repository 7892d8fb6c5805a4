/*
 * filter.c - which functions are recorded: those that match a glob, those of the program rather than
 * of its libraries, and never our own.
 *
 * A glob is compared with the qualified name, with the file, and with the file from any of its folders on:
 * app/m*.py finds /home/me/app/main.py.
 */
#include "filter.h"

#include <fnmatch.h>
#include <string.h>

#define GLOBS_MAX 256

struct globs {
    PyObject *texts; /* a tuple of bytes; NULL: none */
};

static struct globs included, excluded;
static bool is_only_mine;
static char *library; /* folder of the standard library, with a slash; NULL: unknown */
static char *own;     /* folder of this module … */
static char *package; /* … and that of the package, which may lie elsewhere; NULL: not imported */

static PyObject *globs_of(PyObject *sequence)
{
    PyObject *texts;
    Py_ssize_t count;

    if (sequence && PyUnicode_Check(sequence)) {
        PyErr_SetString(PyExc_TypeError, "globs come as a sequence of texts");
        return NULL;
    }
    texts = sequence ? PySequence_List(sequence) : PyList_New(0);
    count = texts ? PyList_GET_SIZE(texts) : 0;
    if (count > GLOBS_MAX) {
        PyErr_Format(PyExc_ValueError, "%zd globs, %d is the limit", count, GLOBS_MAX);
        Py_CLEAR(texts);
    }
    for (Py_ssize_t i = 0; texts && i < count; i++) {
        PyObject *bytes = PyUnicode_AsUTF8String(PyList_GET_ITEM(texts, i));

        if (!bytes)
            Py_CLEAR(texts);
        else
            PyList_SetItem(texts, i, bytes);
    }
    return texts;
}

/* The folder of a module's file, with a slash, in memory of its own; NULL if it has none. */
static char *folder_of(PyObject *module)
{
    PyObject *file = module ? PyObject_GetAttrString(module, "__file__") : NULL;
    const char *text = file && PyUnicode_Check(file) ? PyUnicode_AsUTF8(file) : NULL;
    const char *slash = text ? strrchr(text, '/') : NULL;
    char *folder = slash ? strndup(text, (size_t)(slash - text) + 1) : NULL;

    PyErr_Clear();
    Py_XDECREF(file);
    return folder;
}

int vti_py_filter_set(bool only_mine, PyObject *include, PyObject *exclude)
{
    PyObject *in = globs_of(include);
    PyObject *out = in ? globs_of(exclude) : NULL;

    if (!out) {
        Py_XDECREF(in);
        return -1;
    }
    Py_XSETREF(included.texts, in);
    Py_XSETREF(excluded.texts, out);
    is_only_mine = only_mine;
    return 0;
}

void vti_py_filter_init(PyObject *module)
{
    own = folder_of(module);
    library = folder_of(PyDict_GetItemString(PyImport_GetModuleDict(), "os"));
}

static bool matches_path(const char *glob, const char *file)
{
    for (const char *at = file; at; at = strchr(at, '/'), at = at ? at + 1 : NULL)
        if (!fnmatch(glob, at, 0))
            return true;
    return false;
}

static bool matches(const struct globs *globs, const char *file, const char *name)
{
    Py_ssize_t count = globs->texts ? PyList_GET_SIZE(globs->texts) : 0;

    for (Py_ssize_t i = 0; i < count; i++) {
        const char *glob = PyBytes_AS_STRING(PyList_GET_ITEM(globs->texts, i));

        if (!fnmatch(glob, name, 0) || matches_path(glob, file))
            return true;
    }
    return false;
}

static bool is_below(const char *file, const char *folder)
{
    return folder && !strncmp(file, folder, strlen(folder));
}

static bool is_of_a_library(const char *file)
{
    return is_below(file, library) || strstr(file, "/site-packages/") ||
           strstr(file, "/dist-packages/") || is_below(file, "<frozen ");
}

/* A program's own module may have the package's name: only ours has a list of where its names are. */
static char *find_package(void)
{
    PyObject *module = PyDict_GetItemString(PyImport_GetModuleDict(), "venturi");

    return module && PyModule_Check(module) &&
                   PyDict_GetItemString(PyModule_GetDict(module), "_HOMES")
               ? folder_of(module)
               : NULL;
}

static bool is_own(const char *file)
{
    if (!package)
        package = find_package();
    return is_below(file, own) || is_below(file, package);
}

bool vti_py_filter_ignores(PyObject *file_text, PyObject *qualname)
{
    const char *file = PyUnicode_AsUTF8(file_text);
    const char *name = file ? PyUnicode_AsUTF8(qualname) : NULL;
    bool has_include = included.texts && PyList_GET_SIZE(included.texts);

    PyErr_Clear();
    if (!file || !name)
        return has_include; /* no form in UTF-8: no glob matches it */
    return is_own(file) || matches(&excluded, file, name) ||
           (has_include && !matches(&included, file, name)) ||
           (is_only_mine && is_of_a_library(file));
}
