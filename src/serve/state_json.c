/* state_json.c - a live state as JSON; docs/serve.md says what is in it. */
#include "serve/serve.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PROCESSES_MOST 200
#define THREADS_MOST 500
#define SPANS_MOST 200
#define STEPS_MOST 200
#define RECORDINGS_MOST 100

void vti_json_add_known(struct vti_json *json, const char *key, uint64_t value)
{
    if (value == VTI_LIVE_UNKNOWN)
        vti_json_add_null(json, key);
    else
        vti_json_add_uint(json, key, value);
}

void vti_json_add_ms(struct vti_json *json, const char *key, int64_t unix_ns)
{
    if (unix_ns)
        vti_json_add_double(json, key, (double)(unix_ns / 1000) / 1e3);
    else
        vti_json_add_null(json, key);
}

/* Four digits are enough for rates, and less than half the bytes. */
static void add_rate(struct vti_json *json, const char *key, double value)
{
    char text[32];

    if (!isfinite(value)) {
        vti_json_add_null(json, key);
        return;
    }
    snprintf(text, sizeof text, "%.4g", value);
    vti_json_key(json, key);
    vti_json_raw(json, text);
}

void vti_json_add_times(struct vti_json *json, const struct vti_live_times *times)
{
    vti_json_add_int(json, "sum_ns", times->sum_ns);
    vti_json_add_int(json, "min_ns", times->min_ns);
    vti_json_add_int(json, "max_ns", times->max_ns);
    vti_json_add_int(json, "p50_ns", times->p50_ns);
    vti_json_add_int(json, "p90_ns", times->p90_ns);
    vti_json_add_int(json, "p99_ns", times->p99_ns);
    vti_json_add_int(json, "recent_p50_ns", times->recent_p50_ns);
    vti_json_add_int(json, "recent_p99_ns", times->recent_p99_ns);
    vti_json_key(json, "buckets");
    vti_json_array(json);
    for (unsigned i = 0; i < VTI_LIVE_BUCKETS; i++)
        vti_json_uint(json, times->buckets[i]);
    vti_json_array_end(json);
}

static void add_usage(struct vti_json *json, const struct vti_live_usage *usage)
{
    add_rate(json, "cpu", usage->cpu);
    vti_json_add_known(json, "cpu_ns", usage->cpu_ns);
    vti_json_add_known(json, "user_ns", usage->user_ns);
    vti_json_add_known(json, "memory_bytes", usage->memory_bytes);
    vti_json_add_known(json, "peak_bytes", usage->peak_bytes);
    vti_json_add_known(json, "threads", usage->threads);
    vti_json_add_known(json, "read_bytes", usage->read_bytes);
    vti_json_add_known(json, "written_bytes", usage->written_bytes);
    vti_json_add_known(json, "disk_read_bytes", usage->disk_read_bytes);
    vti_json_add_known(json, "disk_written_bytes", usage->disk_written_bytes);
    add_rate(json, "read_per_s", usage->read_per_s);
    add_rate(json, "written_per_s", usage->written_per_s);
}

/* A list in an object that says how long it is, and how much was left out. */
static void begin_list(struct vti_json *json, const char *key, size_t count, size_t most)
{
    vti_json_key(json, key);
    vti_json_object(json);
    vti_json_add_uint(json, "count", count);
    vti_json_add_uint(json, "more", count > most ? count - most : 0);
    vti_json_key(json, "list");
    vti_json_array(json);
}

static void end_list(struct vti_json *json)
{
    vti_json_array_end(json);
    vti_json_object_end(json);
}

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

static const char *how_text(const struct vti_live_process *process)
{
    static const char *const texts[] = {"unknown", "exit", "signal", "exec"};

    if (process->is_running)
        return "running";
    return texts[process->how >= 0 && process->how < 4 ? process->how : 0];
}

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
    vti_json_add_string(json, "how", how_text(process));
    vti_json_add_uint(json, "status", process->status);
    vti_json_add_uint(json, "events", process->events);
    vti_json_add_uint(json, "spans", process->spans);
    vti_json_add_uint(json, "lost_events", process->lost_events);
    add_usage(json, &process->usage);
    vti_json_object_end(json);
}

/* Running ones first. `places` is where each process stands in the list, plus one; it has room for all. */
static void add_processes(struct vti_json *json, const struct vti_live *live,
                          uint16_t places[PROCESSES_MOST * 8])
{
    size_t count;
    const struct vti_live_process *processes = vti_live_processes(live, &count);
    size_t added = 0;

    begin_list(json, "processes", count, PROCESSES_MOST);
    for (int running = 1; running >= 0; running--)
        for (size_t i = 0; i < count && added < PROCESSES_MOST; i++)
            if (processes[i].is_running == running) {
                add_process(json, live, &processes[i]);
                added++;
                if (i < PROCESSES_MOST * 8)
                    places[i] = (uint16_t)added;
            }
    end_list(json);
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
    add_rate(json, "spans_per_s", thread->spans_per_s);
    vti_json_add_uint(json, "depth", thread->depth);
    vti_json_add_string(json, "open", thread->open < span_count ? spans[thread->open].name : NULL);
    vti_json_add_int(json, "open_ns", thread->open_since_ns);
    add_rate(json, "cpu", thread->cpu);
    vti_json_object_end(json);
}

static void add_threads(struct vti_json *json, const struct vti_live *live, const uint16_t *places)
{
    size_t count;
    const struct vti_live_thread *threads = vti_live_threads(live, &count);
    size_t added = 0;

    begin_list(json, "threads", count, THREADS_MOST);
    for (int running = 1; running >= 0; running--)
        for (size_t i = 0; i < count && added < THREADS_MOST; i++)
            if (threads[i].is_running == running) {
                add_thread(json, live, &threads[i], places);
                added++;
            }
    end_list(json);
}

/* ---- spans and steps ----------------------------------------------------------------------------- */

static void add_spans(struct vti_json *json, const struct vti_live *live)
{
    size_t count;
    const struct vti_live_span *spans = vti_live_spans(live, &count);

    begin_list(json, "spans", count, SPANS_MOST);
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
        add_rate(json, "per_s", spans[i].per_s);
        add_rate(json, "errors_per_s", spans[i].errors_per_s);
        add_rate(json, "busy", spans[i].busy);
        vti_json_add_times(json, &spans[i].times);
        vti_json_object_end(json);
    }
    end_list(json);
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
    add_rate(json, "per_s", step->per_s);
    add_rate(json, "messages_per_s", step->messages_per_s);
    add_rate(json, "failed_per_s", step->failed_per_s);
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

    begin_list(json, "steps", count, STEPS_MOST);
    for (size_t i = 0; i < count && i < STEPS_MOST; i++)
        add_step(json, &steps[i]);
    end_list(json);
}

/* ---- machine ------------------------------------------------------------------------------------- */

static void add_resources(struct vti_json *json, const struct vti_live *live)
{
    struct vti_live_resources resources;

    vti_live_resources(live, &resources);
    if (!resources.is_known) {
        vti_json_add_null(json, "resources");
        return;
    }
    vti_json_key(json, "resources");
    vti_json_object(json);
    add_usage(json, &resources.usage);
    vti_json_add_known(json, "processes", resources.processes);
    add_rate(json, "machine_busy", resources.machine_busy);
    vti_json_add_known(json, "available_bytes", resources.available_bytes);
    vti_json_object_end(json);
}

static void add_energy(struct vti_json *json, const struct vti_live *live)
{
    struct vti_live_energy energy;

    vti_live_energy(live, &energy);
    if (!energy.is_known) {
        vti_json_add_null(json, "energy");
        return;
    }
    vti_json_key(json, "energy");
    vti_json_object(json);
    vti_json_add_double(json, "joules", energy.joules);
    add_rate(json, "watts", energy.watts);
    vti_json_add_double(json, "own_joules", energy.own_joules);
    add_rate(json, "own_watts", energy.own_watts);
    vti_json_add_double(json, "grams", energy.grams);
    vti_json_add_double(json, "intensity", energy.intensity);
    vti_json_key(json, "parts");
    vti_json_array(json);
    for (size_t i = 0; i < energy.part_count; i++) {
        vti_json_object(json);
        vti_json_add_string(json, "name", energy.parts[i].name);
        vti_json_add_string(json, "how", energy.parts[i].how);
        vti_json_add_double(json, "joules", energy.parts[i].joules);
        add_rate(json, "watts", energy.parts[i].watts);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
    vti_json_object_end(json);
}

static void add_losses(struct vti_json *json, const struct vti_live *live)
{
    size_t count;
    const struct vti_live_loss *losses = vti_live_losses(live, &count);

    vti_json_key(json, "losses");
    vti_json_array(json);
    for (size_t i = 0; i < count; i++) {
        vti_json_object(json);
        vti_json_add_string(json, "reason", losses[i].reason);
        vti_json_add_uint(json, "events", losses[i].events);
        vti_json_add_bool(json, "is_lower_bound", losses[i].is_lower_bound);
        vti_json_add_bool(json, "is_wanted", losses[i].is_wanted);
        vti_json_object_end(json);
    }
    vti_json_array_end(json);
}

static void add_cost(struct vti_json *json, const struct vti_serve *serve)
{
    struct vti_live_cost cost;

    vti_live_cost(serve->live, &cost);
    vti_json_key(json, "cost");
    vti_json_object(json);
    vti_json_add_double(json, "program_ns", round(cost.program_ns));
    add_rate(json, "program_share", cost.program_share);
    add_rate(json, "drainer_cpu", cost.drainer_cpu);
    add_rate(json, "server_cpu", cost.own_cpu);
    vti_json_add_uint(json, "server_cpu_ns", cost.own_cpu_ns);
    vti_json_add_known(json, "server_memory_bytes", cost.own_memory_bytes);
    vti_json_add_int(json, "refresh_ns", cost.refresh_ns);
    vti_json_add_uint(json, "clients", serve->stream_count);
    vti_json_add_uint(json, "dropped", serve->dropped);
    vti_json_object_end(json);
}

static void add_ship(struct vti_json *json, const struct vti_live *live)
{
    struct vti_live_ship ship;

    vti_live_ship(live, &ship);
    if (!ship.is_known) {
        vti_json_add_null(json, "ship");
        return;
    }
    vti_json_key(json, "ship");
    vti_json_object(json);
    vti_json_add_string(json, "store", ship.store);
    vti_json_add_bool(json, "is_running", ship.is_running);
    vti_json_add_uint(json, "waiting", ship.waiting);
    vti_json_add_uint(json, "shipped", ship.shipped);
    vti_json_add_uint(json, "retried", ship.retried);
    vti_json_add_uint(json, "dead", ship.dead);
    vti_json_add_uint(json, "lost", ship.lost);
    vti_json_add_known(json, "spool_bytes", ship.spool_bytes);
    vti_json_add_known(json, "spool_limit_bytes", ship.spool_limit_bytes);
    vti_json_add_string(json, "error", ship.error);
    vti_json_object_end(json);
}

static void add_cluster(struct vti_json *json, const struct vti_live *live)
{
    struct vti_live_cluster cluster;

    vti_live_cluster(live, &cluster);
    if (!cluster.is_known) {
        vti_json_add_null(json, "cluster");
        return;
    }
    vti_json_key(json, "cluster");
    vti_json_object(json);
    vti_json_add_string(json, "address", cluster.address);
    vti_json_add_string(json, "id", cluster.id);
    vti_json_add_string(json, "version", cluster.version);
    vti_json_add_bool(json, "is_connected", cluster.is_connected);
    vti_json_add_string(json, "error", cluster.error);
    vti_json_object_end(json);
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
    vti_json_add_ms(json, "last_ms", all.last_unix_ns);
    vti_json_add_int(json, "duration_ns", all.duration_ns);
    vti_json_add_uint(json, "events", all.events);
    vti_json_add_uint(json, "span_count", all.spans);
    vti_json_add_uint(json, "errors", all.errors);
    vti_json_add_uint(json, "lost_events", all.lost_events);
    vti_json_add_uint(json, "damage", all.damage);
    vti_json_add_uint(json, "file_bytes", all.file_bytes);
    add_rate(json, "events_per_s", all.events_per_s);
    add_rate(json, "spans_per_s", all.spans_per_s);
    add_rate(json, "bytes_per_s", all.bytes_per_s);
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
    add_resources(json, serve->live);
    add_energy(json, serve->live);
    add_losses(json, serve->live);
    add_cost(json, serve);
    add_ship(json, serve->live);
    add_cluster(json, serve->live);
    vti_json_object_end(json);
}
