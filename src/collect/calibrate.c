/*
 * calibrate.c - what the hooks cost, measured in the program itself so that it can be subtracted.
 *
 * The smallest of several short batches counts: anything larger was disturbed from outside. Runs once, when the
 * first function is seen, for some microseconds.
 */
#include "collect/functions.h"

#include <stdbool.h>
#include <venturi/hook.h>
#include <venturi/span.h>

#define PLAIN __attribute__((no_instrument_function))
#define BATCHES 32
#define PAIRS 16

/* As the compiler makes an empty function; volatile, so that both are called. By our own names: in a library that a
 * program loads later the compiler's would be libc's empty ones. */
PLAIN __attribute__((noinline)) static void probe(bool is_hooked)
{
    void *self = (void *)(uintptr_t)probe;
    void *caller = __builtin_return_address(0);

    if (is_hooked)
        vt_functions_enter(self, caller);
    __asm__ volatile("" : : : "memory");
    if (is_hooked)
        vt_functions_exit(self, caller);
    __asm__ volatile("" : : : "memory");
}

PLAIN static uint64_t run_pairs(bool is_hooked)
{
    uint64_t before = vt_ticks();

    for (int i = 0; i < PAIRS; i++)
        probe(is_hooked);
    return vt_ticks() - before;
}

static inline uint64_t smaller(uint64_t one, uint64_t other)
{
    return one < other ? one : other;
}

PLAIN void vti_functions_calibrate(void)
{
    static const struct vt_function function = {"(cost of a call)", "", "", 0, VT_LANGUAGE_C};
    uint32_t id;
    uint64_t plain = UINT64_MAX, pair = UINT64_MAX, inner = UINT64_MAX;

    /* On a time line every call is kept for good. Else calls are counted now, also while recording is off: it may
     * be switched on later. */
    if (__atomic_load_n(vt_control_word, __ATOMIC_RELAXED) & VT_ON_TIMELINE || vt_calls_start())
        return;
    id = vt_function_id(&function);
    vti_functions_adopt((uintptr_t)probe, id);
    for (int i = 0; id && i < BATCHES; i++) {
        plain = smaller(plain, run_pairs(false));
        pair = smaller(pair, run_pairs(true));
        inner = smaller(inner, vt_call_forget(id));
    }
    if (id && pair > plain)
        vt_hook_cost(VT_LANGUAGE_C, (pair - plain) * 1000 / PAIRS, inner * 1000 / PAIRS);
    vt_calls_stop();
}
