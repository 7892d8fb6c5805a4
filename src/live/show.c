/*
 * show.c - the lists that others read, made from the sums: the whole, processes, threads, spans, steps, recordings.
 *
 * Texts in them are those of names.c or of an open recording, and live until the next refresh.
 */
#include "base/error.h"
#include "live/state.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void *vti_live_list_add(struct vti_live_list *list, size_t item)
{
    uint8_t *at;

    if (list->count == list->room) {
        size_t room = list->room ? 2 * list->room : 32;
        void *grown = realloc(list->items, room * item);

        if (!grown)
            return NULL;
        list->items = grown;
        list->room = room;
    }
    at = (uint8_t *)list->items + list->count++ * item;
    memset(at, 0, item);
    return at;
}

/* ---- the whole --------------------------------------------------------------------------------- */

/* The last part of a path, or of the first word of a command. */
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

static bool is_growing(const struct vti_live *live)
{
    struct vti_live_cluster cluster;

    vti_live_cluster(live, &cluster);
    if (cluster.is_connected)
        return true;
    if (live->outside && live->outside->is_growing)
        return true;
    for (size_t i = 0; i < live->source_count; i++)
        if (live->sources[i]->is_growing && !live->sources[i]->is_done)
            return true;
    return false;
}

static const struct vti_source *newest(const struct vti_live *live)
{
    for (size_t i = live->source_count; i-- > 0;)
        if (live->sources[i]->recording)
            return live->sources[i];
    return NULL;
}

static void sum_losses(const struct vti_live *live, struct vti_live_summary *summary)
{
    summary->lost_events = live->gone_lost_events;
    summary->damage = live->gone_damage;
    for (size_t i = 0; i < live->source_count; i++) {
        summary->lost_events += live->sources[i]->lost_events;
        summary->damage += live->sources[i]->damage;
    }
}

/* The program in a command, without its folder: of an interpreter's the script. */
static const char *program_of(struct vti_live *live, const char *command)
{
    size_t len = strcspn(command, " ");
    const char *next = command + len + strspn(command + len, " ");
    const char *name = vti_names_add(&live->names, command, len);

    name = last_part(name);
    if (strncmp(name, "python", 6) || !*next || *next == '-')
        return name;
    return last_part(vti_names_add(&live->names, next, strcspn(next, " ")));
}

static const char *title_of(struct vti_live *live, const char *command)
{
    size_t count = live->processes.count;
    const struct vti_live_process *processes = live->processes.items;

    if (live->kind == VTI_LIVE_PROCESS && count)
        return processes[count - 1].name;
    if (live->kind == VTI_LIVE_DASK)
        return live->target;
    if (live->kind == VTI_LIVE_FILE && command[0])
        return program_of(live, command);
    return last_part(live->path);
}

/* What stays the same between two refreshes. */
static void show_title(struct vti_live *live)
{
    const struct vti_source *source = newest(live);

    live->title = title_of(
        live, source && source->recording->facts.command ? source->recording->facts.command : "");
}

void vti_live_summary(const struct vti_live *live, struct vti_live_summary *summary)
{
    const struct vti_source *source = newest(live);
    bool has_path = live->kind != VTI_LIVE_PROCESS && live->kind != VTI_LIVE_DASK;

    *summary = (struct vti_live_summary){
        .kind = live->kind,
        .target = live->target,
        .path = has_path ? live->path : "",
        .command = source && source->recording->facts.command ? source->recording->facts.command
                                                              : "",
        .directory = source && source->recording->facts.directory
                         ? source->recording->facts.directory
                         : "",
        .is_growing = is_growing(live),
        .is_caught_up = live->is_caught_up,
        .caught_up = live->caught_up,
        .start_unix_ns = live->start_unix_ns,
        .since_unix_ns = live->kind == VTI_LIVE_SPOOL && live->first_unix_ns ? live->first_unix_ns
                                                                             : live->start_unix_ns,
        .now_unix_ns = live->now_unix_ns,
        .last_unix_ns = live->last_unix_ns,
        .duration_ns = live->last_unix_ns > live->start_unix_ns
                           ? live->last_unix_ns - live->start_unix_ns
                           : 0,
        .events = live->events,
        .spans = live->spans,
        .errors = live->errors,
        .file_bytes = live->file_bytes,
        .events_per_s = vti_rate_of(&live->event_rate, &live->beat, live->events),
        .spans_per_s = vti_rate_of(&live->span_rate, &live->beat, live->spans),
        .bytes_per_s = vti_rate_of(&live->byte_rate, &live->beat, live->file_bytes),
        .cpu_count = live->cpu_count,
        .refreshes = live->refreshes,
        .replaced = live->replaced,
        .is_partial = live->is_partial,
        .notice = live->notice};
    summary->title = live->title ? live->title : live->target;
    sum_losses(live, summary);
}

/* ---- processes --------------------------------------------------------------------------------- */

/* What RESOURCES has of the processes that record; of a spool the newest file has it. */
static int find_watched(struct vti_source *source)
{
    const struct vti_ids *ids = &source->recording->facts.process_ids;

    if (source->watched_at_room < ids->count) {
        size_t room = 2 * (size_t)ids->count;
        uint32_t *grown = realloc(source->watched_at, room * sizeof *grown);

        if (!grown)
            return VTI_E_NOMEM;
        source->watched_at = grown;
        source->watched_at_room = room;
    }
    if (ids->count)
        memset(source->watched_at, 0, ids->count * sizeof *source->watched_at);
    for (size_t i = 0; i < source->watched_count; i++) {
        uint32_t id_plus_one = source->watched[i].process_plus_one;
        int64_t at = id_plus_one ? vti_ids_find(ids, id_plus_one - 1) : -1;

        if (at >= 0)
            source->watched_at[at] = (uint32_t)i + 1;
    }
    return 0;
}

/* What one that is over had at last is chance, it may have been read when it had given all back: the most it had is shown. */
static void show_usage(const struct vti_source *source, const struct vti_watched_process *watched,
                       struct vti_live_process *process)
{
    bool is_of_total = watched->tree == source->total_tree;

    vti_readings_usage(&watched->readings, is_of_total ? &source->total : &watched->readings,
                       process->is_running, &process->usage);
    if (process->is_running)
        return;
    process->usage.memory_bytes = process->usage.peak_bytes;
    process->usage.threads = VTI_LIVE_UNKNOWN;
}

static int show_process(struct vti_live *live, struct vti_source *source, uint32_t at)
{
    struct vti_live_process *process = vti_live_list_add(&live->processes, sizeof *process);
    const struct vti_watched_process *watched;
    struct vt_process_info info;
    struct vti_facts *facts = &source->recording->facts;
    int64_t host;

    if (!process)
        return VTI_E_NOMEM;
    vt_recording_process(source->recording, at, &info);
    host = vti_ids_find(&facts->host_ids, info.host);
    watched = source->watched_at[at] ? &source->watched[source->watched_at[at] - 1] : NULL;
    process->recording = source->number;
    process->id = info.id;
    process->pid = info.pid;
    process->parent_pid = info.parent_pid;
    process->name = info.name;
    process->command = info.command;
    process->host = host < 0 ? "" : facts->hosts[host].name;
    process->how = (int)info.how;
    process->status = info.status;
    process->is_running = source->is_growing && info.how == VT_END_UNKNOWN &&
                          (!watched || !watched->end);
    process->start_unix_ns = vti_source_unix(source, info.start_ns);
    process->end_unix_ns = process->is_running ? 0 : vti_source_unix(source, info.end_ns);
    if (watched)
        show_usage(source, watched, process);
    else
        vti_usage_unknown(&process->usage);
    return 0;
}

/* Those that only the drainer saw. */
static int show_watched(struct vti_live *live, struct vti_source *source,
                        const struct vti_watched_process *watched)
{
    struct vti_live_process *process = vti_live_list_add(&live->processes, sizeof *process);
    const uint32_t parent_key[2] = {watched->tree, watched->parent};
    int64_t parent = vti_map_find(source->watched_map, parent_key, sizeof parent_key);

    if (!process)
        return VTI_E_NOMEM;
    process->recording = source->number;
    process->id = VTI_LIVE_NONE;
    process->pid = watched->pid;
    process->parent_pid = parent < 0 ? 0 : source->watched[parent].pid;
    process->name = watched->name;
    process->command = watched->command;
    process->host = source->recording->facts.host_ids.count ? source->recording->facts.hosts[0].name
                                                            : "";
    process->is_running = source->is_growing && !watched->end;
    process->start_unix_ns = vti_source_unix(
        source, vti_source_ns(source, source->total_domain, watched->start));
    process->end_unix_ns = watched->end
                               ? vti_source_unix(source, vti_source_ns(source, source->total_domain,
                                                                       watched->end))
                               : 0;
    show_usage(source, watched, process);
    return 0;
}

/* The files of one run of a spool have the same processes: those of the newest are shown. */
static bool is_shown(const struct vti_live *live, size_t at)
{
    const struct vti_source *source = live->sources[at];

    return source->recording &&
           (live->kind != VTI_LIVE_SPOOL || !source->is_done || at + 1 == live->source_count);
}

static int show_processes(struct vti_live *live, struct vti_source *source)
{
    int code = find_watched(source);

    source->shown_first = live->processes.count;
    for (uint32_t i = 0; i < source->recording->facts.process_ids.count && !code; i++)
        code = show_process(live, source, i);
    for (size_t i = 0; i < source->watched_count && !code; i++)
        if (!source->watched[i].process_plus_one)
            code = show_watched(live, source, &source->watched[i]);
    return code;
}

/* ---- threads ----------------------------------------------------------------------------------- */

/* Its place in what is shown. */
static uint32_t process_index(const struct vti_source *source, uint32_t id)
{
    int64_t at = vti_ids_find(&source->recording->facts.process_ids, id);

    return at < 0 ? VTI_LIVE_NONE : (uint32_t)(source->shown_first + (size_t)at);
}

/* The innermost span that is open, and for how long. */
static void show_open(struct vti_live *live, struct vti_source *source,
                      struct vti_source_track *track, struct vti_live_thread *thread)
{
    const struct vti_matcher *matcher = track->matcher;
    const struct vti_frame *frame;

    thread->open = VTI_LIVE_NONE;
    if (!thread->is_running || !matcher || !matcher->depth)
        return;
    frame = &matcher->frames[matcher->depth - 1];
    thread->depth = (uint32_t)matcher->depth;
    thread->open_since_ns = live->now_unix_ns - vti_source_unix(source, frame->begin_ns);
    if (thread->open_since_ns < 0)
        thread->open_since_ns = 0;
    if (frame->slot < track->group_count && track->groups[frame->slot])
        thread->open = track->groups[frame->slot] - 1;
}

/* Until its end, or until calls were counted last: one that only calls says nothing else while it runs. */
static double life_ns(const struct vti_source *source, uint32_t at, bool is_running)
{
    struct vt_track_info info;
    int64_t counted_ns;

    vt_recording_track(source->recording, at, &info);
    counted_ns = source->trees_unix_ns - vti_source_unix(source, 0);
    if (is_running && counted_ns > info.end_ns)
        info.end_ns = counted_ns;
    return info.end_ns > info.start_ns ? (double)(info.end_ns - info.start_ns) : 0;
}

static int show_thread(struct vti_live *live, struct vti_source *source, uint32_t at)
{
    struct vti_live_thread *thread = vti_live_list_add(&live->threads, sizeof *thread);
    struct vti_source_track *track = vti_source_track_at(source, at);
    struct vti_live_process *processes = live->processes.items;
    struct vti_track *of = source->recording->facts.tracks[at];

    if (!thread || !track)
        return VTI_E_NOMEM;
    thread->recording = source->number;
    thread->track = of->id;
    thread->process = process_index(source, of->process);
    thread->tid = of->tid;
    thread->name = of->name ? of->name : "";
    /* One with spans open is said to have been alive so long, which is no end. */
    thread->is_running = source->is_growing &&
                         (!of->end || of->last > of->end ||
                          (track->matcher && track->matcher->depth)) &&
                         (thread->process == VTI_LIVE_NONE ||
                          processes[thread->process].is_running);
    thread->events = track->events;
    thread->spans = track->spans;
    thread->lost_events = of->lost_events;
    thread->spans_per_s = vti_rate_of(&track->span_rate, &live->beat, track->spans);
    thread->cpu = track->has_cpu ? vti_rate_of(&track->cpu_rate, &live->beat, track->cpu_ns) / 1e9
                                 : NAN;
    show_open(live, source, track, thread);
    if (thread->process != VTI_LIVE_NONE) {
        processes[thread->process].events += thread->events;
        processes[thread->process].spans += thread->spans;
        processes[thread->process].lost_events += thread->lost_events;
    }
    live->program_ns += (double)track->spans * of->pair_ns;
    live->program_wall_ns += of->last_ns > of->first_ns ? (double)(of->last_ns - of->first_ns) : 0;
    live->program_life_ns += life_ns(source, at, thread->is_running);
    return 0;
}

/* ---- spans and steps --------------------------------------------------------------------------- */

static int by_total(const void *a, const void *b)
{
    int64_t left = (*(struct vti_live_group *const *)a)->times.shown.sum_ns;
    int64_t right = (*(struct vti_live_group *const *)b)->times.shown.sum_ns;

    return (left < right) - (left > right);
}

static int show_span(struct vti_live *live, struct vti_live_group *group)
{
    struct vti_live_span *span = vti_live_list_add(&live->span_list, sizeof *span);
    uint64_t busy_ns = (uint64_t)(group->times.shown.sum_ns + group->open_ns);

    if (!span)
        return VTI_E_NOMEM;
    vti_times_show(&group->times, live->older);
    *span = (struct vti_live_span){
        .name = group->name,
        .function = group->function,
        .file = group->file,
        .line = group->line,
        .count = group->times.shown.count,
        .running = group->running,
        .errors = group->errors,
        .self_ns = group->self_ns,
        .per_s = vti_rate_of(&group->count_rate, &live->beat, group->times.shown.count),
        .errors_per_s = vti_rate_of(&group->error_rate, &live->beat, group->errors),
        .busy = vti_rate_of(&group->busy_rate, &live->beat, busy_ns) / 1e9,
        .times = group->times.shown};
    group->shown_at = (uint32_t)live->span_list.count;
    return 0;
}

/* Threads name their open span by its group until now. */
static void name_open(struct vti_live *live)
{
    struct vti_live_thread *threads = live->threads.items;

    for (size_t i = 0; i < live->threads.count; i++) {
        uint32_t group = threads[i].open;
        uint32_t shown = group < live->group_count ? live->groups[group].shown_at : 0;

        threads[i].open = shown ? shown - 1 : VTI_LIVE_NONE;
    }
}

static int show_spans(struct vti_live *live)
{
    struct vti_live_group **order = calloc(live->group_count + 1, sizeof *order);
    size_t count = 0;
    int code = order ? 0 : VTI_E_NOMEM;

    for (size_t i = 0; i < live->group_count && order; i++) {
        live->groups[i].shown_at = 0;
        if (live->groups[i].times.shown.count || live->groups[i].running)
            order[count++] = &live->groups[i];
    }
    if (order)
        qsort(order, count, sizeof *order, by_total);
    for (size_t i = 0; i < count && !code; i++)
        code = show_span(live, order[i]);
    free(order);
    name_open(live);
    return code;
}

static int show_steps(struct vti_live *live)
{
    for (size_t i = 0; i < live->step_count; i++) {
        struct vti_live_step_sum *sums = &live->steps[i];
        struct vti_live_step *step = vti_live_list_add(&live->step_list, sizeof *step);

        if (!step)
            return VTI_E_NOMEM;
        vti_times_show(&sums->execute, live->older);
        *step = (struct vti_live_step){
            .source = sums->source,
            .prefix = sums->prefix,
            .survey = sums->survey,
            .count = sums->count,
            .messages = sums->messages,
            .failed = sums->failed,
            .metrics = sums->metrics,
            .processes = sums->processes,
            .per_s = vti_rate_of(&sums->count_rate, &live->beat, sums->count),
            .messages_per_s = vti_rate_of(&sums->message_rate, &live->beat, sums->messages),
            .failed_per_s = vti_rate_of(&sums->failed_rate, &live->beat, sums->failed),
            .execute = sums->execute.shown,
            .pre = sums->pre,
            .post = sums->post,
            .produce = sums->produce,
            .lag = sums->lag,
            .last_lag_ns = sums->last_lag_ns,
            .largest_batch = sums->largest_batch,
            .last_unix_ns = sums->last_unix_ns};
    }
    return 0;
}

/* ---- all of them ------------------------------------------------------------------------------- */

static int show_recordings(struct vti_live *live)
{
    for (size_t i = 0; i < live->source_count; i++) {
        struct vti_source *source = live->sources[i];
        struct vti_live_recording *recording = vti_live_list_add(&live->recordings,
                                                                 sizeof *recording);

        if (!recording)
            return VTI_E_NOMEM;
        recording->number = source->number;
        recording->path = source->path;
        recording->name = last_part(source->path);
        recording->is_closed = !source->is_growing;
        recording->file_bytes = source->file_bytes;
    }
    return 0;
}

static void find_start(struct vti_live *live)
{
    for (size_t i = 0; i < live->source_count; i++) {
        int64_t start = live->sources[i]->recording
                            ? live->sources[i]->recording->facts.clocks.start_realtime_ns
                            : 0;

        if (start && (!live->start_unix_ns || start < live->start_unix_ns))
            live->start_unix_ns = start;
    }
}

int vti_live_show(struct vti_live *live)
{
    int code = 0;

    live->processes.count = live->threads.count = live->span_list.count = live->step_list.count = 0;
    live->recordings.count = 0;
    live->program_ns = live->program_wall_ns = live->program_life_ns = 0;
    find_start(live);
    for (size_t i = 0; i < live->source_count && !code; i++)
        if (is_shown(live, i))
            code = show_processes(live, live->sources[i]);
    for (size_t i = 0; i < live->source_count && !code; i++) {
        struct vti_source *source = live->sources[i];

        for (uint32_t n = 0;
             is_shown(live, i) && n < source->recording->facts.track_ids.count && !code; n++)
            code = show_thread(live, source, n);
    }
    if (live->kind == VTI_LIVE_PROCESS && !code)
        code = vti_live_outside_show(live);
    if (!code)
        code = show_spans(live);
    if (!code)
        code = show_steps(live);
    if (!code)
        code = show_recordings(live);
    show_title(live);
    if (!code)
        code = vti_live_show_tasks(live);
    if (!code)
        code = vti_live_show_machine(live);
    return code ? vti_fail(code, "out of memory") : 0;
}

#define LIST(function, type, member)                                                               \
    const struct type *function(const struct vti_live *live, size_t *count)                        \
    {                                                                                              \
        *count = live->member.count;                                                               \
        return live->member.items;                                                                 \
    }

LIST(vti_live_processes, vti_live_process, processes)
LIST(vti_live_threads, vti_live_thread, threads)
LIST(vti_live_spans, vti_live_span, span_list)
LIST(vti_live_task_groups, vti_live_task_group, task_groups)
LIST(vti_live_task_runs, vti_live_task_run, task_runs)
LIST(vti_live_workers, vti_live_worker, workers)
LIST(vti_live_steps, vti_live_step, step_list)
LIST(vti_live_losses, vti_live_loss, losses)
LIST(vti_live_recordings, vti_live_recording, recordings)
