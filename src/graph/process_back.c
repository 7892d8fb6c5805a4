/*
 * process_back.c - what comes up from the workers, and what is left when one of them dies.
 */
#include "base/error.h"
#include "graph/process.h"

#include <stdlib.h>
#include <string.h>

void vti_processes_keep(struct vti_processes *all, const struct vti_done *done)
{
    if (all->kept_count == all->kept_room) {
        size_t room = all->kept_room ? all->kept_room * 2 : 256;
        struct vti_done *kept = realloc(all->kept, room * sizeof *kept);

        if (kept == NULL) {
            all->is_broken = true;
            return;
        }
        all->kept = kept;
        all->kept_room = room;
    }
    all->kept[all->kept_count++] = *done;
}

static void free_slot(struct vti_crew *crew, uint32_t place)
{
    crew->sent[place].is_used = false;
    crew->free[crew->free_count++] = (uint16_t)place;
}

/* It has run: what it used may go, though its own result may still be used. */
static void unpin(struct vti_processes *all, struct vti_crew *crew, struct vti_sent *sent)
{
    for (unsigned i = 0; i < sent->need_count; i++) {
        struct vti_sent *need = &crew->sent[sent->needs[i]];

        if (--need->pins == 0 && need->is_used && need->is_over && !need->is_early)
            free_slot(crew, sent->needs[i]);
    }
    sent->need_count = 0;
    if (sent->args)
        vti_space_give(&all->memory->space, sent->args);
    if (sent->user)
        vti_space_give(&all->memory->space, sent->user);
    sent->args = sent->user = 0;
}

void vti_crew_let_go(struct vti_processes *all, struct vti_crew *crew, uint32_t place)
{
    struct vti_sent *sent = &crew->sent[place];

    unpin(all, crew, sent);
    sent->is_over = true;
    sent->is_early = false;
    if (!sent->pins)
        free_slot(crew, place);
}

/* One that went early is of no use. */
static void drop(struct vti_processes *all, struct vti_crew *crew, uint32_t place)
{
    all->where[crew->sent[place].task] = VTI_NOWHERE;
    crew->early--;
    vti_crew_let_go(all, crew, place);
}

static void again(struct vti_processes *all, struct vti_crew *crew, uint32_t place)
{
    struct vti_sent *sent = &crew->sent[place];
    struct vti_done done = {.task = sent->task, .worker = VT_NO_WORKER, .state = VT_TASK_CANCELLED};

    all->where[sent->task] = VTI_NOWHERE;
    done.cpu_ns = VT_UNKNOWN;
    if (all->cancelled_at)
        vti_processes_keep(all, &done);
    else if (vti_processes_wait_for_room(
                 all, (struct vti_job){.task = sent->task, .try_ = sent->try_}) != 0)
        all->is_broken = true;
    vti_crew_let_go(all, crew, place);
}

static void read_slot(struct vti_processes *all, struct vti_crew *crew, struct vti_slot *slot,
                      enum vti_slot_state state, struct vti_done *done)
{
    struct vt_run *run = all->executor.run;

    memset(done, 0, sizeof *done);
    done->task = slot->task;
    done->worker = crew->worker;
    done->start = slot->start;
    done->end = slot->end;
    done->cpu_ns = slot->cpu_ns;
    done->is_cpu_estimated = !run->options.cpu_time && slot->cpu_ns != VT_UNKNOWN;
    done->state = state == VTI_SLOT_DONE        ? VT_TASK_DONE
                  : state == VTI_SLOT_FAILED    ? VT_TASK_FAILED
                  : state == VTI_SLOT_CANCELLED ? VT_TASK_CANCELLED
                                                : VT_TASK_TIMED_OUT;
    done->reason = vti_memory_text(all->memory, &slot->reason);
    if (vti_memory_value(all->memory, &slot->failure, &done->failure) != 0 ||
        vti_memory_value(all->memory, &slot->result, &done->result) != 0) {
        done->state = VT_TASK_FAILED;
        free(done->reason);
        done->reason = strdup("its worker left something that is no value: it overwrote memory");
    }
}

/* The queue for a worker is as long as tasks are short. */
static void learn(struct vti_processes *all, const struct vti_done *done)
{
    double ns = (double)(done->end - done->start) * 1e9 /
                (double)all->executor.run->ticks_per_second;

    all->task_ns += ((ns < 300 ? 300 : ns) - all->task_ns) / 8;
    if (done->result.type == VT_DATUM_BYTES || all->result_bytes > 1)
        all->result_bytes += ((double)done->result.size - all->result_bytes) / 8;
}

static void come_up(struct vti_processes *all, struct vti_crew *crew, uint32_t place)
{
    struct vti_sent *sent = &crew->sent[place];
    struct vti_slot *slot = &crew->lane->slots[place];
    enum vti_slot_state state = atomic_load_explicit(&slot->state, memory_order_acquire);
    struct vti_done done;

    crew->in_flight--;
    if (sent->is_taken_back) {
        crew->taken_back--;
        vti_crew_let_go(all, crew, place);
    } else if (state >= VTI_SLOT_DONE && state <= VTI_SLOT_CANCELLED) {
        crew->has_worked = true;
        read_slot(all, crew, slot, state, sent->is_early ? &sent->done : &done);
        learn(all, sent->is_early ? &sent->done : &done);
        if (sent->is_early) {
            sent->is_over = true;
            unpin(all, crew, sent);
        } else {
            all->where[sent->task] = VTI_NOWHERE;
            vti_processes_keep(all, &done);
            vti_crew_let_go(all, crew, place);
        }
    } else if (sent->is_early) {
        drop(all, crew, place);
    } else {
        again(all, crew, place);
    }
}

void vti_crew_pull(struct vti_processes *all, unsigned number)
{
    struct vti_crew *crew = &all->crews[number];
    uint32_t place;

    while ((place = vti_ring_pull(&crew->lane->up)) != VTI_NOWHERE)
        if (place < VTI_LANE_SLOTS && crew->sent[place].is_used)
            come_up(all, crew, place);
}

void vti_crew_claim(struct vti_processes *all, struct vti_job job)
{
    uint32_t at = all->where[job.task], place = at & (VTI_LANE_SLOTS - 1);
    struct vti_crew *crew = &all->crews[at >> 16];
    struct vti_sent *sent = &crew->sent[place];

    sent->is_early = false;
    crew->early--;
    if (!sent->is_over)
        return;
    all->where[job.task] = VTI_NOWHERE;
    vti_processes_keep(all, &sent->done);
    vti_crew_let_go(all, crew, place);
}

static void lose(struct vti_processes *all, struct vti_crew *crew, uint32_t place, const char *why)
{
    struct vti_sent *sent = &crew->sent[place];
    struct vti_slot *slot = &crew->lane->slots[place];
    struct vti_done done = {.task = sent->task, .worker = crew->worker, .cpu_ns = VT_UNKNOWN};

    done.state = sent->is_expired  ? VT_TASK_TIMED_OUT
                 : crew->is_killed ? VT_TASK_CANCELLED
                                   : VT_TASK_LOST;
    done.end = vt_task_clock();
    done.start = slot->start ? slot->start : done.end;
    if (done.state == VT_TASK_LOST)
        done.reason = strdup(why);
    all->where[sent->task] = VTI_NOWHERE;
    vti_processes_keep(all, &done);
    vti_crew_let_go(all, crew, place);
}

/* A slot that the dead worker has not sent back: its state says how far it came. */
static void settle(struct vti_processes *all, struct vti_crew *crew, uint32_t place,
                   const char *why)
{
    struct vti_sent *sent = &crew->sent[place];
    enum vti_slot_state state = atomic_load(&crew->lane->slots[place].state);

    if (sent->is_over && sent->is_early) {
        vti_value_destroy(&sent->done.result);
        vti_value_destroy(&sent->done.failure);
        free(sent->done.reason);
        drop(all, crew, place);
    } else if (!sent->is_over && state == VTI_SLOT_RUNNING && !sent->is_early) {
        crew->has_worked = true;
        lose(all, crew, place, why);
    } else if (!sent->is_over && state == VTI_SLOT_RUNNING) {
        crew->has_worked = true;
        drop(all, crew, place);
    } else if (!sent->is_over) {
        come_up(all, crew, place);
    }
}

void vti_crew_clear(struct vti_crew *crew)
{
    memset(&crew->lane->down, 0, sizeof crew->lane->down);
    memset(&crew->lane->up, 0, sizeof crew->lane->up);
    atomic_store(&crew->lane->is_asleep, 0);
    atomic_store(&crew->lane->is_begun, 0);
    crew->lane->exec_errno = 0;
    crew->in_flight = crew->early = crew->taken_back = crew->frontier_count = 0;
    crew->free_count = VTI_LANE_SLOTS;
    for (uint32_t i = 0; i < VTI_LANE_SLOTS; i++) {
        crew->free[i] = (uint16_t)(VTI_LANE_SLOTS - 1 - i);
        crew->sent[i].is_used = false;
    }
}

void vti_crew_bury(struct vti_processes *all, unsigned number, const char *why)
{
    struct vti_crew *crew = &all->crews[number];

    vti_crew_pull(all, number);
    for (uint32_t i = 0; i < VTI_LANE_SLOTS; i++)
        if (crew->sent[i].is_used)
            settle(all, crew, i, why ? why : "its worker died");
    all->deaths = crew->has_worked ? 0 : all->deaths + 1;
    vti_crew_clear(crew);
    vti_memory_bury(all->memory, number);
}
