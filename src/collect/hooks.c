/*
 * hooks.c - linked into each module that `venturi cc` makes, so that its hooks are its own.
 *
 * libc has empty hooks. In a library that a program loads later (an extension of Python), the loader would find those before
 * ours. Both functions must be jumps: ours look at the stack they are called on.
 */
#include "collect/functions.h"

#define PLAIN __attribute__((no_instrument_function))
#define OWN __attribute__((no_instrument_function, visibility("hidden")))

OWN void __cyg_profile_func_enter(void *function, void *caller)
{
    vt_functions_enter(function, caller);
}

OWN void __cyg_profile_func_exit(void *function, void *caller)
{
    vt_functions_exit(function, caller);
}

/* Another module may come to lie where this one is. */
__attribute__((destructor)) PLAIN static void leave(void)
{
    vt_functions_unload();
}
