/*
 * worker_call.c - one call in a worker process: arguments from flat values, the function by address or name, its result made flat again.
 * Everything that fails here fails the task, never the worker.
 */
#include "base/error.h"
#include "graph/run.h"
#include "graph/worker.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REASON_MOST 2000
#define WAITS 400 /* of 5 ms, for others to give blocks back */

static uint8_t *base(const struct vti_worker *worker)
{
    return (uint8_t *)worker->header;
}

/* A block; if there is no room, what the caller is about to give back is waited for, but not for long. */
static uint64_t take(struct vti_worker *worker, size_t size)
{
    const struct timespec pause = {.tv_nsec = 5000000};
    uint64_t offset = vti_space_take(&worker->space, size);

    if (size / worker->header->segment_bytes >= worker->header->segment_count)
        return offset;
    for (int i = 0;
         !offset && i < WAITS && !__atomic_load_n(&worker->header->is_cancelled, __ATOMIC_RELAXED);
         i++) {
        nanosleep(&pause, NULL);
        vti_given_take(&worker->lane->given, &worker->space);
        offset = vti_space_take(&worker->space, size);
    }
    return offset;
}

/* The reason stays in the slot itself, cut off, if there is no room for it. */
static void put_reason(struct vti_worker *worker, struct vti_slot *slot, const char *text)
{
    size_t size = strnlen(text, REASON_MOST);
    uint64_t offset = vti_space_take(&worker->space, size + 1);

    if (!offset) {
        offset = (uint64_t)((uint8_t *)slot->here - base(worker));
        size = size < sizeof slot->here ? size : sizeof slot->here - 1;
    }
    memcpy(base(worker) + offset, text, size);
    base(worker)[offset + size] = 0;
    slot->reason = (struct vti_flat){VT_DATUM_BYTES, VTI_FLAT_SHARED, size, offset};
}

__attribute__((format(printf, 3, 4))) static int refuse(struct vti_worker *worker,
                                                        struct vti_slot *slot, const char *format,
                                                        ...)
{
    char text[REASON_MOST];
    va_list args;

    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    put_reason(worker, slot, text);
    return -1;
}

static void refuse_size(struct vti_worker *worker, struct vti_slot *slot, size_t size)
{
    refuse(worker, slot,
           "no room for a result of %zu bytes: %llu of %llu bytes of shared memory are free; raise "
           "shared_bytes of the run's options",
           size, (unsigned long long)vti_segments_left(&worker->space.in),
           (unsigned long long)worker->header->segment_count * worker->header->segment_bytes);
}

/* 0: it is the result of a slot that has none. */
static int value_of(struct vti_worker *worker, const struct vti_flat *flat, struct vt_datum *value)
{
    if (flat->place == VTI_FLAT_SLOT) {
        struct vti_slot *slot = &worker->lane->slots[flat->bits % VTI_LANE_SLOTS];

        if (atomic_load_explicit(&slot->state, memory_order_relaxed) != VTI_SLOT_DONE)
            return 0;
        flat = &slot->result;
    }
    memset(value, 0, sizeof *value);
    value->type = flat->type;
    value->size = flat->size;
    if (flat->place == VTI_FLAT_SHARED)
        value->as.data = base(worker) + flat->bits;
    else if (flat->type != VT_DATUM_NONE)
        memcpy(&value->as, &flat->bits, sizeof value->as);
    return 1;
}

static vt_function *named(struct vti_worker *worker, uint64_t offset)
{
    struct vti_worker_name *names;
    vt_function *function;

    for (size_t i = 0; i < worker->name_count; i++)
        if (worker->names[i].offset == offset)
            return worker->names[i].function;
    function = vt_function_find((const char *)base(worker) + offset);
    names = function ? realloc(worker->names, (worker->name_count + 1) * sizeof *names) : NULL;
    if (names != NULL) {
        names[worker->name_count++] = (struct vti_worker_name){offset, function};
        worker->names = names;
    }
    return function;
}

static int make_room(struct vti_worker *worker, size_t count)
{
    size_t room = count * 2;
    void *values, *args;

    if (count <= worker->room)
        return 0;
    values = realloc(worker->values, room * sizeof *worker->values);
    if (values != NULL)
        worker->values = values;
    args = realloc(worker->args, room * sizeof *worker->args);
    if (args != NULL)
        worker->args = args;
    if (values == NULL || args == NULL)
        return -1;
    worker->room = room;
    return 0;
}

int vti_worker_args(struct vti_worker *worker, struct vti_slot *slot, vt_function **function)
{
    const struct vti_flat *flat = slot->here;

    slot->cpu_ns = VT_UNKNOWN;
    slot->result = slot->failure = slot->reason = (struct vti_flat){0};
    if (slot->args)
        flat = (const struct vti_flat *)(base(worker) + slot->args);
    if (make_room(worker, slot->arg_count) != 0)
        return refuse(worker, slot, "no memory for %u arguments", slot->arg_count);
    for (uint32_t i = 0; i < slot->arg_count; i++) {
        if (!value_of(worker, &flat[i], &worker->values[i]))
            return 0;
        worker->args[i] = &worker->values[i];
    }
    if (worker->header->is_forked)
        memcpy(function, &slot->function, sizeof *function);
    else
        *function = named(worker, slot->function);
    if (*function == NULL)
        return refuse(worker, slot, "worker knows no function named '%s'",
                      (const char *)base(worker) + slot->function);
    return 1;
}

static void *make_bytes(struct vti_call *call, size_t size, struct vt_datum *value)
{
    struct vti_worker *worker = call->with;

    if (worker->made)
        vti_space_give(&worker->space, worker->made);
    worker->made_size = size;
    worker->made = take(worker, size);
    if (!worker->made)
        return NULL;
    *value = vt_datum_bytes(base(worker) + worker->made, size, NULL, NULL);
    return value->as.data;
}

/* What a call left, as others can see it: -1 if they cannot. */
static int flatten(struct vti_worker *worker, struct vti_slot *slot, const struct vt_datum *value,
                   struct vti_flat *flat)
{
    uint64_t offset = 0;

    *flat = (struct vti_flat){.type = value->type, .size = value->size};
    if (value->type == VT_DATUM_OBJECT)
        return refuse(worker, slot,
                      "its result is an object: only numbers and bytes can leave a process");
    if (value->type != VT_DATUM_BYTES) {
        memcpy(&flat->bits, &value->as, sizeof flat->bits);
        return 0;
    }
    if (worker->made && value->as.data == base(worker) + worker->made &&
        value->size <= worker->made_size) {
        offset = worker->made;
        worker->made = 0;
    } else if (value->size) {
        offset = take(worker, value->size);
        if (!offset) {
            refuse_size(worker, slot, value->size);
            return -1;
        }
        memcpy(base(worker) + offset, value->as.data, value->size);
    }
    flat->place = offset ? VTI_FLAT_SHARED : VTI_FLAT_HERE;
    flat->bits = offset;
    return 0;
}

/* Makes the outcome flat; the value itself is of no use any more. */
static enum vti_slot_state leave(struct vti_worker *worker, struct vti_slot *slot,
                                 struct vti_done *done)
{
    enum vti_slot_state state = done->state == VT_TASK_DONE        ? VTI_SLOT_DONE
                                : done->state == VT_TASK_FAILED    ? VTI_SLOT_FAILED
                                : done->state == VT_TASK_CANCELLED ? VTI_SLOT_CANCELLED
                                                                   : VTI_SLOT_TIMED_OUT;

    if (state == VTI_SLOT_DONE && flatten(worker, slot, &done->result, &slot->result) != 0) {
        slot->result = (struct vti_flat){0};
        state = VTI_SLOT_FAILED;
    } else if (state != VTI_SLOT_DONE) {
        if (worker->made_size && !worker->made)
            refuse_size(worker, slot, worker->made_size);
        else if (done->reason != NULL)
            put_reason(worker, slot, done->reason);
        if (done->failure.type == VT_DATUM_OBJECT ||
            flatten(worker, slot, &done->failure, &slot->failure) != 0)
            slot->failure = (struct vti_flat){0};
    }
    if (done->result.destroy != NULL)
        vti_value_destroy(&done->result);
    if (done->failure.destroy != NULL)
        vti_value_destroy(&done->failure);
    free(done->reason);
    if (worker->made)
        vti_space_give(&worker->space, worker->made);
    return state;
}

enum vti_slot_state vti_worker_call(struct vti_worker *worker, struct vti_slot *slot,
                                    vt_function *function)
{
    struct vti_call inner = {.make_bytes = make_bytes, .with = worker};
    struct vti_done done;
    struct vt_call call = {.args = worker->args, .arg_count = slot->arg_count, .inner = &inner};

    inner.is_cancelled = &worker->header->is_cancelled;
    inner.time = slot->time;
    inner.cpu = &worker->cpu;
    call.task = slot->task;
    call.try_ = slot->try_;
    call.worker = worker->lane->worker;
    if (worker->header->is_forked)
        memcpy(&call.user, &slot->user, sizeof call.user);
    else if (slot->user)
        call.user = base(worker) + slot->user;
    worker->made = 0;
    worker->made_size = 0;
    atomic_store_explicit(&slot->start, vt_task_clock(), memory_order_relaxed);
    vti_call_make(function, &call, &done);
    slot->cpu_ns = done.cpu_ns;
    slot->start = done.start;
    slot->end = done.end;
    return leave(worker, slot, &done);
}

void vti_worker_forget(struct vti_worker *worker)
{
    free(worker->values);
    free(worker->args);
    free(worker->names);
}
