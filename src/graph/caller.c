/* caller.c - calls tasks of a run in this process. */
#include "graph/caller.h"

#include <stdlib.h>
#include <string.h>

void vti_caller_open(struct vti_caller *caller, vt_run *run, uint32_t worker)
{
    memset(caller, 0, sizeof *caller);
    caller->run = run;
    caller->has_times = run->options.timeout > 0 || run->graph->has_timeouts;
    caller->inner.is_cancelled = &run->is_cancelled;
    caller->inner.cpu = &caller->cpu;
    caller->call.worker = worker;
    caller->call.run = run;
    caller->call.inner = &caller->inner;
    vti_cpu_begin(&caller->cpu, run->options.cpu_time != 0, run->ticks_per_second);
}

void vti_caller_close(struct vti_caller *caller)
{
    free(caller->many);
}

void vti_run_args(const vt_run *run, uint32_t task, const struct vt_datum **args)
{
    const struct vti_node *node = &run->graph->nodes[task];
    const uint32_t *from = run->plan->args + node->first_arg;
    uint32_t i;

    for (i = 0; i < node->arg_count; i++) {
        uint32_t number = from[i] & VTI_ARG_NUMBER;

        args[i] = (from[i] & VTI_ARG_TYPE) == VTI_ARG_VALUE ? &run->graph->values[number]
                                                            : &run->items[number].value;
    }
}

/* Room for so many arguments, NULL: no memory. */
static const struct vt_datum **room_for(struct vti_caller *caller, size_t count)
{
    const struct vt_datum **moved;

    if (count <= sizeof caller->few / sizeof caller->few[0])
        return caller->few;
    if (count > caller->many_room) {
        moved = realloc(caller->many, count * sizeof *moved);
        if (moved == NULL)
            return NULL;
        caller->many = moved;
        caller->many_room = count;
    }
    return caller->many;
}

static int no_function(struct vt_call *call)
{
    return vt_call_fail(call, "it has no function");
}

static int no_room(struct vt_call *call)
{
    return vt_call_fail(call, "no memory for its arguments");
}

void vti_caller_make(struct vti_caller *caller, uint32_t task, uint32_t try_, struct vti_done *done)
{
    const vt_run *run = caller->run;
    const struct vti_node *node = &run->graph->nodes[task];
    const struct vt_datum **args = room_for(caller, node->arg_count);

    if (args != NULL)
        vti_run_args(run, task, args);
    caller->call.args = args;
    caller->call.arg_count = node->arg_count;
    caller->call.user = node->user;
    caller->call.task = task;
    caller->call.try_ = try_;
    if (caller->has_times)
        caller->inner.time = (uint64_t)(vti_run_timeout(run, task) * (double)run->ticks_per_second);
    vti_call_make(args == NULL             ? no_room
                  : node->function == NULL ? no_function
                                           : node->function,
                  &caller->call, done);
}
