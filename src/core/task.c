/*
 * task.c - runs of task graphs, their workers and their tasks become records.
 *
 * A task goes straight into the ring where there is room. Where there is none it is not counted as lost, unlike events: whoever
 * puts it keeps it and says it again. Runs and workers are said once, and few: they wait for room, for moments.
 */
#include "core/clock.h"
#include "core/event.h"
#include "core/note.h"
#include "core/ring.h"
#include "core/runtime.h"
#include "core/thread.h"

#include <errno.h>
#include <string.h>
#include <time.h>
#include <venturi/task.h>

#define WAIT_FIRST_NS 100000u
#define WAIT_LONGEST_NS 4000000u
#define SHORT_WAIT_MS 200 /* for what is said of runs */

static struct vt_site unnamed = {.name = "task", .function = "", .file = "", .unit = ""};

/* ---- into the ring ------------------------------------------------------------------------------- */

/* Whether anything is recorded that somebody reads: not by a profiler inside of the program. */
static bool is_recorded(void)
{
    return vt_is_on() && vti_runtime();
}

/* There is no room, and this is not said again: so many are lost. */
static void lose(uint64_t count)
{
    unsigned events = count < UINT32_MAX ? (unsigned)count : UINT32_MAX;
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, events);

    if (self)
        vti_thread_lose_tasks(self, events);
    vti_slow_leave(&slow);
}

/* One that is said only once: fixed part and text. Without room `lost` are lost. */
static void put_text(uint32_t kind, uint64_t ticks, const void *fixed, size_t bytes,
                     const char *text, uint64_t lost)
{
    uint8_t payload[64 + VTI_TEXT_MAX];
    size_t len = text ? vti_text_kept(text, strnlen(text, VTI_TEXT_MAX + 1)) : 0;
    struct vti_note note = {
        .ticks = vti_note_ticks(ticks), .kind = kind, .payload = payload, .bytes = bytes + len};

    memcpy(payload, fixed, bytes);
    if (len)
        memcpy(payload + bytes, text, len);
    if (!vti_note_put(&note) && !(vt_task_wait(SHORT_WAIT_MS) && vti_note_put(&note)))
        lose(lost);
}

/* ---- runs ---------------------------------------------------------------------------------------- */

uint32_t vt_task_run_at(uint64_t begin, const char *scheduler, uint64_t tasks, uint32_t workers,
                        uint32_t parent)
{
    struct vti_task_run_note note = {.planned = tasks, .parent = parent, .workers = workers};
    struct vti_slow slow;
    bool is_local = true;

    if (!is_recorded())
        return 0;
    if (vti_slow_enter(&slow, 0) || slow.is_slotless)
        is_local = vti_runtime()->is_local;
    vti_slow_leave(&slow);
    if (is_local)
        return 0;
    note.run = __atomic_add_fetch(&vti_runtime()->task_runs, 1, __ATOMIC_RELAXED);
    put_text(VTI_RECORD_TASK_RUN, begin, &note, sizeof note, scheduler, 1);
    return note.run;
}

uint32_t vt_task_run(const char *scheduler, uint64_t tasks, uint32_t workers, uint32_t parent)
{
    return vt_task_run_at(vt_task_clock(), scheduler, tasks, workers, parent);
}

void vt_task_worker(uint32_t run, uint32_t worker, const char *label, uint64_t pid, uint64_t tid)
{
    struct vti_task_worker_note note = {.pid = pid, .tid = tid, .run = run, .number = worker};

    if (run && is_recorded())
        put_text(VTI_RECORD_TASK_WORKER, 1, &note, sizeof note, label, 1);
}

void vt_task_run_end_at(uint64_t end, uint32_t run, const char *error, uint64_t lost)
{
    struct vti_task_end_note note = {.lost = lost, .run = run};

    if (run && is_recorded())
        put_text(VTI_RECORD_TASK_END, end, &note, sizeof note, error, lost);
}

void vt_task_run_end(uint32_t run, const char *error, uint64_t lost)
{
    vt_task_run_end_at(vt_task_clock(), run, error, lost);
}

/* ---- tasks --------------------------------------------------------------------------------------- */

static inline uint8_t *add(uint8_t *to, const void *value, size_t bytes)
{
    memcpy(to, value, bytes);
    return to + bytes;
}

static inline uint8_t *add_u64(uint8_t *to, uint64_t value, uint32_t *flags, uint32_t flag)
{
    *flags |= flag;
    return add(to, &value, sizeof value);
}

/* The fixed part of a task; returns where it ends. */
static inline uint8_t *add_numbers(uint8_t *to, const struct vt_task *task, uint32_t *flags)
{
    const uint32_t numbers[3] = {task->run, task->number,
                                 task->worker == VT_NO_WORKER ? 0 : task->worker + 1};

    to = add(to, numbers, sizeof numbers);
    if (task->start)
        to = add_u64(to, task->start, flags, VTI_TASK_HAS_START);
    if (task->ready)
        to = add_u64(to, task->ready, flags, VTI_TASK_HAS_READY);
    if (task->cpu_ns != VT_UNKNOWN) {
        to = add_u64(to, task->cpu_ns & ~VT_CPU_ESTIMATED, flags, VTI_TASK_HAS_CPU);
        *flags |= task->cpu_ns & VT_CPU_ESTIMATED ? VTI_TASK_CPU_ESTIMATED : 0;
    }
    if (task->bytes != VT_UNKNOWN)
        to = add_u64(to, task->bytes, flags, VTI_TASK_HAS_BYTES);
    if (task->freed)
        to = add_u64(to, task->freed, flags, VTI_TASK_HAS_FREED);
    if (task->retries) {
        *flags |= VTI_TASK_HAS_RETRIES;
        to = add(to, &task->retries, sizeof task->retries);
    }
    return to;
}

/* How far a task of this thread has got whose dependencies found no room for all of them: the next try goes on from there. */
static __thread struct {
    uint32_t run, number;
    size_t at;
} unfinished;

/* More dependencies than a task's record holds, in records before it. */
static bool put_far_edges(const struct vt_task *task)
{
    uint32_t payload[3 + VTI_TASK_FAR_EDGES] = {task->run, task->number};
    bool goes_on = unfinished.run == task->run && unfinished.number == task->number;
    size_t at = goes_on && unfinished.at <= task->dependency_count ? unfinished.at : 0;

    unfinished.run = task->run;
    unfinished.number = task->number;
    while (at < task->dependency_count) {
        size_t left = task->dependency_count - at;
        size_t count = left < VTI_TASK_FAR_EDGES ? left : VTI_TASK_FAR_EDGES;
        struct vti_note note = {.ticks = 1,
                                .kind = VTI_RECORD_TASK_EDGES,
                                .payload = (const uint8_t *)payload,
                                .bytes = (3 + count) * sizeof *payload};

        payload[2] = (uint32_t)at;
        memcpy(payload + 3, task->dependencies + at, count * sizeof *payload);
        if (!vti_note_put(&note))
            break;
        at += count;
    }
    unfinished.at = at;
    return at >= task->dependency_count;
}

int vt_task_put(const struct vt_task *task)
{
    uint8_t payload[VTI_TASK_NOTE_BYTES + 2 + 4 * VTI_TASK_NEAR_EDGES + VTI_TEXT_MAX];
    struct vti_note note = {
        .ticks = vti_note_ticks(task->end > task->start ? task->end : task->start),
        .site = task->name ? task->name : &unnamed,
        .kind = VTI_RECORD_TASK,
        .type = (task->state & 7u) | (task->action & 7u) * VTI_TASK_ACTION,
        .payload = payload};
    uint16_t edges = (uint16_t)task->dependency_count;
    uint8_t *to;

    if (!task->run || !is_recorded())
        return 1;
    to = add_numbers(payload, task, &note.flags);
    if (task->dependency_count > VTI_TASK_NEAR_EDGES) {
        if (!put_far_edges(task))
            return 0;
    } else if (edges) {
        note.flags |= VTI_TASK_HAS_EDGES;
        to = add(to, &edges, sizeof edges);
        to = add(to, task->dependencies, edges * sizeof *task->dependencies);
    }
    if (task->key_bytes)
        to = add(to, task->key, vti_text_kept(task->key, task->key_bytes));
    note.bytes = (size_t)(to - payload);
    if (!vti_note_put(&note))
        return 0;
    if (task->dependency_count > VTI_TASK_NEAR_EDGES)
        unfinished.run = 0;
    return 1;
}

/* ---- waiting ------------------------------------------------------------------------------------- */

/* 1: room for any record; 0: none; -1: there will be none. */
static int look_for_room(void)
{
    struct vti_slow slow;
    struct vti_thread *self = vti_slow_enter(&slow, 0);
    int room = -1;

    if (self && !vti_runtime()->is_local) {
        room = vti_ring_try(self, 1 + VTI_PAYLOADS_MAX);
        if (!room && !vti_drainer_is_alive(self->arena))
            room = -1;
    }
    vti_slow_leave(&slow);
    return room;
}

int vt_task_wait(unsigned ms)
{
    uint64_t now = vti_clock_monotonic();
    uint64_t end = now + ms * (uint64_t)1000000;
    uint64_t step = WAIT_FIRST_NS;
    int saved = errno;
    int room = is_recorded() ? look_for_room() : -1;

    while (!room && now < end) {
        const struct timespec pause = {0, (long)(step < end - now ? step : end - now)};

        nanosleep(&pause, NULL);
        step = step < WAIT_LONGEST_NS ? 2 * step : step;
        room = look_for_room();
        now = vti_clock_monotonic();
    }
    errno = saved;
    return room > 0;
}
