/* callback.h - callbacks of sys.monitoring, for the hooks of Python 3.12 and later. -1, NULL: with an exception. */
#ifndef VENTURI_PY_CALLBACK_H
#define VENTURI_PY_CALLBACK_H

#include "interpreter.h"

#include <stdbool.h>

#if VTI_PY_HAS_MONITORING
struct vti_py_event {
    const char *name; /* in sys.monitoring.events */
    vectorcallfunc call;
};

/* The module; borrowed. */
PyObject *vti_py_monitoring(void);

/* Takes an id for a tool, if it has none (-1); gives it back. */
int vti_py_tool_claim(int *tool, const char *name);
void vti_py_tool_free(int *tool);

/* Registers a callback, or takes it back; the event's bit. */
long vti_py_event_register(int tool, const struct vti_py_event *event, bool is_on);

/* What is told of every function. */
int vti_py_events_set(int tool, long events);

/* Restarts events that were disabled. */
int vti_py_events_restart(void);
#endif

#endif
