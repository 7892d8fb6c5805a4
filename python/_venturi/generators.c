/*
 * generators.c - since when generators and coroutines have been suspended.
 *
 * A table with one place for an address: two that share a place forget the older one, whose time of
 * suspension is then not counted. An entry of a generator that is gone does no harm: the next one at
 * that address begins with a call, which does not ask.
 */
#include "generators.h"

#define PLACES 65536u

static struct {
    const void *frame;
    uint64_t ticks;
} suspended[PLACES];

static unsigned place_of(const void *frame)
{
    return (unsigned)(((uintptr_t)frame >> 4) * 0x9e3779b97f4a7c15u >> 48) % PLACES;
}

void vti_py_generator_suspend(const void *frame, uint64_t ticks)
{
    unsigned at = place_of(frame);

    suspended[at].frame = frame;
    suspended[at].ticks = ticks;
}

uint64_t vti_py_generator_since(const void *frame)
{
    unsigned at = place_of(frame);

    return suspended[at].frame == frame ? suspended[at].ticks : 0;
}

#if PY_VERSION_HEX >= 0x030b0000
/* The last instruction it has run is the one that made it. */
bool vti_py_generator_is_new(const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030d0000
    const _Py_CODEUNIT *last = frame->instr_ptr - 1;
#else
    const _Py_CODEUNIT *last = frame->prev_instr;
#endif

#if PY_VERSION_HEX >= 0x030c0000
    return last->op.code == RETURN_GENERATOR;
#else
    return _Py_OPCODE(*last) == RETURN_GENERATOR;
#endif
}
#endif
