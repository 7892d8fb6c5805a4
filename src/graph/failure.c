/* failure.c - failures of a run: kept once, told in one line with key, worker, tries and what was skipped. */
#include "graph/failure.h"

#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHAT_ROOM 64

static const char *what_happened(const vt_run *run, const struct vti_done *done,
                                 char room[WHAT_ROOM])
{
    switch (done->state) {
    case VT_TASK_TIMED_OUT:
        if (__atomic_load_n(&run->is_left, __ATOMIC_RELAXED) != 0)
            return "was abandoned";
        snprintf(room, WHAT_ROOM, "took longer than %g s", vti_run_timeout(run, done->task));
        return room;
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
    char *line;
    va_list list;

    va_start(list, format);
    line = vti_text_line(format, list);
    va_end(list);
    return line;
}

char *vti_failure_line(const vt_run *run, const struct vti_done *done)
{
    unsigned tries = run->items[done->task].tries;
    const char *name = vt_graph_name(run->graph, done->task);
    char room[16], what[WHAT_ROOM];

    return line_of("task '%.200s'%s%.100s%s %s on worker %u after %u %s%s%.2000s",
                   vti_graph_key(run->graph, done->task, room), *name == 0 ? "" : " (", name,
                   *name == 0 ? "" : ")", what_happened(run, done, what), done->worker, tries,
                   tries == 1 ? "try" : "tries", done->reason == NULL ? "" : ": ",
                   done->reason == NULL ? "" : done->reason);
}

void vti_failure_note(vt_run *run, struct vti_done *done)
{
    struct vti_failure *failure = &run->failure;
    bool is_later;
    char room[16];

    pthread_mutex_lock(&failure->lock);
    is_later = failure->is_set;
    failure->others += is_later;
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
    char *line;
    char room[16];
    va_list list;

    va_start(list, format);
    line = vti_text_line(format, list);
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

/* The longer line instead of the other, if there is one. */
static const char *longer(const char *line, char *instead)
{
    if (instead == NULL)
        return line;
    free((char *)line);
    return instead;
}

/* Appends those that use it and were skipped, each once. */
static size_t add_skipped_users(const vt_run *run, uint32_t task, uint32_t *is_seen, uint32_t *list,
                                size_t count)
{
    const struct vti_plan *plan = run->plan;
    uint32_t k;

    for (k = plan->first_user[task]; k < plan->first_user[task + 1]; k++) {
        uint32_t user = plan->users[k];

        if (run->items[user].phase != 0 && run->items[user].state == VT_TASK_SKIPPED &&
            !is_seen[user]) {
            is_seen[user] = 1;
            list[count++] = user;
        }
    }
    return count;
}

/* How many were skipped because of the one that failed first, whoever came to them first. */
static size_t own_skipped(vt_run *run)
{
    struct vti_failure *failure = &run->failure;
    uint32_t *list = run->ready_room, *is_seen = run->scratch; /* nobody needs them any more */
    size_t count, i;

    if (failure->told.task == VT_NO_TASK || failure->others == 0)
        return failure->skipped_count;
    memset(is_seen, 0, run->plan->count * sizeof *is_seen);
    count = add_skipped_users(run, failure->told.task, is_seen, list, 0);
    for (i = 0; i < count; i++)
        count = add_skipped_users(run, list[i], is_seen, list, count);
    return count;
}

void vti_failure_close(vt_run *run)
{
    struct vti_failure *failure = &run->failure;
    const char *message = failure->told.message;
    size_t skipped;

    if (!failure->is_set)
        return;
    failure->told.skipped = failure->skipped;
    failure->told.skipped_count = failure->skipped_count;
    skipped = own_skipped(run);
    if (message != NULL && skipped > 0)
        message = longer(message, line_of("%s; %zu %s skipped", message, skipped,
                                          skipped == 1 ? "dependent" : "dependents"));
    if (message != NULL && failure->others > 0)
        message = longer(message, line_of("%s; %zu other %s failed", message, failure->others,
                                          failure->others == 1 ? "task" : "tasks"));
    failure->told.message = message;
    if (failure->told.message == NULL)
        failure->told.message = strdup("no memory to tell what went wrong");
}
