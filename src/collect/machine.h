/*
 * machine.h - registers of the machines whose stacks can be followed: their DWARF numbers, and where a
 * signal handler finds them. VTI_MACHINE_SP is not defined for any other machine.
 */
#ifndef VENTURI_COLLECT_MACHINE_H
#define VENTURI_COLLECT_MACHINE_H

#include <stdint.h>
#include <ucontext.h>

/* What is followed. */
struct vti_registers {
    uintptr_t pc, sp, fp;
    uintptr_t lr; /* the return address of a function that calls none; 0: on the stack */
};

#if defined(__x86_64__)
#define VTI_MACHINE_SP 7
#define VTI_MACHINE_FP 6
#define VTI_MACHINE_CONTEXT 0        /* from sp, where a handler returns to, to the ucontext */
#define VTI_MACHINE_CODE UINTPTR_MAX /* the bits of a return address that are one */
#elif defined(__aarch64__)
#define VTI_MACHINE_SP 31
#define VTI_MACHINE_FP 29
#define VTI_MACHINE_CONTEXT 128
#define VTI_MACHINE_CODE (((uintptr_t)1 << 48) - 1) /* above it may be signed */
#endif

/* Where the registers are in a ucontext. */
void vti_machine_registers(struct vti_registers *to, const ucontext_t *context);

#endif
