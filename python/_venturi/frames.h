/* frames.h - the hook of Python 3.9 to 3.11, as deep.c sees it. */
#ifndef VENTURI_PY_FRAMES_H
#define VENTURI_PY_FRAMES_H

#include "interpreter.h"

#include <stdbool.h>

#if !VTI_PY_HAS_MONITORING
/* What evaluated frames before us: the interpreter, or the hook of somebody else. */
extern _PyFrameEvalFunction vti_py_evaluate_next VTI_PY_HIDDEN;

/* Takes the hook away for a while and puts it back, for all threads. */
void vti_py_frames_hook(bool on);
#endif

#endif
