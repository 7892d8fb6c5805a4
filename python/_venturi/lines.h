/*
 * lines.h - functions whose lines are profiled, and the hook that sees them: lines_monitoring.c from Python 3.12 on,
 * lines_trace.c before. What is known of a code object stands in an extra slot of its own.
 */
#ifndef VENTURI_PY_LINES_H
#define VENTURI_PY_LINES_H

#include "code.h"
#include "interpreter.h"

#include <stdbool.h>
#include <stdint.h>
#include <venturi/line.h>

/* A mark is (row + 1) << 2 and these; 0: no line. */
#define VTI_PY_MARK_START 1u /* an event of a line begins a statement here */
#define VTI_PY_MARK_EXTRA                                                                          \
    2u /* a statement begins whenever this runs, whether a line is told or not */
#define VTI_PY_MARK_SHIFT 2

/* One code object. Stays for good: when the code object is gone, an equal one takes it over. */
struct vti_py_lines {
    struct vt_lines lines;
    PyCodeObject *code;        /* borrowed; NULL: gone */
    struct vti_py_lines *next; /* in the list of all */
    uint32_t *marks;           /* of each code unit; owned */
    uint32_t unit_count;
    bool has_extra;
    bool is_generator; /* or coroutine: its frames are suspended */
    bool is_told;      /* every function that is made of it will be known */
};

extern Py_ssize_t vti_py_lines_slot VTI_PY_HIDDEN;
extern struct vti_py_lines *vti_py_lines_all VTI_PY_HIDDEN;
extern bool vti_py_lines_are_on VTI_PY_HIDDEN;

/* NULL: the lines of this code object are not profiled. */
static inline struct vti_py_lines *vti_py_lines_of(const PyCodeObject *code)
{
    const struct vti_py_extras *extras = code->co_extra;

    if (vti_py_unlikely(!extras || extras->count <= vti_py_lines_slot))
        return NULL;
    return (struct vti_py_lines *)extras->values[vti_py_lines_slot];
}

static inline uint32_t vti_py_lines_mark(const struct vti_py_lines *lines, size_t unit)
{
    return vti_py_likely(unit < lines->unit_count) ? lines->marks[unit] : 0;
}

/* A line is reached where the code has this mark. */
static inline void vti_py_lines_reach(struct vti_py_lines *lines, const void *frame, uint32_t mark)
{
    if (vti_py_likely(mark))
        vt_line_reach_in(&lines->lines, frame, (mark >> VTI_PY_MARK_SHIFT) - 1,
                         mark & VTI_PY_MARK_START);
}

/* A generator or coroutine is suspended in `frame`, and goes on where the code has this mark. */
void vti_py_lines_suspend(const void *frame);
void vti_py_lines_resume(struct vti_py_lines *lines, const void *frame, uint32_t mark);

/* ---- for the module; -1, NULL: with an exception ------------------------------------------------ */

int vti_py_lines_init(void);

/* A function, or a code object if the functions that have it are not known. Rows and marks are copied. */
int vti_py_lines_register(PyObject *object, PyObject *qualname, const struct vti_py_lines *given);

/* Whether the lines of a function are profiled already; if so, calls of this function object are seen. */
PyObject *vti_py_lines_know(PyObject *module, PyObject *object);

/* (function or code, qualname, rows, marks, has_extra, last_line, is_told), as venturi/_statements.py finds them. */
PyObject *vti_py_lines_add(PyObject *module, PyObject *args);

/* (whether what lines call is asked for too), once; and the end of it. */
PyObject *vti_py_lines_start(PyObject *module, PyObject *args);
PyObject *vti_py_lines_stop(PyObject *module, PyObject *unused);

/* Of a list of objects those functions whose code is profiled but whose calls are not seen: how many, by name. */
PyObject *vti_py_lines_unseen(PyObject *module, PyObject *objects);

/* Has a function called with code and globals of the main program, just before that begins. */
PyObject *vti_py_lines_watch(PyObject *module, PyObject *function);

extern bool vti_py_lines_are_watching VTI_PY_HIDDEN;

/* Asked of every frame that begins while somebody watches; whether it was the main program. `*instead`, owned: code that is
 * to run in its place; NULL: none. */
bool vti_py_lines_meet(PyCodeObject *code, PyObject *globals, PyObject **instead);

/* ---- the hook --------------------------------------------------------------------------------- */

int vti_py_lines_hook_start(void);
void vti_py_lines_hook_stop(void);

/* A code object is profiled from now on; calls of a function object are to be seen. */
int vti_py_lines_hook_code(struct vti_py_lines *lines);
int vti_py_lines_hook_function(PyFunctionObject *function, const struct vti_py_lines *lines);
bool vti_py_lines_sees_function(const PyFunctionObject *function);

/* Functions are not known for every code object: all frames are to be seen. Also until the main program begins. */
int vti_py_lines_hook_frames(void);
int vti_py_lines_hook_watch(void);

#endif
