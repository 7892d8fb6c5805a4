/*
 * lines_generators.c - how profiled generators and coroutines are noticed when they go on, up to Python 3.11: by the object
 * itself, which becomes one of a subtype when their function has made it. Those that nobody profiles are not touched.
 *
 * While it goes on it is of its own type again: what the interpreter does with that type alone stays as it is. Asynchronous
 * generators go on through objects of two more types, which they make.
 */
#include "interpreter.h"

#if !VTI_PY_HAS_MONITORING

#include <opcode.h>

#include "lines.h"
#include "lines_trace.h"
#include "threads.h"

enum {
    GENERATOR,
    COROUTINE,
    COROUTINE_AWAITED,
    ASYNC_GENERATOR,
    ASYNC_SEND,
    ASYNC_THROW,
    KIND_COUNT
};

static struct kind {
    PyTypeObject type; /* first: it is found by its type */
    PyAsyncMethods async;
} kinds[KIND_COUNT];

static bool is_ours(PyObject *object)
{
    uintptr_t type = (uintptr_t)Py_TYPE(object);

    return type >= (uintptr_t)kinds && type < (uintptr_t)(kinds + KIND_COUNT);
}

/* A method that a program has kept may be called while the object goes on, or after its end: it is no longer ours then. */
static PyTypeObject *base_of(PyObject *object)
{
    return is_ours(object) ? Py_TYPE(object)->tp_base : Py_TYPE(object);
}

/* What an exact type of the interpreter's becomes. */
static PyObject *adopt(PyObject *made)
{
    for (int i = 0; made && i < KIND_COUNT; i++)
        if (kinds[i].type.tp_base == Py_TYPE(made)) {
            Py_SET_TYPE(made, &kinds[i].type);
            break;
        }
    return made;
}

/* ---- while it goes on ------------------------------------------------------------------------ */

struct visit {
    PyObject *objects[2]; /* the object, and the generator that it belongs to; owned, NULL: none */
    PyTypeObject *types[2];
    struct vti_py_lines_hold hold;
    bool is_held;
};

/* The objects that coroutines and asynchronous generators make begin with it. */
static PyObject *generator_of(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    bool has_one = type == &kinds[COROUTINE_AWAITED].type || type == &kinds[ASYNC_SEND].type ||
                   type == &kinds[ASYNC_THROW].type;
    PyObject *generator = has_one ? *(PyObject **)(self + 1) : NULL;

    return generator && is_ours(generator) ? generator : NULL;
}

static void begin(struct visit *visit, PyObject *self)
{
    visit->objects[0] = is_ours(self) ? self : NULL;
    visit->objects[1] = generator_of(self);
    for (int i = 0; i < 2 && visit->objects[i]; i++) {
        Py_INCREF(visit->objects[i]);
        visit->types[i] = Py_TYPE(visit->objects[i]);
        Py_SET_TYPE(visit->objects[i], visit->types[i]->tp_base);
    }
    visit->is_held = visit->objects[0] && vti_py_lines_are_on;
    if (visit->is_held)
        visit->hold = vti_py_lines_hold();
}

static void end(struct visit *visit)
{
    if (visit->is_held)
        vti_py_lines_release(visit->hold);
    for (int i = 0; i < 2 && visit->objects[i]; i++) {
        Py_SET_TYPE(visit->objects[i], visit->types[i]);
        Py_DECREF(visit->objects[i]);
    }
}

/* A method of its own type. */
static PyObject *call(PyObject *self, const char *name, PyObject *const *args, Py_ssize_t count)
{
    struct visit visit;
    PyObject *method, *result;

    begin(&visit, self);
    method = PyObject_GetAttrString(self, name);
    result = method ? PyObject_Vectorcall(method, args, (size_t)count, NULL) : NULL;
    Py_XDECREF(method);
    end(&visit);
    return adopt(result);
}

static PyObject *next(PyObject *self)
{
    PyTypeObject *base = base_of(self);
    PyObject *none = Py_None;
    struct visit visit;
    PyObject *result;

    if (!base->tp_iternext) /* coroutines */
        return call(self, "send", &none, 1);
    begin(&visit, self);
    result = base->tp_iternext(self);
    end(&visit);
    return result;
}

#if PY_VERSION_HEX >= 0x030a0000
static PySendResult send_quickly(PyObject *self, PyObject *value, PyObject **result)
{
    PyTypeObject *base = base_of(self);
    PySendResult how;
    struct visit visit;

    begin(&visit, self);
    how = base->tp_as_async->am_send(self, value, result);
    end(&visit);
    return how;
}
#endif

static PyObject *next_later(PyObject *self)
{
    PyTypeObject *base = base_of(self);
    struct visit visit;
    PyObject *result;

    begin(&visit, self);
    result = base->tp_as_async->am_anext(self);
    end(&visit);
    return adopt(result);
}

/* ---- awaiting -------------------------------------------------------------------------------- */

/* The interpreter awaits what is exactly a coroutine without any object in between, which cr_await would show. */
static PyObject *await(PyObject *self)
{
    PyObject *other = PyObject_GetAttrString(self, "cr_await");
    bool is_awaited = other && other != Py_None;

    Py_XDECREF(other);
    if (is_awaited)
        PyErr_SetString(PyExc_RuntimeError, "coroutine is being awaited already");
    return other && !is_awaited ? Py_NewRef(self) : NULL;
}

/* Generators that types.coroutine() has made can be awaited. */
static PyObject *await_generator(PyObject *self)
{
    const PyCodeObject *code = (PyCodeObject *)((PyGenObject *)self)->gi_code;

    if (code->co_flags & CO_ITERABLE_COROUTINE)
        return Py_NewRef(self);
    PyErr_Format(PyExc_TypeError, "object %.100s can't be used in 'await' expression",
                 Py_TYPE(self)->tp_name);
    return NULL;
}

/* Whether the interpreter is at `yield from`. */
static bool is_delegation(const PyFrameObject *frame, const PyCodeObject *code)
{
#if PY_VERSION_HEX >= 0x030b0000
    (void)code;
    return _Py_OPCODE(*frame->f_frame->prev_instr) == GET_YIELD_FROM_ITER;
#elif PY_VERSION_HEX >= 0x030a0000
    return PyBytes_AS_STRING(code->co_code)[frame->f_lasti * 2] == GET_YIELD_FROM_ITER;
#else
    return PyBytes_AS_STRING(code->co_code)[frame->f_lasti] == GET_YIELD_FROM_ITER;
#endif
}

/* Only `yield from` may ask a coroutine for this, in another one. */
static PyObject *iterate_coroutine(PyObject *self)
{
    PyFrameObject *frame = PyThreadState_GetFrame(PyThreadState_Get());
    PyCodeObject *code = frame ? PyFrame_GetCode(frame) : NULL;
    bool is_there = code && is_delegation(frame, code);
    bool is_allowed = is_there && code->co_flags & (CO_COROUTINE | CO_ITERABLE_COROUTINE);

    Py_XDECREF(code);
    Py_XDECREF(frame);
    if (is_allowed)
        return Py_NewRef(self);
    PyErr_SetString(PyExc_TypeError,
                    is_there ? "cannot 'yield from' a coroutine object in a non-coroutine generator"
                             : "'coroutine' object is not iterable");
    return NULL;
}

/* ---- its end --------------------------------------------------------------------------------- */

/* As the interpreter has it, which would do so for its own type: the event loop closes it later. */
static bool is_left_to_loop(PyObject *self)
{
    PyAsyncGenObject *generator = (PyAsyncGenObject *)self;
    PyObject *type, *value, *traceback;
    PyObject *finalizer, *done;

    if (Py_TYPE(self) != &kinds[ASYNC_GENERATOR].type || generator->ag_closed)
        return false;
#if PY_VERSION_HEX >= 0x030b0000
    finalizer = generator->ag_frame_state < FRAME_COMPLETED ? generator->ag_origin_or_finalizer
                                                            : NULL;
#else
    finalizer = generator->ag_frame ? generator->ag_finalizer : NULL;
#endif
    if (!finalizer)
        return false;
    PyErr_Fetch(&type, &value, &traceback);
    done = PyObject_CallFunctionObjArgs(finalizer, self, NULL);
    if (!done)
        PyErr_WriteUnraisable(self);
    Py_XDECREF(done);
    PyErr_Restore(type, value, traceback);
    return true;
}

static void finalize(PyObject *self)
{
    struct visit visit;

    if (is_left_to_loop(self))
        return;
    begin(&visit, self);
    Py_TYPE(self)->tp_finalize(self);
    visit.types[0] = Py_TYPE(self); /* it will not go on */
    end(&visit);
}

static void destroy(PyObject *self)
{
    PyTypeObject *base = base_of(self);
    struct vti_py_lines_hold hold = vti_py_lines_hold();

    if (!base->tp_finalize || PyObject_GC_IsFinalized(self))
        Py_SET_TYPE(self, base); /* it keeps some for use again */
    base->tp_dealloc(self);
    vti_py_lines_release(hold);
}

/* ---- the types ------------------------------------------------------------------------------- */

static PyObject *own_type(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef((PyObject *)Py_TYPE(self)->tp_base);
}

static PyGetSetDef attributes[] = {{"__class__", own_type, NULL, NULL, NULL},
                                   {NULL, NULL, NULL, NULL, NULL}};

void vti_py_type_derive(PyTypeObject *type, PyTypeObject *base)
{
    *type = *base;
    type->ob_base.ob_base.ob_refcnt = 1;
    type->tp_flags &= ~(Py_TPFLAGS_READY | Py_TPFLAGS_READYING | Py_TPFLAGS_VALID_VERSION_TAG);
    type->tp_base = base;
    type->tp_members = NULL;
    type->tp_getset = attributes;
    type->tp_dict = type->tp_bases = type->tp_mro = NULL;
    type->tp_cache = type->tp_subclasses = type->tp_weaklist = NULL;
    type->tp_version_tag = 0;
}

#define METHOD(name)                                                                               \
    static PyObject *on_##name(PyObject *self, PyObject *const *args, Py_ssize_t count)            \
    {                                                                                              \
        return call(self, #name, args, count);                                                     \
    }
METHOD(send)
METHOD(throw)
METHOD(close)
METHOD(asend)
METHOD(athrow)
METHOD(aclose)

static PyObject *on_await(PyObject *self, PyObject *unused)
{
    (void)unused;
    return adopt(base_of(self)->tp_as_async->am_await(self));
}

#define ENTRY(name)                                                                                \
    {                                                                                              \
#name, (PyCFunction)(void (*)(void))on_##name, METH_FASTCALL, NULL                         \
    }
static PyMethodDef methods[] = {ENTRY(send), ENTRY(throw), ENTRY(close), {NULL, NULL, 0, NULL}};
static PyMethodDef coroutine_methods[] = {ENTRY(send),
                                          ENTRY(throw),
                                          ENTRY(close),
                                          {"__await__", on_await, METH_NOARGS | METH_COEXIST, NULL},
                                          {NULL, NULL, 0, NULL}};
static PyMethodDef async_methods[] = {ENTRY(asend),
                                      ENTRY(athrow),
                                      ENTRY(aclose),
                                      {NULL, NULL, 0, NULL}};

/* What the interpreter alone asks for, and no program by its name: set when the type is ready. */
static void hide_slots(struct kind *kind, const PyTypeObject *base)
{
    if (base == &PyGen_Type)
        kind->async.am_await = await_generator;
    if (base == &PyCoro_Type) {
        kind->async.am_await = await;
        kind->type.tp_iternext = next;
        kind->type.tp_iter = iterate_coroutine;
    }
}

static PyMethodDef *methods_for(const PyTypeObject *base)
{
    if (base == &PyAsyncGen_Type)
        return async_methods;
    return base == &PyCoro_Type ? coroutine_methods : methods;
}

static int make_kind(struct kind *kind, PyTypeObject *base)
{
    PyTypeObject *type = &kind->type;

    vti_py_type_derive(type, base);
    type->tp_methods = methods_for(base);
    type->tp_dealloc = destroy;
    type->tp_finalize = base->tp_finalize ? finalize : NULL;
    type->tp_iternext = base->tp_iternext ? next : NULL;
    type->tp_as_async = &kind->async;
    if (base->tp_as_async)
        kind->async = *base->tp_as_async;
    if (kind->async.am_anext)
        kind->async.am_anext = next_later;
#if PY_VERSION_HEX >= 0x030a0000
    if (kind->async.am_send)
        kind->async.am_send = send_quickly;
#endif
    if (PyType_Ready(type))
        return -1;
    hide_slots(kind, base);
    return 0;
}

int vti_py_lines_generators_init(void)
{
    static PyTypeObject *const bases[KIND_COUNT] = {
        &PyGen_Type,      &PyCoro_Type,           &_PyCoroWrapper_Type,
        &PyAsyncGen_Type, &_PyAsyncGenASend_Type, &_PyAsyncGenAThrow_Type};

    if (kinds[0].type.tp_base)
        return 0;
    for (int i = 0; i < KIND_COUNT; i++)
        if (make_kind(&kinds[i], bases[i]))
            return -1;
    return 0;
}

PyObject *vti_py_lines_generator_adopt(PyObject *made)
{
    return adopt(made);
}

#endif
