/* dask_take.c - what the watcher of a dask cluster says, line by line, becomes workers, groups of tasks and the stream. */
#include "live/dask.h"

#include "base/error.h"
#include "base/json_scan.h"
#include "venturi/task.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- values -------------------------------------------------------------------------------------- */

/* NaN if it is no number. */
static double take_number(struct vti_json_scan *scan)
{
    char copy[40];
    const char *text;
    size_t len;
    char first = vti_json_peek(scan);

    if ((first != '-' && (first < '0' || first > '9')) ||
        !vti_json_scan_number(scan, &text, &len) || len >= sizeof copy) {
        if (!scan->failed)
            vti_json_skip(scan);
        return NAN;
    }
    memcpy(copy, text, len);
    copy[len] = 0;
    return strtod(copy, NULL);
}

static uint64_t take_count(struct vti_json_scan *scan)
{
    double value = take_number(scan);

    return value >= 0 && value < 9e15 ? (uint64_t)value : VTI_LIVE_UNKNOWN;
}

/* "" if it is no text. */
static const char *take_text(struct vti_live *live, struct vti_json_scan *scan)
{
    struct vti_buf text = {0};
    const char *kept = "";

    if (vti_json_peek(scan) != '"')
        vti_json_skip(scan);
    else if (vti_json_scan_string(scan, &text))
        kept = vti_names_add(&live->names, (const char *)text.data, text.len);
    vti_buf_fini(&text);
    return kept;
}

/* Calls `member` for each of an object. */
static int each_member(struct vti_live *live, struct vti_json_scan *scan, void *arg,
                       int (*member)(struct vti_live *live, struct vti_json_scan *scan,
                                     const char *key, void *arg))
{
    struct vti_buf key = {0};
    bool is_first = true;
    int code = 0;

    if (!vti_json_take(scan, '{')) {
        if (!scan->failed)
            vti_json_skip(scan);
        return 0;
    }
    while (!code && vti_json_next_key(scan, &is_first, &key))
        code = member(live, scan, (const char *)key.data, arg);
    vti_buf_fini(&key);
    return code;
}

/* ---- workers ------------------------------------------------------------------------------------- */

/* Those of a cluster are known by their address, the threads of one, which only the stream has, by theirs. */
static struct vti_live_seat *seat_of(struct vti_live *live, const char *address, const char *thread,
                                     uint32_t *at)
{
    struct vti_live_seat *seat;
    uint32_t lanes = 0;
    char label[200];

    for (uint32_t i = 0; i < live->seat_count; i++) {
        seat = &live->seats[i];
        if (strcmp(seat->host, address))
            continue;
        if (!strcmp(seat->lane, thread)) {
            *at = i;
            return seat;
        }
        lanes += seat->lane[0] != 0;
    }
    seat = vti_live_seat_at(live, NULL, (uint32_t)live->seat_count, at);
    if (!seat)
        return NULL;
    seat->host = vti_names_text(&live->names, address);
    seat->lane = vti_names_text(&live->names, thread);
    seat->label = seat->host;
    if (*thread) {
        snprintf(label, sizeof label, "%.180s #%u", address, (unsigned)lanes);
        seat->label = vti_names_text(&live->names, label);
    }
    return seat;
}

struct worker {
    const char *name, *address;
    uint64_t slots, pid, processing, executing, memory, limit, managed, spilled;
    double cpu, seen;
};

static int take_worker_member(struct vti_live *live, struct vti_json_scan *scan, const char *key,
                              void *arg)
{
    struct worker *worker = arg;
    struct {
        const char *key;
        uint64_t *to;
    } counts[] = {{"slots", &worker->slots},           {"pid", &worker->pid},
                  {"processing", &worker->processing}, {"executing", &worker->executing},
                  {"memory", &worker->memory},         {"limit", &worker->limit},
                  {"managed", &worker->managed},       {"spilled", &worker->spilled}};

    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++)
        if (!strcmp(key, counts[i].key)) {
            *counts[i].to = take_count(scan);
            return 0;
        }
    if (!strcmp(key, "name"))
        worker->name = take_text(live, scan);
    else if (!strcmp(key, "address"))
        worker->address = take_text(live, scan);
    else if (!strcmp(key, "cpu"))
        worker->cpu = take_number(scan);
    else if (!strcmp(key, "seen"))
        worker->seen = take_number(scan);
    else
        vti_json_skip(scan);
    return 0;
}

static int take_worker(struct vti_live *live, struct vti_json_scan *scan)
{
    struct worker worker = {.name = "", .address = "", .executing = VTI_LIVE_UNKNOWN, .cpu = NAN};
    struct vti_live_seat *seat;
    uint32_t at;

    each_member(live, scan, &worker, take_worker_member);
    seat = *worker.address ? seat_of(live, worker.address, "", &at) : NULL;
    if (!seat)
        return 0;
    if (*worker.name)
        seat->label = worker.name;
    seat->is_there = true;
    seat->pid = worker.pid == VTI_LIVE_UNKNOWN ? 0 : worker.pid;
    seat->slots = worker.slots < 1000000 ? (uint32_t)worker.slots : 0;
    /* The scheduler knows what it gave to a worker: it computes as many of them as it has threads. */
    seat->running = worker.executing != VTI_LIVE_UNKNOWN ? worker.executing
                    : worker.processing < seat->slots    ? worker.processing
                                                         : seat->slots;
    seat->ready = worker.processing > seat->running ? worker.processing - seat->running : 0;
    seat->cpu = worker.cpu / 100;
    seat->memory_bytes = worker.memory;
    seat->memory_limit_bytes = worker.limit ? worker.limit : VTI_LIVE_UNKNOWN;
    seat->managed_bytes = worker.managed;
    seat->spilled_bytes = worker.spilled;
    seat->seen_unix_ns = isfinite(worker.seen) ? (int64_t)(worker.seen * 1e9) : 0;
    return 0;
}

/* ---- groups of tasks ----------------------------------------------------------------------------- */

struct states {
    uint64_t waiting, ready, processing, memory, erred, released, forgotten;
};

static int take_state(struct vti_live *live, struct vti_json_scan *scan, const char *key, void *arg)
{
    struct states *states = arg;
    uint64_t count = take_count(scan);

    (void)live;
    count = count == VTI_LIVE_UNKNOWN ? 0 : count;
    if (!strcmp(key, "waiting"))
        states->waiting += count;
    else if (!strcmp(key, "queued") || !strcmp(key, "no-worker"))
        states->ready += count;
    else if (!strcmp(key, "processing"))
        states->processing += count;
    else if (!strcmp(key, "memory"))
        states->memory += count;
    else if (!strcmp(key, "erred"))
        states->erred += count;
    else if (!strcmp(key, "released"))
        states->released += count;
    else if (!strcmp(key, "forgotten"))
        states->forgotten += count;
    return 0;
}

struct group {
    const char *name;
    struct states now, ever;
};

static int take_group_member(struct vti_live *live, struct vti_json_scan *scan, const char *key,
                             void *arg)
{
    struct group *group = arg;

    if (!strcmp(key, "name"))
        group->name = take_text(live, scan);
    else if (!strcmp(key, "states"))
        return each_member(live, scan, &group->now, take_state);
    else if (!strcmp(key, "counts"))
        return each_member(live, scan, &group->ever, take_state);
    else
        vti_json_skip(scan);
    return 0;
}

static int take_group(struct vti_live *live, struct vti_json_scan *scan)
{
    struct group group = {.name = ""};
    struct vti_live_tasks *tasks;
    int64_t at;

    each_member(live, scan, &group, take_group_member);
    at = *group.name ? vti_live_task_group_at(live, group.name, strlen(group.name)) : 0;
    if (at < 0 || !*group.name)
        return (int)(at < 0 ? at : 0);
    tasks = &live->tasks[at];
    tasks->waiting = group.now.waiting;
    tasks->ready = group.now.ready;
    tasks->running = group.now.processing;
    /* How often a state was reached is known for good; where it is not, what is there now has to do. */
    tasks->states[VT_TASK_DONE] = group.ever.memory > group.now.memory ? group.ever.memory
                                                                       : group.now.memory;
    tasks->states[VT_TASK_FAILED] = group.ever.erred > group.now.erred ? group.ever.erred
                                                                       : group.now.erred;
    tasks->ended = tasks->states[VT_TASK_DONE] + tasks->states[VT_TASK_FAILED];
    return 0;
}

/* ---- tasks --------------------------------------------------------------------------------------- */

static uint8_t action_of(const char *text)
{
    static const char *const texts[] = {"compute", "transfer", "disk-read", "disk-write",
                                        "deserialize"};

    for (uint8_t i = 0; i < sizeof texts / sizeof *texts; i++)
        if (!strcmp(text, texts[i]))
            return i;
    return VT_ACTION_COMPUTE;
}

/* The pieces of a task, in this order: key, name, worker, thread, state, action, begin, end, bytes. */
static int take_task(struct vti_live *live, struct vti_json_scan *scan)
{
    struct vti_live_task task = {.worker = VTI_LIVE_NONE};
    struct vti_live_seat *seat;
    struct vti_buf key = {0};
    const char *texts[6] = {"", "", "", "", "", ""};
    double times[2] = {0, 0};
    bool is_first = true;
    int64_t length_ns;
    uint32_t at;
    int64_t group;
    int code = 0;

    if (!vti_json_take(scan, '['))
        return 0;
    task.bytes = VTI_LIVE_UNKNOWN;
    for (unsigned i = 0; vti_json_next_item(scan, &is_first); i++) {
        if (i == 0 && vti_json_peek(scan) == '"')
            vti_json_scan_string(scan, &key);
        else if (i == 4)
            task.state = take_count(scan) == VT_TASK_DONE ? VT_TASK_DONE : VT_TASK_FAILED;
        else if (i == 6 || i == 7)
            times[i - 6] = take_number(scan);
        else if (i == 8)
            task.bytes = take_count(scan);
        else if (i < 6)
            texts[i] = take_text(live, scan);
        else
            vti_json_skip(scan);
    }
    group = vti_live_task_group_at(live, texts[1], strlen(texts[1]));
    if (group < 0 || scan->failed) {
        vti_buf_fini(&key);
        return group < 0 ? (int)group : 0;
    }
    task.group = (uint32_t)group;
    task.action = action_of(texts[5]);
    task.start_unix_ns = isfinite(times[0]) ? (int64_t)(times[0] * 1e9) : 0;
    task.end_unix_ns = isfinite(times[1]) ? (int64_t)(times[1] * 1e9) : 0;
    length_ns = task.end_unix_ns > task.start_unix_ns ? task.end_unix_ns - task.start_unix_ns : 0;
    seat = *texts[2] ? seat_of(live, texts[2], "", &at) : NULL;
    if (seat && task.action == VT_ACTION_COMPUTE) {
        seat->ended++;
        seat->failed += task.state == VT_TASK_FAILED;
        seat->busy_ns += (uint64_t)length_ns;
    }
    if (*texts[2])
        seat_of(live, texts[2], *texts[3] ? texts[3] : "?", &task.worker);
    if (task.action == VT_ACTION_COMPUTE) {
        code = vti_times_add(&live->tasks[group].times, length_ns, true);
        if (task.bytes != VTI_LIVE_UNKNOWN)
            live->tasks[group].bytes += task.bytes;
    }
    if (task.end_unix_ns > live->last_unix_ns)
        live->last_unix_ns = task.end_unix_ns;
    if (!code)
        code = vti_live_stream_add(live, &task, (const char *)key.data, key.len);
    vti_buf_fini(&key);
    return code;
}

/* ---- a line -------------------------------------------------------------------------------------- */

static int each_item(struct vti_live *live, struct vti_json_scan *scan,
                     int (*item)(struct vti_live *live, struct vti_json_scan *scan))
{
    bool is_first = true;
    int code = 0;

    if (!vti_json_take(scan, '['))
        vti_json_skip(scan);
    else
        while (!code && vti_json_next_item(scan, &is_first))
            code = item(live, scan);
    return code;
}

static int take_member(struct vti_live *live, struct vti_json_scan *scan, const char *key,
                       void *arg)
{
    struct vti_dask *dask = live->dask;

    (void)arg;
    if (!strcmp(key, "workers")) {
        for (size_t i = 0; i < live->seat_count; i++)
            live->seats[i].is_there = false;
        return each_item(live, scan, take_worker);
    }
    if (!strcmp(key, "groups"))
        return each_item(live, scan, take_group);
    if (!strcmp(key, "tasks"))
        return each_item(live, scan, take_task);
    if (!strcmp(key, "id")) {
        dask->id = take_text(live, scan);
        dask->is_connected = true;
        dask->error = "";
    } else if (!strcmp(key, "version")) {
        dask->version = take_text(live, scan);
    } else if (!strcmp(key, "error")) {
        dask->error = take_text(live, scan);
        dask->is_connected = false;
    } else {
        vti_json_skip(scan);
    }
    return 0;
}

int vti_dask_take(struct vti_live *live, const char *line, size_t len)
{
    struct vti_json_scan scan = {.at = line, .end = line + len};

    return each_member(live, &scan, NULL, take_member);
}
