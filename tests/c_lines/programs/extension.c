/* A Python extension without a build system. */
#define PY_SSIZE_T_CLEAN
#include <Python.h>

static PyObject *sum_to(PyObject *self, PyObject *number)
{
    long n = PyLong_AsLong(number);
    long sum = 0;

    (void)self;
    for (long i = 0; i < n; i++)
        sum += i % 7;
    return PyLong_FromLong(sum);
}

static PyMethodDef methods[] = {{"sum_to", sum_to, METH_O, ""}, {NULL, NULL, 0, NULL}};
static struct PyModuleDef module = {
    PyModuleDef_HEAD_INIT, "extension", NULL, -1, methods, NULL, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit_extension(void)
{
    return PyModule_Create(&module);
}
