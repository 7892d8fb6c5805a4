/*
 * graph_names.c - see graph_names.h. Asked once for each task of a graph.
 */
#include "graph_names.h"

#include "graph_errors.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (unsigned char)c >= 0x80;
}

static bool is_hex(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
            return false;
    return true;
}

/* A word that belongs to the name: letters only, and no token of eight digits. */
static bool is_word(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        if (!is_letter(text[i]))
            return false;
    return len && !(len == 8 && is_hex(text, len));
}

static size_t word_len(const char *text, size_t len)
{
    const char *end = memchr(text, '-', len);

    return end ? (size_t)(end - text) : len;
}

/* "_(x)" and "('x-2', 1)" begin with what is no part of a name. */
static void strip(const char **text, size_t *len)
{
    const char *comma = memchr(*text, ',', *len);

    if (comma)
        *len = (size_t)(comma - *text);
    while (*len && strchr("_'()\"", **text))
        (*text)++, (*len)--;
    while (*len && strchr("_'()\"", (*text)[*len - 1]))
        (*len)--;
}

/* "<module.class object at 0x…>" is "class". */
static void class_only(const char **text, size_t *len)
{
    const char *space;

    while (*len && **text == '<')
        (*text)++, (*len)--;
    space = memchr(*text, ' ', *len);
    if (space)
        *len = (size_t)(space - *text);
    for (size_t i = *len; i > 0; i--) {
        if ((*text)[i - 1] == '.') {
            *text += i;
            *len -= i;
            break;
        }
    }
}

static const char *keep(const char *text, size_t len, char room[VTI_PY_NAME_MAX])
{
    if (len >= VTI_PY_NAME_MAX)
        len = VTI_PY_NAME_MAX - 1;
    memcpy(room, text, len);
    room[len] = '\0';
    return len ? room : NULL;
}

static const char *split(const char *text, size_t len, char room[VTI_PY_NAME_MAX])
{
    size_t used = word_len(text, len);
    const char *first = text;
    size_t first_len = used;
    size_t rest = used;

    if (!used)
        return NULL;
    if (!is_letter(*text)) {
        strip(&first, &first_len);
        if (first_len && *first == '<') {
            class_only(&first, &first_len);
            return keep(first, first_len, room);
        }
    }
    while (used < len) {
        size_t more = word_len(text + used + 1, len - used - 1);

        if (!is_word(text + used + 1, more))
            break;
        used += 1 + more;
    }
    if (used == 32 && is_hex(text, used))
        return keep("data", 4, room);
    if (first == text)
        return keep(text, used, room);
    snprintf(room, VTI_PY_NAME_MAX, "%.*s%.*s", (int)first_len, first, (int)(used - rest),
             text + rest);
    return *room ? room : NULL;
}

/* The words of a function's name; for a partial one of what it calls. */
static const char *function_name(PyObject *function)
{
    if (PyFunction_Check(function))
        return PyUnicode_AsUTF8(((PyFunctionObject *)function)->func_name);
    if (PyCFunction_Check(function))
        return ((PyCFunctionObject *)function)->m_ml->ml_name;
    if (PyMethod_Check(function))
        return function_name(PyMethod_GET_FUNCTION(function));
    if (PyType_Check(function))
        return vti_py_type_name((PyTypeObject *)function);
    return vti_py_type_name(Py_TYPE(function));
}

static const char *name_of_function(PyObject *function, char room[VTI_PY_NAME_MAX])
{
    const char *name = function ? function_name(function) : NULL;

    if (!name && PyErr_Occurred())
        PyErr_Clear();
    return name ? keep(name, strlen(name), room) : NULL;
}

const char *vti_py_name_of(PyObject *key, PyObject *function, char room[VTI_PY_NAME_MAX])
{
    bool is_tuple = PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key);
    PyObject *head = is_tuple ? PyTuple_GET_ITEM(key, 0) : key;
    const char *text = NULL;
    const char *name = NULL;
    Py_ssize_t len = 0;

    if (PyUnicode_Check(head)) {
        text = PyUnicode_AsUTF8AndSize(head, &len);
        if (!text)
            PyErr_Clear();
    } else if (PyBytes_Check(head)) {
        text = PyBytes_AS_STRING(head);
        len = PyBytes_GET_SIZE(head);
    }
    if (text && (is_tuple || memchr(text, '-', (size_t)len)))
        name = split(text, (size_t)len, room);
    if (!name)
        name = name_of_function(function, room);
    if (!name && text)
        name = split(text, (size_t)len, room);
    return name ? name : "Other";
}

const char *vti_py_task_name(PyObject *key, const struct vti_py_template *template,
                             char room[VTI_PY_NAME_MAX])
{
    return vti_py_name_of(key, template ? vti_py_template_function(template) : NULL, room);
}

PyObject *vti_py_key_text(PyObject *key)
{
    PyObject *text = PyUnicode_Check(key) ? Py_NewRef(key) : PyObject_Str(key);
    PyObject *bytes = text ? PyUnicode_AsEncodedString(text, "utf-8", "backslashreplace") : NULL;

    Py_XDECREF(text);
    return bytes;
}
