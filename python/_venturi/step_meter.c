/*
 * step_meter.c - what a step of Python took for each of its messages (step_meter.h).
 *
 * The loop is Python's (venturi/step); it says when a message comes and when a phase is over, which is one read of the clock each. Only
 * done(), fail() and send() put something, and none of them can fail or wait: an author's metric that cannot be written is null.
 */
#include "step_meter.h"

#include "step_json.h"
#include "step_sent.h"

#include <stdbool.h>
#include <string.h>
#include <venturi/step_record.h>

#define RECEIVED 0
#define PREPARED 1
#define EXECUTED 2
#define FINISHED 3
#define MARKS 4

/* Members that documents have anyway; stores refuse an object that says one twice. */
static const char *const always[] = {"source", "@timestamp"};
static const char *const of_messages[] = {"execution_time", "timestamp_received", "timestamp_sent",
                                          "n_messages", "survey"};

struct step_meter {
    PyObject_HEAD uint32_t step;
    uint32_t mark; /* the next one */
    uint64_t marks[MARKS];
    uint64_t puts;
    uint32_t messages;
    bool has_pre, has_post, has_produce;
    double tick_ns, sent_unit_ns;
    int64_t sent_ns;    /* of the message, 0: unknown */
    PyObject *sent_key; /* or NULL */
    PyObject *extras;   /* a tuple of (key, format or None, alias) */
    struct vti_buf out;
};

/* ---- marks ------------------------------------------------------------------------------------ */

static PyObject *receive(PyObject *object, PyObject *message)
{
    struct step_meter *self = (struct step_meter *)object;
    PyObject *first = message;

    self->marks[RECEIVED] = vt_task_clock();
    self->mark = RECEIVED + 1;
    self->messages = 1;
    self->sent_ns = 0;
    if (PyList_Check(message)) {
        self->messages = (uint32_t)PyList_GET_SIZE(message);
        first = self->messages ? PyList_GET_ITEM(message, 0) : Py_None;
    }
    if (self->sent_key && PyDict_Check(first)) {
        PyObject *sent = PyDict_GetItemWithError(first, self->sent_key);

        if (sent)
            self->sent_ns = vti_py_step_sent(sent, self->sent_unit_ns);
        else
            PyErr_Clear();
    }
    Py_RETURN_NONE;
}

static PyObject *mark(PyObject *object, PyObject *unused)
{
    struct step_meter *self = (struct step_meter *)object;

    (void)unused;
    if (self->mark < MARKS)
        self->marks[self->mark++] = vt_task_clock();
    Py_RETURN_NONE;
}

/* ---- what authors add ------------------------------------------------------------------------- */

static bool is_one_of(PyObject *key, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (PyUnicode_Check(key) && PyUnicode_CompareWithASCIIString(key, names[i]) == 0)
            return true;
    return false;
}

static bool is_extra(const struct step_meter *self, PyObject *key)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(self->extras); i++) {
        PyObject *alias = PyTuple_GET_ITEM(PyTuple_GET_ITEM(self->extras, i), 2);
        int is_same = PyObject_RichCompareBool(alias, key, Py_EQ);

        PyErr_Clear();
        if (is_same > 0)
            return true;
    }
    return false;
}

/* A message's value for an extra metric, or NULL: it has none, or it cannot be formatted. */
static PyObject *extra_of(PyObject *message, PyObject *extra)
{
    PyObject *format = PyTuple_GET_ITEM(extra, 1);
    PyObject *value = NULL;

    if (PyDict_Check(message)) {
        value = PyDict_GetItemWithError(message, PyTuple_GET_ITEM(extra, 0));
        Py_XINCREF(value);
    } else {
        value = PyObject_CallMethod(message, "get", "O", PyTuple_GET_ITEM(extra, 0));
    }
    if (value && format != Py_None) {
        PyObject *formatted = PyObject_CallFunctionObjArgs(format, value, NULL);

        Py_DECREF(value);
        value = formatted;
    }
    PyErr_Clear();
    return value;
}

static void add_extra(struct vti_json *json, PyObject *message, PyObject *extra)
{
    PyObject *value;

    if (!PyList_Check(message)) {
        value = extra_of(message, extra);
        if (value) {
            vti_py_json_key(json, PyTuple_GET_ITEM(extra, 2));
            vti_py_json_value(json, value);
        }
        Py_XDECREF(value);
        return;
    }
    vti_py_json_key(json, PyTuple_GET_ITEM(extra, 2));
    vti_json_array(json);
    for (Py_ssize_t i = 0; i < PyList_GET_SIZE(message) && json->out->len <= VT_STEP_EXTRA_MAX;
         i++) {
        PyObject *one = Py_NewRef(PyList_GET_ITEM(message, i));

        value = extra_of(one, extra);
        vti_py_json_value(json, value ? value : Py_None);
        Py_XDECREF(value);
        Py_DECREF(one);
    }
    vti_json_array_end(json);
}

static void add_metrics(struct step_meter *self, struct vti_json *json, PyObject *metrics,
                        bool is_by_hand)
{
    PyObject *items = PyDict_Items(metrics);

    for (Py_ssize_t i = 0; items && i < PyList_GET_SIZE(items); i++) {
        PyObject *key = PyTuple_GET_ITEM(PyList_GET_ITEM(items, i), 0);

        if (is_one_of(key, always, sizeof always / sizeof *always))
            continue;
        if (!is_by_hand && (is_one_of(key, of_messages, sizeof of_messages / sizeof *of_messages) ||
                            is_extra(self, key)))
            continue;
        vti_py_json_key(json, key);
        vti_py_json_value(json, PyTuple_GET_ITEM(PyList_GET_ITEM(items, i), 1));
    }
    Py_XDECREF(items);
    PyErr_Clear();
}

/* Begins an object whose brace is left out when it is put. */
static void begin_members(struct step_meter *self, struct vti_json *json)
{
    vti_buf_clear(&self->out);
    vti_json_init(json, &self->out);
    vti_json_object(json);
}

static void end_members(const struct step_meter *self, struct vt_step_done *done)
{
    if (self->out.failed || self->out.len < 2)
        return;
    done->extra = (const char *)self->out.data + 1;
    done->extra_bytes = self->out.len - 1;
}

/* ---- putting ---------------------------------------------------------------------------------- */

static uint64_t between(const struct step_meter *self, uint64_t from, uint64_t to)
{
    return to > from ? (uint64_t)((double)(to - from) * self->tick_ns) : 0;
}

/* Of the phase that mark `end` ends. One that failed ended when the message did; those behind it never began. */
static uint64_t phase(const struct step_meter *self, unsigned end, uint64_t failed)
{
    if (self->mark > end)
        return between(self, self->marks[end - 1], self->marks[end]);
    return self->mark == end && failed ? between(self, self->marks[end - 1], failed) : VT_UNKNOWN;
}

static void fill(struct step_meter *self, struct vt_step_done *done, bool is_failed)
{
    uint64_t over = self->has_produce || is_failed ? vt_task_clock() : 0;
    uint64_t sent = self->mark > FINISHED ? self->marks[FINISHED] : over;

    if (!sent)
        sent = vt_task_clock();
    *done = (struct vt_step_done){
        .step = self->step,
        .flags = is_failed ? VT_STEP_FAILED : 0,
        .messages = self->messages,
        .received = self->marks[RECEIVED],
        .sent = sent,
        .execute_ns = (uint64_t)((double)(sent - self->marks[RECEIVED]) * self->tick_ns),
        .pre_ns = self->has_pre ? phase(self, PREPARED, is_failed ? over : 0) : VT_UNKNOWN,
        .post_ns = self->has_post ? phase(self, FINISHED, is_failed ? over : 0) : VT_UNKNOWN,
        .produce_ns = VT_UNKNOWN,
        .lag_ns = VT_LAG_UNKNOWN,
    };
    if (self->has_produce && self->mark > FINISHED)
        done->produce_ns = between(self, sent, over);
    if (self->sent_ns)
        done->lag_ns = vt_task_realtime(self->marks[RECEIVED]) - self->sent_ns;
    self->puts++;
    if (!(self->puts & (self->puts - 1)))
        self->tick_ns = vt_task_tick_ns(); /* which is known the better the longer one waits */
}

static void put(struct step_meter *self, PyObject *message, PyObject *metrics, PyObject *error)
{
    struct vt_step_done done;
    struct vti_json json;
    Py_ssize_t extras = PyTuple_GET_SIZE(self->extras);

    fill(self, &done, error != NULL);
    if (extras || error || PyDict_GET_SIZE(metrics)) {
        begin_members(self, &json);
        for (Py_ssize_t i = 0; i < extras; i++)
            add_extra(&json, message, PyTuple_GET_ITEM(self->extras, i));
        add_metrics(self, &json, metrics, false);
        if (error)
            vti_json_add_string(&json, "error", Py_TYPE(error)->tp_name);
        end_members(self, &done);
    }
    vt_step_put(&done);
}

static PyObject *done(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    if (count != 2 || !PyDict_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "done(message, metrics)");
        return NULL;
    }
    put((struct step_meter *)object, args[0], args[1], NULL);
    Py_RETURN_NONE;
}

static PyObject *fail(PyObject *object, PyObject *const *args, Py_ssize_t count)
{
    if (count != 3 || !PyDict_Check(args[1])) {
        PyErr_SetString(PyExc_TypeError, "fail(message, metrics, error)");
        return NULL;
    }
    put((struct step_meter *)object, args[0], args[1], args[2]);
    Py_RETURN_NONE;
}

static PyObject *send(PyObject *object, PyObject *metrics)
{
    struct step_meter *self = (struct step_meter *)object;
    struct vt_step_done done = {.step = self->step,
                                .flags = VT_STEP_METRICS,
                                .pre_ns = VT_UNKNOWN,
                                .post_ns = VT_UNKNOWN,
                                .produce_ns = VT_UNKNOWN,
                                .lag_ns = VT_LAG_UNKNOWN};
    struct vti_json json;

    if (!PyDict_Check(metrics)) {
        PyErr_SetString(PyExc_TypeError, "send(metrics): a dict");
        return NULL;
    }
    begin_members(self, &json);
    add_metrics(self, &json, metrics, true);
    end_members(self, &done);
    vt_step_put(&done);
    Py_RETURN_NONE;
}

/* times(): when the message was received and when it was finished, 0.0 if it is not yet; seconds since 1970. */
static PyObject *times(PyObject *object, PyObject *unused)
{
    struct step_meter *self = (struct step_meter *)object;
    double seconds[2] = {0, 0};

    (void)unused;
    if (self->mark > RECEIVED)
        seconds[0] = (double)vt_task_realtime(self->marks[RECEIVED]) / 1e9;
    if (self->mark > FINISHED)
        seconds[1] = (double)vt_task_realtime(self->marks[FINISHED]) / 1e9;
    return Py_BuildValue("dd", seconds[0], seconds[1]);
}

/* ---- the type --------------------------------------------------------------------------------- */

static bool are_extras(PyObject *extras)
{
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(extras); i++) {
        PyObject *extra = PyTuple_GET_ITEM(extras, i);

        if (!PyTuple_Check(extra) || PyTuple_GET_SIZE(extra) != 3)
            return false;
    }
    return true;
}

static PyObject *meter_new(PyTypeObject *type, PyObject *args, PyObject *keywords)
{
    static char *names[] = {"source",    "prefix", "survey", "extras",  "sent_key",
                            "sent_unit", "pre",    "post",   "produce", NULL};
    const char *source, *prefix = NULL, *survey = NULL;
    PyObject *extras = NULL, *sent_key = Py_None;
    struct step_meter *self;
    double sent_unit = 1;
    int pre = 0, post = 0, produce = 0;

    if (!PyArg_ParseTupleAndKeywords(args, keywords, "szz|O!Odppp:StepMeter", names, &source,
                                     &prefix, &survey, &PyTuple_Type, &extras, &sent_key,
                                     &sent_unit, &pre, &post, &produce))
        return NULL;
    if (extras && !are_extras(extras)) {
        PyErr_SetString(PyExc_TypeError, "an extra metric is (key, format, alias)");
        return NULL;
    }
    self = (struct step_meter *)type->tp_alloc(type, 0);
    if (!self)
        return NULL;
    self->extras = extras ? Py_NewRef(extras) : PyTuple_New(0);
    self->sent_key = sent_key == Py_None ? NULL : Py_NewRef(sent_key);
    self->sent_unit_ns = sent_unit * 1e9;
    self->has_pre = pre != 0;
    self->has_post = post != 0;
    self->has_produce = produce != 0;
    self->tick_ns = vt_task_tick_ns();
    self->step = vt_step_source(source, prefix, survey);
    if (!self->extras)
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void meter_dealloc(PyObject *object)
{
    struct step_meter *self = (struct step_meter *)object;

    vti_buf_fini(&self->out);
    Py_XDECREF(self->sent_key);
    Py_XDECREF(self->extras);
    Py_TYPE(object)->tp_free(object);
}

#define FAST(function) ((PyCFunction)(void (*)(void))(function))

static PyMethodDef meter_methods[] = {
    {"receive", receive, METH_O, "A message, or a list of them, begins."},
    {"mark", mark, METH_NOARGS,
     "It is prepared; the second time executed, the third time finished."},
    {"done", FAST(done), METH_FASTCALL, "done(message, metrics): it is done with."},
    {"fail", FAST(fail), METH_FASTCALL, "fail(message, metrics, error): it has failed."},
    {"send", send, METH_O, "A document of the author's own."},
    {"times", times, METH_NOARGS, "When it was received and when it was finished, since 1970."},
    {NULL, NULL, 0, NULL},
};

PyTypeObject vti_py_step_meter_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "_venturi.StepMeter",
    .tp_basicsize = sizeof(struct step_meter),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_doc = "What a step takes for each of its messages, put into the recording.",
    .tp_new = meter_new,
    .tp_dealloc = meter_dealloc,
    .tp_methods = meter_methods,
};
