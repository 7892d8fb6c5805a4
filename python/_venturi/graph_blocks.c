/*
 * graph_blocks.c - see graph_blocks.h.
 *
 * Bytes come from other machines: whatever they are, an exception is the worst that happens. Tasks run without the interpreter's lock.
 */
#include "graph_blocks.h"

#include <stdlib.h>
#include <string.h>
#include <venturi/blocks.h>

static PyObject *take_bytes(void *bytes, size_t size)
{
    PyObject *made = PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size);

    free(bytes);
    return made;
}

static vt_graph *load(const Py_buffer *saved)
{
    const char *why = NULL;
    vt_graph *graph = vt_graph_load(saved->buf, (size_t)saved->len, &why);

    if (!graph)
        PyErr_Format(PyExc_ValueError, "no graph: %s", why ? why : "no memory");
    return graph;
}

/* ---- cutting ------------------------------------------------------------------------------------- */

static PyObject *keys_of(const vt_graph *graph, const uint32_t *nodes, size_t count)
{
    PyObject *keys = PyTuple_New((Py_ssize_t)count);

    for (size_t i = 0; keys && i < count; i++) {
        PyObject *key = PyUnicode_DecodeUTF8(vt_graph_key(graph, nodes[i]),
                                             (Py_ssize_t)strlen(vt_graph_key(graph, nodes[i])),
                                             "surrogateescape");

        if (!key)
            Py_CLEAR(keys);
        else
            PyTuple_SET_ITEM(keys, (Py_ssize_t)i, key);
    }
    return keys;
}

static PyObject *save_block(vt_graph *graph, vt_blocks *blocks, uint32_t number)
{
    struct vt_block known;
    vt_graph *block = NULL;
    void *bytes = NULL;
    size_t size = 0;
    PyObject *result = NULL, *saved = NULL, *inputs = NULL, *outputs = NULL;

    if (vt_blocks_get(blocks, number, &known) == 0)
        block = vt_blocks_graph(blocks, number);
    if (!block || vt_graph_save(block, &bytes, &size) != 0) {
        PyErr_Format(PyExc_ValueError, "block %u cannot be sent: %s", number,
                     vt_graph_error(block ? block : graph));
        goto out;
    }
    saved = take_bytes(bytes, size);
    inputs = keys_of(graph, known.inputs, known.input_count);
    outputs = keys_of(graph, known.outputs, known.output_count);
    if (saved && inputs && outputs)
        result = PyTuple_Pack(3, saved, inputs, outputs);
out:
    Py_XDECREF(saved);
    Py_XDECREF(inputs);
    Py_XDECREF(outputs);
    vt_graph_free(block);
    return result;
}

/* Numbers of keys; NULL with an exception. */
static uint32_t *find_wanted(const vt_graph *graph, PyObject *keys, size_t *count)
{
    uint32_t *wanted = PyMem_New(uint32_t, (size_t)PyTuple_GET_SIZE(keys) + 1);

    *count = (size_t)PyTuple_GET_SIZE(keys);
    if (!wanted) {
        PyErr_NoMemory();
        return NULL;
    }
    for (size_t i = 0; i < *count; i++) {
        PyObject *key = PyTuple_GET_ITEM(keys, (Py_ssize_t)i);
        const char *text = PyUnicode_Check(key) ? PyUnicode_AsUTF8(key) : NULL;

        wanted[i] = text ? vt_graph_find(graph, text) : VT_NO_TASK;
        if (wanted[i] == VT_NO_TASK) {
            PyErr_Clear();
            PyErr_Format(PyExc_KeyError, "the graph has no key %R", key);
            PyMem_Free(wanted);
            return NULL;
        }
    }
    return wanted;
}

PyObject *vti_py_graph_blocks(PyObject *module, PyObject *args)
{
    struct vt_blocks_options options = {.size = sizeof options};
    Py_buffer saved;
    PyObject *given, *keys = NULL, *result = NULL;
    vt_graph *graph = NULL;
    vt_blocks *blocks = NULL;
    uint32_t *wanted = NULL;
    size_t count;

    (void)module;
    if (!PyArg_ParseTuple(args, "y*Odd:graph_blocks", &saved, &given, &options.seconds,
                          &options.cost))
        return NULL;
    keys = PySequence_Tuple(given);
    graph = keys ? load(&saved) : NULL;
    wanted = graph ? find_wanted(graph, keys, &count) : NULL;
    if (!wanted)
        goto out;
    Py_BEGIN_ALLOW_THREADS blocks = vt_graph_blocks(graph, wanted, count, &options);
    Py_END_ALLOW_THREADS if (!blocks)
    {
        PyErr_SetString(PyExc_ValueError, vt_graph_error(graph));
        goto out;
    }
    result = PyList_New(0);
    for (uint32_t i = 0; result && i < vt_blocks_count(blocks); i++) {
        PyObject *block = save_block(graph, blocks, i);

        if (!block || PyList_Append(result, block))
            Py_CLEAR(result);
        Py_XDECREF(block);
    }
out:
    PyMem_Free(wanted);
    vt_blocks_free(blocks);
    vt_graph_free(graph);
    Py_XDECREF(keys);
    PyBuffer_Release(&saved);
    return result;
}

/* ---- values -------------------------------------------------------------------------------------- */

static void destroy(struct vt_datum *value)
{
    if (value->destroy)
        value->destroy(value->as.data, value->with);
}

PyObject *vti_py_graph_value(PyObject *module, PyObject *saved)
{
    struct vt_datum value;
    PyObject *result = NULL;
    Py_buffer bytes;

    (void)module;
    if (PyObject_GetBuffer(saved, &bytes, PyBUF_SIMPLE))
        return NULL;
    if (vt_datum_load(&value, bytes.buf, (size_t)bytes.len) != 0) {
        PyErr_SetString(PyExc_ValueError, "these bytes are no value");
    } else {
        if (value.type == VT_DATUM_INT)
            result = PyLong_FromLongLong(value.as.number);
        else if (value.type == VT_DATUM_DOUBLE)
            result = PyFloat_FromDouble(value.as.real);
        else if (value.type == VT_DATUM_BYTES)
            result = PyBytes_FromStringAndSize(value.as.data, (Py_ssize_t)value.size);
        else
            result = Py_NewRef(Py_None);
        destroy(&value);
    }
    PyBuffer_Release(&bytes);
    return result;
}
