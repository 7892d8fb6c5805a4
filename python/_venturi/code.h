/*
 * code.h - what is known about a code object: its function's id, and whether it is recorded at all.
 *
 * It stands in the code object's own extra slot, so that a hook finds it with two loads: the generation
 * of the filter that decided, three flags, the id. A code object without any flag that was judged by
 * the current filter is the usual case, and one comparison tells it.
 */
#ifndef VENTURI_PY_CODE_H
#define VENTURI_PY_CODE_H

#include "interpreter.h"

#include <stdbool.h>
#include <stdint.h>

#define VTI_PY_CODE_ID 0x1fffffffu
#define VTI_PY_CODE_IGNORED 0x20000000u   /* by a filter, or because it is our own */
#define VTI_PY_CODE_SPECIAL 0x40000000u   /* the body of a module whose import we wait for */
#define VTI_PY_CODE_GENERATOR 0x80000000u /* set only where the hook has to tell entries apart */
#define VTI_PY_CODE_FLAGS_SHIFT 29
#define VTI_PY_CODE_GENERATION_SHIFT 32

/* As _PyCode_SetExtra keeps it. */
struct vti_py_extras {
    Py_ssize_t count;
    uintptr_t values[];
};

extern uintptr_t vti_py_code_fresh VTI_PY_HIDDEN; /* generation and flags of the usual case */
extern Py_ssize_t vti_py_code_slot VTI_PY_HIDDEN;

static inline uintptr_t vti_py_code_known(const PyCodeObject *code)
{
    const struct vti_py_extras *extras = code->co_extra;

    if (vti_py_unlikely(!extras || extras->count <= vti_py_code_slot))
        return 0;
    return extras->values[vti_py_code_slot];
}

static inline bool vti_py_code_is_usual(uintptr_t known)
{
    return known >> VTI_PY_CODE_FLAGS_SHIFT == vti_py_code_fresh;
}

/* Asks the interpreter for the slot, once. 0, or -1 with an exception. */
int vti_py_code_init(void);

/* From now on everything is judged anew. */
void vti_py_code_judge_again(void);

/*
 * Flags and id (as above, without the generation) of any code object, registering it if it is new. 0 while nobody
 * records. An exception that is set stays as it is. `frame` is about to run the code, or NULL.
 */
uint32_t vti_py_code_look(PyCodeObject *code, const vti_py_frame *frame);

/* The id of a code object, whatever the filter says of its calls; `qualname` is used if it has none yet. 0 while nobody
 * records. */
uint32_t vti_py_code_name(PyCodeObject *code, PyObject *qualname);

/* The id of a code object that is recorded whatever the filter says; 0 while nobody records. */
uint32_t vti_py_code_adopt(PyCodeObject *code);

#endif
