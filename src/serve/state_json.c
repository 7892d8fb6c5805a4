/* state_json.c - a live state as JSON; docs/serve.md says what is in it. */
#include "analyze/values.h"
#include "serve/serve.h"

#include <math.h>

#define PROCESSES_MOST 200
#define THREADS_MOST 500
#define SPANS_MOST 200
#define STEPS_MOST 200
#define RECORDINGS_MOST 100

/* Recordings are known by their place in the list, which has the newest ones. */
const struct vti_live_recording *vti_shown_recordings(const struct vti_live *live, size_t *count)
{
    const struct vti_live_recording *list = vti_live_recordings(live, count);
    size_t first = *count > RECORDINGS_MOST ? *count - RECORDINGS_MOST : 0;

    *count -= first;
    return list ? list + first : NULL;
}

static void add_recording(struct vti_json *json, const struct vti_live *live, uint32_t number)
{
    size_t count;
    const struct vti_live_recording *list = vti_shown_recordings(live, &count);
    uint64_t at = VTI_LIVE_UNKNOWN;

    for (size_t i = 0; i < count && at == VTI_LIVE_UNKNOWN; i++)
        if (list[i].number == number)
            at = i;
    vti_json_add_known(json, "recording", at);
}

/* ---- processes and threads ----------------------------------------------------------------------- */

static void add_process(struct vti_json *json, const struct vti_live *live,
                        const struct vti_live_process *process)
{
    vti_json_object(json);
    vti_json_add_uint(json, "pid", process->pid);
    vti_json_add_uint(json, "parent_pid", process->parent_pid);
    vti_json_add_string(json, "name", process->name);
    vti_json_add_string(json, "command", process->command);
    vti_json_add_string(json, "host", process->host);
    add_recording(json, live, process->recording);
    vti_json_add_known(json, "id", process->id == VTI_LIVE_NONE ? VTI_LIVE_UNKNOWN : process->id);
    vti_json_add_bool(json, "is_running", process->is_running);
    vti_json_add_ms(json, "start_ms", process->start_unix_ns);
    vti_json_add_ms(json, "end_ms", process->end_unix_ns);
    vti_json_add_string(json, "how",
                        process->is_running ? "running" : vti_end_text((unsigned)process->how));
    vti_json_add_uint(json, "status", process->status);
    vti_json_add_uint(json, "events", process->events);
    vti_json_add_uint(json, "spans", process->spans);
    vti_json_add_uint(json, "lost_events", process->lost_events);
    vti_json_add_usage(json, &process->usage);
    vti_json_object_end(json);
}

/* Running ones first. `places` is where each process stands in the list, plus one; it has room for all. */
static void add_processes(struct vti_json *json, const struct vti_live *live,
                          uint16_t places[PROCESSES_MOST * 8])
{
    size_t count;
    const struct vti_live_process *processes = vti_live_processes(live, &count);
    size_t added = 0;

    vti_json_begin_list(json, "processes", count, PROCESSES_MOST);
    for (int running = 1; running >= 0; running--)
        for (size_t i = 0; i < count && added < PROCESSES_MOST; i++)
            if (processes[i].is_running == running) {
                add_process(json, live, &processes[i]);
                added++;
                if (i < PROCESSES_MOST * 8)
                    places[i] = (uint16_t)added;
            }
    vti_json_end_list(json);
}

static void add_thread(struct vti_json *json, const struct vti_live *live,
                       const struct vti_live_thread *thread, const uint16_t *places)
{
    size_t count;
    const struct vti_live_process *processes = vti_live_processes(live, &count);
    bool has_process = thread->process < count;
    uint16_t place = thread->process < PROCESSES_MOST * 8 ? places[thread->process] : 0;
    size_t span_count;
    const struct vti_live_span *spans = vti_live_spans(live, &span_count);

    vti_json_object(json);
    add_recording(json, live, thread->recording);
    vti_json_add_uint(json, "track", thread->track);
    vti_json_add_known(json, "process", place ? place - 1u : VTI_LIVE_UNKNOWN);
    vti_json_add_known(json, "pid",
                       has_process ? processes[thread->process].pid : VTI_LIVE_UNKNOWN);
    vti_json_add_uint(json, "tid", thread->tid);
    vti_json_add_string(json, "name", thread->name);
    vti_json_add_bool(json, "is_running", thread->is_running);
    vti_json_add_uint(json, "events", thread->events);
    vti_json_add_uint(json, "spans", thread->spans);
    vti_json_add_uint(json, "lost_events", thread->lost_events);
    vti_json_add_rate(json, "spans_per_s", thread->spans_per_s);
    vti_json_add_uint(json, "depth", thread->depth);
    vti_json_add_string(json, "open", thread->open < span_count ? spans[thread->open].name : NULL);
    vti_json_add_int(json, "open_ns", thread->open_since_ns);
    vti_json_add_rate(json, "cpu", thread->cpu);
    vti_json_object_end(json);
}

static void add_threads(struct vti_json *json, const struct vti_live *live, const uint16_t *places)
{
    size_t count;
    const struct vti_live_thread *threads = vti_live_threads(live, &count);
    size_t added = 0;

    vti_json_begin_list(json, "threads", count, THREADS_MOST);
    for (int running = 1; running >= 0; running--)
        for (size_t i = 0; i < count && added < THREADS_MOST; i++)
            if (threads[i].is_running == running) {
                add_thread(json, live, &threads[i], places);
                added++;
            }
    vti_json_end_list(json);
}

/* ---- spans and steps ----------------------------------------------------------------------------- */

static void add_spans(struct vti_json *json, const struct vti_live *live)
{
    size_t count;
    const struct vti_live_span *spans = vti_live_spans(live, &count);

    vti_json_begin_list(json, "spans", count, SPANS_MOST);
    for (size_t i = 0; i < count && i < SPANS_MOST; i++) {
        vti_json_object(json);
        vti_json_add_string(json, "name", spans[i].name);
        vti_json_add_string(json, "function", spans[i].function);
        vti_json_add_string(json, "file", spans[i].file);
        vti_json_add_uint(json, "line", spans[i].line);
        vti_json_add_uint(json, "count", spans[i].count);
        vti_json_add_uint(json, "running", spans[i].running);
        vti_json_add_uint(json, "errors", spans[i].errors);
        vti_json_add_int(json, "self_ns", spans[i].self_ns);
        vti_json_add_rate(json, "per_s", spans[i].per_s);
        vti_json_add_rate(json, "errors_per_s", spans[i].errors_per_s);
        vti_json_add_rate(json, "busy", spans[i].busy);
        vti_json_add_times(json, &spans[i].times);
        vti_json_object_end(json);
    }
    vti_json_end_list(json);
}

static void add_phase(struct vti_json *json, const char *key, const struct vti_live_phase *phase)
{
    if (!phase->count) {
        vti_json_add_null(json, key);
        return;
    }
    vti_json_key(json, key);
    vti_json_object(json);
    vti_json_add_uint(json, "count", phase->count);
    vti_json_add_int(json, "sum_ns", phase->sum_ns);
    vti_json_add_int(json, "max_ns", phase->max_ns);
    vti_json_object_end(json);
}

static void add_step(struct vti_json *json, const struct vti_live_step *step)
{
    vti_json_object(json);
    vti_json_add_string(json, "source", step->source);
    vti_json_add_string(json, "prefix", step->prefix);
    vti_json_add_string(json, "survey", step->survey);
    vti_json_add_uint(json, "count", step->count);
    vti_json_add_uint(json, "messages", step->messages);
    vti_json_add_uint(json, "failed", step->failed);
    vti_json_add_uint(json, "metrics", step->metrics);
    vti_json_add_uint(json, "processes", step->processes);
    vti_json_add_rate(json, "per_s", step->per_s);
    vti_json_add_rate(json, "messages_per_s", step->messages_per_s);
    vti_json_add_rate(json, "failed_per_s", step->failed_per_s);
    vti_json_add_ms(json, "last_ms", step->last_unix_ns);
    if (step->last_lag_ns == INT64_MIN)
        vti_json_add_null(json, "lag_ns");
    else
        vti_json_add_int(json, "lag_ns", step->last_lag_ns);
    vti_json_add_uint(json, "largest_batch", step->largest_batch);
    add_phase(json, "pre", &step->pre);
    add_phase(json, "post", &step->post);
    add_phase(json, "produce", &step->produce);
    add_phase(json, "lag", &step->lag);
    vti_json_add_times(json, &step->execute);
    vti_json_object_end(json);
}

static void add_steps(struct vti_json *json, const struct vti_live *live)
{
    size_t count;
    const struct vti_live_step *steps = vti_live_steps(live, &count);

    vti_json_begin_list(json, "steps", count, STEPS_MOST);
    for (size_t i = 0; i < count && i < STEPS_MOST; i++)
        add_step(json, &steps[i]);
    vti_json_end_list(json);
}

/* ---- the whole ----------------------------------------------------------------------------------- */

static const char *kind_text(enum vti_live_kind kind)
{
    static const char *const texts[] = {[VTI_LIVE_FILE] = "file",
                                        [VTI_LIVE_FOLDER] = "folder",
                                        [VTI_LIVE_SPOOL] = "spool",
                                        [VTI_LIVE_PROCESS] = "process",
                                        [VTI_LIVE_DASK] = "dask"};

    return texts[kind];
}

static void add_summary(struct vti_json *json, const struct vti_serve *serve)
{
    struct vti_live_summary all;

    vti_live_summary(serve->live, &all);
    vti_json_add_string(json, "venturi", VENTURI_VERSION);
    vti_json_add_uint(json, "seq", serve->seq);
    vti_json_add_ms(json, "now_ms", all.now_unix_ns);
    vti_json_add_string(json, "kind", kind_text(all.kind));
    vti_json_add_string(json, "title", all.title);
    vti_json_add_string(json, "target", all.target);
    vti_json_add_string(json, "path", all.path);
    vti_json_add_string(json, "command", all.command);
    vti_json_add_string(json, "directory", all.directory);
    vti_json_add_bool(json, "is_growing", all.is_growing);
    vti_json_add_double(json, "caught_up", round(all.caught_up * 1000) / 1000);
    vti_json_add_ms(json, "start_ms", all.start_unix_ns);
    vti_json_add_ms(json, "since_ms", all.since_unix_ns);
    vti_json_add_bool(json, "is_partial", all.is_partial);
    vti_json_add_uint(json, "replaced", all.replaced);
    vti_json_add_string(json, "notice", all.notice);
    vti_json_add_ms(json, "last_ms", all.last_unix_ns);
    vti_json_add_int(json, "duration_ns", all.duration_ns);
    vti_json_add_uint(json, "events", all.events);
    vti_json_add_uint(json, "span_count", all.spans);
    vti_json_add_uint(json, "errors", all.errors);
    vti_json_add_uint(json, "lost_events", all.lost_events);
    vti_json_add_uint(json, "damage", all.damage);
    vti_json_add_uint(json, "file_bytes", all.file_bytes);
    vti_json_add_rate(json, "events_per_s", all.events_per_s);
    vti_json_add_rate(json, "spans_per_s", all.spans_per_s);
    vti_json_add_rate(json, "bytes_per_s", all.bytes_per_s);
    vti_json_add_known(json, "cpu_count", all.cpu_count ? all.cpu_count : VTI_LIVE_UNKNOWN);
}

static void add_recordings(struct vti_json *json, const struct vti_live *live)
{
    size_t count;
    const struct vti_live_recording *list = vti_shown_recordings(live, &count);

    vti_json_key(json, "recordings");
    vti_json_array(json);
    for (size_t i = 0; i < count; i++) {
        vti_json_object(json);
        vti_json_add_string(json, "name", list[i].name);
        vti_json_add_bool(json, "is_closed", list[i].is_closed);
        vti_json_add_uint(json, "file_bytes", list[i].file_bytes);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

void vti_state_json(const struct vti_serve *serve, struct vti_json *json)
{
    uint16_t places[PROCESSES_MOST * 8] = {0};

    vti_json_object(json);
    add_summary(json, serve);
    add_recordings(json, serve->live);
    add_processes(json, serve->live, places);
    add_threads(json, serve->live, places);
    add_spans(json, serve->live);
    vti_state_add_tasks(json, serve->live);
    add_steps(json, serve->live);
    vti_state_add_machine(json, serve);
    vti_json_object_end(json);
}
