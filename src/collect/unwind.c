/*
 * unwind.c - follows a stack from the inside outwards.
 *
 * By the tables for exceptions, which are right wherever a thread is interrupted; frame pointers only where
 * a module has no tables. Never reads outside of the thread's own stack: another one (of a signal, of
 * a coroutine) is copied by the kernel first, which does not crash.
 */
#include "collect/unwind.h"

#include "collect/machine.h"
#include "collect/spot.h"

#include <pthread.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/uio.h>
#include <unistd.h>

#define WORD sizeof(uintptr_t)
#define MAIN_STACK_MOST ((uintptr_t)64 << 20) /* nothing else lies so close below it */

extern void *__libc_stack_end; /* of the main thread, from the dynamic loader */

static void main_stack(struct vti_unwind *unwind)
{
    struct rlimit limit;
    uintptr_t most = MAIN_STACK_MOST;

    if (!getrlimit(RLIMIT_STACK, &limit) && limit.rlim_cur < most)
        most = limit.rlim_cur;
    unwind->high = (uintptr_t)__libc_stack_end;
    unwind->low = unwind->high - most;
}

void vti_unwind_init(struct vti_unwind *unwind)
{
    pthread_attr_t attributes;
    void *stack;
    size_t bytes;

    if (gettid() == getpid()) {
        main_stack(unwind);
        return;
    }
    if (pthread_getattr_np(pthread_self(), &attributes))
        return;
    if (!pthread_attr_getstack(&attributes, &stack, &bytes)) {
        unwind->low = (uintptr_t)stack;
        unwind->high = (uintptr_t)stack + bytes;
    }
    pthread_attr_destroy(&attributes);
}

/* ---- reading ------------------------------------------------------------------------------------ */

static bool is_own(const struct vti_unwind *unwind, uintptr_t at)
{
    return at >= unwind->low && at < unwind->high;
}

/* Makes a stack readable that is not the thread's own. */
static void copy_foreign(struct vti_unwind *unwind, uintptr_t sp)
{
    struct iovec to = {unwind->copy, sizeof unwind->copy};
    struct iovec from = {(void *)sp, sizeof unwind->copy};
    ssize_t got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    uintptr_t rest = VTI_FOREIGN_BYTES;

    /* It gives all of what is asked for or nothing: as much as there is in whole pages, then. */
    while (got < 0 && rest > 4096) {
        rest /= 2;
        from.iov_len = rest - (sp & (WORD - 1));
        got = process_vm_readv(getpid(), &to, 1, &from, 1, 0);
    }
    unwind->foreign = sp;
    unwind->foreign_end = got > 0 ? sp + (size_t)got : sp;
}

__attribute__((no_sanitize("address"))) static bool read_word(const struct vti_unwind *unwind,
                                                              uintptr_t at, uintptr_t *word)
{
    if (at % WORD)
        return false;
    if (is_own(unwind, at) && unwind->high - at >= WORD) {
        *word = *(const uintptr_t *)at;
        return true;
    }
    if (at < unwind->foreign || at >= unwind->foreign_end || unwind->foreign_end - at < WORD)
        return false;
    memcpy(word, unwind->copy + (at - unwind->foreign), WORD);
    return true;
}

/* Registers that a signal handler will give back. */
static bool read_context(struct vti_unwind *unwind, struct vti_registers *registers)
{
    ucontext_t context;
    uintptr_t *words = (uintptr_t *)&context;
    uintptr_t at = registers->sp + VTI_MACHINE_CONTEXT;

    for (size_t i = 0; i * WORD < offsetof(ucontext_t, uc_mcontext) + sizeof(mcontext_t); i++)
        if (!read_word(unwind, at + i * WORD, &words[i]))
            return false;
    vti_machine_registers(registers, &context);
    return true;
}

/* ---- one step ----------------------------------------------------------------------------------- */

static bool find_cfa(const struct vti_unwind *unwind, const struct vti_registers *registers,
                     const struct vti_row *row, uintptr_t *cfa)
{
    uintptr_t offset = (uintptr_t)(intptr_t)row->cfa;

    switch (row->type) {
    case VTI_ROW_SP:
        *cfa = registers->sp + offset;
        return true;
    case VTI_ROW_FP:
        *cfa = registers->fp + offset;
        return true;
    case VTI_ROW_FP_DEREF:
        return read_word(unwind, registers->fp + offset, cfa);
    default:
        return false;
    }
}

/* To the caller, as the tables say. */
static bool step(const struct vti_unwind *unwind, struct vti_registers *registers,
                 const struct vti_row *row, uintptr_t cfa)
{
    uintptr_t words = (uintptr_t)(intptr_t)row->saved_words * WORD;
    uintptr_t from = row->saved == VTI_SAVED_AT_CFA ? cfa + words : registers->fp + words;
    uintptr_t back = cfa + (uintptr_t)(intptr_t)row->return_words * WORD;

    if (cfa < registers->sp || (row->saved && !read_word(unwind, from, &registers->fp)))
        return false;
    if (!row->return_words)
        registers->pc = registers->lr;
    else if (!read_word(unwind, back, &registers->pc))
        return false;
    registers->pc &= VTI_MACHINE_CODE;
    registers->sp = cfa;
    registers->lr = 0;
    return true;
}

/* To the caller by the frame pointer, if that looks like one: the word above it leads into code. */
static bool step_by_pointer(const struct vti_unwind *unwind, struct vti_registers *registers)
{
    struct dl_find_object found;
    uintptr_t next, back;

    if (registers->fp < registers->sp || !read_word(unwind, registers->fp, &next) ||
        !read_word(unwind, registers->fp + WORD, &back))
        return false;
    back &= VTI_MACHINE_CODE;
    if (next <= registers->fp || _dl_find_object((void *)(back - 1), &found))
        return false;
    registers->sp = registers->fp + 2 * WORD;
    registers->fp = next;
    registers->pc = back;
    registers->lr = 0;
    return true;
}

/* ---- the whole way ------------------------------------------------------------------------------ */

static void add(struct vti_unwind *unwind, const struct vti_spot *spot)
{
    if (spot->flags & VTI_SPOT_OURS)
        unwind->is_ours = true;
    if (spot->flags & (VTI_SPOT_OURS | VTI_SPOT_WRAPPER) || !spot->function)
        return;
    if (unwind->count && unwind->functions[unwind->count - 1] == spot->function)
        return; /* a function that calls itself */
    if (unwind->count == VTI_STACK_FUNCTIONS)
        unwind->is_cut = true;
    else
        unwind->functions[unwind->count++] = spot->function;
}

/* A place is kept once, so that functions that call themselves do not fill all of it. */
static void add_line(struct vti_unwind *unwind, const struct vti_spot *spot)
{
    uint64_t key = (uint64_t)spot->function << 32 | spot->offset;
    uint32_t at = (uint32_t)((key * 0x9e3779b97f4a7c15u) >> 40) % VTI_STACK_LINE_PLACES;

    for (; unwind->line_at[at]; at = (at + 1) % VTI_STACK_LINE_PLACES) {
        const struct vt_sample_line *other = &unwind->lines[unwind->line_at[at] - 1];

        if (other->function == spot->function && other->offset == spot->offset)
            return;
    }
    if (unwind->line_count == VTI_STACK_LINES) {
        unwind->is_cut = true;
        return;
    }
    unwind->lines[unwind->line_count++] = (struct vt_sample_line){spot->function, spot->offset};
    unwind->line_at[at] = (uint16_t)unwind->line_count;
}

/* Whether the frame is the open call's own, or one outside of it. */
static bool is_outside(const struct vti_spot *spot, enum vt_sample_where where, uintptr_t frame,
                       bool has_cfa, uintptr_t cfa)
{
    if (where != VT_SAMPLE_INNER)
        return false;
    return frame ? has_cfa && cfa >= frame : (spot->flags & VTI_SPOT_PYTHON) != 0;
}

bool vti_unwind_is_ours(const ucontext_t *context)
{
    struct vti_registers registers;
    struct vti_spot spot;

    vti_machine_registers(&registers, context);
    vti_spot_find(&spot, registers.pc);
    return spot.flags & (VTI_SPOT_OURS | VTI_SPOT_WRAPPER);
}

void vti_unwind(struct vti_unwind *unwind, const ucontext_t *context, enum vt_sample_where where,
                uintptr_t frame)
{
    struct vti_registers registers;
    struct vti_spot spot;
    uintptr_t exact = 1; /* the place itself, not the one that a call returns to */
    bool wants_functions = where != VT_SAMPLE_LINES;

    unwind->count = unwind->line_count = 0;
    if (unwind->wants_lines)
        memset(unwind->line_at, 0, sizeof unwind->line_at);
    unwind->is_cut = unwind->is_ours = false;
    unwind->foreign = unwind->foreign_end = 0;
    vti_machine_registers(&registers, context);
    for (unsigned frames = 0;; frames++) {
        uintptr_t cfa = 0;
        bool has_cfa;

        if (!is_own(unwind, registers.sp) &&
            (registers.sp < unwind->foreign || registers.sp >= unwind->foreign_end))
            copy_foreign(unwind, registers.sp);
        vti_spot_find(&spot, registers.pc - !exact);
        has_cfa = find_cfa(unwind, &registers, &spot.row, &cfa);
        wants_functions = wants_functions && !is_outside(&spot, where, frame, has_cfa, cfa);
        if (!wants_functions && !unwind->wants_lines)
            return;
        if (wants_functions && spot.row.type != VTI_ROW_SIGNAL)
            add(unwind, &spot);
        if (unwind->wants_lines && spot.flags & VTI_SPOT_LINES)
            add_line(unwind, &spot);
        if (spot.row.type == VTI_ROW_END || !registers.pc)
            return;
        exact = spot.row.type == VTI_ROW_SIGNAL;
        if (unwind->is_cut || frames == VTI_STACK_FRAMES ||
            !(exact     ? read_context(unwind, &registers)
              : has_cfa ? step(unwind, &registers, &spot.row, cfa)
                        : step_by_pointer(unwind, &registers)))
            break;
    }
    unwind->is_cut = true;
}
