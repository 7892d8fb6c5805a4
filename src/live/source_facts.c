/*
 * source_facts.c - blocks of facts of one recording, as they come: tasks, CPU time of threads, steps.
 *
 * What does not parse is left out here; the recording's list of damage is made by those who read all of it.
 */
#include "base/error.h"
#include "format/energy.h"
#include "live/state.h"
#include "live/tick.h"
#include "venturi/task.h"

#include <stdlib.h>
#include <string.h>

int vti_source_take_fact(struct vti_source *source, const struct vti_block_header *header,
                         const uint8_t *payload)
{
    struct vti_reader in;

    vti_reader_init(&in, payload, header->payload_bytes);
    switch (header->kind) {
    case VTI_TASKS:
        return vti_source_take_tasks(source, header, &in);
    case VTI_RESOURCES:
        return vti_source_take_resources(source, header, &in);
    case VTI_ENERGY:
        return vti_source_take_energy(source, header, &in);
    default:
        return vti_source_take_cpu(source, header, &in);
    }
}

/* ---- tasks ------------------------------------------------------------------------------------- */

static uint32_t domain_of(const struct vti_source *source, uint32_t process)
{
    struct vti_facts *facts = &source->recording->facts;
    int64_t at = vti_ids_find(&facts->process_ids, process);

    return at < 0 ? 0 : facts->processes[at].fact.domain;
}

static int64_t unix_of(const struct vti_source *source, uint32_t process, uint64_t ticks)
{
    return ticks ? vti_source_unix(source, vti_source_ns(source, domain_of(source, process), ticks))
                 : 0;
}

static int take_run(struct vti_source *source, uint32_t process, const struct vti_task_fact *fact)
{
    struct vti_live *live = source->live;
    struct vti_live_run *run = vti_live_run_at(live, source->number, process, fact->run);

    if (!run)
        return VTI_E_NOMEM;
    if (fact->type == VTI_TASK_RUN) {
        run->scheduler = vti_names_add(&live->names, fact->text.data, fact->text.len);
        run->planned = fact->planned;
        run->begin_unix_ns = unix_of(source, process, fact->ticks);
    } else {
        run->error = vti_names_add(&live->names, fact->text.data, fact->text.len);
        run->lost = fact->lost;
        run->end_unix_ns = unix_of(source, process, fact->ticks);
        run->has_ended = true;
    }
    return 0;
}

static int take_worker(struct vti_source *source, uint32_t process,
                       const struct vti_task_fact *fact)
{
    struct vti_live *live = source->live;
    uint32_t at;
    struct vti_live_run *run = vti_live_run_at(live, source->number, process, fact->run);
    struct vti_live_seat *seat = run ? vti_live_seat_at(live, run, fact->number, &at) : NULL;

    if (!seat)
        return run ? 0 : VTI_E_NOMEM;
    if (fact->text.len)
        seat->label = vti_names_add(&live->names, fact->text.data, fact->text.len);
    seat->pid = fact->pid;
    seat->tid = fact->tid;
    return 0;
}

static void count_task(struct vti_live_tasks *group, struct vti_live_run *run,
                       struct vti_live_seat *seat, const struct vti_task_fact *fact,
                       int64_t length_ns)
{
    bool is_failed = fact->state == VT_TASK_FAILED || fact->state == VT_TASK_TIMED_OUT ||
                     fact->state == VT_TASK_LOST;

    group->ended++;
    group->states[fact->state < VTI_LIVE_TASK_STATES ? fact->state : 0]++;
    group->retried += fact->retries;
    if (fact->bytes != VTI_TASK_UNKNOWN)
        group->bytes += fact->bytes;
    run->ended++;
    run->failed += is_failed;
    if (!seat)
        return;
    seat->ended++;
    seat->failed += is_failed;
    seat->busy_ns += (uint64_t)length_ns;
}

static int take_task(struct vti_source *source, uint32_t process, const struct vti_task_fact *fact)
{
    struct vti_live *live = source->live;
    struct vti_live_task task = {.state = fact->state,
                                 .action = fact->action,
                                 .worker = VTI_LIVE_NONE,
                                 .bytes = fact->bytes};
    struct vti_live_seat *seat = NULL;
    struct vti_live_run *run;
    struct vt_site_info site;
    int64_t length_ns;
    int64_t group;

    run = vti_live_run_at(live, source->number, process, fact->run);
    vt_recording_site_by_id(source->recording, fact->site, &site);
    group = vti_live_task_group_at(live, site.name, strlen(site.name));
    if (!run || group < 0)
        return VTI_E_NOMEM;
    if (fact->worker_plus_one)
        seat = vti_live_seat_at(live, run, fact->worker_plus_one - 1, &task.worker);
    task.start_unix_ns = unix_of(source, process, fact->start);
    task.end_unix_ns = unix_of(source, process, fact->end);
    length_ns = task.start_unix_ns && task.end_unix_ns > task.start_unix_ns
                    ? task.end_unix_ns - task.start_unix_ns
                    : 0;
    task.group = (uint32_t)group;
    if (fact->action == VT_ACTION_COMPUTE) {
        count_task(&live->tasks[group], run, seat, fact, length_ns);
        live->tasks_ended++;
        if (task.start_unix_ns && task.end_unix_ns &&
            vti_times_add(&live->tasks[group].times, length_ns, live->is_caught_up))
            return VTI_E_NOMEM;
    }
    vti_live_note_times(live, task.start_unix_ns, task.end_unix_ns);
    return vti_live_stream_add(live, &task, fact->key.data, fact->key.len);
}

int vti_source_take_tasks(struct vti_source *source, const struct vti_block_header *header,
                          struct vti_reader *in)
{
    struct vti_task_fact fact;
    int code = 0;

    vti_task_codec_clear(&source->codec);
    for (uint32_t i = 0; i < header->count && !code; i++) {
        if (!vti_task_read(in, &source->codec, &fact))
            return 0;
        if (fact.type == VTI_TASK_TASK)
            code = take_task(source, header->owner, &fact);
        else if (fact.type == VTI_TASK_WORKER)
            code = take_worker(source, header->owner, &fact);
        else if (fact.type == VTI_TASK_RUN || fact.type == VTI_TASK_RUN_END)
            code = take_run(source, header->owner, &fact);
    }
    return code;
}

/* ---- CPU time of threads ----------------------------------------------------------------------- */

int vti_source_take_cpu(struct vti_source *source, const struct vti_block_header *header,
                        struct vti_reader *in)
{
    int64_t at = vti_ids_find(&source->recording->facts.track_ids, header->owner);
    struct vti_source_track *track = at < 0 ? NULL : vti_source_track_at(source, (uint32_t)at);
    struct vti_cpu_fact fact;

    for (uint32_t i = 0; track && i < header->count && vti_cpu_fact_read(in, &fact); i++) {
        track->cpu_ns += fact.cpu_ns;
        track->has_cpu = true;
    }
    return 0;
}

/* ---- steps ------------------------------------------------------------------------------------- */

static void add_phase(struct vti_live_phase *phase, uint64_t ns)
{
    if (ns == VTI_STEP_UNKNOWN || ns > INT64_MAX)
        return;
    phase->count++;
    if (__builtin_add_overflow(phase->sum_ns, (int64_t)ns, &phase->sum_ns))
        phase->sum_ns = INT64_MAX;
    if ((int64_t)ns > phase->max_ns)
        phase->max_ns = (int64_t)ns;
}

static void add_lag(struct vti_live_step_sum *sums, int64_t ns)
{
    struct vti_live_phase *lag = &sums->lag;

    if (ns == VTI_STEP_LAG_UNKNOWN)
        return;
    sums->last_lag_ns = ns;
    if (__builtin_add_overflow(lag->sum_ns, ns, &lag->sum_ns))
        lag->sum_ns = INT64_MAX;
    if (!lag->count || ns > lag->max_ns)
        lag->max_ns = ns;
    lag->count++;
}

/* A file may say anything: a counter that is full stays, because it must not go back. */
static void add_messages(uint64_t *sum, uint64_t messages)
{
    if (__builtin_add_overflow(*sum, messages, sum))
        *sum = UINT64_MAX - 1; /* the largest is not known */
}

/* How many processes a step runs in. */
static int note_process(struct vti_live *live, int64_t at, const struct vti_step *step)
{
    const int64_t key[] = {at, step->pid, step->process_start_ns / 1000000};
    int is_new = 0;

    if (!live->step_processes && vti_map_create(&live->step_processes))
        return VTI_E_NOMEM;
    if (vti_map_count(live->step_processes) >= VTI_LIVE_STEP_PROCESSES_MOST)
        return 0;
    if (vti_map_add(live->step_processes, key, sizeof key, &is_new) < 0)
        return VTI_E_NOMEM;
    live->steps[at].processes += is_new != 0;
    return 0;
}

static int take_step(struct vti_source *source, const struct vti_step *step)
{
    struct vti_live *live = source->live;
    int64_t at = vti_live_step_at(live, step->source, step->prefix, step->survey);
    struct vti_live_step_sum *sums;

    if (at < 0)
        return (int)at;
    sums = &live->steps[at];
    if (note_process(live, at, step))
        return VTI_E_NOMEM;
    if (step->sent_ns > sums->last_unix_ns)
        sums->last_unix_ns = step->sent_ns;
    vti_live_note_times(live, step->received_ns, step->sent_ns);
    live->step_documents++;
    if (step->is_metrics) {
        sums->metrics++;
        return 0;
    }
    sums->count++;
    add_messages(&sums->messages, step->messages);
    add_messages(&sums->failed, step->is_failed ? step->messages : 0);
    if (step->messages > sums->largest_batch)
        sums->largest_batch = step->messages < UINT32_MAX ? (uint32_t)step->messages : UINT32_MAX;
    add_phase(&sums->pre, step->pre_ns);
    add_phase(&sums->post, step->post_ns);
    add_phase(&sums->produce, step->produce_ns);
    add_lag(sums, step->lag_ns);
    return vti_times_add(&sums->execute,
                         step->execute_ns < INT64_MAX ? (int64_t)step->execute_ns : INT64_MAX,
                         live->is_caught_up);
}

int vti_source_take_steps(struct vti_source *source, int64_t until_ns)
{
    struct vti_step step;
    uint64_t count = 0;
    int got;
    int code = 0;

    while (!code && (got = vti_step_log_next(&source->steps, &step)) > 0) {
        code = take_step(source, &step);
        if (++count % 256 == 0 && vti_tick_is_over(until_ns))
            return code;
    }
    source->lost_steps = vti_steps_lost(source->recording);
    return code ? code : got < 0 ? got : 1;
}
