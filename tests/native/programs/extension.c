/* extension.c - a Python module whose C functions are called by Python and call it back. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

#define KEEP __attribute__((noinline))

KEEP static long square(long x)
{
    __asm__ volatile("" : "+r"(x));
    return x * x;
}

static PyObject *sum_of_squares(PyObject *self, PyObject *argument)
{
    long count = PyLong_AsLong(argument);
    long total = 0;

    (void)self;
    if (PyErr_Occurred())
        return NULL;
    for (long i = 0; i < count; i++)
        total += square(i);
    return PyLong_FromLong(total);
}

static PyObject *call_back(PyObject *self, PyObject *function)
{
    (void)self;
    square(1);
    return PyObject_CallFunctionObjArgs(function, NULL);
}

static PyMethodDef methods[] = {{"sum_of_squares", sum_of_squares, METH_O, NULL},
                                {"call_back", call_back, METH_O, NULL},
                                {NULL, NULL, 0, NULL}};

static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "extension", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_extension(void)
{
    return PyModule_Create(&module);
}
