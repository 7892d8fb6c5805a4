/*
 * items.c - items of work that a Python program counts: into the recording, if there is one, and always into sums of the process.
 *
 * The sums are what EmissionsTracker and examples use without a recording; the interpreter's lock guards them. A child that is forked
 * goes on from its parent's: they are only ever compared with an earlier look.
 */
#include "items.h"

#include <venturi/span.h>

static struct vt_site items_site = {VT_ITEMS_NAME, "", "", "items", 0, 1, 0, 0};
static struct vt_site done_site = {VT_ITEMS_DONE_NAME, "", "", "items", 0, 1, 0, 0};

static uint64_t items_sum, done_sum;
static uint64_t done_calls; /* that said how many ran to the end */

/* -1 with an exception. */
static int count_from(PyObject *object, const char *name, int64_t *count)
{
    PyObject *number = PyNumber_Index(object);
    long long value = number ? PyLong_AsLongLong(number) : -1;

    Py_XDECREF(number);
    if (value < 0) {
        if (!PyErr_Occurred() || PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Format(PyExc_ValueError, "%s is %R; it counts, from 0 to 2**63 - 1", name,
                         object);
        return -1;
    }
    *count = value;
    return 0;
}

static void add(struct vt_site *site, uint64_t *sum, int64_t count)
{
    *sum += (uint64_t)count;
    if (vt_is_on())
        vt_counter_int(site, count);
}

/* -1 with an exception for one that is not known, or given twice. */
static int find_keywords(PyObject *const *values, PyObject *names, PyObject **items,
                         PyObject **done)
{
    for (Py_ssize_t i = 0; names && i < PyTuple_GET_SIZE(names); i++) {
        PyObject *name = PyTuple_GET_ITEM(names, i);
        PyObject **to = PyUnicode_CompareWithASCIIString(name, "effective") == 0 ? done
                        : PyUnicode_CompareWithASCIIString(name, "n") == 0       ? items
                                                                                 : NULL;

        if (!to || *to) {
            PyErr_Format(PyExc_TypeError,
                         to ? "items() got multiple values for argument %R"
                            : "items() got an unexpected keyword argument %R",
                         name);
            return -1;
        }
        *to = values[i];
    }
    return 0;
}

/* Parsed by hand: this is called for each item, and is to cost nothing to speak of. */
PyObject *vti_py_items(PyObject *self, PyObject *const *args, Py_ssize_t nargs, PyObject *names)
{
    PyObject *items = nargs > 0 ? args[0] : NULL;
    PyObject *done = nargs > 1 ? args[1] : NULL;
    int64_t item_count, done_count = 0;

    (void)self;
    if (nargs > 2)
        return PyErr_Format(PyExc_TypeError, "items() takes 2 arguments, %zd were given", nargs);
    if (find_keywords(args + nargs, names, &items, &done))
        return NULL;
    if (!items) {
        PyErr_SetString(PyExc_TypeError, "items() needs how many there are");
        return NULL;
    }
    done = done == Py_None ? NULL : done;
    if (count_from(items, "n", &item_count) || (done && count_from(done, "effective", &done_count)))
        return NULL;
    add(&items_site, &items_sum, item_count);
    if (done) {
        add(&done_site, &done_sum, done_count);
        done_calls++;
    }
    Py_RETURN_NONE;
}

PyObject *vti_py_items_total(PyObject *self, PyObject *unused)
{
    (void)self, (void)unused;
    return Py_BuildValue("KKK", (unsigned long long)items_sum, (unsigned long long)done_sum,
                         (unsigned long long)done_calls);
}
