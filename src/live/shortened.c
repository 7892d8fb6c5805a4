/*
 * shortened.c - reading behind the end of a mapped file that became shorter raises SIGBUS.
 *
 * Venturi's own writers never shorten what they wrote; whoever copies something over a recording does. The page that is not there is replaced by one of
 * zeros, and reading goes on. The handler makes one system call and touches nothing else.
 */
#include "live/shortened.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <unistd.h>

static struct sigaction before;
static uintptr_t page_bytes;

static void replace(int signal, siginfo_t *info, void *context)
{
    uintptr_t page = (uintptr_t)info->si_addr & ~(page_bytes - 1);

    if (info->si_code == BUS_ADRERR &&
        mmap((void *)page, page_bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) !=
            MAP_FAILED)
        return;
    /* Not a file of ours: who was there before, or nobody, when the instruction is tried again. */
    if (before.sa_flags & SA_SIGINFO)
        before.sa_sigaction(signal, info, context);
    else
        sigaction(signal, &before, NULL);
}

void vti_survive_shortening(void)
{
    struct sigaction action = {.sa_sigaction = replace, .sa_flags = SA_SIGINFO};

    page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    sigemptyset(&action.sa_mask);
    sigaction(SIGBUS, &action, &before);
}
