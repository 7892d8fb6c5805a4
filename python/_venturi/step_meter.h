/* step_meter.h - what a step of Python took for each of its messages, put into the recording (venturi/step_record.h). */
#ifndef VENTURI_PY_STEP_METER_H
#define VENTURI_PY_STEP_METER_H

#include "interpreter.h"

extern PyTypeObject vti_py_step_meter_type;

#endif
