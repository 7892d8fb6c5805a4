/* target.c - one measured process: its arena, its threads, its end. Its sites are in target_sites.c. */
#include "drain/target.h"

#include "base/error.h"
#include "drain/clock.h"
#include "drain/ending.h"
#include "drain/proc.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <venturi/hook.h>

#define BUFFER_DEFAULT (64u << 20)
#define BLOCKS_MIN 4u
#define BLOCKS_MAX 65535u
#define NOTE_INTERVAL_NS 1000000000u
#define QUIET_LIMIT_NS 1000000000u
#define IMAGE_INTERVAL_NS 50000000u

/* Whether what recorded here is gone, though the process goes on as another program. */
static bool is_replaced(struct vti_target *process, uint64_t now_ns)
{
    uint64_t image;

    if (process->pidfd < 0 || !process->image || now_ns < process->image_ns + IMAGE_INTERVAL_NS)
        return false;
    process->image_ns = now_ns;
    image = vti_proc_image(process->pid);
    return image && image != process->image;
}

/* The file size limit of the drainer holds for the arena too: a smaller one is better than none. */
static int make_arena(struct vti_target *process, uint64_t buffer_bytes)
{
    uint64_t blocks = (buffer_bytes ? buffer_bytes : BUFFER_DEFAULT) / VTI_BLOCK_BYTES;
    void *at;

    blocks = blocks < BLOCKS_MIN ? BLOCKS_MIN : blocks > BLOCKS_MAX ? BLOCKS_MAX : blocks;
    process->arena_fd = memfd_create("venturi", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (process->arena_fd < 0)
        return vti_fail_errno(VTI_E_SYSTEM, "cannot make shared memory");
    while (ftruncate(process->arena_fd, (off_t)vti_arena_bytes((uint32_t)blocks))) {
        if (errno != EFBIG || blocks <= BLOCKS_MIN)
            return vti_fail_errno(VTI_E_SYSTEM, "cannot size shared memory");
        blocks = blocks / 2 < BLOCKS_MIN ? BLOCKS_MIN : blocks / 2;
    }
    fcntl(process->arena_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL);
    process->block_count = (uint32_t)blocks;
    process->arena_bytes = vti_arena_bytes((uint32_t)blocks);
    at = mmap(NULL, process->arena_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, process->arena_fd, 0);
    if (at == MAP_FAILED)
        return vti_fail_errno(VTI_E_NOMEM, "cannot map shared memory");
    process->arena = at;
    vti_arena_layout(process->arena, process->block_count);
    return 0;
}

static void set_control(struct vti_target *process, const struct vti_drain_options *options,
                        uint32_t control_word)
{
    struct vti_arena_control *control = process->arena;

    control->clock = vti_recorder_clock(process->recorder);
    control->policy = options->block_ms ? VTI_POLICY_BLOCK : VTI_POLICY_DROP;
    control->block_limit_ms = options->block_ms;
    control->drainer_pid = getpid();
    control->heartbeat_ns = vti_clock_now_ns();
    vti_target_set_word(process, control_word);
}

int vti_target_create(struct vti_target **result, struct vti_recorder *recorder, pid_t pid,
                      const struct vti_drain_options *options, uint32_t control_word)
{
    struct vti_target *process = calloc(1, sizeof *process);
    int code;

    if (!process)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    process->arena_fd = -1;
    process->pidfd = -1;
    process->recorder = recorder;
    process->pid = pid;
    code = make_arena(process, options->buffer_bytes);
    if (code) {
        vti_target_free(process);
        return code;
    }
    set_control(process, options, control_word);
    process->pidfd = (int)syscall(SYS_pidfd_open, pid, 0);
    process->command_len = vti_proc_read(pid, "cmdline", process->command, sizeof process->command);
    vti_proc_read(pid, "comm", process->name, sizeof process->name);
    process->name[strcspn(process->name, "\n")] = 0;
    process->fact.pid = (uint32_t)pid;
    process->fact.parent_pid = vti_proc_parent(pid);
    process->image = vti_proc_image(pid);
    *result = process;
    return 0;
}

void vti_target_free(struct vti_target *process)
{
    if (!process)
        return;
    for (uint32_t i = 0; i < process->stream_count; i++) {
        vti_encoder_free(process->streams[i].encoder);
        vti_buf_fini(&process->streams[i].step_text);
    }
    vti_cpu_threads_free(process->cpu);
    vti_gifts_free(process);
    vti_task_lanes_free(process->tasks);
    vti_carried_free(process->carried);
    vti_step_lane_free(process->steps);
    free(process->streams);
    free(process->twins);
    free(process->sites);
    if (process->arena)
        munmap(process->arena, process->arena_bytes);
    if (process->arena_fd >= 0)
        close(process->arena_fd);
    if (process->pidfd >= 0)
        close(process->pidfd);
    free(process);
}

void vti_target_set_word(struct vti_target *process, uint32_t control_word)
{
    __atomic_store_n(&process->arena->word, control_word, __ATOMIC_RELEASE);
}

static void write_process(struct vti_target *process)
{
    struct vti_process_fact *fact = &process->fact;
    size_t len = process->command_len;

    fact->name = vti_bytes_of(process->name);
    fact->command = (struct vti_bytes){process->command,
                                       len && !process->command[len - 1] ? len - 1 : len};
    vti_recorder_process(process->recorder, fact);
}

/* A process gets its place in the file when it has said who it is. */
static void announce(struct vti_target *process)
{
    const struct vti_arena_producer *producer = vti_arena_producer(process->arena);

    if (process->is_announced || !__atomic_load_n(&producer->is_ready, __ATOMIC_ACQUIRE))
        return;
    process->is_announced = true;
    process->fact.process = vti_recorder_new_process(process->recorder);
    process->fact.start = __atomic_load_n(&producer->start, __ATOMIC_RELAXED);
    process->fact.pair_millis = __atomic_load_n(&producer->pair_millis, __ATOMIC_RELAXED);
    process->fact.inner_millis = __atomic_load_n(&producer->inner_millis, __ATOMIC_RELAXED);
    write_process(process);
    vti_recorder_command(process->recorder, process->fact.command);
}

static bool start_stream(struct vti_target *process, struct vti_stream *stream,
                         const struct vti_slot *slot)
{
    stream->track = vti_recorder_new_track(process->recorder);
    if (vti_encoder_create(&stream->encoder, stream->track))
        return false;
    stream->is_used = true;
    memcpy(stream->name, slot->name, sizeof slot->name);
    stream->fact.track = stream->track;
    stream->fact.process = process->fact.process;
    stream->fact.tid = (uint32_t)slot->tid;
    stream->fact.start = slot->start;
    stream->fact.name = vti_bytes_of(stream->name);
    vti_recorder_track(process->recorder, &stream->fact);
    return true;
}

/*
 * Whether the thread is gone and has not said so: it came in the last destructors that ran for it, or it ended
 * without any. Looked for when there was nothing to read; not where its number may mean another thread.
 */
static bool is_orphan(struct vti_target *process, struct vti_stream *stream, struct vti_slot *slot,
                      uint64_t now_ns)
{
    const struct vti_arena_producer *producer = vti_arena_producer(process->arena);
    bool is_late = __atomic_load_n(&slot->end, __ATOMIC_RELAXED) != 0;

    if ((!is_late && now_ns < stream->quiet_ns + QUIET_LIMIT_NS) || producer->pid != process->pid)
        return false;
    stream->quiet_ns = now_ns;
    if (!syscall(SYS_tgkill, process->pid, slot->tid, 0) || errno != ESRCH)
        return false;
    if (__atomic_load_n(&slot->state, __ATOMIC_ACQUIRE) == VTI_SLOT_LIVE)
        slot->end = 0; /* not known */
    return true;
}

static uint64_t read_slot(struct vti_target *process, uint32_t at, uint64_t now_ns, bool cut)
{
    struct vti_stream *stream = &process->streams[at];
    struct vti_slot *slot = vti_arena_slot(process->arena, at);
    uint32_t state = __atomic_load_n(&slot->state, __ATOMIC_ACQUIRE);
    uint64_t count;

    if (state != VTI_SLOT_LIVE && state != VTI_SLOT_DEAD)
        return 0;
    if (!stream->is_used && !start_stream(process, stream, slot))
        return 0;
    if (state == VTI_SLOT_DEAD) {
        vti_stream_finish(stream, process, at, now_ns);
        return 1;
    }
    count = vti_stream_read(stream, process, at, now_ns, false);
    if (count) {
        stream->quiet_ns = now_ns;
    } else if (is_orphan(process, stream, slot, now_ns)) {
        vti_stream_finish(stream, process, at, now_ns);
        return 1;
    }
    vti_stream_cut(stream, process, now_ns, cut);
    vti_tree_write(&stream->tree, process, at, stream->track, now_ns, cut);
    return count;
}

/* Streams for as many slots as the program ever had in use at once; returns how many there are. */
static uint32_t follow_slots(struct vti_target *process)
{
    const struct vti_arena_producer *producer = vti_arena_producer(process->arena);
    uint32_t used = __atomic_load_n(&producer->slots.unused, __ATOMIC_ACQUIRE);
    struct vti_stream *grown;

    if (used > VTI_SLOT_COUNT)
        used = VTI_SLOT_COUNT;
    if (used <= process->stream_count)
        return process->stream_count;
    grown = realloc(process->streams, used * sizeof *grown);
    if (!grown)
        return process->stream_count;
    memset(grown + process->stream_count, 0, (used - process->stream_count) * sizeof *grown);
    process->streams = grown;
    process->stream_count = used;
    return used;
}

/* Calls of which some could not even be counted are stated with no number, too. */
static void state_unplaced(struct vti_target *process, const struct vti_unplaced *sum,
                           enum vti_loss_reason reason)
{
    const struct vti_arena_producer *producer = vti_arena_producer(process->arena);
    bool is_at_least = reason == VTI_LOSS_CALLS &&
                       __atomic_load_n(&producer->has_unseen_calls, __ATOMIC_RELAXED);
    struct vti_loss_fact loss = {.reason = reason,
                                 .process_plus_one = process->fact.process + 1,
                                 .flags = is_at_least,
                                 .events = __atomic_load_n(&sum->events, __ATOMIC_ACQUIRE),
                                 .first = __atomic_load_n(&sum->first, __ATOMIC_RELAXED),
                                 .last = __atomic_load_n(&sum->last, __ATOMIC_RELAXED)};

    if (!loss.events && is_at_least) {
        loss.first = process->fact.start;
        loss.last = vti_recorder_ticks(process->recorder);
    }
    if (loss.events || is_at_least)
        vti_recorder_loss(process->recorder, &loss);
}

static void note_alive(struct vti_target *process, uint64_t now_ns)
{
    process->noted_ns = now_ns;
    for (uint32_t i = 0; i < process->stream_count; i++)
        if (process->streams[i].is_used)
            vti_stream_note_alive(&process->streams[i], process);
}

/* What calls cost is known only after their hooks have measured it; who looks on while the program runs subtracts it too. */
static void state_costs(struct vti_target *process, bool is_last)
{
    const struct vti_arena_producer *producer = vti_arena_producer(process->arena);

    for (uint32_t i = 0; i < VTI_LANGUAGES; i++) {
        struct vti_cost_fact fact = {
            process->fact.process, i,
            __atomic_load_n(&producer->costs[i].pair_millis, __ATOMIC_RELAXED),
            __atomic_load_n(&producer->costs[i].inner_millis, __ATOMIC_RELAXED)};

        if (!fact.pair_millis || (fact.pair_millis == process->told_millis[i] && !is_last))
            continue;
        process->told_millis[i] = fact.pair_millis;
        vti_recorder_cost(process->recorder, &fact);
    }
}

static void state_sampling(struct vti_target *process)
{
    const struct vti_sampling *all = &vti_arena_producer(process->arena)->sampling;

    process->sampling = (struct vti_sampling_fact){
        .process = process->fact.process,
        .clock = __atomic_load_n(&all->clock, __ATOMIC_RELAXED),
        .is_stopped = __atomic_load_n(&all->is_stopped, __ATOMIC_RELAXED),
        .period_ns = __atomic_load_n(&all->period_ns, __ATOMIC_RELAXED),
        .samples = __atomic_load_n(&all->samples, __ATOMIC_RELAXED),
        .ours = __atomic_load_n(&all->ours, __ATOMIC_RELAXED),
        .cut = __atomic_load_n(&all->cut, __ATOMIC_RELAXED),
        .lost = __atomic_load_n(&all->lost, __ATOMIC_RELAXED),
        .spent = __atomic_load_n(&all->spent, __ATOMIC_RELAXED)};
    if (process->sampling.clock || process->sampling.is_stopped)
        vti_recorder_sampling(process->recorder, &process->sampling);
}

static double dearest(const struct vti_target *process, uint32_t first, uint32_t last)
{
    const struct vti_arena_producer *producer = vti_arena_producer(process->arena);
    uint64_t most = 0;

    for (uint32_t i = first; i <= last; i++) {
        uint64_t millis = __atomic_load_n(&producer->costs[i].pair_millis, __ATOMIC_RELAXED);

        most = millis > most ? millis : most;
    }
    return (double)most / 1000;
}

double vti_target_cost(const struct vti_target *process, const struct vti_stream *stream)
{
    return (double)stream->tree.calls * dearest(process, VT_LANGUAGE_PYTHON, VT_LANGUAGE_C) +
           (double)stream->tree.line_events *
               dearest(process, VT_LANGUAGE_PYTHON_LINE, VT_LANGUAGE_C_LINE) +
           (double)stream->spans * (double)process->fact.pair_millis / 1000;
}

/* What it has recorded is all there is. */
static void end(struct vti_target *process, uint64_t now_ns, enum vti_process_end how,
                uint32_t status)
{
    process->is_over = true;
    for (uint32_t i = 0; i < process->stream_count; i++)
        if (process->streams[i].is_used)
            vti_stream_finish(&process->streams[i], process, i, now_ns);
    vti_tasks_cut(process, now_ns, true);
    vti_steps_cut(process, now_ns, true);
    vti_carried_leave(process);
    vti_c_lines_take_counters(vti_recorder_c_lines(process->recorder), process);
    state_costs(process, true);
    state_sampling(process);
    state_unplaced(process, &vti_arena_producer(process->arena)->without_slot, VTI_LOSS_THREADS);
    state_unplaced(process, &vti_arena_producer(process->arena)->too_deep, VTI_LOSS_DEPTH);
    state_unplaced(process, &vti_arena_producer(process->arena)->lost_calls, VTI_LOSS_CALLS);
    state_unplaced(process, &vti_arena_producer(process->arena)->lost_lines, VTI_LOSS_LINES);
    state_unplaced(process, &vti_arena_producer(process->arena)->lost_tasks, VTI_LOSS_BUFFERS);
    process->fact.end = vti_recorder_ticks(process->recorder);
    process->fact.how = how;
    process->fact.status = status;
    write_process(process);
}

uint64_t vti_target_read(struct vti_target *process, uint64_t now_ns, bool cut)
{
    uint64_t count = 0;
    uint32_t slots;

    if (process->is_over)
        return 0;
    __atomic_store_n(&process->arena->heartbeat_ns, now_ns, __ATOMIC_RELAXED);
    announce(process);
    if (!process->is_announced)
        return 0;
    state_costs(process, false);
    slots = follow_slots(process);
    for (uint32_t i = 0; i < slots; i++)
        count += read_slot(process, i, now_ns, cut);
    vti_tasks_cut(process, now_ns, cut);
    vti_steps_cut(process, now_ns, cut);
    if (is_replaced(process, now_ns))
        end(process, now_ns, VTI_ENDED_EXEC, 0);
    else if (cut || now_ns >= process->noted_ns + NOTE_INTERVAL_NS)
        note_alive(process, now_ns);
    return count;
}

void vti_target_finish(struct vti_target *process, uint64_t now_ns, enum vti_process_end how,
                       uint32_t status)
{
    if (process->is_finished)
        return;
    if (how == VTI_ENDED_UNKNOWN) /* at once: its parent may be waiting for it */
        how = vti_ending_find(process->pidfd, process->pid, &status);
    vti_target_read(process, now_ns, false);
    process->is_finished = true;
    if (process->is_announced && !process->is_over)
        end(process, now_ns, how, status);
}

void vti_target_leave_file(struct vti_target *process)
{
    if (!process->is_announced || process->is_over)
        return;
    state_costs(process, true);
    state_sampling(process);
    vti_carried_leave(process);
}

void vti_target_enter_file(struct vti_target *process)
{
    if (!process->is_announced || process->is_over)
        return;
    write_process(process);
    memset(process->told_millis, 0, sizeof process->told_millis);
    for (uint32_t i = 0; i < process->stream_count; i++) {
        struct vti_stream *stream = &process->streams[i];

        if (!stream->is_used)
            continue;
        stream->fact.name = vti_bytes_of(stream->name);
        vti_recorder_track(process->recorder, &stream->fact);
        vti_tree_again(&stream->tree);
    }
    vti_tasks_again(process);
    vti_carried_write(process);
}
