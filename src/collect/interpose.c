/*
 * interpose.c - what stands in front of libc for the sampler: threads begin, signals get handlers, modules go.
 *
 * Each does what libc does and a little more; when nothing is sampled, nothing more.
 */
#include "collect/interpose.h"

#include "collect/sample.h"
#include "collect/sampler.h"
#include "collect/spot.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <venturi/span.h>

typedef int (*create_function)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
typedef int (*sigaction_function)(int, const struct sigaction *, struct sigaction *);
typedef sighandler_t (*signal_function)(int, sighandler_t);
typedef int (*dlclose_function)(void *);

/* Asked for each time it is needed first: others' constructors run before ours. */
static void *next_one(void **known, const char *name)
{
    if (!__atomic_load_n(known, __ATOMIC_RELAXED))
        __atomic_store_n(known, dlsym(RTLD_NEXT, name), __ATOMIC_RELAXED);
    return *known;
}

/* ---- threads ------------------------------------------------------------------------------------ */

struct beginning {
    void *(*run)(void *);
    void *arg;
};

static void leave(void *unused)
{
    (void)unused;
    vti_sample_leave();
}

static void *begin(void *arg)
{
    struct beginning beginning = *(struct beginning *)arg;
    void *result;

    free(arg);
    vti_sample_enter();
    pthread_cleanup_push(leave, NULL);
    result = beginning.run(beginning.arg);
    pthread_cleanup_pop(1);
    return result;
}

VT_API int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
                          void *arg)
{
    static void *known;
    create_function create = (create_function)(uintptr_t)next_one(&known, "pthread_create");
    struct beginning *beginning;
    int code;

    if (!vti_sample_is_on())
        return create(thread, attributes, run, arg);
    beginning = malloc(sizeof *beginning);
    if (!beginning)
        return create(thread, attributes, run, arg);
    *beginning = (struct beginning){run, arg};
    code = create(thread, attributes, begin, beginning);
    if (code)
        free(beginning);
    return code;
}

/* ---- signals ------------------------------------------------------------------------------------ */

int vti_libc_sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    static void *known;

    return ((sigaction_function)(uintptr_t)next_one(&known, "sigaction"))(number, action, before);
}

static bool is_plain(sighandler_t handler)
{
    return handler == SIG_DFL || handler == SIG_IGN;
}

/* What the program believes about our signal, as long as it has no handler for it. */
static struct sigaction believed;

/* True: the program keeps out of our way, and was told what it would have been told without us. */
static bool pretend(int number, const struct sigaction *action, struct sigaction *before)
{
    struct sigaction old = believed;

    if (number != VTI_SAMPLER_SIGNAL || !vti_sample_is_on())
        return false;
    if (action && (action->sa_flags & SA_SIGINFO || !is_plain(action->sa_handler))) {
        vti_sample_give_up();
        vti_libc_sigaction(number, &old, NULL);
        return false;
    }
    if (action)
        believed = *action;
    if (before)
        *before = old;
    return true;
}

VT_API int sigaction(int number, const struct sigaction *action, struct sigaction *before)
{
    return pretend(number, action, before) ? 0 : vti_libc_sigaction(number, action, before);
}

VT_API sighandler_t signal(int number, sighandler_t handler)
{
    static void *known;
    signal_function next = (signal_function)(uintptr_t)next_one(&known, "signal");
    const struct sigaction action = {.sa_handler = handler};
    struct sigaction before;

    return handler != SIG_ERR && pretend(number, &action, &before) ? before.sa_handler
                                                                   : next(number, handler);
}

/* ---- modules ------------------------------------------------------------------------------------ */

VT_API int dlclose(void *handle)
{
    static void *known;
    int code;

    vti_spots_forget(); /* what is found while it goes … */
    code = ((dlclose_function)(uintptr_t)next_one(&known, "dlclose"))(handle);
    vti_spots_forget(); /* … is not believed afterwards */
    return code;
}
