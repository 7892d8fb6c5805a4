/*
 * identity.c - by what two code objects are the same function: what their code does, as a number.
 *
 * hash() would call the methods of whatever a program has put among the constants, and takes some numbers that
 * differ for the same one. Objects that a compiler does not make count by their address. Never runs Python code
 * of the program.
 */
#include "identity.h"

#include <string.h>

#define DEPTH_MAX 32 /* of constants within constants; what lies deeper counts as equal */

static uint64_t mix(uint64_t hash, uint64_t word)
{
    hash = (hash ^ word) * 0x9e3779b97f4a7c15u;
    return hash ^ hash >> 29;
}

static uint64_t mix_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const char *from = bytes;
    uint64_t word;

    hash = mix(hash, count);
    for (; count >= sizeof word; from += sizeof word, count -= sizeof word) {
        memcpy(&word, from, sizeof word);
        hash = mix(hash, word);
    }
    word = 0;
    memcpy(&word, from, count);
    return mix(hash, word);
}

static uint64_t mix_text(uint64_t hash, PyObject *text)
{
    int kind = PyUnicode_KIND(text);

    return mix_bytes(mix(hash, (uint64_t)kind), PyUnicode_DATA(text),
                     (size_t)PyUnicode_GET_LENGTH(text) * (size_t)kind);
}

static uint64_t mix_code(uint64_t hash, PyCodeObject *code, int depth);
static uint64_t mix_object(uint64_t hash, PyObject *object, int depth);

static uint64_t mix_tuple(uint64_t hash, PyObject *tuple, int depth)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(tuple); i++)
        hash = mix_object(hash, PyTuple_GET_ITEM(tuple, i), depth);
    return mix(hash, (uint64_t)PyTuple_GET_SIZE(tuple));
}

/* In any order; the set has kept the hashes of its elements. */
static uint64_t mix_set(uint64_t hash, PyObject *object)
{
    const PySetObject *set = (const PySetObject *)object;
    uint64_t sum = 0;

    for (Py_ssize_t i = 0; i <= set->mask; i++)
        if (set->table[i].key)
            sum += mix(1, (uint64_t)set->table[i].hash);
    return mix(mix(hash, sum), (uint64_t)set->used);
}

static uint64_t mix_number(uint64_t hash, PyObject *number)
{
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);

    hash = mix(hash, (uint64_t)overflow);
    return mix(hash, overflow ? (uint64_t)PyObject_Hash(number) : (uint64_t)value);
}

static uint64_t mix_object(uint64_t hash, PyObject *object, int depth)
{
    const PyTypeObject *type = Py_TYPE(object);

    hash = mix(hash, (uintptr_t)type);
    if (!depth)
        return hash;
    if (type == &PyUnicode_Type)
        return mix_text(hash, object);
    if (type == &PyLong_Type)
        return mix_number(hash, object);
    if (type == &PyTuple_Type)
        return mix_tuple(hash, object, depth - 1);
    if (type == &PyCode_Type)
        return mix_code(hash, (PyCodeObject *)object, depth - 1);
    if (type == &PyBytes_Type)
        return mix_bytes(hash, PyBytes_AS_STRING(object), (size_t)PyBytes_GET_SIZE(object));
    if (type == &PyFloat_Type)
        return mix_bytes(hash, &((PyFloatObject *)object)->ob_fval, sizeof(double));
    if (type == &PyComplex_Type)
        return mix_bytes(hash, &((PyComplexObject *)object)->cval, sizeof(Py_complex));
    if (type == &PyFrozenSet_Type)
        return mix_set(hash, object);
    return mix(hash, (uintptr_t)object);
}

/* From 3.11 on the interpreter makes a copy for who asks; it need not stay. */
PyObject *vti_py_identity_instructions(PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030c0000
    bool was_kept = code->_co_cached && code->_co_cached->_co_code;
    PyObject *copy = PyCode_GetCode(code);

    if (!was_kept && code->_co_cached)
        Py_CLEAR(code->_co_cached->_co_code);
#elif PY_VERSION_HEX >= 0x030b0000
    bool was_kept = code->_co_code != NULL;
    PyObject *copy = PyCode_GetCode(code);

    if (!was_kept)
        Py_CLEAR(code->_co_code);
#else
    PyObject *copy = Py_NewRef(code->co_code);
#endif

    return copy;
}

static uint64_t mix_instructions(uint64_t hash, PyCodeObject *code)
{
    PyObject *copy = vti_py_identity_instructions(code);

    if (copy)
        hash = mix_object(hash, copy, 1);
    Py_XDECREF(copy);
    return hash;
}

static uint64_t mix_code(uint64_t hash, PyCodeObject *code, int depth)
{
    hash = mix(hash, (uint64_t)code->co_flags);
    hash = mix(hash, (uint64_t)code->co_argcount << 32 | (uint64_t)code->co_kwonlyargcount);
    hash = mix(hash, (uint64_t)code->co_posonlyargcount);
    hash = mix_instructions(hash, code);
    hash = mix_object(hash, code->co_consts, depth + 1);
    hash = mix_object(hash, code->co_names, depth + 1);
#if PY_VERSION_HEX >= 0x030b0000
    hash = mix_object(hash, code->co_localsplusnames, depth + 1);
    hash = mix_object(hash, code->co_localspluskinds, depth + 1);
    hash = mix_object(hash, code->co_exceptiontable, depth + 1);
    return mix_object(hash, code->co_linetable, depth + 1);
#else
    hash = mix_object(hash, code->co_varnames, depth + 1);
    hash = mix_object(hash, code->co_freevars, depth + 1);
    hash = mix_object(hash, code->co_cellvars, depth + 1);
#if PY_VERSION_HEX >= 0x030a0000
    return mix_object(hash, code->co_linetable, depth + 1);
#else
    return mix_object(hash, code->co_lnotab, depth + 1);
#endif
#endif
}

uint64_t vti_py_identity(PyCodeObject *code)
{
    return mix_code(0, code, DEPTH_MAX);
}
