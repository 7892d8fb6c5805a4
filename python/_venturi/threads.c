/*
 * threads.c - a thread is met for the first time: how much stack it has, what it is called, whether it has greenlets.
 *
 * Never runs Python code of the program.
 */
#include "threads.h"

#include "greenlets.h"

#include <pthread.h>
#include <unistd.h>
#include <venturi/hook.h>

#define LAST_BYTES 65536
#define BOTTOM_BYTES 16384u
#define NAME_TRIES 64

__thread struct vti_py_thread vti_py_thread __attribute__((tls_model("initial-exec")));
uint32_t vti_py_epoch = 1;

/*
 * How much of a stack frames of ours may lie on. 3.11 would not use the C stack at all for calls between Python
 * functions, and does not below the floor; the rest is there for C code. On 3.9 and 3.10 our frame is 32 bytes beside the
 * interpreter's 400: a thread loses 2 % of its depth, but for the main one, whose stack can be made
 * longer (deep.c).
 */
static size_t share_of(size_t bytes, bool is_main)
{
    return is_main || PY_VERSION_HEX < 0x030b0000 ? bytes / 4 : bytes / 16;
}

static void find_floor(struct vti_py_thread *thread)
{
    pthread_attr_t attributes;
    void *low = NULL;
    size_t bytes = 0;

    thread->is_main = getpid() == gettid();
    thread->floor = UINTPTR_MAX; /* unknown: it is not used at all */
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    pthread_attr_getstack(&attributes, &low, &bytes);
    pthread_attr_destroy(&attributes);
    thread->floor = (uintptr_t)low + bytes - share_of(bytes, thread->is_main);
    thread->last_floor = (uintptr_t)low + LAST_BYTES;
    thread->bottom = (uintptr_t)low + (bytes / 8 < BOTTOM_BYTES ? bytes / 8 : BOTTOM_BYTES);
}

/* What stands in the dictionary of an object itself: asking for the attribute could run code of the program. Borrowed;
 * NULL: nothing. */
static PyObject *own_item(PyObject *object, const char *name)
{
    PyObject **dict = object ? _PyObject_GetDictPtr(object) : NULL;

    return dict && *dict && PyDict_Check(*dict) ? PyDict_GetItemString(*dict, name) : NULL;
}

/* The name of the running thread as threading knows it, if it does by now. */
static bool pass_name_on(void)
{
    PyObject *threading = PyDict_GetItemString(PyImport_GetModuleDict(), "threading");
    PyObject *active = own_item(threading, "_active");
    PyObject *ident = PyLong_FromUnsignedLong(PyThread_get_thread_ident());
    PyObject *thread = active && ident && PyDict_Check(active) ? PyDict_GetItem(active, ident)
                                                               : NULL;
    PyObject *name = own_item(thread, "_name");
    const char *text = name && PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : NULL;

    if (text)
        vt_thread_name(text);
    PyErr_Clear();
    Py_XDECREF(ident);
    return text != NULL;
}

/* A thread gets its place in the list of threads some calls after its first. */
static bool is_named(struct vti_py_thread *thread)
{
    if (!thread->has_name && getpid() == gettid()) {
        vt_thread_name("MainThread");
        thread->has_name = true;
    }
    if (!thread->has_name)
        thread->has_name = pass_name_on();
    return thread->has_name || ++thread->name_tries >= NAME_TRIES;
}

/* The one thread of a forked child is a new one to the runtime. */
static void look_again(void)
{
    vti_py_thread.has_name = false;
    vti_py_epoch++;
}

void vti_py_thread_meet(void)
{
    static bool knows_forks;
    PyObject *type, *value, *traceback;

    if (!knows_forks)
        knows_forks = !pthread_atfork(NULL, NULL, look_again);
    if (vti_py_thread.is_meeting)
        return;
    vti_py_thread.is_meeting = true;
    PyErr_Fetch(&type, &value, &traceback);
    if (!VTI_PY_HAS_MONITORING && !vti_py_thread.floor)
        find_floor(&vti_py_thread);
    vti_py_greenlets_follow();
    if (is_named(&vti_py_thread))
        vti_py_thread.epoch = vti_py_epoch;
    PyErr_Restore(type, value, traceback);
    vti_py_thread.is_meeting = false;
}
