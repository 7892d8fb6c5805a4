/*
 * tasks.c - functions of tasks, found by name in every worker of a cluster. Values are bytes and numbers.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <venturi/graph.h>

static void pause_for(double seconds)
{
    struct timespec time = {(time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9)};

    nanosleep(&time, NULL);
}

/* The sum of what it is given, a millisecond or so later. */
int add(struct vt_call *call)
{
    int64_t sum = 0;

    for (size_t i = 0; i < call->arg_count; i++)
        sum += call->args[i]->as.number;
    pause_for(0.002);
    call->result = vt_datum_int(sum);
    return 0;
}

/* The same, but slowly; the first time that any process does it, the file `user` appears and stays. */
int add_slowly(struct vt_call *call)
{
    FILE *sign = fopen(call->user, "a");

    if (sign) {
        fprintf(sign, "%d\n", (int)getpid());
        fclose(sign);
    }
    pause_for(0.4);
    return add(call);
}

/* So many bytes, all the same. */
int fill(struct vt_call *call)
{
    size_t size = (size_t)call->args[0]->as.number;
    char *bytes = vt_call_bytes(call, size);

    if (!bytes)
        return vt_call_fail(call, "no memory");
    memset(bytes, 'x', size);
    return 0;
}

int half(struct vt_call *call)
{
    call->result = vt_datum_double((double)call->args[0]->size / 2);
    return 0;
}

int fail(struct vt_call *call)
{
    return vt_call_fail(call, "task %u does not want to", call->task);
}
