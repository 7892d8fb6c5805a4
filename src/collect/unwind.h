/* unwind.h - the functions that are under way on a thread, from the registers that a signal handler was given. */
#ifndef VENTURI_COLLECT_UNWIND_H
#define VENTURI_COLLECT_UNWIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <ucontext.h>
#include <venturi/hook.h>

#define VTI_STACK_FUNCTIONS 256
#define VTI_STACK_FRAMES 16384
#define VTI_FOREIGN_BYTES 16384
#define VTI_STACK_LINES 512
#define VTI_STACK_LINE_PLACES (4 * VTI_STACK_LINES)

/* What a thread needs to look at its own stack. */
struct vti_unwind {
    uintptr_t low, high; /* the thread's own stack */
    uint32_t functions
        [VTI_STACK_FUNCTIONS]; /* innermost first; a function that calls itself is there once */
    size_t count;
    bool
        wants_lines; /* set by the caller: places in functions whose lines are counted are wanted too, … */
    uint16_t
        line_at[VTI_STACK_LINE_PLACES]; /* … of which these were met, by a digest: index + 1; … */
    struct vt_sample_line lines[VTI_STACK_LINES]; /* … innermost first, each once */
    size_t line_count;
    bool is_cut;  /* there are more, but they could not be found, or not be kept */
    bool is_ours; /* met in our own code */
    uintptr_t foreign, foreign_end;  /* another stack that it was found on, and … */
    uint8_t copy[VTI_FOREIGN_BYTES]; /* … what was read of it */
};

/* For the calling thread, at its start. */
void vti_unwind_init(struct vti_unwind *unwind);

/* Whether the interrupted code is our own. */
bool vti_unwind_is_ours(const ucontext_t *context);

/* `where` and `frame` as vt_sample_begin() said. */
void vti_unwind(struct vti_unwind *unwind, const ucontext_t *context, enum vt_sample_where where,
                uintptr_t frame);

#endif
