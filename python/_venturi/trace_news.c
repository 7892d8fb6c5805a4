/*
 * trace_news.c - what a notifier is told of each begin and end: osprofiler's payload, key for key.
 *
 * A dict of its own each time: whoever keeps it keeps what it was. trace_ask.c says what becomes of what a notifier does and raises.
 */
#include "trace.h"

#include <stdio.h>
#include <time.h>
#include <unistd.h>

PyObject *vti_py_notifier;

static PyObject *on_error; /* called with what a notifier raised */
static PyObject *host;
static PyObject *keys[6];

int vti_py_news_init(void)
{
    static const char *const texts[] = {"name",      "base_id",   "trace_id",
                                        "parent_id", "timestamp", "info"};

    for (int i = 0; i < 6; i++)
        if (!keys[i] && !(keys[i] = PyUnicode_InternFromString(texts[i])))
            return -1;
    return 0;
}

/* As socket.gethostname() has it. */
static PyObject *host_name(void)
{
    char name[256] = "";

    if (host)
        return host;
    if (gethostname(name, sizeof name - 1))
        name[0] = 0;
    host = PyUnicode_DecodeFSDefault(name);
    return host;
}

static PyObject *timestamp(void)
{
    struct timespec now;
    struct tm day;
    char text[64];

    clock_gettime(CLOCK_REALTIME, &now);
    gmtime_r(&now.tv_sec, &day);
    snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%06ld", day.tm_year + 1900,
             day.tm_mon + 1, day.tm_mday, day.tm_hour, day.tm_min, day.tm_sec, now.tv_nsec / 1000);
    return PyUnicode_FromString(text);
}

static PyObject *payload(struct vti_py_node *node, bool is_end, PyObject *info)
{
    struct vti_py_owner *owner = node->owner;
    struct vti_py_node *parent = vti_py_node_of(node->outer, owner);
    PyObject *dict = PyDict_New();
    PyObject *name = PyUnicode_FromFormat(is_end ? "%U-stop" : "%U-start", node->name);
    PyObject *time = timestamp();
    PyObject *said = info && PyDict_Check(info) ? PyDict_Copy(info) : PyDict_New();
    PyObject *span = vti_py_node_id(node);
    PyObject *above = parent ? vti_py_node_id(parent) : owner->parent_text;
    PyObject *here = host_name();
    bool is_whole = dict && name && time && said && span && above && here &&
                    !PyDict_SetItemString(said, "host", here) &&
                    !PyDict_SetItem(dict, keys[0], name) &&
                    !PyDict_SetItem(dict, keys[1], owner->base_text) &&
                    !PyDict_SetItem(dict, keys[2], span) && !PyDict_SetItem(dict, keys[3], above) &&
                    !PyDict_SetItem(dict, keys[4], time) && !PyDict_SetItem(dict, keys[5], said);

    Py_XDECREF(name);
    Py_XDECREF(time);
    Py_XDECREF(said);
    if (!is_whole)
        Py_CLEAR(dict);
    return dict;
}

static void complain(void)
{
    PyObject *type, *value, *traceback;
    PyObject *said;

    if (!PyErr_ExceptionMatches(PyExc_Exception) || !on_error) {
        vti_py_trace_forgive();
        return;
    }
    PyErr_Fetch(&type, &value, &traceback);
    PyErr_NormalizeException(&type, &value, &traceback);
    said = PyObject_CallFunctionObjArgs(on_error, value ? value : Py_None, NULL);
    if (!said)
        vti_py_trace_forgive();
    Py_XDECREF(said);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(traceback);
}

void vti_py_news_tell(struct vti_py_node *node, bool is_end, PyObject *info)
{
    PyObject *notifier = Py_NewRef(vti_py_notifier);
    PyObject *news = payload(node, is_end, info);
    struct vti_py_asking asking;
    PyObject *said;

    if (!news) {
        vti_py_trace_forgive();
        goto out;
    }
    vti_py_ask_begin(&asking);
    vti_py_node_set(NULL);
    said = PyObject_CallFunctionObjArgs(notifier, news, NULL);
    if (!said)
        complain();
    Py_XDECREF(said);
    vti_py_ask_end(&asking);
out:
    Py_XDECREF(news);
    Py_DECREF(notifier);
}

PyObject *vti_py_news_set(PyObject *self, PyObject *args)
{
    PyObject *notifier;
    PyObject *report;

    (void)self;
    if (!PyArg_ParseTuple(args, "OO:trace_notifier", &notifier, &report))
        return NULL;
    Py_XSETREF(on_error, Py_NewRef(report));
    Py_XSETREF(vti_py_notifier, notifier == Py_None ? NULL : Py_NewRef(notifier));
    Py_RETURN_NONE;
}
