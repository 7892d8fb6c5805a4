/* functions.h - the hooks for calls of C functions, and what they cost. */
#ifndef VENTURI_COLLECT_FUNCTIONS_H
#define VENTURI_COLLECT_FUNCTIONS_H

#include <stdint.h>

/* What the compiler calls, and what each module's own of these go on to (hooks.c). */
void __cyg_profile_func_enter(void *function, void *caller);
void __cyg_profile_func_exit(void *function, void *caller);

void vt_functions_enter(void *function, void *caller);
void vt_functions_exit(void *function, void *caller);

/* The calling module is about to be unloaded. */
void vt_functions_unload(void);

/* Makes a function known under an id. */
void vti_functions_adopt(uintptr_t address, uint32_t id);

/* Measures the hooks on this thread and says so (vt_hook_cost); what was counted for it is taken back. */
void vti_functions_calibrate(void);

#endif
