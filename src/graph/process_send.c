/*
 * process_send.c - what goes down to the workers, and to whom: as much as keeps each busy for a while, and no more, because what is queued
 * for one has to be taken back (process_steal.c) before another can begin it.
 */
#include "base/error.h"
#include "graph/process.h"

#include <stdlib.h>
#include <string.h>

#define QUEUE_NS 400000.0 /* of work is queued for a worker, */
#define QUEUE_LEAST 2u    /* but so many tasks */
#define QUEUE_MOST 512u
#define WAKE_NS 10000.0  /* what it costs to wake one up */
#define SMALL_NS 50000.0 /* tasks below may go early */
#define TIGHT_EVERY 16   /* sendings between looks at the memory that is left */
#define STICK 8          /* small tasks go to the same worker in such lots */

static unsigned most_queued(const struct vti_processes *all)
{
    double count = QUEUE_NS / all->task_ns;

    /* Then what frees memory shall not wait behind what takes more. */
    if (all->is_tight)
        return 1;
    if (count * all->result_bytes > all->queue_bytes)
        count = all->queue_bytes / all->result_bytes;
    return count > QUEUE_MOST ? QUEUE_MOST : count < QUEUE_LEAST ? QUEUE_LEAST : (unsigned)count;
}

static unsigned room_of(const struct vti_crew *crew, unsigned most)
{
    unsigned room = crew->pid && crew->in_flight < most ? most - crew->in_flight : 0;

    return room < crew->free_count ? room : crew->free_count;
}

unsigned vti_processes_room(const struct vti_processes *all)
{
    size_t room = 0, early = 0;

    for (unsigned i = 0; i < all->crew_count; i++) {
        room += room_of(&all->crews[i], most_queued(all));
        early += all->crews[i].early;
    }
    if (!all->is_tight)
        room -= room < all->waiting_count ? room : all->waiting_count;
    /* Those that went early take no room any more, and must be asked for to give theirs back. */
    return (unsigned)(room + early);
}

int vti_processes_wait_for_room(struct vti_processes *all, struct vti_job job)
{
    if (all->waiting_count == all->waiting_room) {
        size_t room = all->waiting_room ? all->waiting_room * 2 : 256;
        struct vti_job *waiting = realloc(all->waiting, room * sizeof *waiting);

        if (waiting == NULL)
            return vti_fail(VTI_E_NOMEM, "no memory for %zu tasks", room);
        all->waiting = waiting;
        all->waiting_room = room;
    }
    all->waiting[all->waiting_count++] = job;
    return 0;
}

static void refuse(struct vti_processes *all, struct vti_job job, uint32_t worker, int code)
{
    struct vti_done done = {.task = job.task, .worker = worker, .state = VT_TASK_FAILED};

    done.cpu_ns = VT_UNKNOWN;
    done.start = done.end = vt_task_clock();
    done.reason = strdup(vti_error_message(code));
    vti_processes_keep(all, &done);
}

static bool queue(struct vti_processes *all, unsigned number, struct vti_job job, bool is_early)
{
    struct vti_crew *crew = &all->crews[number];
    uint32_t place = crew->free[--crew->free_count];
    struct vti_sent *sent = &crew->sent[place];
    struct vti_slot *slot = &crew->lane->slots[place];
    const vt_run *run = all->executor.run;
    int code;

    memset(sent, 0, offsetof(struct vti_sent, done));
    sent->task = slot->task = job.task;
    sent->try_ = slot->try_ = job.try_;
    slot->time = (uint64_t)(vti_run_timeout(run, job.task) * (double)run->ticks_per_second);
    atomic_store_explicit(&slot->start, 0, memory_order_relaxed);
    code = vti_processes_fill(all, crew, place);
    if (code != 0) {
        vti_crew_let_go(all, crew, place);
        if (!is_early)
            refuse(all, job, crew->worker, code);
        return false;
    }
    sent->is_used = true;
    sent->is_early = is_early;
    atomic_store_explicit(&slot->state, VTI_SLOT_QUEUED, memory_order_relaxed);
    vti_ring_push(&crew->lane->down, place);
    all->where[job.task] = number << 16 | place;
    crew->in_flight++;
    crew->early += is_early;
    return true;
}

/* Whether everything that it needs is there, or will be made by this worker before. */
static bool can_go_early(const struct vti_processes *all, unsigned number, uint32_t task)
{
    const vt_run *run = all->executor.run;
    const struct vti_plan *plan = run->plan;

    if (run->items[task].phase != VT_PHASE_WAITING || all->where[task] != VTI_NOWHERE ||
        run->graph->nodes[task].type != VTI_NODE_TASK ||
        run->graph->nodes[task].arg_count > VTI_SLOT_ARGS)
        return false;
    for (uint32_t i = 0; i < plan->task_needs[task]; i++) {
        uint32_t need = plan->needs[plan->first_need[task] + i];
        uint32_t place = all->where[need];

        if (place == VTI_NOWHERE ? run->items[need].phase != VT_PHASE_FINISHED
                                 : place >> 16 != number)
            return false;
    }
    return true;
}

static void remember(struct vti_crew *crew, uint32_t task)
{
    if (crew->frontier_count < VTI_CREW_FRONTIER)
        crew->frontier[crew->frontier_count++] = task;
}

/* Sends what depends on a task behind it, and what depends on that, as long as there is room. */
static void go_early(struct vti_processes *all, unsigned number, uint32_t task)
{
    struct vti_crew *crew = &all->crews[number];
    const struct vti_plan *plan = all->executor.run->plan;
    unsigned most = most_queued(all);
    uint32_t stack[VTI_CREW_FRONTIER] = {task};

    for (unsigned depth = 1; depth;) {
        uint32_t at = stack[--depth];
        uint32_t end = plan->first_user[at + 1];

        if (!room_of(crew, most)) {
            remember(crew, at);
            continue;
        }
        if (end - plan->first_user[at] > VTI_SLOT_ARGS)
            continue;
        for (uint32_t i = plan->first_user[at]; i < end; i++) {
            struct vti_job job = {.task = plan->users[i]};

            job.try_ = all->executor.run->items[job.task].tries;
            if (depth < VTI_CREW_FRONTIER && can_go_early(all, number, job.task) &&
                room_of(crew, most) && queue(all, number, job, true))
                stack[depth++] = job.task;
        }
    }
}

/* Who would be through with what it has first; one that sleeps has to be woken. */
static struct vti_crew *least_busy(struct vti_processes *all, unsigned most)
{
    struct vti_crew *found = NULL;
    double best = 0;

    for (unsigned i = 0; i < all->crew_count; i++) {
        struct vti_crew *crew = &all->crews[i];
        double cost = crew->in_flight ? crew->in_flight * all->task_ns : WAKE_NS;

        if (room_of(crew, most) && (found == NULL || cost < best)) {
            found = crew;
            best = cost;
        }
    }
    return found;
}

static void advance(struct vti_processes *all, unsigned most)
{
    for (unsigned i = 0; i < all->crew_count; i++) {
        struct vti_crew *crew = &all->crews[i];
        uint32_t tasks[VTI_CREW_FRONTIER];
        unsigned count = crew->frontier_count;

        if (!count || !crew->pid || crew->in_flight > most / 2)
            continue;
        memcpy(tasks, crew->frontier, count * sizeof *tasks);
        crew->frontier_count = 0;
        for (unsigned j = 0; j < count; j++)
            go_early(all, i, tasks[j]);
    }
}

/* When memory gets tight, what is queued has to wait; what comes last is taken first then: it uses what is there. */
static void look_at_memory(struct vti_processes *all)
{
    bool was_tight = all->is_tight;

    if (all->dispatches++ % TIGHT_EVERY && !was_tight)
        return;
    all->is_tight = vti_memory_is_tight(all->memory);
    for (unsigned i = 0; all->is_tight && !was_tight && i < all->crew_count; i++)
        vti_crew_take_back(all, &all->crews[i], UINT32_MAX);
}

/* Gives one worker a lot of what waits, and returns how many that were. */
static size_t give(struct vti_processes *all, struct vti_crew *crew, size_t at, unsigned most)
{
    bool is_eager = all->is_eager && all->task_ns < SMALL_NS && !all->cancelled_at;
    unsigned number = (unsigned)(crew - all->crews);
    size_t lot = all->task_ns < WAKE_NS ? STICK : 1, count = 0;

    for (; count < lot && at + count < all->waiting_count && room_of(crew, most); count++) {
        size_t place = all->is_tight ? all->waiting_count - 1 - at - count : at + count;
        struct vti_job job = all->waiting[place];

        if (queue(all, number, job, false) && is_eager)
            go_early(all, number, job.task);
    }
    return count;
}

void vti_processes_dispatch(struct vti_processes *all)
{
    struct vti_crew *crew;
    unsigned most;
    size_t at = 0;

    look_at_memory(all);
    most = most_queued(all);
    while (at < all->waiting_count && (crew = least_busy(all, most)) != NULL)
        at += give(all, crew, at, most);
    all->waiting_count -= at;
    if (at && !all->is_tight)
        memmove(all->waiting, all->waiting + at, all->waiting_count * sizeof *all->waiting);
    if (all->is_eager && all->task_ns < SMALL_NS && !all->cancelled_at)
        advance(all, most);
    for (unsigned i = 0; i < all->crew_count; i++)
        if (all->crews[i].in_flight || (all->is_tight && all->crews[i].lane->given))
            vti_crew_wake(&all->crews[i]); /* if only to take back what it was given */
}
