/*
 * process_steal.c - what was queued for one worker and has not begun, taken back: for another that has nothing to do, or because the run is
 * given up. Whether a task has begun is decided by one compare-and-swap of its slot's state.
 */
#include "graph/process.h"

#define WORTH_NS 20000.0 /* of work that is queued are worth waking another */
#define LONG_NS 50000.0  /* a task that has run for so long may run for any time */

unsigned vti_crew_take_back(struct vti_processes *all, struct vti_crew *crew, unsigned most)
{
    struct vti_ring *down = &crew->lane->down;
    uint32_t tail = atomic_load_explicit(&down->tail, memory_order_relaxed);
    uint32_t head = atomic_load_explicit(&down->head, memory_order_relaxed);
    unsigned count = 0;

    while (count < most && tail != head) {
        uint32_t place = down->numbers[--tail % VTI_LANE_SLOTS];
        struct vti_sent *sent = &crew->sent[place];
        uint32_t expected = VTI_SLOT_QUEUED;

        if (sent->is_taken_back || sent->is_early ||
            !atomic_compare_exchange_strong(&crew->lane->slots[place].state, &expected,
                                            VTI_SLOT_TAKEN_BACK))
            continue;
        sent->is_taken_back = true;
        crew->taken_back++;
        all->where[sent->task] = VTI_NOWHERE;
        if (vti_processes_wait_for_room(
                all, (struct vti_job){.task = sent->task, .try_ = sent->try_}) != 0)
            all->is_broken = true;
        count++;
    }
    return count;
}

/* How long the task that was begun last has been running, if it still does. */
static double running_ns(const struct vti_processes *all, const struct vti_crew *crew)
{
    const struct vti_ring *down = &crew->lane->down;
    uint32_t head = atomic_load_explicit(&down->head, memory_order_acquire);
    const struct vti_slot
        *slot = &crew->lane->slots[down->numbers[(head - 1) % VTI_LANE_SLOTS] % VTI_LANE_SLOTS];
    uint64_t start = atomic_load_explicit(&slot->start, memory_order_relaxed);
    uint64_t now = vt_task_clock();

    if (atomic_load_explicit(&slot->state, memory_order_relaxed) != VTI_SLOT_RUNNING || !start ||
        now < start)
        return 0;
    return (double)(now - start) * 1e9 / (double)all->executor.run->ticks_per_second;
}

static unsigned queued(const struct vti_crew *crew)
{
    return crew->in_flight - crew->taken_back;
}

/* The one with most to do, if another has nothing to do. */
static struct vti_crew *busiest(const struct vti_processes *all)
{
    struct vti_crew *found = NULL;
    bool is_idle = false;

    for (unsigned i = 0; i < all->crew_count; i++) {
        struct vti_crew *crew = &all->crews[i];

        is_idle = is_idle || (crew->pid && !crew->in_flight);
        if (queued(crew) > 1 && (found == NULL || queued(crew) > queued(found)))
            found = crew;
    }
    return is_idle ? found : NULL;
}

bool vti_processes_steal(struct vti_processes *all)
{
    struct vti_crew *crew = all->waiting_count ? NULL : busiest(all);

    if (crew == NULL)
        return false;
    if (running_ns(all, crew) > LONG_NS)
        return vti_crew_take_back(all, crew, (queued(crew) + 1) / 2) != 0;
    return queued(crew) * all->task_ns >= WORTH_NS &&
           vti_crew_take_back(all, crew, queued(crew) / 2) != 0;
}

bool vti_processes_may_steal(const struct vti_processes *all)
{
    return busiest(all) != NULL;
}

void vti_processes_give_up(struct vti_processes *all)
{
    for (unsigned i = 0; i < all->crew_count; i++) {
        vti_crew_take_back(all, &all->crews[i], UINT32_MAX);
        all->crews[i].frontier_count = 0;
    }
    for (size_t i = 0; i < all->waiting_count; i++) {
        struct vti_done done = {.task = all->waiting[i].task, .worker = VT_NO_WORKER};

        done.state = VT_TASK_CANCELLED;
        done.cpu_ns = VT_UNKNOWN;
        vti_processes_keep(all, &done);
    }
    all->waiting_count = 0;
}
