/* sample_lines.h - samples of native stacks by their places in functions, from which lines are found after the run. */
#ifndef VENTURI_CORE_SAMPLE_LINES_H
#define VENTURI_CORE_SAMPLE_LINES_H

#include "core/thread.h"

#include <venturi/hook.h>

/* With every signal blocked, in a thread that is registered. False if not all of it has found a place. */
bool vti_sample_lines_add(struct vti_thread *self, const struct vt_sample *sample);

#endif
