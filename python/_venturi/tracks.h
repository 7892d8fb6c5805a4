/* tracks.h - whose calls there are. */
#ifndef VENTURI_PY_TRACKS_H
#define VENTURI_PY_TRACKS_H

#include "interpreter.h"

/* The threads of a Snapshot, or of a recording by its path: a new list of tuples, or NULL with an
 * exception. */
PyObject *vti_py_tracks(PyObject *source);

#endif
