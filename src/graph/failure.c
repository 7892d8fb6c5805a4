/* failure.c - failures of a run: kept once, told in one line with key, worker, tries and what was skipped. */
#include "graph/failure.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *what_happened(enum vt_task_state state)
{
    switch (state) {
    case VT_TASK_TIMED_OUT:
        return "took too long";
    case VT_TASK_LOST:
        return "was lost with its worker";
    default:
        return "failed";
    }
}

static char *line_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* malloc, one line; NULL: no memory. */
static char *line_of(const char *format, ...)
{
    char *line = NULL;
    va_list list;

    va_start(list, format);
    if (vasprintf(&line, format, list) < 0)
        line = NULL;
    va_end(list);
    return line;
}

char *vti_failure_line(const vt_run *run, const struct vti_done *done)
{
    unsigned tries = run->items[done->task].tries;
    const char *name = vt_graph_name(run->graph, done->task);
    char room[16], *line, *at;

    line = line_of("task '%.200s'%s%.100s%s %s on worker %u after %u %s%s%s",
                   vti_graph_key(run->graph, done->task, room), *name == 0 ? "" : " (", name,
                   *name == 0 ? "" : ")", what_happened(done->state), done->worker, tries,
                   tries == 1 ? "try" : "tries", done->reason == NULL ? "" : ": ",
                   done->reason == NULL ? "" : done->reason);
    for (at = line; at != NULL && (at = strpbrk(at, "\r\n")) != NULL; at++)
        *at = ' ';
    return line;
}

void vti_failure_note(vt_run *run, struct vti_done *done)
{
    struct vti_failure *failure = &run->failure;
    bool is_later;
    char room[16];

    pthread_mutex_lock(&failure->lock);
    is_later = failure->is_set;
    if (is_later)
        goto out;
    failure->is_set = true;
    failure->value = done->failure;
    failure->told.message = vti_failure_line(run, done);
    failure->told.reason = done->reason;
    failure->told.value = &failure->value;
    failure->told.task = done->task;
    failure->told.key = strdup(vti_graph_key(run->graph, done->task, room));
    failure->told.worker = done->worker;
    failure->told.tries = run->items[done->task].tries;
out:
    pthread_mutex_unlock(&failure->lock);
    if (is_later) { /* not under the lock: what is destroyed may wait for a lock of its own */
        vti_value_destroy(&done->failure);
        free(done->reason);
    }
    done->reason = NULL;
}

void vti_failure_say(vt_run *run, uint32_t task, const char *format, ...)
{
    struct vti_failure *failure = &run->failure;
    char *line = NULL;
    char room[16];
    va_list list;

    va_start(list, format);
    if (vasprintf(&line, format, list) < 0)
        line = NULL;
    va_end(list);
    pthread_mutex_lock(&failure->lock);
    if (failure->is_set) {
        free(line);
    } else {
        failure->is_set = true;
        failure->told.message = line;
        failure->told.reason = line == NULL ? NULL : strdup(line);
        failure->told.task = task;
        failure->told.key = task == VT_NO_TASK ? NULL
                                               : strdup(vti_graph_key(run->graph, task, room));
        failure->told.worker = VT_NO_WORKER;
    }
    pthread_mutex_unlock(&failure->lock);
    __atomic_fetch_or(&run->is_cancelled, VTI_CANCELLED_BY_FAILURE, __ATOMIC_RELAXED);
}

void vti_failure_callback(vt_run *run, uint32_t task, int code)
{
    char room[16];

    if (task == VT_NO_TASK)
        vti_failure_say(run, task, "a callback gave the run up (%d)", code);
    else
        vti_failure_say(run, task, "a callback gave the run up at task '%.200s' (%d)",
                        vti_graph_key(run->graph, task, room), code);
}

/* Appends one that had not been begun; 0: no memory. */
static int skip_one(vt_run *run, uint32_t task)
{
    struct vti_failure *failure = &run->failure;

    if (run->items[task].phase == 0 ||
        __atomic_load_n(&run->items[task].state, __ATOMIC_RELAXED) != 0)
        return 1;
    if (failure->skipped_count == failure->skipped_room) {
        size_t room = failure->skipped_room == 0 ? 16 : failure->skipped_room * 2;
        uint32_t *moved = realloc(failure->skipped, room * sizeof *moved);

        if (moved == NULL)
            return 0;
        failure->skipped = moved;
        failure->skipped_room = room;
    }
    __atomic_store_n(&run->items[task].state, VT_TASK_SKIPPED, __ATOMIC_RELAXED);
    failure->skipped[failure->skipped_count++] = task;
    return 1;
}

void vti_failure_skip(vt_run *run, uint32_t task)
{
    const struct vti_plan *plan = run->plan;
    size_t at = run->failure.skipped_count;
    uint32_t k;

    for (;;) {
        for (k = plan->first_user[task]; k < plan->first_user[task + 1]; k++)
            if (!skip_one(run, plan->users[k]))
                return;
        if (at == run->failure.skipped_count)
            return;
        task = run->failure.skipped[at++];
    }
}

void vti_failure_close(vt_run *run)
{
    struct vti_failure *failure = &run->failure;
    const char *message = failure->told.message;

    if (!failure->is_set)
        return;
    failure->told.skipped = failure->skipped;
    failure->told.skipped_count = failure->skipped_count;
    if (message != NULL && failure->skipped_count > 0) {
        char *line = line_of("%s; %zu %s skipped", message, failure->skipped_count,
                             failure->skipped_count == 1 ? "dependent" : "dependents");

        if (line != NULL) {
            free((char *)message);
            failure->told.message = line;
        }
    }
    if (failure->told.message == NULL)
        failure->told.message = strdup("no memory to tell what went wrong");
}
