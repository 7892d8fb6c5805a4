/*
 * storm.c HOW [pairs [stall [burst]]] - signals whose handler records, while the main thread records. HOW is
 *     send   a second thread sends one signal after the other; so many pairs, and then on until a tenth
 *            as many signals have come
 *     step   the CPU's trap flag makes a signal after every instruction of vt_scope_open and
 *            vt_scope_close, so that each place in them is hit; ends with 77 where there is no such flag
 * With `stall` the drainer, the parent, is stopped again and again for so many pairs: events are lost for sure. With `burst` every seventh
 * step is handled so often that what is interrupted finds other buffers, and the drainer, stopped before, goes on in the midst of that.
 */
#include "program.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>
#include <venturi/span.h>

static volatile long handled;
static volatile bool is_over;
static pthread_t main_thread;
static long stall, burst;

static void record_in_handler(void)
{
    VT_SPAN("handler");
    {
        VT_SPAN("in handler");
        VT_MARK("mark");
    }
    handled++;
}

static void on_signal(int number_of_signal)
{
    (void)number_of_signal;
    record_in_handler();
}

static void *send_signals(void *arg)
{
    while (!is_over)
        pthread_kill(main_thread, SIGUSR1);
    return arg;
}

static void stall_drainer(long i)
{
    if (stall && i % stall == 0)
        kill(getppid(), i / stall % 2 ? SIGCONT : SIGSTOP);
}

static long record(long pairs)
{
    long i;

    for (i = 0; i < pairs || handled < pairs / 10; i++) {
        stall_drainer(i);
        VT_SPAN("outer");
        VT_SPAN("inner");
    }
    return i;
}

static long send_while_recording(long pairs)
{
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    pthread_t sender;

    main_thread = pthread_self();
    sigaction(SIGUSR1, &action, NULL);
    if (pthread_create(&sender, NULL, send_signals, NULL))
        exit(3);
    pairs = record(pairs);
    is_over = true;
    pthread_join(sender, NULL);
    return pairs;
}

#if defined(__x86_64__)
#define TRAP_FLAG 0x100

extern const char __executable_start, etext; /* from the linker */

struct place {
    uintptr_t from, to;
};

static struct place tested[2];

static struct place place_of(void *function)
{
    const ElfW(Sym) *symbol = NULL;
    Dl_info info;

    if (!dladdr1(function, &info, (void **)&symbol, RTLD_DL_SYMENT) || !symbol)
        exit(3);
    return (struct place){(uintptr_t)info.dli_saddr, (uintptr_t)info.dli_saddr + symbol->st_size};
}

static bool is_in(struct place place, uintptr_t at)
{
    return at >= place.from && at < place.to;
}

static void record_burst(void)
{
    static long steps;
    long count = burst && steps++ % 7 == 0 ? burst : 1;

    for (long i = 0; i < count; i++) {
        if (count > 1 && i == count / 3 * 2) {
            kill(getppid(), SIGCONT);
            usleep(20000);
        }
        record_in_handler();
    }
    if (count > 1)
        kill(getppid(), SIGSTOP);
}

/* Steps on in this program and in the functions under test only: their slow path blocks signals, and the
 * kernel ends a process that traps while the signal is blocked. */
static void on_step(int number_of_signal, siginfo_t *info, void *context)
{
    const struct place here = {(uintptr_t)&__executable_start, (uintptr_t)&etext};
    greg_t *registers = ((ucontext_t *)context)->uc_mcontext.gregs;
    uintptr_t at = (uintptr_t)registers[REG_RIP];

    (void)number_of_signal;
    (void)info;
    if (is_in(tested[0], at) || is_in(tested[1], at))
        record_burst();
    else if (!is_in(here, at))
        registers[REG_EFL] &= ~TRAP_FLAG;
}

/* Past the red zone. */
#define STEP_FROM_HERE()                                                                           \
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; orq $0x100, (%%rsp); popfq; "                \
                     "lea 128(%%rsp), %%rsp" ::                                                    \
                         : "memory", "cc")
#define STEP_NO_MORE()                                                                             \
    __asm__ volatile("lea -128(%%rsp), %%rsp; pushfq; andq $~0x100, (%%rsp); popfq; "              \
                     "lea 128(%%rsp), %%rsp" ::                                                    \
                         : "memory", "cc")

static void step_through(struct vt_site *outer, struct vt_site *inner)
{
    struct vt_scope scopes[2] = {{0}, {0}};

    STEP_FROM_HERE();
    vt_scope_open(&scopes[0], outer, __builtin_frame_address(0));
    STEP_FROM_HERE();
    vt_scope_open(&scopes[1], inner, __builtin_frame_address(0));
    STEP_FROM_HERE();
    vt_scope_leave(&scopes[1]);
    STEP_FROM_HERE();
    vt_scope_leave(&scopes[0]);
    STEP_NO_MORE();
}

static void step_while_recording(long pairs)
{
    static struct vt_site outer = VT_SITE("outer", "", 0);
    static struct vt_site inner = VT_SITE("inner", "", 0);
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_RESTART | SA_SIGINFO};

    tested[0] = place_of((void *)(uintptr_t)&vt_scope_open);
    tested[1] = place_of((void *)(uintptr_t)&vt_scope_close);
    sigaction(SIGTRAP, &action, NULL);
    for (long i = 0; i < pairs; i++) {
        stall_drainer(i);
        step_through(&outer, &inner);
    }
}
#else
static void step_while_recording(long pairs)
{
    (void)pairs;
    exit(77);
}
#endif

int main(int argc, char **argv)
{
    long pairs = number(argc, argv, 2, 1000);

    stall = number(argc, argv, 3, 0);
    burst = number(argc, argv, 4, 0);
    record_in_handler(); /* registers the thread and the sites */
    if (argc > 1 && !strcmp(argv[1], "step"))
        step_while_recording(pairs);
    else
        pairs = send_while_recording(pairs);
    if (stall || burst)
        kill(getppid(), SIGCONT);
    say("pairs", pairs, "handled", handled, (char *)0);
    return 0;
}
