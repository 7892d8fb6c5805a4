/* stacks.c - busy on other stacks than the thread's own: in a handler on an alternate one, in a coroutine. */
#include "busy.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <ucontext.h>

#define STACK_BYTES 65536

static ucontext_t here, there;

APART static void in_handler(int number)
{
    (void)number;
    BUSY(100000000);
}

APART static void in_coroutine(void)
{
    BUSY(100000000);
}

static void *new_stack(void)
{
    return mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

int main(void)
{
    const stack_t alternate = {.ss_sp = new_stack(), .ss_size = STACK_BYTES};
    struct sigaction action = {.sa_handler = in_handler, .sa_flags = SA_ONSTACK};

    sigaltstack(&alternate, NULL);
    sigaction(SIGUSR1, &action, NULL);
    raise(SIGUSR1);
    getcontext(&there);
    there.uc_stack = (stack_t){.ss_sp = new_stack(), .ss_size = STACK_BYTES};
    there.uc_link = &here;
    makecontext(&there, in_coroutine, 0);
    swapcontext(&here, &there);
    return 0;
}
