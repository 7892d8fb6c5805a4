/*
 * energy.c - a meter of venturi/energy.h for Python, read by a thread that needs no interpreter.
 *
 * The thread takes all signals off itself and never touches a Python object. A child that was forked meanwhile has no thread:
 * the meter stays its parent's, and the child's copy is neither read nor closed, since the thread may have been at work on it.
 */
#include "energy.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <time.h>
#include <unistd.h>
#include <venturi/energy.h>

#define SECOND_NS 1000000000u
#define LEAST_SECONDS 0.001
#define MOST_SECONDS 60.0 /* a counter that is read less often could wrap twice */

struct meter {
    PyObject_HEAD vt_energy *meter; /* the lock's, once there is a thread */
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t is_over;
    bool is_running, is_stopping;
    pid_t pid; /* that opened it */
    uint64_t interval_ns;
};

static uint64_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- the thread ---------------------------------------------------------------------------------- */

static void *tick(void *argument)
{
    struct meter *self = argument;
    uint64_t due_ns = now_ns() + self->interval_ns;

    pthread_mutex_lock(&self->lock);
    while (!self->is_stopping) {
        struct timespec due = {(time_t)(due_ns / SECOND_NS), (long)(due_ns % SECOND_NS)};

        if (pthread_cond_timedwait(&self->is_over, &self->lock, &due) != ETIMEDOUT)
            continue;
        vt_energy_take(self->meter, NULL);
        due_ns += self->interval_ns;
        if (due_ns < now_ns())
            due_ns = now_ns() + self->interval_ns;
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* The code of pthread_create(). */
static int start_thread(struct meter *self)
{
    sigset_t all, before;
    int code;

    self->is_stopping = false;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(&self->thread, NULL, tick, self);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    self->is_running = code == 0;
    return code;
}

static void stop_thread(struct meter *self)
{
    pthread_mutex_lock(&self->lock);
    self->is_stopping = true;
    pthread_cond_signal(&self->is_over);
    pthread_mutex_unlock(&self->lock);
    pthread_join(self->thread, NULL);
}

/* ---- the object ---------------------------------------------------------------------------------- */

static bool is_here(const struct meter *self)
{
    return self->pid == getpid();
}

static bool fails_elsewhere(const struct meter *self)
{
    if (is_here(self))
        return false;
    PyErr_SetString(PyExc_RuntimeError, "the meter belongs to the process that opened it");
    return true;
}

static PyObject *meter_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"cpu_watts", "memory_watts", "idle_watts", "flags", NULL};
    struct vt_energy_options options = {.size = sizeof options};
    pthread_condattr_t attributes;
    char why[256] = "";
    struct meter *self;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "|dddI:Meter", names, &options.cpu_watts,
                                     &options.memory_watts, &options.idle_watts, &options.flags))
        return NULL;
    self = (struct meter *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->is_over, &attributes);
    pthread_condattr_destroy(&attributes);
    self->pid = getpid();
    self->meter = vt_energy_open(&options, why, sizeof why);
    if (!self->meter) {
        PyErr_SetString(PyExc_RuntimeError, why);
        Py_CLEAR(self);
    }
    return (PyObject *)self;
}

static void meter_dealloc(PyObject *object)
{
    struct meter *self = (struct meter *)object;

    if (is_here(self)) {
        if (self->is_running)
            stop_thread(self);
        vt_energy_close(self->meter);
    }
    Py_TYPE(object)->tp_free(object);
}

static PyObject *meter_start(PyObject *object, PyObject *argument)
{
    struct meter *self = (struct meter *)object;
    double seconds = PyFloat_AsDouble(argument);

    if (seconds == -1.0 && PyErr_Occurred())
        return NULL;
    if (!(seconds >= LEAST_SECONDS && isfinite(seconds)))
        return PyErr_Format(PyExc_ValueError, "a reading every %R seconds; 0.001 is the least",
                            argument);
    if (fails_elsewhere(self))
        return NULL;
    if (self->is_running)
        Py_RETURN_NONE;
    seconds = seconds < MOST_SECONDS ? seconds : MOST_SECONDS;
    self->interval_ns = (uint64_t)(seconds * SECOND_NS);
    errno = start_thread(self);
    return errno ? PyErr_SetFromErrno(PyExc_OSError) : Py_NewRef(Py_None);
}

static PyObject *meter_stop(PyObject *object, PyObject *unused)
{
    struct meter *self = (struct meter *)object;

    (void)unused;
    if (!is_here(self) || !self->is_running)
        Py_RETURN_NONE;
    self->is_running = false;
    Py_BEGIN_ALLOW_THREADS stop_thread(self);
    Py_END_ALLOW_THREADS Py_RETURN_NONE;
}

/* ---- what it says -------------------------------------------------------------------------------- */

/* A new reference; None for what is not known. */
static PyObject *known(double value)
{
    return value < 0 || isnan(value) ? Py_NewRef(Py_None) : PyFloat_FromDouble(value);
}

static PyObject *use_tuple(const struct vt_energy_use *use)
{
    return Py_BuildValue("NNNI", known(use->gross_j), known(use->share_j), known(use->dynamic_j),
                         use->how);
}

static PyObject *meter_take(PyObject *object, PyObject *unused)
{
    struct meter *self = (struct meter *)object;
    struct vt_energy_sum sum;
    double cost_s;
    double cost_j;

    (void)unused;
    if (fails_elsewhere(self))
        return NULL;
    Py_BEGIN_ALLOW_THREADS pthread_mutex_lock(&self->lock);
    vt_energy_take(self->meter, &sum);
    vt_energy_cost(self->meter, &cost_s, &cost_j);
    pthread_mutex_unlock(&self->lock);
    Py_END_ALLOW_THREADS return Py_BuildValue(
        "NNNNNddNNNIKKdN", use_tuple(&sum.parts[VT_ENERGY_CPU]),
        use_tuple(&sum.parts[VT_ENERGY_MEMORY]), use_tuple(&sum.parts[VT_ENERGY_GPU]),
        use_tuple(&sum.parts[VT_ENERGY_PLATFORM]), use_tuple(&sum.all), sum.wall_s, sum.unknown_s,
        known(sum.own_cpu_s), known(sum.busy_cpu_s), known(sum.idle_watts), sum.idle_how,
        (unsigned long long)sum.resident_bytes, (unsigned long long)sum.takes, cost_s,
        known(cost_j));
}

/* Whether an exception is set: a signal came, whose handler raised one. */
static bool sleep_interruptibly(double seconds)
{
    uint64_t end_ns = now_ns() + (uint64_t)(seconds * SECOND_NS);
    struct timespec due = {(time_t)(end_ns / SECOND_NS), (long)(end_ns % SECOND_NS)};
    int code;

    do {
        Py_BEGIN_ALLOW_THREADS code = clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL);
        Py_END_ALLOW_THREADS if (code && PyErr_CheckSignals()) return true;
    } while (code == EINTR);
    return false;
}

static PyObject *meter_baseline(PyObject *object, PyObject *argument)
{
    struct meter *self = (struct meter *)object;
    double seconds = PyFloat_AsDouble(argument);
    double watts;

    if (seconds == -1.0 && PyErr_Occurred())
        return NULL;
    if (!(seconds > 0 && seconds <= 3600))
        return PyErr_Format(PyExc_ValueError, "a baseline of %R seconds; up to 3600", argument);
    if (fails_elsewhere(self))
        return NULL;
    pthread_mutex_lock(&self->lock);
    vt_energy_baseline_begin(self->meter);
    pthread_mutex_unlock(&self->lock);
    if (sleep_interruptibly(seconds))
        return NULL;
    pthread_mutex_lock(&self->lock);
    watts = vt_energy_baseline_end(self->meter);
    pthread_mutex_unlock(&self->lock);
    return known(watts);
}

static PyObject *source_tuple(const struct vt_energy_source *source)
{
    return Py_BuildValue("ssIIisddddKKNN", source->name, source->from, source->part, source->how,
                         source->inside, source->note, source->watts, source->idle_watts,
                         source->joules, source->unknown_s, (unsigned long long)source->wraps,
                         (unsigned long long)source->gaps, PyBool_FromLong(source->is_known != 0),
                         PyBool_FromLong(source->is_over != 0));
}

static PyObject *meter_sources(PyObject *object, PyObject *unused)
{
    struct meter *self = (struct meter *)object;
    PyObject *list = fails_elsewhere(self) ? NULL : PyList_New(0);

    (void)unused;
    if (!list)
        return NULL;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; list && i < vt_energy_source_count(self->meter); i++) {
        PyObject *one = source_tuple(vt_energy_source_get(self->meter, i));

        if (!one || PyList_Append(list, one))
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    pthread_mutex_unlock(&self->lock);
    return list;
}

static PyObject *meter_advice(PyObject *object, PyObject *unused)
{
    struct meter *self = (struct meter *)object;
    PyObject *list = fails_elsewhere(self) ? NULL : PyList_New(0);
    const char *text;

    (void)unused;
    if (!list)
        return NULL;
    pthread_mutex_lock(&self->lock);
    for (size_t i = 0; list && (text = vt_energy_advice(self->meter, i)); i++) {
        PyObject *one = PyUnicode_FromString(text);

        if (!one || PyList_Append(list, one))
            Py_CLEAR(list);
        Py_XDECREF(one);
    }
    pthread_mutex_unlock(&self->lock);
    return list;
}

static PyMethodDef meter_methods[] = {
    {"start", meter_start, METH_O, "Reads every so many seconds; again: nothing."},
    {"stop", meter_stop, METH_NOARGS, "Ends start(). Nothing if it is not running."},
    {"take", meter_take, METH_NOARGS, "Reads now; what was used since the meter was opened."},
    {"baseline", meter_baseline, METH_O, "What is used in so many seconds is rest; its watts."},
    {"sources", meter_sources, METH_NOARGS, "What is read."},
    {"advice", meter_advice, METH_NOARGS, "What could be better, and how."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject vti_py_meter_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.Meter",
    .tp_basicsize = sizeof(struct meter),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "Energy of the machine, and of this process with all below it.",
    .tp_new = meter_new,
    .tp_dealloc = meter_dealloc,
    .tp_methods = meter_methods,
};

PyObject *vti_py_grid_intensity(PyObject *self, PyObject *country)
{
    const char *text = PyUnicode_AsUTF8(country);
    const char *iso3 = NULL;
    const char *name = NULL;
    int year = 0;
    double grams;

    (void)self;
    if (!text)
        return NULL;
    grams = vt_grid_intensity(text, &iso3, &name, &year);
    if (!(grams > 0))
        Py_RETURN_NONE;
    return Py_BuildValue("dssi", grams, iso3, name, year);
}

PyObject *vti_py_grid_source(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return PyUnicode_FromString(vt_grid_source());
}
