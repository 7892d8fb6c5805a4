/*
 * cfi.h - how to get from a place in the code to its caller, from the tables for exceptions (.eh_frame) that
 * almost all code has, with frame pointers or without.
 *
 * Only the stack pointer and the frame pointer are followed: compilers use no other register to find a
 * frame again, but for a few instructions in functions with an aligned stack.
 */
#ifndef VENTURI_COLLECT_CFI_H
#define VENTURI_COLLECT_CFI_H

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

enum vti_row_type {
    VTI_ROW_NONE,     /* not known */
    VTI_ROW_END,      /* nobody called this */
    VTI_ROW_SP,       /* the frame ends at sp + cfa */
    VTI_ROW_FP,       /* … at fp + cfa */
    VTI_ROW_FP_DEREF, /* … where the word at fp + cfa says */
    VTI_ROW_SIGNAL    /* a handler returns here: the kernel has saved the registers */
};

enum vti_saved { VTI_SAVED_NOT, VTI_SAVED_AT_CFA, VTI_SAVED_AT_FP };

/* Where the caller's registers are, for one place in the code. */
struct vti_row {
    uint8_t type;        /* enum vti_row_type */
    uint8_t saved;       /* enum vti_saved: where the caller's frame pointer is */
    int16_t saved_words; /* … and how many words from there */
    int16_t
        return_words; /* the return address, in words from the frame's end; 0: still in its register */
    int32_t cfa;
};

/* A function, or the part of it that was moved away because it is hardly ever run. */
struct vti_cfi_function {
    uintptr_t start;
    uintptr_t fde; /* its description; 0: there is none */
};

/* The function that an address is in; start 0 if that is unknown. No lock, no malloc. */
struct vti_cfi_function vti_cfi_find(const struct dl_find_object *module, uintptr_t pc);

/* The row of an address of that function. */
struct vti_row vti_cfi_row(const struct dl_find_object *module,
                           const struct vti_cfi_function *function, uintptr_t pc);

#endif
