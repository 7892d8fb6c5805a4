/*
 * threads.h - what the hooks keep for each thread. Reached by one instruction, so that it can be looked at in
 * every call; small, because the memory for such variables is scarce in a library that is loaded late.
 */
#ifndef VENTURI_PY_THREADS_H
#define VENTURI_PY_THREADS_H

#include "interpreter.h"

#include <stdbool.h>
#include <stdint.h>

struct vti_py_greenlets;

struct vti_py_thread {
    uintptr_t floor;      /* calls whose frame lies below it use the C stack no further */
    uintptr_t last_floor; /* of the main thread, once its stack is longer; 0: it is */
    uintptr_t bottom;     /* below it there is no stack left to count calls with */
    struct vti_py_greenlets *greenlets; /* owned; NULL: the thread has none */
    Py_tracefunc chained;               /* the profile function that was there before ours … */
    PyObject *chained_with;             /* … and its argument, owned */
    uint32_t epoch;
    uint32_t name_tries;
    uint32_t lost; /* open calls that are not counted, the innermost ones of all */
    bool has_name; /* passed on to the runtime */
    bool is_main;
    bool is_meeting;
    bool
        is_called_back; /* deep, and from built-in functions: the hook may be off while those wait */
    bool is_deep;       /* below the floor: calls are seen by the profile function */
};

extern __thread struct vti_py_thread vti_py_thread __attribute__((tls_model("initial-exec")))
VTI_PY_HIDDEN;

/* Changes when every thread has to look around again: at a start, and when greenlets have come. */
extern uint32_t vti_py_epoch VTI_PY_HIDDEN;

static inline bool vti_py_thread_is_new(void)
{
    return vti_py_unlikely(vti_py_thread.epoch != vti_py_epoch);
}

/* The stack pointer itself: the address of the frame would make the caller keep a frame pointer, 8 bytes of stack for
 * each call. */
static inline uintptr_t vti_py_stack_pointer(void)
{
    uintptr_t here;

#if defined(__x86_64__)
    __asm__ volatile("movq %%rsp, %0" : "=r"(here));
#elif defined(__aarch64__)
    __asm__ volatile("mov %0, sp" : "=r"(here));
#else
    here = (uintptr_t)__builtin_frame_address(0);
#endif
    return here;
}

/* Whether the stack is used down to the floor. */
static inline bool vti_py_thread_is_deep(void)
{
    return vti_py_stack_pointer() < vti_py_thread.floor;
}

/* What is to be done when a thread is met for the first time in an epoch. Leaves a set exception alone. */
void vti_py_thread_meet(void);

#endif
