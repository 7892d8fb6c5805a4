/*
 * generators.c - since when generators and coroutines have been suspended.
 *
 * A table by the address of their frames, which grows with the number of those that are suspended at once. One that
 * goes on is taken out. When the hooks are switched off all are forgotten: whoever has that address later may be
 * another, and time in which nobody counts is not counted.
 */
#include "generators.h"

#define PLACES_MIN 1024u
#define PLACES_MAX (1u << 23) /* 128 MB; what finds no place was suspended for an unknown time */

struct place {
    const void *frame; /* NULL: free */
    uint64_t ticks;    /* 0: it went on */
};

static struct place *places;
static size_t place_count, used;
static size_t refused; /* how many more are refused before room is looked for again */

static struct place *find(struct place *in, size_t count, const void *frame)
{
    size_t at = (size_t)(((uintptr_t)frame >> 4) * 0x9e3779b97f4a7c15u >> 32) & (count - 1);

    while (in[at].frame && in[at].frame != frame)
        at = (at + 1) & (count - 1);
    return &in[at];
}

static bool is_full(void)
{
    return 4 * used >= 3 * place_count;
}

/* Makes room: those that went on lose their places. */
VTI_PY_SLOW static void sort_out(void)
{
    size_t left = 0;
    size_t count = PLACES_MIN;
    struct place *sorted;

    for (size_t i = 0; i < place_count; i++)
        left += places[i].frame && places[i].ticks;
    while (count < 4 * left && count < PLACES_MAX)
        count *= 2;
    if (4 * left >= 3 * count)
        return;
    sorted = PyMem_RawCalloc(count, sizeof *sorted);
    if (!sorted)
        return;
    for (size_t i = 0; i < place_count; i++)
        if (places[i].frame && places[i].ticks)
            *find(sorted, count, places[i].frame) = places[i];
    PyMem_RawFree(places);
    places = sorted;
    place_count = count;
    used = left;
}

void vti_py_generator_suspend(const void *frame, uint64_t ticks)
{
    struct place *place;

    if (vti_py_unlikely(is_full()) && !refused)
        sort_out();
    if (vti_py_unlikely(is_full())) {
        refused = refused ? refused - 1 : place_count;
        return;
    }
    place = find(places, place_count, frame);
    used += !place->frame;
    *place = (struct place){frame, ticks};
}

uint64_t vti_py_generator_since(const void *frame)
{
    struct place *place = place_count ? find(places, place_count, frame) : NULL;
    uint64_t ticks = place && place->frame ? place->ticks : 0;

    if (ticks)
        place->ticks = 0;
    return ticks;
}

void vti_py_generators_forget(void)
{
    PyMem_RawFree(places);
    places = NULL;
    place_count = used = refused = 0;
}

#if !VTI_PY_HAS_MONITORING
bool vti_py_generator_is_suspended(const vti_py_frame *frame)
{
#if PY_VERSION_HEX >= 0x030b0000
    vti_py_frame *own = (vti_py_frame *)frame;

    return frame->owner == FRAME_OWNED_BY_GENERATOR &&
           _PyFrame_GetGenerator(own)->gi_frame_state == FRAME_SUSPENDED;
#elif PY_VERSION_HEX >= 0x030a0000
    return frame->f_state == FRAME_SUSPENDED;
#else
    return frame->f_stacktop != NULL;
#endif
}
#endif

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
