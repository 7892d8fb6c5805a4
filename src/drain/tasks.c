/*
 * tasks.c - runs of task graphs of one process: from its records into TASKS and EDGES blocks.
 *
 * What the program says is copied already, but not to be trusted: lengths are checked, numbers index nothing. Runs and workers are
 * facts; tasks are many, and a flight recorder forgets them as it does events.
 */
#include "drain/tasks.h"

#include "drain/clock.h"
#include "drain/target.h"
#include "drain/tasks_open.h"
#include "format/tasks.h"
#include "venturi/task.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_ENTRIES 4096u
#define BLOCK_BYTES (1u << 18)
#define PENDING_LIMIT_NS 100000000u

enum { RUNS, TASKS, EDGES, LANE_COUNT };

/* Entries that wait for a block. */
struct lane {
    struct vti_task_codec codec;
    struct vti_buf bytes;
    uint32_t count;
    uint64_t first, last; /* ticks */
};

struct vti_task_lanes {
    struct lane lanes[LANE_COUNT];
    struct vti_open_runs open; /* of a spool */
    uint64_t pending_ns;       /* since when the oldest entry waits; 0: nothing does */
    bool is_new;               /* something has come since that was looked at */
};

/* ---- blocks -------------------------------------------------------------------------------------- */

static void write_lane(struct vti_target *process, unsigned which)
{
    struct lane *lane = &process->tasks->lanes[which];
    struct vti_block_header header = {.kind = which == EDGES ? VTI_EDGES : VTI_TASKS,
                                      .owner = process->fact.process,
                                      .count = lane->count,
                                      .first = lane->first,
                                      .last = lane->last};

    if (lane->count)
        vti_recorder_block(process->recorder, &header, &lane->bytes, which != RUNS);
    vti_buf_clear(&lane->bytes);
    vti_task_codec_clear(&lane->codec);
    lane->count = 0;
    lane->first = lane->last = 0;
}

/* Dependencies first: where a full disk drops them it drops their tasks too, and no task is there that seems to have had none. */
static void write_tasks(struct vti_target *process)
{
    write_lane(process, EDGES);
    write_lane(process, TASKS);
}

static void write_lanes(struct vti_target *process)
{
    write_lane(process, RUNS);
    write_tasks(process);
    process->tasks->is_new = false;
    process->tasks->pending_ns = 0;
}

void vti_tasks_cut(struct vti_target *process, uint64_t now_ns, bool now)
{
    struct vti_task_lanes *lanes = process->tasks;

    if (!lanes)
        return;
    if (now || (lanes->pending_ns && now_ns >= lanes->pending_ns + PENDING_LIMIT_NS)) {
        write_lanes(process);
    } else if (lanes->is_new && !lanes->pending_ns) {
        lanes->pending_ns = now_ns;
    }
}

void vti_task_lanes_free(struct vti_task_lanes *lanes)
{
    if (!lanes)
        return;
    for (unsigned i = 0; i < LANE_COUNT; i++) {
        vti_task_codec_fini(&lanes->lanes[i].codec);
        vti_buf_fini(&lanes->lanes[i].bytes);
    }
    vti_open_runs_fini(&lanes->open);
    free(lanes);
}

/* An entry of a lane has been added, at a time or 0. */
static void note_entry(struct vti_target *process, unsigned which, uint64_t first, uint64_t last)
{
    struct lane *lane = &process->tasks->lanes[which];

    lane->count++;
    if (first && (!lane->first || first < lane->first))
        lane->first = first;
    if (last > lane->last)
        lane->last = last;
    process->tasks->is_new = true;
    if (lane->count < BLOCK_ENTRIES && lane->bytes.len < BLOCK_BYTES)
        return;
    if (which == RUNS)
        write_lane(process, which);
    else
        write_tasks(process);
}

/* The largest one is no number in the file. */
static bool is_number(uint32_t number)
{
    return number != UINT32_MAX;
}

static void add_fact(struct vti_target *process, unsigned which, const struct vti_task_fact *fact)
{
    struct lane *lane = &process->tasks->lanes[which];

    if (!is_number(fact->run) || !is_number(fact->number) || !is_number(fact->parent))
        return;
    vti_task_write(&lane->bytes, &lane->codec, fact);
    note_entry(process, which, fact->ticks ? fact->ticks : fact->start,
               fact->ticks ? fact->ticks : fact->end);
    if (which != RUNS || !vti_recorder_file(process->recorder))
        return;
    if (fact->type == VTI_TASK_RUN_END)
        vti_open_runs_end(&process->tasks->open, fact->run);
    else
        vti_open_runs_add(&process->tasks->open, fact);
}

static void add_again(void *process, const struct vti_task_fact *fact)
{
    add_fact(process, RUNS, fact);
}

void vti_tasks_again(struct vti_target *process)
{
    struct vti_open_runs open;

    if (!process->tasks)
        return;
    open = process->tasks->open;
    process->tasks->open = (struct vti_open_runs){0};
    vti_open_runs_each(&open, add_again, process);
    vti_open_runs_fini(&open);
    write_lane(process, RUNS);
}

static void add_edges(struct vti_target *process, const struct vti_edges_fact *fact)
{
    struct lane *lane = &process->tasks->lanes[EDGES];

    if (!is_number(fact->run) || !is_number(fact->number))
        return;
    vti_edges_write(&lane->bytes, &lane->codec, fact);
    note_entry(process, EDGES, 0, 0);
}

/* ---- records ------------------------------------------------------------------------------------- */

static void take_run(struct vti_target *process, uint64_t ticks, const uint8_t *data, size_t len)
{
    struct vti_task_run_note note;

    if (len < sizeof note)
        return;
    memcpy(&note, data, sizeof note);
    add_fact(
        process, RUNS,
        &(struct vti_task_fact){.type = VTI_TASK_RUN,
                                .run = note.run,
                                .ticks = ticks,
                                .parent = note.parent,
                                .planned = note.planned,
                                .workers = note.workers,
                                .text = {(const char *)data + sizeof note, len - sizeof note}});
}

static void take_worker(struct vti_target *process, const uint8_t *data, size_t len)
{
    struct vti_task_worker_note note;

    if (len < sizeof note)
        return;
    memcpy(&note, data, sizeof note);
    add_fact(
        process, RUNS,
        &(struct vti_task_fact){.type = VTI_TASK_WORKER,
                                .run = note.run,
                                .number = note.number,
                                .pid = note.pid,
                                .tid = note.tid,
                                .text = {(const char *)data + sizeof note, len - sizeof note}});
}

static void take_end(struct vti_target *process, uint64_t ticks, const uint8_t *data, size_t len)
{
    struct vti_loss_fact loss = {.reason = VTI_LOSS_BUFFERS,
                                 .process_plus_one = process->fact.process + 1,
                                 .first = ticks,
                                 .last = ticks};
    struct vti_task_end_note note;

    if (len < sizeof note)
        return;
    memcpy(&note, data, sizeof note);
    add_fact(
        process, RUNS,
        &(struct vti_task_fact){.type = VTI_TASK_RUN_END,
                                .run = note.run,
                                .ticks = ticks,
                                .lost = note.lost,
                                .text = {(const char *)data + sizeof note, len - sizeof note}});
    loss.events = note.lost;
    if (loss.events)
        vti_recorder_loss(process->recorder, &loss);
}

/* Numbers of 32 bits at any address become those of an entry. */
static void take_edges(struct vti_target *process, struct vti_edges_fact fact, const uint8_t *at,
                       uint32_t count)
{
    uint32_t numbers[VTI_PAYLOADS_MAX * VTI_PAYLOAD_DATA / sizeof(uint32_t)];

    fact.dependencies = numbers;
    for (uint32_t i = 0; i < count; i++) {
        memcpy(&numbers[fact.count], at + 4 * (size_t)i, sizeof *numbers);
        fact.count += is_number(numbers[fact.count]);
    }
    add_edges(process, &fact);
}

static void take_far_edges(struct vti_target *process, const uint8_t *data, size_t len)
{
    uint32_t head[3];
    struct vti_edges_fact fact = {0};

    if (len < sizeof head)
        return;
    memcpy(head, data, sizeof head);
    fact.run = head[0];
    fact.number = head[1];
    fact.before = head[2];
    take_edges(process, fact, data + sizeof head, (uint32_t)((len - sizeof head) / 4));
}

static uint64_t take_u64(struct vti_reader *in, bool is_there, uint64_t otherwise)
{
    return is_there ? vti_reader_u64(in) : otherwise;
}

static void take_task(struct vti_target *process, const struct vti_record *record,
                      const uint8_t *data, size_t len)
{
    uint32_t flags = VTI_TAG_FLAGS(record->tag);
    struct vti_task_fact fact = {.type = VTI_TASK_TASK};
    struct vti_edges_fact edges = {0};
    const uint8_t *near = NULL;
    struct vti_reader in;
    uint32_t count = 0;

    vti_reader_init(&in, data, len);
    fact.run = edges.run = vti_reader_u32(&in);
    fact.number = edges.number = vti_reader_u32(&in);
    fact.worker_plus_one = vti_reader_u32(&in);
    fact.start = take_u64(&in, flags & VTI_TASK_HAS_START, 0);
    fact.ready = take_u64(&in, flags & VTI_TASK_HAS_READY, 0);
    fact.cpu_ns = take_u64(&in, flags & VTI_TASK_HAS_CPU, VTI_TASK_UNKNOWN);
    fact.bytes = take_u64(&in, flags & VTI_TASK_HAS_BYTES, VTI_TASK_UNKNOWN);
    fact.freed = take_u64(&in, flags & VTI_TASK_HAS_FREED, 0);
    fact.retries = flags & VTI_TASK_HAS_RETRIES ? vti_reader_u16(&in) : 0;
    if (flags & VTI_TASK_HAS_EDGES) {
        count = vti_reader_u16(&in);
        near = vti_reader_bytes(&in, 4 * (size_t)count);
    }
    if (in.failed)
        return;
    fact.end = fact.start ? record->ticks : 0;
    fact.state = VTI_TAG_TYPE(record->tag) % VTI_TASK_ACTION;
    fact.action = VTI_TAG_TYPE(record->tag) / VTI_TASK_ACTION % VTI_TASK_ACTION;
    fact.cpu_is_estimated = flags & VTI_TASK_CPU_ESTIMATED;
    fact.site = vti_target_site(process, record->id);
    fact.key = (struct vti_bytes){(const char *)in.at, vti_reader_left(&in)};
    if (near)
        take_edges(process, edges, near, count);
    add_fact(process, TASKS, &fact);
    if (fact.action == VT_ACTION_COMPUTE)
        process->task_count++;
    else
        process->action_count++;
}

void vti_tasks_take(struct vti_target *process, const struct vti_record *record,
                    const uint8_t *data, size_t len)
{
    if (!process->tasks)
        process->tasks = calloc(1, sizeof *process->tasks);
    if (!process->tasks)
        return;
    switch (VTI_TAG_KIND(record->tag)) {
    case VTI_RECORD_TASK_RUN:
        take_run(process, record->ticks, data, len);
        break;
    case VTI_RECORD_TASK_WORKER:
        take_worker(process, data, len);
        break;
    case VTI_RECORD_TASK_EDGES:
        take_far_edges(process, data, len);
        break;
    case VTI_RECORD_TASK_END:
        take_end(process, record->ticks, data, len);
        break;
    default:
        take_task(process, record, data, len);
    }
}
