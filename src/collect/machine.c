/* machine.c - where a signal handler finds the registers of what it has interrupted. */
#include "collect/machine.h"

void vti_machine_registers(struct vti_registers *to, const ucontext_t *context)
{
#if defined(__x86_64__)
    const greg_t *from = context->uc_mcontext.gregs;

    to->pc = (uintptr_t)from[REG_RIP];
    to->sp = (uintptr_t)from[REG_RSP];
    to->fp = (uintptr_t)from[REG_RBP];
    to->lr = 0;
#elif defined(__aarch64__)
    to->pc = context->uc_mcontext.pc;
    to->sp = context->uc_mcontext.sp;
    to->fp = context->uc_mcontext.regs[29];
    to->lr = context->uc_mcontext.regs[30];
#endif
}
