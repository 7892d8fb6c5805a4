/*
 * sample.c - samples native stacks: which threads, and what the signal handler does.
 *
 * Preloaded by `venturi run --native`; VENTURI_NATIVE_HZ says how often, VENTURI_NATIVE_CLOCK=timer that no
 * perf event is to be used. The handler runs on the thread's own stack and takes about a kilobyte of it:
 * what is large lies in memory that each thread gets at its start.
 */
#include "collect/sample.h"

#include "collect/interpose.h"
#include "collect/sampler.h"
#include "collect/spot.h"
#include "collect/unwind.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <venturi/hook.h>
#include <venturi/line.h>
#include <venturi/span.h>

#define HZ_DEFAULT 1000
#define HZ_MOST 20000

/* A thread that is sampled. */
struct vti_sampled {
    struct vti_sampled *next; /* all of them; or the free ones, which are used again */
    struct vti_sampler sampler;
    struct vti_unwind unwind;
    bool is_used;
};

static __thread struct vti_sampled *mine __attribute__((tls_model("initial-exec")));
static struct vti_sampled *all;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint64_t period_ns;
static bool only_timer;
static bool is_on;
static bool waits_for_lines;

bool vti_sample_is_on(void)
{
    return __atomic_load_n(&is_on, __ATOMIC_ACQUIRE);
}

/* ---- a sample ----------------------------------------------------------------------------------- */

static bool is_counting_lines(void)
{
    const uint32_t *word = __atomic_load_n(&vt_control_word, __ATOMIC_ACQUIRE);

    return __atomic_load_n(word, __ATOMIC_RELAXED) & VT_ON_LINES;
}

static void take(struct vti_sampled *self, const siginfo_t *info, const ucontext_t *context)
{
    struct vti_unwind *unwind = &self->unwind;
    struct vt_sample sample = {.ns = vti_sampler_ns(&self->sampler, info),
                               .period_ns = self->sampler.period_ns,
                               .began = vt_ticks(),
                               .clock = self->sampler.clock};
    enum vt_sample_where where;
    uintptr_t frame = 0;

    /* First of all: in the midst of libventuri nothing of it may be called that changes a tree. */
    if (vti_unwind_is_ours(context)) {
        sample.is_ours = 1;
    } else {
        where = vt_sample_begin(&frame);
        unwind->wants_lines = vti_spots_have_lines() && is_counting_lines();
        if (where == VT_SAMPLE_OFF || (where == VT_SAMPLE_LINES && !unwind->wants_lines))
            return;
        vti_unwind(unwind, context, where, frame);
        sample.functions = unwind->functions;
        sample.count = unwind->count;
        sample.lines = unwind->lines;
        sample.line_count = unwind->line_count;
        sample.is_cut = unwind->is_cut;
        sample.is_ours = unwind->is_ours;
    }
    vt_sample_add(&sample);
}

static void handle(int signal_number, siginfo_t *info, void *context)
{
    struct vti_sampled *self = mine;
    int saved_errno = errno;

    (void)signal_number;
    if (self && __atomic_load_n(&self->sampler.clock, __ATOMIC_ACQUIRE))
        take(self, info, context);
    errno = saved_errno;
}

/* ---- threads ------------------------------------------------------------------------------------ */

static struct vti_sampled *find_free(void)
{
    struct vti_sampled *one = all;

    while (one && one->is_used)
        one = one->next;
    if (!one) {
        one = mmap(NULL, sizeof *one, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (one == MAP_FAILED)
            return NULL;
        one->next = all;
        all = one;
    }
    one->is_used = true;
    return one;
}

/* A thread inherits a mask that was not meant for this signal. */
static void let_in(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, VTI_SAMPLER_SIGNAL);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void vti_sample_enter(void)
{
    struct vti_sampled *self;

    pthread_mutex_lock(&lock);
    self = is_on ? find_free() : NULL;
    pthread_mutex_unlock(&lock);
    if (!self)
        return;
    vti_unwind_init(&self->unwind);
    let_in();
    mine = self;
    vti_sampler_start(&self->sampler, period_ns, only_timer);
}

void vti_sample_leave(void)
{
    struct vti_sampled *self = mine;

    if (!self)
        return;
    vti_sampler_stop(&self->sampler);
    mine = NULL;
    pthread_mutex_lock(&lock);
    self->is_used = false;
    pthread_mutex_unlock(&lock);
}

/* The other threads are gone, and one of them may have held the lock. */
void vti_sample_forked(void)
{
    lock = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
    for (struct vti_sampled *one = all; one; one = one->next) {
        if (one->is_used)
            vti_sampler_leave(&one->sampler);
        one->is_used = one == mine;
    }
    if (mine && is_on)
        vti_sampler_start(&mine->sampler, period_ns, only_timer);
}

void vti_sample_give_up(void)
{
    pthread_mutex_lock(&lock);
    if (is_on)
        vt_sample_stopped();
    __atomic_store_n(&is_on, false, __ATOMIC_RELEASE);
    for (struct vti_sampled *one = all; one; one = one->next)
        if (one->is_used)
            vti_sampler_stop(&one->sampler);
    pthread_mutex_unlock(&lock);
}

/* ---- the beginning ------------------------------------------------------------------------------ */

static uint64_t asked_hz(void)
{
    const char *text = secure_getenv("VENTURI_NATIVE_HZ");
    unsigned long hz = text && *text ? strtoul(text, NULL, 10) : HZ_DEFAULT;

    return hz < 1 ? HZ_DEFAULT : hz > HZ_MOST ? HZ_MOST : hz;
}

static bool take_signal(void)
{
    struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct sigaction before;

    /* Somebody may have been here first: a library whose constructor ran before ours. */
    if (vti_libc_sigaction(VTI_SAMPLER_SIGNAL, NULL, &before) ||
        (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN))
        return false;
    sigfillset(&action.sa_mask);
    return vti_libc_sigaction(VTI_SAMPLER_SIGNAL, &action, NULL) == 0;
}

static void begin(void)
{
    static bool is_begun;

    if (is_begun || !take_signal())
        return;
    is_begun = true;
    __atomic_store_n(&is_on, true, __ATOMIC_RELEASE);
    pthread_atfork(NULL, NULL, vti_sample_forked);
    vti_sample_enter();
}

/* Only in a program that is being recorded. Where lines are wanted, from the moment on when a module is loaded that has
 * some. */
__attribute__((constructor)) static void start(void)
{
    const char *clock = secure_getenv("VENTURI_NATIVE_CLOCK");
    const char *session = secure_getenv("VENTURI_SESSION");
    const char *wanted = secure_getenv("VENTURI_NATIVE");

    period_ns = 1000000000u / asked_hz();
    only_timer = clock && !strcmp(clock, "timer");
    vti_spots_init();
    if (!session || !*session || !wanted)
        return;
    if (strstr(wanted, "stacks"))
        begin();
    waits_for_lines = strstr(wanted, "lines") != NULL;
}

VT_API void vt_sample_lines_start(const void *module)
{
    if (!waits_for_lines)
        return;
    vti_spots_add_lines(module);
    begin();
}

VT_API void vt_sample_lines_stop(const void *module)
{
    if (waits_for_lines)
        vti_spots_drop_lines(module);
}
