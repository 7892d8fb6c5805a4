/*
 * resources.c - CPU and memory of this process and of all below it, read by a thread that needs no interpreter.
 *
 * For profilers that are used without a recording: there the drainer reads the same from outside. The thread takes all
 * signals off itself and never touches a Python object. A child that was forked meanwhile has no thread, and is told nothing.
 */
#include "resources.h"

#include "watch/family.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define SECOND_NS 1000000000u
#define LEAST_SECONDS 0.001
#define MOST_SECONDS 86400.0
#define READINGS_MOST (1u << 24) /* what is read after so many is not kept */

struct reading {
    int64_t realtime_ns;
    uint64_t memory_bytes;
    double cpu; /* 1.0: one CPU since the reading before */
};

struct resources {
    PyObject_HEAD pthread_t thread;
    pthread_mutex_t lock; /* of all below */
    pthread_cond_t is_over;
    bool is_running, is_stopping;
    pid_t pid; /* that started the thread */
    uint64_t interval_ns;
    struct vti_proc_source source;
    struct vti_family family; /* of the thread alone, but for its beginning and end */
    struct vti_machine machine;
    uint64_t last_ns, last_cpu_ns;
    struct reading *readings;
    size_t count, room;
};

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

static void keep(struct resources *self, const struct reading *reading)
{
    if (self->count == self->room) {
        size_t room = self->room ? self->room * 2 : 256;
        struct reading *grown = room <= READINGS_MOST
                                    ? realloc(self->readings, room * sizeof *grown)
                                    : NULL;

        if (!grown)
            return;
        self->readings = grown;
        self->room = room;
    }
    self->readings[self->count++] = *reading;
}

static void take_reading(struct resources *self)
{
    uint64_t now_ns = clock_ns(CLOCK_MONOTONIC);
    struct reading reading = {.realtime_ns = (int64_t)clock_ns(CLOCK_REALTIME)};
    struct vti_family_total total;

    vti_machine_take(&self->machine, false);
    vti_family_round(&self->family, self->machine.last_pid, now_ns);
    vti_family_total(&self->family, &total);
    reading.memory_bytes = total.memory_bytes;
    if (self->last_ns && now_ns > self->last_ns && total.cpu.all_ns > self->last_cpu_ns)
        reading.cpu = (double)(total.cpu.all_ns - self->last_cpu_ns) /
                      (double)(now_ns - self->last_ns);
    self->last_ns = now_ns;
    self->last_cpu_ns = total.cpu.all_ns;
    pthread_mutex_lock(&self->lock);
    keep(self, &reading);
    pthread_mutex_unlock(&self->lock);
}

/* Whether it is to go on. */
static bool wait_until(struct resources *self, uint64_t due_ns)
{
    struct timespec due = {(time_t)(due_ns / SECOND_NS), (long)(due_ns % SECOND_NS)};
    bool is_stopping;

    pthread_mutex_lock(&self->lock);
    while (!self->is_stopping &&
           pthread_cond_timedwait(&self->is_over, &self->lock, &due) != ETIMEDOUT)
        ;
    is_stopping = self->is_stopping;
    pthread_mutex_unlock(&self->lock);
    return !is_stopping;
}

static void *read_until_stopped(void *argument)
{
    struct resources *self = argument;
    uint64_t due_ns = clock_ns(CLOCK_MONOTONIC);
    uint64_t now_ns;
    unsigned rounds = 0;

    do {
        take_reading(self);
        rounds++;
        now_ns = clock_ns(CLOCK_MONOTONIC);
        due_ns += self->interval_ns;
        if (due_ns < now_ns)
            due_ns = now_ns + self->interval_ns;
    } while (wait_until(self, due_ns));
    /* Short times have a beginning and an end; what is much shorter than the others says nothing of the CPU. */
    if (rounds == 1 || clock_ns(CLOCK_MONOTONIC) - self->last_ns > self->interval_ns / 8)
        take_reading(self);
    return NULL;
}

static void fini_family(struct resources *self)
{
    vti_family_fini(&self->family);
    vti_machine_fini(&self->machine);
}

/* The code of pthread_create(). */
static int start_thread(struct resources *self)
{
    sigset_t all, before;
    int code;

    vti_proc_source_init(&self->source);
    vti_family_init(&self->family, &self->source, NULL);
    vti_machine_init(&self->machine, &self->source, true);
    vti_machine_take(&self->machine, false);
    vti_family_round(&self->family, self->machine.last_pid, 0);
    vti_family_add(&self->family, getpid());
    self->last_ns = self->last_cpu_ns = 0;
    self->is_stopping = false;
    self->pid = getpid();
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&self->thread, NULL, read_until_stopped, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    self->is_running = code == 0;
    if (code)
        fini_family(self);
    return code;
}

static void stop_thread(struct resources *self)
{
    pthread_mutex_lock(&self->lock);
    self->is_stopping = true;
    pthread_cond_signal(&self->is_over);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
    fini_family(self);
}

/* False also in a child that was forked since. */
static bool has_thread(const struct resources *self)
{
    return self->is_running && self->pid == getpid();
}

static void init_lock(struct resources *self)
{
    pthread_condattr_t attributes;

    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->is_over, &attributes);
    pthread_condattr_destroy(&attributes);
}

static PyObject *resources_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    struct resources *self;

    if (PyTuple_GET_SIZE(args) || (keywords && PyDict_GET_SIZE(keywords))) {
        PyErr_SetString(PyExc_TypeError, "Resources() takes no arguments");
        return NULL;
    }
    self = (struct resources *)type->tp_alloc(type, 0);
    if (self)
        init_lock(self);
    return (PyObject *)self;
}

static void resources_dealloc(PyObject *object)
{
    struct resources *self = (struct resources *)object;

    if (has_thread(self))
        stop_thread(self);
    free(self->readings);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *resources_start(PyObject *object, PyObject *argument)
{
    struct resources *self = (struct resources *)object;
    double seconds = PyFloat_AsDouble(argument);

    if (seconds == -1.0 && PyErr_Occurred())
        return NULL;
    if (!(seconds >= LEAST_SECONDS && seconds <= MOST_SECONDS))
        return PyErr_Format(PyExc_ValueError, "dt is %R; it is seconds, from 0.001 to 86400",
                            argument);
    if (has_thread(self))
        Py_RETURN_NONE;
    if (self->is_running) { /* a child: its parent's thread may have held the lock */
        init_lock(self);
        self->readings = NULL;
        self->count = self->room = 0;
    }
    self->interval_ns = (uint64_t)(seconds * SECOND_NS);
    errno = start_thread(self);
    return errno ? PyErr_SetFromErrno(PyExc_OSError) : Py_NewRef(Py_None);
}

static PyObject *resources_stop(PyObject *object, PyObject *unused)
{
    struct resources *self = (struct resources *)object;

    (void)unused;
    if (!has_thread(self))
        Py_RETURN_NONE;
    self->is_running = false;
    Py_BEGIN_ALLOW_THREADS stop_thread(self);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

static PyObject *resources_take(PyObject *object, PyObject *unused)
{
    struct resources *self = (struct resources *)object;
    struct reading *readings;
    size_t count;
    PyObject *list;

    (void)unused;
    if (self->is_running && !has_thread(self))
        return PyList_New(0);
    pthread_mutex_lock(&self->lock);
    readings = self->readings;
    count = self->count;
    self->readings = NULL;
    self->count = self->room = 0;
    pthread_mutex_unlock(&self->lock);
    list = PyList_New((Py_ssize_t)count);
    for (size_t i = 0; list && i < count; i++) {
        PyObject *one = Py_BuildValue("dKd", (double)readings[i].realtime_ns / 1e9,
                                      (unsigned long long)readings[i].memory_bytes,
                                      readings[i].cpu * 100);

        if (!one)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)i, one);
    }
    free(readings);
    return list;
}

static PyMethodDef resources_methods[] = {
    {"start", resources_start, METH_O, "Reads every so many seconds; again: nothing."},
    {"stop", resources_stop, METH_NOARGS, "The last reading. Nothing if it is not running."},
    {"take", resources_take, METH_NOARGS, "What was read since: (epoch, bytes, CPU in percent)."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject vti_py_resources_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.Resources",
    .tp_basicsize = sizeof(struct resources),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "CPU and memory of this process and of all below it.",
    .tp_new = resources_new,
    .tp_dealloc = resources_dealloc,
    .tp_methods = resources_methods,
};
