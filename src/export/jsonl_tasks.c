/* jsonl_tasks.c - runs of task graphs, one JSON object a line. Times are of the recording, as those of events. */
#include "export/jsonl_tasks.h"

#include "analyze/tasks_stats.h"
#include "analyze/values.h"
#include "model/span_walk.h"

struct job {
    struct vti_tasks tasks;
    struct vti_json json;
    struct vti_buf *out;
    const struct vti_sink *sink;
    int64_t start_ns;
};

static void open_line(struct job *job, const char *type)
{
    vti_json_init(&job->json, job->out);
    vti_json_object(&job->json);
    vti_json_add_string(&job->json, "type", type);
}

/* Its place among its kind in the recording, what it belongs to, and its number within that. */
static void add_place(struct job *job, const char *key, uint32_t at, const char *owner, uint32_t of,
                      uint32_t number)
{
    vti_json_add_uint(&job->json, key, at);
    vti_json_add_uint(&job->json, owner, of);
    vti_json_add_uint(&job->json, "number", number);
}

static int close_line(struct job *job)
{
    vti_json_object_end(&job->json);
    vti_buf_add_u8(job->out, '\n');
    return vti_sink_offer(job->sink, job->out);
}

static void add_time(struct job *job, const char *key, int64_t ns)
{
    if (ns)
        vti_json_add_int(&job->json, key, ns - job->start_ns);
    else
        vti_json_add_null(&job->json, key);
}

static void add_known(struct job *job, const char *key, uint64_t value)
{
    if (value != VTI_TASK_UNKNOWN)
        vti_json_add_uint(&job->json, key, value);
    else
        vti_json_add_null(&job->json, key);
}

static int add_run(struct job *job, uint32_t at)
{
    const struct vti_task_run *run = &job->tasks.runs[at];
    struct vti_json *json = &job->json;

    open_line(job, "task_run");
    add_place(job, "run", at, "process", run->process, run->number);
    vti_json_add_id(json, "parent", run->parent);
    vti_json_add_string(json, "scheduler", run->scheduler);
    add_time(job, "begin_ns", run->begin_ns);
    add_time(job, "end_ns", run->end_ns);
    vti_json_add_uint(json, "planned", run->planned);
    vti_json_add_uint(json, "tasks", run->task_count);
    vti_json_add_uint(json, "lost", run->lost);
    vti_json_add_string(json, "error", run->error);
    return close_line(job);
}

static int add_worker(struct job *job, uint32_t at)
{
    const struct vti_task_worker *worker = &job->tasks.workers[at];

    open_line(job, "task_worker");
    add_place(job, "worker", at, "run", worker->run, worker->number);
    vti_json_add_string(&job->json, "label", worker->label);
    vti_json_add_uint(&job->json, "pid", worker->pid);
    vti_json_add_uint(&job->json, "tid", worker->tid);
    return close_line(job);
}

static int add_task(struct job *job, uint32_t at)
{
    const struct vti_task *task = &job->tasks.tasks[at];
    struct vti_json *json = &job->json;

    open_line(job, "task");
    add_place(job, "task", at, "run", task->run, task->number);
    vti_json_add_string(json, "key", task->key);
    vti_json_add_string(json, "name", task->name);
    vti_json_add_uint(json, "site", task->site);
    vti_json_add_id(json, "worker", task->worker);
    vti_json_add_string(json, "action", vti_task_action_text(task->action));
    vti_json_add_string(json, "state", vti_task_state_text(task->state));
    vti_json_add_uint(json, "retries", task->retries);
    add_time(job, "ready_ns", task->ready_ns);
    add_time(job, "begin_ns", task->start_ns);
    add_time(job, "end_ns", task->end_ns);
    add_time(job, "freed_ns", task->freed_ns);
    add_known(job, "cpu_ns", task->cpu_ns);
    vti_json_add_bool(json, "cpu_is_estimated", task->cpu_is_estimated);
    add_known(job, "bytes", task->bytes);
    vti_json_key(json, "dependencies");
    vti_json_array(json);
    for (uint32_t i = 0; i < task->edge_count; i++)
        vti_json_uint(json, job->tasks.edges[task->first_edge + i]);
    vti_json_array_end(json);
    return close_line(job);
}

/* One that never began is wanted with all that did. */
static bool is_wanted(const struct job *job, const struct vt_filter *range,
                      const struct vti_task *task)
{
    if (!task->start_ns)
        return range->from_ns == INT64_MIN && range->to_ns == INT64_MAX;
    return vti_filter_overlaps(range, task->start_ns - job->start_ns, task->end_ns - job->start_ns);
}

int vti_jsonl_tasks(vt_recording *recording, const struct vt_filter *range,
                    const struct vti_sink *sink, struct vti_buf *out)
{
    struct job job = {
        .out = out, .sink = sink, .start_ns = recording->facts.clocks.start_realtime_ns};
    int code = vti_tasks_load(recording, &job.tasks);

    if (code)
        return code;
    for (uint32_t i = 0; i < job.tasks.run_count && !code; i++)
        code = add_run(&job, i);
    for (uint32_t i = 0; i < job.tasks.worker_count && !code; i++)
        code = add_worker(&job, i);
    for (uint32_t i = 0; i < job.tasks.task_count && !code; i++)
        if (is_wanted(&job, range, &job.tasks.tasks[i]))
            code = add_task(&job, i);
    vti_tasks_free(&job.tasks);
    return code;
}
