/*
 * process.c - the executor of processes (executor.h): opens and closes its crew, hands jobs out, waits for what comes back.
 */
#include "graph/process.h"

#include "base/error.h"
#include "graph/callbacks.h"
#include "graph/fence.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define GRACE_MS 1000 /* what tasks have to end by themselves when the run is cancelled */
#define LOOK_EVERY                                                                                 \
    256 /* collects between looks for dead workers, when there is always something to do */
#define STEAL_MS 1       /* before work that waits behind a task is taken elsewhere */
#define MOST_DEATHS 50   /* of workers in a row that did nothing */
#define NO_PIDFD_MS 20   /* between looks where the system cannot tell */
#define FIRST_NS 100000. /* what a task takes, before one was seen */

static struct vti_processes *processes(struct vti_executor *executor)
{
    return (struct vti_processes *)executor;
}

/* Callbacks before a task must be called before it: then nothing goes early. */
static bool is_watched(const vt_run *run)
{
    for (size_t i = 0; run->callbacks != NULL && i < run->callbacks->count; i++)
        if (run->callbacks->all[i]->pretask != NULL || run->callbacks->all[i]->start_task != NULL)
            return true;
    return false;
}

static void close_all(struct vti_executor *executor)
{
    struct vti_processes *all = processes(executor);

    if (all->memory != NULL)
        vti_crews_stop(all);
    for (unsigned i = 0; all->memory != NULL && i < all->crew_count; i++)
        vti_crew_bury(all, i, NULL);
    for (size_t i = all->kept_first; i < all->kept_count; i++) {
        vti_value_destroy(&all->kept[i].result);
        vti_value_destroy(&all->kept[i].failure);
        free(all->kept[i].reason);
    }
    if (all->memory != NULL)
        vti_memory_close(all->memory);
    if (all->event >= 0)
        close(all->event);
    vti_names_free(all->names);
    free(all->crews);
    free(all->where);
    free(all->waiting);
    free(all->kept);
    free(all->args);
    free(all);
}

static int prepare(struct vti_processes *all, unsigned workers)
{
    vt_run *run = all->executor.run;
    struct vti_header *header;
    uint32_t count = run->graph->count;

    all->memory = vti_memory_open(workers, run->options.shared_bytes);
    if (all->memory == NULL)
        return VTI_E_SYSTEM;
    all->crews = calloc(workers, sizeof *all->crews);
    all->where = malloc((count ? count : 1) * sizeof *all->where);
    if (all->crews == NULL || all->where == NULL)
        return vti_fail(VTI_E_NOMEM, "no memory for %u workers", workers);
    memset(all->where, 0xff, count * sizeof *all->where);
    all->event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (all->event < 0)
        return vti_fail_errno(VTI_E_SYSTEM, "an eventfd");
    header = all->memory->header;
    header->ticks_per_second = run->ticks_per_second;
    header->is_cpu_time = run->options.cpu_time != 0;
    header->is_forked = run->options.worker_command == NULL;
    all->crew_count = workers;
    all->queue_bytes = (double)all->memory->segments.count * all->memory->segments.bytes / 8 /
                       workers;
    for (unsigned i = 0; i < workers; i++) {
        all->crews[i].lane = vti_shared_lane(header, i);
        all->crews[i].control = all->crews[i].pidfd = -1;
        vti_crew_clear(&all->crews[i]);
    }
    return 0;
}

static int open_all(vt_run *run, unsigned workers, struct vti_executor **executor)
{
    struct vti_processes *all = calloc(1, sizeof *all);
    int result;

    if (all == NULL)
        return vti_fail(VTI_E_NOMEM, "no memory for %u workers", workers);
    all->executor.ops = &vti_executor_processes;
    all->executor.run = run;
    all->event = -1;
    all->task_ns = FIRST_NS;
    all->result_bytes = 1;
    all->is_eager = !is_watched(run);
    result = prepare(all, workers);
    for (unsigned i = 0; i < workers && result == 0; i++)
        result = vti_crew_start(all, i);
    if (result != 0) {
        close_all(&all->executor);
        return result;
    }
    *executor = &all->executor;
    return 0;
}

static unsigned room(struct vti_executor *executor)
{
    return vti_processes_room(processes(executor));
}

static int submit(struct vti_executor *executor, const struct vti_job *jobs, size_t count)
{
    struct vti_processes *all = processes(executor);

    for (size_t i = 0; i < count; i++) {
        if (all->where[jobs[i].task] != VTI_NOWHERE)
            vti_crew_claim(all, jobs[i]);
        else if (vti_processes_wait_for_room(all, jobs[i]) != 0)
            return VTI_E_NOMEM;
    }
    vti_processes_dispatch(all);
    return (int)count;
}

/* A worker has ended: another takes its place, or there is no hope that one would do better. */
static int replace(struct vti_processes *all, unsigned number, const char *why)
{
    const char *const *command = all->executor.run->options.worker_command;
    struct vti_crew *crew = &all->crews[number];
    int exec_errno = (int)crew->lane->exec_errno;

    vti_crew_bury(all, number, why);
    all->bad_starts = crew->has_worked ? 0 : all->bad_starts + crew->is_bad_start;
    if (exec_errno && command)
        return vti_fail(VTI_E_SYSTEM, "the worker command '%.200s' cannot be executed: %s",
                        command[0], strerror(exec_errno));
    if (all->deaths > MOST_DEATHS || all->bad_starts > all->crew_count)
        return vti_fail(VTI_E_SYSTEM, "workers%s%.200s%s end before they have done anything: %s",
                        command ? " (command '" : "", command ? command[0] : "",
                        command ? "')" : "", why ? why : "");
    return all->cancelled_at ? 0 : vti_crew_start(all, number);
}

/* Replaces workers that have ended. Negative: there are none any more. */
static int look_for_dead(struct vti_processes *all)
{
    unsigned alive = 0;
    int result = 0;

    all->must_look = false;
    for (unsigned i = 0; i < all->crew_count; i++) {
        char *why = NULL;

        if (all->crews[i].pid && vti_crew_has_ended(&all->crews[i], &why)) {
            result = replace(all, i, why);
            free(why);
        }
        alive += all->crews[i].pid != 0;
    }
    return alive || all->cancelled_at ? 0 : result;
}

static int ms_since(const struct vti_processes *all, uint64_t then)
{
    uint64_t per_ms = all->executor.run->ticks_per_second / 1000;

    return (int)((vt_task_clock() - then) / (per_ms ? per_ms : 1));
}

/* When the run is given up: nothing new is begun; if it was cancelled, what still runs after a while is killed. */
static void look_for_cancel(struct vti_processes *all)
{
    uint32_t how = __atomic_load_n(&all->executor.run->is_cancelled, __ATOMIC_RELAXED);

    if (!how)
        return;
    if (!all->cancelled_at) {
        all->cancelled_at = vt_task_clock();
        __atomic_store_n(&all->memory->header->is_cancelled, 1, __ATOMIC_RELAXED);
    }
    vti_processes_give_up(all);
    if ((how & VTI_CANCELLED_BY_USER) && ms_since(all, all->cancelled_at) >= GRACE_MS)
        for (unsigned i = 0; i < all->crew_count; i++)
            if (all->crews[i].in_flight)
                vti_crew_kill(&all->crews[i]);
}

static bool has_something(const struct vti_processes *all)
{
    for (unsigned i = 0; i < all->crew_count; i++)
        if (!vti_ring_is_empty(&all->crews[i].lane->up))
            return true;
    return false;
}

static bool has_in_flight(const struct vti_processes *all)
{
    for (unsigned i = 0; i < all->crew_count; i++)
        if (all->crews[i].in_flight)
            return true;
    return all->waiting_count != 0;
}

static int least(int a, int b)
{
    return a < 0 ? b : b < 0 || a < b ? a : b;
}

/* Until a worker tells, one dies, somebody wakes us, or the time is over. */
static void rest(struct vti_processes *all, int timeout_ms)
{
    struct pollfd fds[65] = {{.fd = all->event, .events = POLLIN}};
    nfds_t count = 1;
    uint64_t told;

    for (unsigned i = 0; i < all->crew_count; i++) {
        if (!all->crews[i].pid)
            continue;
        if (all->crews[i].pidfd < 0 || count == sizeof fds / sizeof *fds) {
            timeout_ms = least(timeout_ms, NO_PIDFD_MS);
            all->must_look = true;
        } else {
            fds[count++] = (struct pollfd){.fd = all->crews[i].pidfd, .events = POLLIN};
        }
    }
    if (all->cancelled_at)
        timeout_ms = least(timeout_ms, NO_PIDFD_MS);
    if (vti_processes_may_steal(all))
        timeout_ms = least(timeout_ms, STEAL_MS);
    atomic_store(&all->memory->header->is_caller_asleep, 1);
    vti_fence(); /* against the workers': push, then look */
    if (!has_something(all))
        poll(fds, count, timeout_ms);
    atomic_store(&all->memory->header->is_caller_asleep, 0);
    for (nfds_t i = 1; i < count; i++)
        all->must_look = all->must_look || fds[i].revents;
    while (fds[0].revents && read(all->event, &told, sizeof told) < 0 && errno == EINTR)
        ;
}

static int hand_over(struct vti_processes *all, struct vti_done *done, size_t room)
{
    size_t count = all->kept_count - all->kept_first;

    if (count > room)
        count = room;
    memcpy(done, all->kept + all->kept_first, count * sizeof *done);
    all->kept_first += count;
    if (all->kept_first == all->kept_count)
        all->kept_first = all->kept_count = 0;
    return (int)count;
}

static int collect(struct vti_executor *executor, struct vti_done *done, size_t room,
                   int timeout_ms)
{
    struct vti_processes *all = processes(executor);
    uint64_t begin = timeout_ms > 0 ? vt_task_clock() : 0;
    int left = timeout_ms, result = 0;

    for (;;) {
        for (unsigned i = 0; i < all->crew_count; i++)
            vti_crew_pull(all, i);
        look_for_cancel(all);
        if (all->must_look || !(++all->looks % LOOK_EVERY))
            result = look_for_dead(all);
        if (all->is_broken)
            return vti_fail(VTI_E_NOMEM, "no memory for what tasks gave");
        if (all->kept_count)
            return hand_over(all, done, room);
        if (result != 0)
            return result;
        vti_processes_dispatch(all);
        if (vti_processes_steal(all))
            vti_processes_dispatch(all);
        if (!has_in_flight(all))
            return all->kept_count ? hand_over(all, done, room) : 0;
        if (timeout_ms > 0)
            left = timeout_ms - ms_since(all, begin);
        if (timeout_ms >= 0 && left <= 0)
            return 0;
        rest(all, left);
    }
}

static uint64_t began(struct vti_executor *executor, uint32_t task)
{
    struct vti_processes *all = processes(executor);
    uint32_t at = all->where[task];
    struct vti_slot *slot;

    if (at == VTI_NOWHERE)
        return 0;
    slot = &all->crews[at >> 16].lane->slots[at & (VTI_LANE_SLOTS - 1)];
    return atomic_load_explicit(&slot->start, memory_order_relaxed);
}

static void expire(struct vti_executor *executor, uint32_t task)
{
    struct vti_processes *all = processes(executor);
    uint32_t at = all->where[task], place = at & (VTI_LANE_SLOTS - 1);
    struct vti_crew *crew;

    if (at == VTI_NOWHERE)
        return;
    crew = &all->crews[at >> 16];
    if (atomic_load(&crew->lane->slots[place].state) != VTI_SLOT_RUNNING)
        return; /* it has just ended */
    crew->sent[place].is_expired = true;
    vti_crew_kill(crew);
}

static void wake(struct vti_executor *executor)
{
    uint64_t one = 1;
    int kept = errno;

    if (write(processes(executor)->event, &one, sizeof one) < 0)
        errno = kept; /* it is full: it will be read */
}

const struct vti_executor_ops vti_executor_processes = {
    .name = "processes",
    .open = open_all,
    .room = room,
    .submit = submit,
    .collect = collect,
    .began = began,
    .expire = expire,
    .wake = wake,
    .close = close_all,
};
