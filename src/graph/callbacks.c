/*
 * callbacks.c - the callbacks of a run, and the register of those for all runs.
 *
 * The register is an array that is never changed, only replaced: a run takes what there is when it begins, and neither nested nor
 * concurrent runs take anything away from each other.
 */
#include "graph/callbacks.h"

#include "base/error.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct vti_callback_list *registered; /* NULL: none; under the lock */

static void before_fork(void)
{
    pthread_mutex_lock(&lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&lock);
}

/* A worker that is forked while another thread registers something must still be able to run a graph. */
__attribute__((constructor)) static void survive_forks(void)
{
    pthread_atfork(before_fork, after_fork, after_fork);
}

static struct vti_callback_list *list_new(size_t count)
{
    struct vti_callback_list *list = malloc(sizeof *list + count * sizeof list->all[0]);

    if (list != NULL)
        list->count = list->started = 0;
    return list;
}

static void list_add(struct vti_callback_list *list, const struct vt_callbacks *callbacks)
{
    size_t i;

    for (i = 0; i < list->count; i++)
        if (list->all[i] == callbacks)
            return;
    if (callbacks != NULL)
        list->all[list->count++] = callbacks;
}

/* The register anew, without one and with another; NULL means none. */
static int change(const struct vt_callbacks *without, const struct vt_callbacks *with)
{
    struct vti_callback_list *list;
    size_t i;

    pthread_mutex_lock(&lock);
    list = list_new((registered == NULL ? 0 : registered->count) + 1);
    if (list == NULL) {
        pthread_mutex_unlock(&lock);
        return VTI_E_NOMEM;
    }
    for (i = 0; registered != NULL && i < registered->count; i++)
        if (registered->all[i] != without)
            list_add(list, registered->all[i]);
    list_add(list, with);
    free(registered);
    registered = list;
    pthread_mutex_unlock(&lock);
    return 0;
}

int vt_callbacks_register(const struct vt_callbacks *callbacks)
{
    return callbacks == NULL ? VTI_E_USAGE : change(NULL, callbacks);
}

void vt_callbacks_unregister(const struct vt_callbacks *callbacks)
{
    if (callbacks != NULL)
        change(callbacks, NULL);
}

struct vti_callback_list *vti_callbacks_for(const vt_run *run)
{
    struct vti_callback_list *list;
    size_t i;

    pthread_mutex_lock(&lock);
    list = list_new((registered == NULL ? 0 : registered->count) + run->options.callback_count);
    for (i = 0; list != NULL && registered != NULL && i < registered->count; i++)
        list_add(list, registered->all[i]);
    pthread_mutex_unlock(&lock);
    for (i = 0; list != NULL && i < run->options.callback_count; i++)
        list_add(list, run->options.callbacks[i]);
    return list;
}

static vt_state *state_of(vt_run *run)
{
    return (vt_state *)run;
}

/* Calls one member of all of them that have it, until one gives the run up. */
#define CALL_ALL(run, list, member, ...)                                                           \
    for (size_t i = 0; i < (list)->count; i++) {                                                   \
        const struct vt_callbacks *one = (list)->all[i];                                           \
        int code = one->member == NULL ? 0 : one->member(run, __VA_ARGS__, one->user);             \
        if (code < 0)                                                                              \
            return code;                                                                           \
    }

int vti_callbacks_start(vt_run *run)
{
    struct vti_callback_list *list = run->callbacks;

    for (; list->started < list->count; list->started++) {
        const struct vt_callbacks *one = list->all[list->started];
        int code = one->start == NULL ? 0 : one->start(run, one->user);

        if (code < 0)
            return code;
    }
    return 0;
}

int vti_callbacks_start_state(vt_run *run)
{
    CALL_ALL(run, run->callbacks, start_state, state_of(run))
    return 0;
}

int vti_callbacks_before(vt_run *run, uint32_t task)
{
    CALL_ALL(run, run->callbacks, pretask, task, state_of(run))
    CALL_ALL(run, run->callbacks, start_task, task, state_of(run))
    return 0;
}

int vti_callbacks_after(vt_run *run, uint32_t task, uint32_t worker)
{
    CALL_ALL(run, run->callbacks, posttask, task, &run->items[task].value, state_of(run), worker)
    CALL_ALL(run, run->callbacks, end_task, task, state_of(run), worker)
    return 0;
}

int vti_callbacks_error(vt_run *run, uint32_t task, const char *message, uint32_t worker)
{
    CALL_ALL(run, run->callbacks, error, task, message, state_of(run), worker)
    return 0;
}

int vti_callbacks_last(vt_run *run)
{
    CALL_ALL(run, run->callbacks, start_task, VT_NO_TASK, state_of(run))
    CALL_ALL(run, run->callbacks, end_task, VT_NO_TASK, state_of(run), VT_NO_WORKER)
    return 0;
}

void vti_callbacks_finish(vt_run *run, int failed)
{
    const struct vti_callback_list *list = run->callbacks;
    size_t i;

    for (i = 0; i < list->started; i++)
        if (list->all[i]->finish != NULL)
            list->all[i]->finish(run, state_of(run), failed, list->all[i]->user);
}
