/* generators.h - since when generators and coroutines have been suspended. */
#ifndef VENTURI_PY_GENERATORS_H
#define VENTURI_PY_GENERATORS_H

#include "interpreter.h"

#include <stdbool.h>
#include <stdint.h>

/* `frame` is any address that stays the same while the generator is suspended. */
void vti_py_generator_suspend(const void *frame, uint64_t ticks);

/* The ticks it was suspended with, once; 0: not known. */
uint64_t vti_py_generator_since(const void *frame);

/* Nobody will know what happens from now on. */
void vti_py_generators_forget(void);

#if !VTI_PY_HAS_MONITORING
/* Whether a frame that has given a result will go on. */
bool vti_py_generator_is_suspended(const vti_py_frame *frame);
#endif

#if PY_VERSION_HEX >= 0x030b0000
/* Whether a generator that is about to go on has not run before. */
bool vti_py_generator_is_new(const vti_py_frame *frame);
#endif

#endif
