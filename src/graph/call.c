/* call.c - one call of a task's function: its times, its CPU time, what came of it. In any thread or process; knows no run. */
#include "graph/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define READINGS_PER_SECOND 1000 /* a reading takes 0.6 us */

static uint64_t cpu_now(void)
{
    struct timespec now;

    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0)
        return 0;
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void vti_cpu_begin(struct vti_cpu *cpu, bool is_exact, uint64_t ticks_per_second)
{
    if (cpu->every == 0)
        cpu->share = 1e9 / (double)ticks_per_second;
    cpu->is_exact = is_exact;
    cpu->every = ticks_per_second / READINGS_PER_SECOND + 1;
    cpu->used = cpu_now();
    cpu->ticks = vt_task_clock();
}

/* What the call that just ended used; the thread is read if that was long ago. */
static uint64_t cpu_estimate(struct vti_cpu *cpu, uint64_t start, uint64_t end)
{
    uint64_t elapsed = end - cpu->ticks;

    if (elapsed >= cpu->every) {
        double whole = 1e9 / ((double)cpu->every * READINGS_PER_SECOND);
        uint64_t used = cpu_now();

        cpu->share = (double)(used - cpu->used) / (double)elapsed;
        if (cpu->share > whole)
            cpu->share = whole;
        cpu->used = used;
        cpu->ticks = end;
    }
    return (uint64_t)(int64_t)((double)(int64_t)(end - start) * cpu->share);
}

void vti_call_make(vt_function *function, struct vt_call *call, struct vti_done *done)
{
    struct vti_call *inner = call->inner;
    struct vti_cpu *cpu = inner->cpu;
    uint64_t used = 0;
    int code;

    call->result = (struct vt_datum){0};
    call->failure = (struct vt_datum){0};
    inner->reason = NULL;
    inner->is_told = false;
    if (cpu != NULL && cpu->is_exact)
        used = cpu_now();
    inner->start = vt_task_clock();
    code = function(call);
    done->end = vt_task_clock();
    done->start = inner->start;
    done->cpu_ns = VT_UNKNOWN;
    done->is_cpu_estimated = cpu != NULL && !cpu->is_exact;
    if (cpu != NULL)
        done->cpu_ns = cpu->is_exact ? cpu_now() - used : cpu_estimate(cpu, done->start, done->end);
    done->task = call->task;
    done->worker = call->worker;
    done->state = code == 0 ? VT_TASK_DONE : VT_TASK_FAILED;
    if (inner->time != 0 && done->end - done->start > inner->time)
        done->state = VT_TASK_TIMED_OUT;
    if (code != 0 && inner->is_told)
        done->state = VT_TASK_CANCELLED;
    if (done->state != VT_TASK_DONE)
        vti_value_destroy(&call->result);
    else if (call->failure.destroy != NULL)
        vti_value_destroy(&call->failure);
    done->result = call->result;
    done->failure = (struct vt_datum){0};
    if (done->state != VT_TASK_DONE)
        done->failure = call->failure;
    done->reason = inner->reason;
}

int vt_call_fail(struct vt_call *call, const char *format, ...)
{
    struct vti_call *inner = call->inner;
    char *reason = NULL;
    va_list list;

    va_start(list, format);
    if (vasprintf(&reason, format, list) < 0)
        reason = NULL;
    va_end(list);
    free(inner->reason);
    inner->reason = reason;
    return -1;
}

int vt_call_is_cancelled(const struct vt_call *call)
{
    struct vti_call *inner = call->inner;

    if (inner->is_cancelled != NULL &&
        __atomic_load_n(inner->is_cancelled, __ATOMIC_RELAXED) != 0) {
        inner->is_told = true;
        return 1;
    }
    if (inner->is_expired != NULL && __atomic_load_n(inner->is_expired, __ATOMIC_RELAXED) != 0)
        return 1;
    return inner->time != 0 && vt_task_clock() - inner->start > inner->time;
}

static void destroy_bytes(void *data, void *with)
{
    (void)with;
    free(data);
}

void *vt_call_bytes(struct vt_call *call, size_t size)
{
    struct vti_call *inner = call->inner;
    void *data;

    vti_value_destroy(&call->result);
    if (inner->make_bytes != NULL)
        return inner->make_bytes(inner, size, &call->result);
    data = malloc(size == 0 ? 1 : size);
    if (data != NULL)
        call->result = vt_datum_bytes(data, size, destroy_bytes, NULL);
    return data;
}
