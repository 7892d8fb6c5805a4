/*
 * groups.c - the tables that everything is summed up in: spans by name and place, tasks by name, runs, workers, steps, and the stream
 * of tasks.
 *
 * All of them are bounded: what comes when one is full is counted under "(others)", or pushes out what is oldest.
 */
#include "base/error.h"
#include "live/state.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTHERS "(others)"
#define KEY_BYTES 256 /* of a task, in the stream */

/* The place of a key in a map with an array beside it, "(others)" where there are too many. */
static int64_t place_of(struct vti_map **map, const void *key, size_t len, size_t count,
                        size_t most, int *is_new)
{
    int64_t at;

    *is_new = 0;
    if (!*map && vti_map_create(map))
        return VTI_E_NOMEM;
    at = vti_map_find(*map, key, len);
    if (at >= 0)
        return at;
    if (count + 1 >= most)
        return vti_map_add(*map, OTHERS, sizeof OTHERS, is_new);
    return vti_map_add(*map, key, len, is_new);
}

int64_t vti_live_group(struct vti_live *live, const char *name, const char *function,
                       const char *file, uint32_t line)
{
    struct vti_buf key = {0};
    bool is_others;
    int is_new;
    int64_t at;

    if (vti_grow(&live->groups, live->group_count, &live->group_room, sizeof *live->groups))
        return VTI_E_NOMEM;
    vti_buf_add_string(&key, name);
    vti_buf_add_string(&key, function);
    vti_buf_add_string(&key, file);
    vti_buf_add_u32(&key, line);
    at = key.failed ? VTI_E_NOMEM
                    : place_of(&live->group_map, key.data, key.len, live->group_count,
                               VTI_LIVE_SPANS_MOST, &is_new);
    vti_buf_fini(&key);
    if (at < 0 || !is_new)
        return at;
    is_others = live->group_count + 1 >= VTI_LIVE_SPANS_MOST;
    live->groups[at] = (struct vti_live_group){
        .name = vti_names_text(&live->names, is_others ? OTHERS : name),
        .function = vti_names_text(&live->names, is_others ? "" : function),
        .file = vti_names_text(&live->names, is_others ? "" : file),
        .line = is_others ? 0 : line};
    live->group_count++;
    return at;
}

int64_t vti_live_task_group_at(struct vti_live *live, const char *name, size_t len)
{
    bool is_others = live->task_count + 1 >= VTI_LIVE_GROUPS_MOST;
    int is_new;
    int64_t at;

    if (vti_grow(&live->tasks, live->task_count, &live->task_room, sizeof *live->tasks))
        return VTI_E_NOMEM;
    at = place_of(&live->task_map, name, len, live->task_count, VTI_LIVE_GROUPS_MOST, &is_new);
    if (at < 0 || !is_new)
        return at;
    live->tasks[at] = (struct vti_live_tasks){
        .name = is_others ? OTHERS : vti_names_add(&live->names, name, len),
        .waiting = VTI_LIVE_UNKNOWN,
        .ready = VTI_LIVE_UNKNOWN,
        .running = VTI_LIVE_UNKNOWN};
    live->task_count++;
    return at;
}

int64_t vti_live_step_at(struct vti_live *live, const char *source, const char *prefix,
                         const char *survey)
{
    bool is_others = live->step_count + 1 >= VTI_LIVE_STEPS_MOST;
    struct vti_buf key = {0};
    int is_new;
    int64_t at;

    if (vti_grow(&live->steps, live->step_count, &live->step_room, sizeof *live->steps))
        return VTI_E_NOMEM;
    vti_buf_add_string(&key, source);
    vti_buf_add_string(&key, prefix);
    vti_buf_add_string(&key, survey);
    at = key.failed ? VTI_E_NOMEM
                    : place_of(&live->step_map, key.data, key.len, live->step_count,
                               VTI_LIVE_STEPS_MOST, &is_new);
    vti_buf_fini(&key);
    if (at < 0 || !is_new)
        return at;
    live->steps[at] = (struct vti_live_step_sum){
        .source = is_others ? OTHERS : vti_names_text(&live->names, source),
        .prefix = is_others ? "" : vti_names_text(&live->names, prefix),
        .survey = is_others ? "" : vti_names_text(&live->names, survey),
        .last_lag_ns = INT64_MIN};
    live->step_count++;
    return at;
}

/* ---- runs and workers -------------------------------------------------------------------------- */

struct vti_live_run *vti_live_run_at(struct vti_live *live, uint32_t source, uint32_t process,
                                     uint32_t number)
{
    struct vti_live_run *at;

    for (size_t i = live->run_count; i-- > 0;) {
        at = &live->runs[i];
        if (at->number == number && at->process == process && at->source == source)
            return at;
    }
    if (live->run_count == VTI_LIVE_RUNS_MOST) {
        memmove(live->runs, live->runs + 1, (VTI_LIVE_RUNS_MOST - 1) * sizeof *live->runs);
        live->run_count--;
        live->first_run++;
    }
    if (vti_grow(&live->runs, live->run_count, &live->run_room, sizeof *live->runs))
        return NULL;
    at = &live->runs[live->run_count++];
    *at = (struct vti_live_run){
        .source = source, .process = process, .number = number, .scheduler = "", .error = ""};
    return at;
}

/* Workers of one number are one over all runs of a process; a NULL run: of a cluster. NULL if there are too many: tasks are then counted
 * without their worker. */
struct vti_live_seat *vti_live_seat_at(struct vti_live *live, const struct vti_live_run *run,
                                       uint32_t number, uint32_t *at)
{
    uint64_t owner = run ? (uint64_t)run->source << 32 | run->process : UINT64_MAX;
    uint32_t run_number = run ? live->first_run + (uint32_t)(run - live->runs) : VTI_LIVE_NONE;
    struct vti_live_seat *seat;
    char label[32];

    for (size_t i = live->seat_count; i-- > 0;)
        if (live->seats[i].number == number && live->seats[i].owner == owner) {
            live->seats[i].run = run_number;
            *at = (uint32_t)i;
            return &live->seats[i];
        }
    if (live->seat_count >= VTI_LIVE_WORKERS_MOST ||
        vti_grow(&live->seats, live->seat_count, &live->seat_room, sizeof *live->seats))
        return NULL;
    snprintf(label, sizeof label, "worker %u", (unsigned)number);
    *at = (uint32_t)live->seat_count++;
    seat = &live->seats[*at];
    *seat = (struct vti_live_seat){.owner = owner,
                                   .run = run_number,
                                   .number = number,
                                   .label = vti_names_text(&live->names, label),
                                   .host = "",
                                   .lane = "",
                                   .running = VTI_LIVE_UNKNOWN,
                                   .ready = VTI_LIVE_UNKNOWN,
                                   .memory_bytes = VTI_LIVE_UNKNOWN,
                                   .memory_limit_bytes = VTI_LIVE_UNKNOWN,
                                   .managed_bytes = VTI_LIVE_UNKNOWN,
                                   .spilled_bytes = VTI_LIVE_UNKNOWN,
                                   .cpu = NAN};
    return seat;
}

/* ---- the stream -------------------------------------------------------------------------------- */

int vti_live_stream_add(struct vti_live *live, const struct vti_live_task *task, const char *key,
                        size_t key_len)
{
    size_t at;

    if (!live->stream) {
        live->stream = calloc(live->stream_max, sizeof *live->stream);
        live->keys = calloc(live->stream_max, sizeof *live->keys);
    }
    if (!live->stream || !live->keys)
        return VTI_E_NOMEM;
    at = (size_t)(live->stream_last % live->stream_max);
    free(live->keys[at]);
    key_len = key_len < KEY_BYTES ? key_len : KEY_BYTES;
    live->keys[at] = strndup(key_len ? key : "", key_len);
    live->stream[at] = *task;
    live->stream[at].number = ++live->stream_last;
    live->stream[at].key = live->keys[at] ? live->keys[at] : "";
    return 0;
}

const struct vti_live_task *vti_live_stream(const struct vti_live *live, uint64_t after,
                                            size_t *count)
{
    uint64_t first = live->stream_last > live->stream_max ? live->stream_last - live->stream_max
                                                          : 0;
    uint64_t left;
    size_t at;

    *count = 0;
    after = after > first ? after : first;
    if (after >= live->stream_last)
        return NULL;
    at = (size_t)(after % live->stream_max);
    left = live->stream_last - after;
    *count = left < live->stream_max - at ? (size_t)left : live->stream_max - at;
    return &live->stream[at];
}

uint64_t vti_live_stream_last(const struct vti_live *live)
{
    return live->stream_last;
}

const char *vti_live_task_name(const struct vti_live *live, uint32_t group)
{
    return group < live->task_count ? live->tasks[group].name : "";
}

const char *vti_live_worker_name(const struct vti_live *live, uint32_t worker)
{
    return worker < live->seat_count ? live->seats[worker].label : "";
}

/* Something of these times is in the sums now. */
void vti_live_note_times(struct vti_live *live, int64_t begin_unix_ns, int64_t end_unix_ns)
{
    if (end_unix_ns > live->last_unix_ns)
        live->last_unix_ns = end_unix_ns;
    if (!live->has_first && begin_unix_ns > 0 &&
        (!live->first_unix_ns || begin_unix_ns < live->first_unix_ns))
        live->first_unix_ns = begin_unix_ns;
}

/* ---- all of them --------------------------------------------------------------------------------- */

void vti_live_tables_fini(struct vti_live *live)
{
    for (size_t i = 0; i < live->group_count; i++) {
        vti_times_clear(&live->groups[i].times);
        free(live->groups[i].exemplars);
    }
    for (size_t i = 0; i < live->task_count; i++)
        vti_times_clear(&live->tasks[i].times);
    for (size_t i = 0; i < live->step_count; i++)
        vti_times_clear(&live->steps[i].execute);
    for (size_t i = 0; live->keys && i < live->stream_max; i++)
        free(live->keys[i]);
    vti_map_free(live->group_map);
    vti_map_free(live->task_map);
    vti_map_free(live->step_map);
    vti_map_free(live->step_processes);
    free(live->groups);
    free(live->tasks);
    free(live->steps);
    free(live->runs);
    free(live->seats);
    free(live->stream);
    free(live->keys);
}

static void reset_groups(struct vti_live *live)
{
    for (size_t i = 0; i < live->group_count; i++) {
        struct vti_live_group *group = &live->groups[i];

        vti_times_clear(&group->times);
        free(group->exemplars);
        group->exemplars = NULL;
        group->errors = 0;
        group->self_ns = 0;
        vti_rate_settle(&group->count_rate, 0);
        vti_rate_settle(&group->error_rate, 0);
        vti_rate_settle(&group->busy_rate, 0);
    }
    for (size_t i = 0; i < live->task_count; i++) {
        struct vti_live_tasks *tasks = &live->tasks[i];

        vti_times_clear(&tasks->times);
        memset(tasks->states, 0, sizeof tasks->states);
        tasks->ended = tasks->retried = tasks->bytes = 0;
        vti_rate_settle(&tasks->rate, 0);
    }
}

void vti_live_tables_reset(struct vti_live *live)
{
    /* Own time of what ended before is no part of what begins now; of what is open it is the whole. */
    vti_selves_free(live->selves);
    live->selves = NULL;
    reset_groups(live);
    vti_map_free(live->step_processes);
    live->step_processes = NULL;
    for (size_t i = 0; i < live->step_count; i++) {
        struct vti_live_step_sum *step = &live->steps[i];
        struct vti_live_step_sum zero = {.source = step->source,
                                         .prefix = step->prefix,
                                         .survey = step->survey,
                                         .last_lag_ns = INT64_MIN};

        vti_times_clear(&step->execute);
        *step = zero;
    }
    live->events = live->spans = live->errors = 0;
    vti_rate_settle(&live->event_rate, 0);
    vti_rate_settle(&live->span_rate, 0);
}
