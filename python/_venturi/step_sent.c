/* step_sent.c - when a message was sent to a step, as it says itself (step_sent.h). */
#include "step_sent.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#define MOST_NS 9e18

static int64_t whole(double ns)
{
    return ns > 0 && ns < MOST_NS ? (int64_t)ns : 0;
}

/* "+01:30", "-0500", "Z" or nothing: seconds east of Greenwich. False: it is something else. */
static bool read_zone(const char *text, int *east)
{
    int hours, minutes = 0;
    char sign;

    *east = 0;
    if (!*text || !strcmp(text, "Z"))
        return true;
    if (sscanf(text, "%c%2d:%2d", &sign, &hours, &minutes) < 2 || (sign != '+' && sign != '-') ||
        (strlen(text) == 5 && sscanf(text, "%c%2d%2d", &sign, &hours, &minutes) < 3))
        return false;
    *east = (hours * 60 + minutes) * (sign == '-' ? -60 : 60);
    return true;
}

static int64_t from_text(const char *text)
{
    struct tm date = {0};
    double fraction = 0;
    const char *rest;
    int east, used = 0;

    if (sscanf(text, "%4d-%2d-%2d%*1[T ]%2d:%2d:%2d%n", &date.tm_year, &date.tm_mon, &date.tm_mday,
               &date.tm_hour, &date.tm_min, &date.tm_sec, &used) != 6 ||
        !used)
        return 0;
    rest = text + used;
    if (*rest == '.') {
        double place = 0.1;

        for (rest++; *rest >= '0' && *rest <= '9'; rest++, place /= 10)
            fraction += (*rest - '0') * place;
    }
    if (!read_zone(rest, &east))
        return 0;
    date.tm_year -= 1900;
    date.tm_mon--;
    return whole(((double)timegm(&date) - east) * 1e9)
               ? (timegm(&date) - east) * 1000000000 + (int64_t)(fraction * 1e9)
               : 0;
}

int64_t vti_py_step_sent(PyObject *value, double unit_ns)
{
    PyObject *seconds;
    int64_t ns = 0;

    if (PyFloat_Check(value))
        return whole(PyFloat_AS_DOUBLE(value) * unit_ns);
    if (PyLong_Check(value)) {
        ns = whole(PyLong_AsDouble(value) * unit_ns);
    } else if (PyUnicode_Check(value)) {
        const char *text = PyUnicode_AsUTF8(value);

        ns = text ? from_text(text) : 0;
    } else if (value != Py_None) {
        seconds = PyObject_CallMethod(value, "timestamp", NULL);
        if (seconds && PyFloat_Check(seconds))
            ns = whole(PyFloat_AS_DOUBLE(seconds) * 1e9);
        Py_XDECREF(seconds);
    }
    PyErr_Clear();
    return ns;
}
