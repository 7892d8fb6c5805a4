/*
 * code.c - code objects get the ids of their functions, on their first call.
 *
 * Code objects with the same file, line, name and code are one function: a module that is loaded again, a function
 * that is made over and over. Where any of that differs they are two. Never runs Python code of the program.
 */
#include "code.h"

#include "filter.h"
#include "functions.h"
#include "greenlets.h"
#include "identity.h"
#include "names.h"
#include "pairs.h"
#include "subscripts.h"

#include <string.h>
#include <venturi/hook.h>

#define LISTS 16384

uintptr_t vti_py_code_fresh;
Py_ssize_t vti_py_code_slot = -1;

static uintptr_t generation; /* 0: nothing was judged yet, as in a slot that nobody set */
static uint32_t alike[LISTS];

int vti_py_code_init(void)
{
    if (vti_py_code_slot < 0)
        vti_py_code_slot = vti_py_extra_index(NULL);
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

static bool is_same(const struct vti_py_function *function, const struct vti_py_function *other)
{
    return function->identity == other->identity && function->line == other->line &&
           !PyUnicode_Compare(function->file, other->file) &&
           !PyUnicode_Compare(function->qualname, other->qualname);
}

/* Code may be the same in many places: they count too. */
static uint32_t *list_of(const struct vti_py_function *function)
{
    uint64_t key = function->identity;

    if (PyUnicode_CheckExact(function->file))
        key ^= (uint64_t)PyObject_Hash(function->file);
    return &alike[(key + function->line) % LISTS];
}

static uint32_t new_id(PyCodeObject *code, PyObject *qualname)
{
    struct vti_py_function function = {
        .file = code->co_filename,
        .name = code->co_name,
        .qualname = qualname,
        .identity = vti_py_identity(code),
        .line = (uint32_t)code->co_firstlineno,
        .language = VT_LANGUAGE_PYTHON,
    };
    uint32_t *list = list_of(&function);
    uint32_t id;

    for (id = *list; id; id = vti_py_function(id)->next_alike)
        if (is_same(vti_py_function(id), &function))
            return id;
    function.next_alike = *list;
    id = vti_py_function_add(&function);
    if (id > VTI_PY_CODE_ID)
        return 0;
    if (id && id != VT_FUNCTION_MORE)
        *list = id;
    return id;
}

static void keep(PyCodeObject *code, uintptr_t value)
{
    if (vti_py_extra_set((PyObject *)code, vti_py_code_slot, (void *)value))
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

uint32_t vti_py_code_name(PyCodeObject *code, PyObject *qualname)
{
    uintptr_t known = vti_py_code_known(code);
    uint32_t id = (uint32_t)known & VTI_PY_CODE_ID;

    if (id || !vt_ticks())
        return id;
    id = new_id(code, qualname);
    if (id)
        keep(code, known | id);
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
    vti_py_pairs_join(code);
    vti_py_subscripts_pin(code);
    if (found)
        keep(code, generation << VTI_PY_CODE_GENERATION_SHIFT | found);
    PyErr_Restore(type, value, traceback);
    return found;
}
