/* step_json.h - values of Python as members of a JSON object, for metrics of steps. */
#ifndef VENTURI_PY_STEP_JSON_H
#define VENTURI_PY_STEP_JSON_H

#include "interpreter.h"

#include "base/json.h"

/* A value of any kind. Numbers of numpy and times are written as what they are, what has no form in JSON as its text, what cannot even be
 * asked for that as null: metrics never fail. Leaves no exception. */
void vti_py_json_value(struct vti_json *json, PyObject *value);

/* A key: a text, or the text of what it is. */
void vti_py_json_key(struct vti_json *json, PyObject *key);

#endif
