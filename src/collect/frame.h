/*
 * frame.h - where the frame of an instrumented function is, seen from inside a hook that it calls.
 *
 * What counts is the address just above the return address: it does not depend on how large the frame is,
 * so two functions called from one place have the same. Functions that were inlined share that of the
 * function around them. Has code in it, because all of it belongs into the hot path.
 */
#ifndef VENTURI_COLLECT_FRAME_H
#define VENTURI_COLLECT_FRAME_H

#include <stdint.h>

#define VTI_FRAME_POINTER_REACH (1u << 20)
#define VTI_FRAME_SEARCH_WORDS 1024

/*
 * `caller` is where the function returns to, `own` the hook's own canonical frame address, `pointer`
 * what the function left in the frame pointer: a frame pointer if the return address is beside it,
 * anything at all otherwise. Then the return address is searched for: it is there, not far above
 * our own frame, and what lies between can be read. For frames of over 8 KiB `own` has to do.
 */
__attribute__((no_instrument_function, no_sanitize("address"),
               always_inline)) static inline uintptr_t
vti_frame_find(uintptr_t caller, uintptr_t own, uintptr_t pointer)
{
    const uintptr_t *word = (const uintptr_t *)pointer;

    if (__builtin_expect(pointer - own < VTI_FRAME_POINTER_REACH && pointer % sizeof *word == 0,
                         1) &&
        word[1] == caller)
        return pointer + 2 * sizeof *word;
    word = (const uintptr_t *)own;
    for (unsigned i = 0; i < VTI_FRAME_SEARCH_WORDS; i++)
        if (word[i] == caller)
            return (uintptr_t)&word[i + 1];
    return own;
}

#endif
