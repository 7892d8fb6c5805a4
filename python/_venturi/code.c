/*
 * code.c - code objects get the ids of their functions, on their first call.
 *
 * Two code objects are two functions, also if file, line and name are the same. Only a code object that is gone
 * hands its id on to an equal one: a program that makes the same function over and over would else fill the
 * table of functions. Never runs Python code of the program.
 */
#include "code.h"

#include "filter.h"
#include "functions.h"
#include "greenlets.h"
#include "names.h"

#include <string.h>
#include <venturi/hook.h>

#define DEAD_LISTS 4096

uintptr_t vti_py_code_fresh;
Py_ssize_t vti_py_code_slot = -1;

static uintptr_t generation; /* 0: nothing was judged yet, as in a slot that nobody set */
static uint32_t dead[DEAD_LISTS];

static void on_code_gone(void *value)
{
    uint32_t id = (uint32_t)(uintptr_t)value & VTI_PY_CODE_ID;
    struct vti_py_function *function = id ? vti_py_function(id) : NULL;
    uint32_t *list;

    if (!function)
        return;
    list = &dead[function->hash % DEAD_LISTS];
    function->next_dead = *list;
    *list = id;
}

int vti_py_code_init(void)
{
    if (vti_py_code_slot < 0)
        vti_py_code_slot = vti_py_extra_index(on_code_gone);
    if (vti_py_code_slot < 0) {
        PyErr_SetString(PyExc_RuntimeError, "no place left in code objects (co_extra)");
        return -1;
    }
    return 0;
}

void vti_py_code_judge_again(void)
{
    generation++;
    vti_py_code_fresh = generation << (VTI_PY_CODE_GENERATION_SHIFT - VTI_PY_CODE_FLAGS_SHIFT);
}

static bool is_same(const struct vti_py_function *function, uint64_t hash, PyCodeObject *code,
                    PyObject *qualname)
{
    return function->hash == hash && function->line == (uint32_t)code->co_firstlineno &&
           !PyUnicode_Compare(function->file, code->co_filename) &&
           !PyUnicode_Compare(function->qualname, qualname);
}

/* The id of a code object that was equal to this one and is gone; 0: there is none. */
static uint32_t inherit(uint64_t hash, PyCodeObject *code, PyObject *qualname)
{
    for (uint32_t *link = &dead[hash % DEAD_LISTS]; *link;) {
        struct vti_py_function *function = vti_py_function(*link);
        uint32_t id = *link;

        if (is_same(function, hash, code, qualname)) {
            *link = function->next_dead;
            return id;
        }
        link = &function->next_dead;
    }
    return 0;
}

static uint32_t new_id(PyCodeObject *code, PyObject *qualname)
{
    Py_hash_t hash = PyObject_Hash((PyObject *)code);
    struct vti_py_function function = {
        .file = code->co_filename,
        .name = code->co_name,
        .qualname = qualname,
        .hash = (uint64_t)hash,
        .line = (uint32_t)code->co_firstlineno,
        .language = VT_LANGUAGE_PYTHON,
    };
    uint32_t id = inherit((uint64_t)hash, code, qualname);

    if (!id)
        id = vti_py_function_add(&function);
    return id <= VTI_PY_CODE_ID ? id : 0;
}

/* Writes to the slot itself where there is one: the interpreter would call on_code_gone() for what
 * was there before. */
static void keep(PyCodeObject *code, uintptr_t value)
{
    struct vti_py_extras *extras = code->co_extra;

    if (extras && extras->count > vti_py_code_slot)
        extras->values[vti_py_code_slot] = value;
    else if (vti_py_extra_set((PyObject *)code, vti_py_code_slot, (void *)value))
        PyErr_Clear(); /* no memory: it is judged again at its next call */
}

static uint32_t judge(PyCodeObject *code, PyObject *qualname, uint32_t id)
{
    uint32_t flags = 0;

    if (vti_py_filter_ignores(code->co_filename, qualname))
        return VTI_PY_CODE_IGNORED | id;
    if (vti_py_greenlets_comes_with(code))
        flags |= VTI_PY_CODE_SPECIAL;
#if !VTI_PY_HAS_MONITORING
    if (code->co_flags & (CO_GENERATOR | CO_COROUTINE | CO_ASYNC_GENERATOR))
        flags |= VTI_PY_CODE_GENERATOR;
#endif
    if (!id)
        id = new_id(code, qualname);
    return id ? flags | id : 0;
}

uint32_t vti_py_code_adopt(PyCodeObject *code)
{
    uint32_t id = (uint32_t)vti_py_code_known(code) & VTI_PY_CODE_ID;

    if (!id)
        id = new_id(code, code->co_name);
    if (id)
        keep(code, generation << VTI_PY_CODE_GENERATION_SHIFT | id);
    return id;
}

uint32_t vti_py_code_look(PyCodeObject *code, const vti_py_frame *frame)
{
    uintptr_t known = vti_py_code_known(code);
    uint32_t found = (uint32_t)known;
    PyObject *type, *value, *traceback;
    PyObject *qualname;

    if (known >> VTI_PY_CODE_GENERATION_SHIFT == generation && found)
        return found;
    if (!vt_ticks())
        return 0;
    PyErr_Fetch(&type, &value, &traceback);
    qualname = vti_py_name_of_code(code, frame);
    found = judge(code, qualname, found & VTI_PY_CODE_ID);
    Py_DECREF(qualname);
    if (found)
        keep(code, generation << VTI_PY_CODE_GENERATION_SHIFT | found);
    PyErr_Restore(type, value, traceback);
    return found;
}
