/*
 * drain.c - the drainer's loop: new processes, requests, rounds over the arenas, ends.
 */
#include "drain/drain_state.h"

#include "base/error.h"
#include "drain/clock.h"
#include "drain/ending.h"
#include "drain/missing.h"
#include "drain/resources.h"
#include "drain/socket.h"
#include "drain/symbols.h"
#include "drain/thread_cpu.h"
#include "share/arena.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ROUND_IDLE_MS 10
#define ROUND_BUSY_MS 1
#define POLL_MAX 1024 /* processes whose end is noticed at once; others when these are gone */
#define CHECK_INTERVAL_NS 200000000u

void vti_drain_switch(struct vti_drain *drain, bool on)
{
    if (on && drain->control_word)
        return;
    if (on)
        drain->period += VTI_CONTROL_PERIOD;
    drain->control_word = 0;
    if (on)
        drain->control_word = drain->period |
                              (drain->options.kinds
                                   ? drain->options.kinds
                                   : VTI_CONTROL_SPANS | VTI_CONTROL_CALLS | VTI_CONTROL_LINES);
    for (struct vti_target *p = drain->processes; p; p = p->next)
        vti_target_set_word(p, drain->control_word);
}

int vti_drain_create(struct vti_drain **result, const struct vti_drain_options *options)
{
    struct vti_drain *drain = calloc(1, sizeof *drain);
    int code;

    if (!drain)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    drain->options = *options;
    snprintf(drain->path, sizeof drain->path, "%s",
             options->spool ? options->spool : options->output);
    if (options->session)
        snprintf(drain->session, sizeof drain->session, "%s", options->session);
    else
        vti_socket_make_name(drain->session, sizeof drain->session);
    drain->clients.listener = vti_socket_listen(drain->session);
    code = drain->clients.listener < 0 ? drain->clients.listener
                                       : vti_recorder_create(&drain->recorder, options);
    if (code) {
        vti_drain_free(drain);
        return code;
    }
    signal(SIGXFSZ, SIG_IGN); /* a file size limit is a full disk, not a reason to die */
    vti_drain_switch(drain, !options->starts_off);
    drain->cpu = options->has_energy ? vti_cpu_feed_create(drain->recorder) : NULL;
    drain->watch = vti_watch_create(&(struct vti_watch_options){.recorder = drain->recorder,
                                                                .has_energy = options->has_energy,
                                                                .session = drain->session,
                                                                .hz = options->resources_hz,
                                                                .ring_ns = options->ring_ns});
    *result = drain;
    return 0;
}

void vti_drain_free(struct vti_drain *drain)
{
    if (!drain)
        return;
    while (drain->processes) {
        struct vti_target *process = drain->processes;

        vti_target_set_word(process, 0);
        drain->processes = process->next;
        vti_target_free(process);
    }
    vti_drain_leave(drain);
    vti_watch_free(drain->watch);
    vti_cpu_feed_free(drain->cpu);
    vti_recorder_free(drain->recorder);
    vti_sources_free(&drain->sources);
    free(drain);
}

struct vti_energy_feed *vti_drain_energy(const struct vti_drain *drain)
{
    return vti_watch_energy(drain->watch);
}

const char *vti_drain_session(const struct vti_drain *drain)
{
    return drain->session;
}

uint32_t vti_drain_alive(const struct vti_drain *drain)
{
    uint32_t alive = 0;

    for (const struct vti_target *p = drain->processes; p; p = p->next)
        alive += !p->is_finished;
    return alive;
}

bool vti_drain_was_used(const struct vti_drain *drain)
{
    return drain->was_used;
}

bool vti_drain_is_closed(const struct vti_drain *drain)
{
    return drain->is_closed;
}

/* ---- processes ---------------------------------------------------------------------------------- */

static void finish(struct vti_drain *drain, struct vti_target *process, enum vti_process_end how,
                   uint32_t status)
{
    if (process->is_finished)
        return;
    vti_target_finish(process, vti_clock_now_ns(), how, status);
    drain->stats.unheard += !process->is_announced && !process->is_left;
    drain->spans += process->spans;
    drain->stats.calls += process->calls;
    drain->stats.traced += process->traced;
    drain->stats.tasks += process->task_count;
    drain->stats.task_actions += process->action_count;
    drain->stats.steps += process->step_count;
    drain->stats.sourceless_steps += process->sourceless_steps.events;
    drain->stats.samples += process->sampling.samples;
    drain->stats.samples_cut += process->sampling.cut;
    drain->stats.sampling_stopped += process->sampling.is_stopped != 0;
    drain->stats.line_events += process->line_events;
    drain->cost_ticks += process->cost_ticks + (double)process->sampling.spent;
    drain->thread_ticks += (double)process->thread_ticks;
}

/* Ended processes give up their arena; what they left is in the file. */
static void sweep(struct vti_drain *drain)
{
    struct vti_target **link = &drain->processes;

    while (*link) {
        struct vti_target *process = *link;

        if (process->is_finished) {
            *link = process->next;
            vti_target_free(process);
        } else {
            link = &process->next;
        }
    }
}

/* A process that attaches again has replaced itself by exec; its parent may be one of ours. */
static void relate(struct vti_drain *drain, struct vti_target *process)
{
    for (struct vti_target *p = drain->processes; p; p = p->next) {
        if (p->pid == process->pid && p->is_announced)
            finish(drain, p, VTI_ENDED_EXEC, 0);
        if ((uint32_t)p->pid == process->fact.parent_pid && p->is_announced)
            process->fact.parent_plus_one = p->fact.process + 1;
    }
}

void vti_drain_attach(struct vti_drain *drain, int client, pid_t pid, uint32_t arena_version)
{
    struct vti_answer answer = {.drainer_pid = getpid()};
    struct vti_target *process = NULL;

    if (arena_version != VTI_ARENA_VERSION)
        answer.error = VTI_E_UNSUPPORTED;
    else if (drain->is_closed)
        answer.error = VTI_E_SESSION;
    else
        answer.error = vti_target_create(&process, drain->recorder, pid, &drain->options,
                                         drain->control_word);
    drain->stats.unlike += answer.error == VTI_E_UNSUPPORTED;
    drain->stats.refused += !process && !drain->is_closed && answer.error != VTI_E_UNSUPPORTED;
    if (process)
        answer.arena_bytes = process->arena_bytes;
    if (!vti_socket_answer(client, &answer, process ? process->arena_fd : -1)) {
        drain->stats.gave_up += process != NULL;
        vti_target_free(process);
    } else if (process) {
        close(process->arena_fd);
        process->arena_fd = -1;
        relate(drain, process);
        process->next = drain->processes;
        drain->processes = process;
        drain->was_used = true;
        vti_watch_add(drain->watch, pid, 0);
    }
}

/* ---- rounds ------------------------------------------------------------------------------------- */

void vti_drain_read_all(struct vti_drain *drain, bool cut)
{
    uint64_t now_ns = vti_clock_now_ns();
    uint64_t count = 0;

    for (struct vti_target *p = drain->processes; p; p = p->next) {
        bool was_announced = p->is_announced;

        count += vti_target_read(p, now_ns, cut);
        if (p->is_announced && !was_announced)
            vti_watch_add(drain->watch, p->pid, p->fact.process + 1);
    }
    vti_watch_tick(drain->watch, now_ns, cut);
    vti_cpu_feed_tick(drain->cpu, drain->processes, now_ns, cut);
    drain->is_busy = count > VTI_BLOCK_RECORDS;
    vti_recorder_tick(drain->recorder, now_ns, cut);
}

/* A spool goes on with the next file, in which everybody who is still there says again who he is. */
static void rotate(struct vti_drain *drain)
{
    uint64_t now_ns = vti_clock_now_ns();

    if (!vti_recorder_is_full(drain->recorder, now_ns))
        return;
    vti_drain_read_all(drain, true);
    for (struct vti_target *p = drain->processes; p; p = p->next)
        vti_target_leave_file(p);
    drain->stats.nameless += vti_symbols_name(drain->recorder);
    if (vti_recorder_rotate(drain->recorder, now_ns))
        return;
    for (struct vti_target *p = drain->processes; p; p = p->next)
        vti_target_enter_file(p);
    vti_watch_enter_file(drain->watch);
    vti_recorder_show(drain->recorder);
}

static void take_off(uint64_t *sum, uint64_t lost)
{
    *sum -= lost < *sum ? lost : *sum;
}

/* `is_asked`: whoever stops a recording knows that the program goes on. */
static void close_recording(struct vti_drain *drain, bool is_asked)
{
    const struct vti_writer_stats *file = &drain->stats.file;

    if (drain->is_closed)
        return;
    vti_cpu_feed_tick(drain->cpu, drain->processes, vti_clock_now_ns(), true);
    vti_drain_switch(drain, false);
    for (struct vti_target *p = drain->processes; p; p = p->next) {
        p->is_left = !p->is_finished && !is_asked && !vti_ending_has_come(p->pidfd, p->pid);
        drain->stats.still_running += p->is_left;
        finish(drain, p, VTI_ENDED_UNKNOWN, 0);
    }
    drain->is_closed = true;
    vti_missing_state(drain->recorder, &drain->stats, drain->processes);
    vti_watch_close(drain->watch);
    drain->stats.nameless += vti_symbols_resolve(drain->recorder);
    drain->stats.line_events += vti_recorder_c_lines(drain->recorder)->hits;
    drain->stats.counters_lost = vti_recorder_c_lines(drain->recorder)->lost;
    drain->error = vti_recorder_close(drain->recorder, &drain->stats);
    take_off(&drain->stats.tasks, file->disk_lost_tasks + file->gone_tasks);
    take_off(&drain->stats.steps, file->disk_lost_steps + file->gone_steps);
    drain->stats.spans = drain->spans;
    drain->stats.cost_share = drain->thread_ticks > 0 ? drain->cost_ticks / drain->thread_ticks : 0;
    if (drain->stats.cost_share > 1) /* samples beside calls */
        drain->stats.cost_share = 1;
}

void vti_drain_stop(struct vti_drain *drain)
{
    if (drain->is_closed)
        return;
    close_recording(drain, true);
    drain->stats.was_stopped = true;
}

/* For processes without a pidfd (an old kernel, another pid namespace): are they still there? */
static void check_processes(struct vti_drain *drain, uint64_t now_ns)
{
    if (now_ns - drain->checked_ns < CHECK_INTERVAL_NS)
        return;
    drain->checked_ns = now_ns;
    for (struct vti_target *p = drain->processes; p; p = p->next)
        if (p->pidfd < 0 && vti_ending_has_come(p->pidfd, p->pid))
            finish(drain, p, VTI_ENDED_UNKNOWN, 0);
}

/* Until the threads are looked at again, if that is sooner than the next round. */
static int idle_ms(const struct vti_drain *drain)
{
    uint64_t due_ns = vti_cpu_feed_due_ns(drain->cpu);
    uint64_t now_ns = vti_clock_now_ns();

    if (due_ns > now_ns + ROUND_IDLE_MS * 1000000u)
        return ROUND_IDLE_MS;
    return due_ns > now_ns ? (int)((due_ns - now_ns) / 1000000u) + 1 : 1;
}

/* Sleeps until something happens. Returns the processes that ended, at most POLL_MAX, in `ended`. */
static unsigned wait_for_events(struct vti_drain *drain, int wake_fd, struct vti_target **ended)
{
    struct pollfd polls[2 + VTI_CLIENTS_MAX + POLL_MAX];
    struct vti_target *polled[POLL_MAX];
    unsigned fixed = vti_clients_poll(&drain->clients, polls);
    unsigned count = 0;
    unsigned ended_count = 0;

    polls[fixed++] = (struct pollfd){wake_fd, POLLIN, 0};
    for (struct vti_target *p = drain->processes; p && count < POLL_MAX; p = p->next) {
        if (p->pidfd < 0 || p->is_finished)
            continue;
        polled[count] = p;
        polls[fixed + count++] = (struct pollfd){p->pidfd, POLLIN, 0};
    }
    if (poll(polls, fixed + count, drain->is_busy ? ROUND_BUSY_MS : idle_ms(drain)) < 0)
        return 0;
    for (unsigned i = 0; i < count; i++)
        if (polls[fixed + i].revents)
            ended[ended_count++] = polled[i];
    return ended_count;
}

void vti_drain_step(struct vti_drain *drain, int wake_fd)
{
    struct vti_target *ended[POLL_MAX];
    unsigned ended_count = wait_for_events(drain, wake_fd, ended);

    if (!drain->is_closed)
        vti_drain_read_all(drain, false);
    /* The end of a child of our own is left to the caller, who learns its exit code. */
    for (unsigned i = 0; i < ended_count; i++)
        if (waitid(P_PIDFD, (id_t)ended[i]->pidfd, NULL, WEXITED | WNOHANG | WNOWAIT))
            finish(drain, ended[i], VTI_ENDED_UNKNOWN, 0);
    check_processes(drain, vti_clock_now_ns());
    sweep(drain);
    vti_drain_see_clients(drain);
    if (!drain->is_closed)
        rotate(drain);
}

void vti_drain_leave(struct vti_drain *drain)
{
    vti_clients_leave(&drain->clients);
}

void vti_drain_watch(struct vti_drain *drain, pid_t pid)
{
    vti_watch_add(drain->watch, pid, 0);
}

void vti_drain_note_end(struct vti_drain *drain)
{
    if (drain->is_closed)
        return;
    vti_watch_tick(drain->watch, vti_clock_now_ns(), true);
    vti_cpu_feed_tick(drain->cpu, drain->processes, vti_clock_now_ns(), true);
}

void vti_drain_note_exit(struct vti_drain *drain, pid_t pid, int wait_status,
                         const struct rusage *usage)
{
    vti_watch_waited(drain->watch, pid, usage);
    for (struct vti_target *p = drain->processes; p; p = p->next) {
        if (p->pid != pid)
            continue;
        if (WIFSIGNALED(wait_status))
            finish(drain, p, VTI_ENDED_SIGNAL, (uint32_t)WTERMSIG(wait_status));
        else
            finish(drain, p, VTI_ENDED_EXIT, (uint32_t)WEXITSTATUS(wait_status));
    }
}

void vti_drain_drop(struct vti_drain *drain)
{
    drain->is_closed = true;
    vti_recorder_drop(drain->recorder);
}

int vti_drain_close(struct vti_drain *drain, struct vti_drain_stats *stats)
{
    vti_drain_see_clients(drain); /* those who have asked in vain are to be counted */
    close_recording(drain, false);
    *stats = drain->stats;
    return drain->error;
}
