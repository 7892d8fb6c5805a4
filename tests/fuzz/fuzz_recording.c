/*
 * fuzz_recording.c - libFuzzer target: any bytes as a recording, opened, asked, and asked again
 * after the rest of a file that was cut off has come.
 *
 * Random bytes never have the right checksums, so unless the first byte of the input is odd they
 * are put right before the file is opened: what lies behind them is then reached. The rest of that
 * byte says where the file is cut off for the first time. The second byte chooses what is asked for
 * the two times, and how: one question each, because all of them for every input took ten times as
 * long.
 */
#include "analyze/calls.h"
#include "analyze/energy.h"
#include "analyze/steps.h"
#include "analyze/tasks_idle.h"
#include "analyze/tasks_path.h"
#include "model/energy_log.h"
#include "model/line_table.h"
#include "repair.h"
#include "venturi/read.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PREFIX 2
#define PIXELS 20

/* Says which: stacks of inlined functions do not tell one abort from another. */
#define require(condition) ((condition) ? (void)0 : fail(#condition, __LINE__))

static void __attribute__((noreturn)) fail(const char *condition, int line)
{
    fprintf(stderr, "ERROR: line %d: not so: %s\n", line, condition);
    abort();
}

/* Reads what it points at, so that a sanitizer sees what is not there. */
static size_t touch(const char *text)
{
    require(text != NULL);
    return strlen(text);
}

static void touch_text(struct vt_text text)
{
    volatile char sum = 0;

    for (size_t i = 0; i < text.len; i++)
        sum = (char)(sum + text.data[i]);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void check_facts(const vt_recording *recording, const struct vt_recording_info *info)
{
    struct vt_process_info process;
    struct vt_damage_info damage;
    struct vt_track_info track;
    struct vt_host_info host;
    struct vt_site_info site;
    struct vt_loss_info loss;

    touch(info->writer_version);
    touch(info->policy);
    touch(info->directory);
    touch(info->command);
    touch(info->clock);
    for (uint32_t i = 0; i < info->host_count; i++) {
        require(vt_recording_host(recording, i, &host));
        touch(host.name);
    }
    for (uint32_t i = 0; i < info->process_count; i++) {
        require(vt_recording_process(recording, i, &process));
        touch(process.command);
        require(process.start_ns <= process.end_ns);
    }
    for (uint32_t i = 0; i < info->track_count; i++) {
        require(vt_recording_track(recording, i, &track));
        touch(track.name);
        require(vt_recording_process_by_id(recording, track.process, &process));
        touch(process.name);
    }
    for (uint32_t i = 0; i < info->site_count; i++) {
        require(vt_recording_site(recording, i, &site));
        touch(site.name);
    }
    for (uint32_t i = 0; i < info->loss_count; i++) {
        require(vt_recording_loss(recording, i, &loss));
        touch(loss.reason);
    }
    for (uint32_t i = 0; i < info->damage_count; i++) {
        require(vt_recording_damage(recording, i, &damage));
        require(damage.begin_offset < damage.end_offset && damage.end_offset <= info->file_bytes);
    }
    require(!vt_recording_damage(recording, info->damage_count, &damage));
}

static void ask_for_events(vt_recording *recording, const struct vt_filter *filter)
{
    struct vt_event event;
    struct vt_site_info site;
    vt_cursor *cursor;
    int64_t last = INT64_MIN / 2;

    require(vt_cursor_open(&cursor, recording, filter) == 0);
    while (vt_cursor_next(cursor, &event) > 0) {
        require(event.time_ns >= last);
        last = event.time_ns;
        touch_text(event.value.text);
        touch_text(event.error_type);
        touch_text(event.error_message);
        if (event.kind == VT_EVENT_BEGIN) {
            require(vt_recording_site_by_id(recording, event.site, &site));
            touch(site.name);
        }
    }
    vt_cursor_close(cursor);
}

static int take_span(const struct vt_span *span, void *arg)
{
    (void)arg;
    require(span->end_ns >= span->begin_ns);
    require(span->self_ns >= 0 && span->self_ns <= span->end_ns - span->begin_ns);
    require(span->corrected_ns >= 0 && span->corrected_self_ns >= 0);
    require(!span->has_trace || span->async_id);
    for (uint32_t i = 0; i < span->attr_count; i++)
        touch_text(span->attrs[i].value.text);
    touch_text(span->error_type);
    touch_text(span->error_message);
    return 0;
}

static void ask_for_stats(vt_recording *recording, const struct vt_filter *filter)
{
    struct vt_stats stats;

    require(vt_stats_query(recording, filter, &stats) == 0);
    for (size_t i = 0; i < stats.site_count; i++)
        require(stats.sites[i].count > 0 && stats.sites[i].min_ns <= stats.sites[i].max_ns);
    vt_stats_free(&stats);
}

static void ask_for_window(vt_recording *recording, int64_t from, int64_t to)
{
    struct vt_window window;

    if (to <= from)
        return;
    require(vt_window_query(recording, from, to, PIXELS, &window) == 0);
    for (size_t i = 0; i < window.rect_count; i++)
        require(window.rects[i].count > 0 && window.rects[i].begin_ns <= window.rects[i].end_ns);
    for (size_t i = 0; i < (size_t)window.track_count * PIXELS; i++)
        require(window.busy[i] >= 0 && window.busy[i] <= 1);
    vt_window_free(&window);
}

static void ask_for_calls(vt_recording *recording, bool is_raw, bool is_merged)
{
    struct vti_calls_options options = {
        .is_raw = is_raw, .is_merged = is_merged, .track = VT_NONE, .process = VT_NONE};
    struct vti_calls calls;

    require(vti_calls_load(&calls, recording, &options) == 0);
    for (size_t i = 0; i < calls.call_count; i++)
        require((calls.calls[i].parent == VT_NONE || calls.calls[i].parent < i) &&
                calls.calls[i].function < calls.function_count);
    vti_calls_fini(&calls);
}

static void ask_for_lines(vt_recording *recording)
{
    struct vti_line_tables tables;

    require(vti_line_tables_load(&tables, recording) == 0);
    for (uint32_t i = 0; i < tables.track_ids.count; i++) {
        const struct vti_line_track *track = &tables.tracks[i];

        for (uint32_t k = 0; k < track->node_ids.count; k++)
            require(track->lines[k].node && track->lines[k].time <= VTI_LINE_MIXED);
        require(track->callee_count <= track->callee_room);
    }
    for (size_t i = 0; i < tables.source_count; i++) {
        const struct vti_source_fact *source = &tables.sources[i];
        uint32_t process = source->process_plus_one ? source->process_plus_one - 1 : VT_NONE;

        touch_text((struct vt_text){source->text, source->text_len});
        require(vti_line_source(&tables, process, source->file, source->file_len) == source);
    }
    vti_line_tables_fini(&tables);
}

/* What follows from tasks ends, whatever their graph; every moment in which a worker was there is counted once: that is all of the run
 * unless workers came later. */
static void ask_about_tasks(const struct vti_tasks *tasks)
{
    struct vti_task_times times;
    struct vti_task_paths paths;
    struct vti_task_groups groups;

    require(vti_task_times_make(&times, tasks) == 0);
    require(vti_task_paths_make(&paths, tasks) == 0);
    require(vti_task_groups_make(&groups, tasks, VTI_NO_TASK) == 0);
    for (uint32_t i = 0; i < tasks->worker_count; i++) {
        const struct vti_task_run *run = &tasks->runs[tasks->workers[i].run];
        const struct vti_run_times *whole = &times.runs[tasks->workers[i].run];
        int64_t all_ns = vti_worker_times_all(&times.workers[i]);

        require(all_ns >= 0 && all_ns <= whole->end_ns - whole->begin_ns);
        require(all_ns == whole->end_ns - whole->begin_ns ||
                (run->begun_workers && run->begun_workers < run->worker_count));
    }
    for (uint32_t i = 0; i < tasks->run_count; i++)
        require(paths.runs[i].count <= tasks->runs[i].task_count);
    vti_task_times_fini(&times);
    vti_task_paths_fini(&paths);
    vti_task_groups_fini(&groups);
}

static void ask_for_energy(vt_recording *recording)
{
    struct vti_energy_log log;
    struct vti_energy energy;
    uint64_t value;

    require(vti_energy_log_load(&log, recording) == 0);
    for (size_t i = 0; i < log.tree_count; i++) {
        const struct vti_energy_log_tree *tree = &log.trees[i];

        for (uint32_t k = 0; k < tree->source_count; k++)
            if (tree->sources[k].is_defined)
                touch(tree->sources[k].note);
        for (size_t k = 0; k < tree->note_count; k++)
            touch(tree->notes[k].text);
        for (size_t k = 0; k < tree->reading_count; k++) {
            require(!k || tree->readings[k - 1].time_ns <= tree->readings[k].time_ns);
            for (uint32_t n = 0; n < VTI_ENERGY_SOURCES_MAX; n++)
                vti_energy_log_value(tree, &tree->readings[k], n, &value);
        }
    }
    for (uint32_t i = 0; i < log.track_ids.count; i++)
        require(vti_cpu_track_of(&log, recording, log.tracks[i].track) == &log.tracks[i]);
    vti_energy_log_fini(&log);
    require(vti_energy_load(&energy, recording) == 0);
    for (unsigned i = 0; i < VTI_ENERGY_BY_COUNT; i++)
        for (size_t k = 0; k < energy.tables[i].count; k++)
            touch(energy.tables[i].rows[k].name);
    vti_energy_fini(&energy);
}

static void ask_for_tasks(vt_recording *recording)
{
    struct vti_tasks tasks;

    require(vti_tasks_load(recording, &tasks) == 0);
    for (uint32_t i = 0; i < tasks.run_count; i++) {
        const struct vti_task_run *run = &tasks.runs[i];

        touch(run->scheduler);
        touch(run->error);
        require(run->parent == VTI_NO_TASK || run->parent < tasks.run_count);
        require(run->first_task + run->task_count <= tasks.task_count);
        require(run->first_worker + run->worker_count <= tasks.worker_count);
    }
    for (uint32_t i = 0; i < tasks.worker_count; i++)
        require(touch(tasks.workers[i].label) && tasks.workers[i].run < tasks.run_count);
    for (uint32_t i = 0; i < tasks.task_count; i++) {
        const struct vti_task *task = &tasks.tasks[i];

        require(touch(task->key) + touch(task->name) && task->run < tasks.run_count);
        require(task->worker == VTI_NO_TASK || tasks.workers[task->worker].run == task->run);
        require(task->start_ns <= task->end_ns);
        require(task->first_edge + task->edge_count <= tasks.edge_count);
        for (uint32_t k = 0; k < task->edge_count; k++)
            require(tasks.tasks[tasks.edges[task->first_edge + k]].run == task->run);
    }
    ask_about_tasks(&tasks);
    vti_tasks_free(&tasks);
}

/* From the start, and again from a place in the middle: the rest is the same. */
static void ask_for_steps(vt_recording *recording, unsigned skipped)
{
    struct vti_step_place place = {0, 0};
    struct vti_step_sums sums;
    struct vti_step_log log;
    struct vti_step step;
    uint64_t count = 0;
    uint64_t rest = 0;

    require(vti_step_sums_load(&sums, recording) == 0);
    vti_step_sums_fini(&sums);
    vti_step_log_init(&log, recording, NULL);
    while (vti_step_log_next(&log, &step) > 0) {
        touch(step.source);
        touch(step.prefix);
        touch(step.survey);
        touch(step.host);
        touch_text((struct vt_text){step.extra.data, step.extra.len});
        require(step.received_ns <= step.sent_ns && step.begin_ns <= step.time_ns);
        if (count++ < skipped)
            place = vti_step_log_place(&log);
    }
    vti_step_log_fini(&log);
    vti_step_log_init(&log, recording, &place);
    while (vti_step_log_next(&log, &step) > 0)
        rest++;
    vti_step_log_fini(&log);
    require(rest + (count < skipped ? count : skipped) == count);
}

/* `shape`, below 4, makes the question a wider or narrower one. */
static void ask(vt_recording *recording, unsigned question, unsigned shape)
{
    static const int64_t pixel_ns[] = {1, 8, 1000};
    struct vt_recording_info info;
    struct vt_filter some;
    int64_t last;

    vt_recording_info(recording, &info);
    last = info.duration_ns;
    some = (struct vt_filter){last / 4 * (shape % 2), last / 2, shape < 2 ? VT_NONE : 0};
    switch (question) {
    case 0:
        ask_for_calls(recording, shape % 2, shape / 2);
        ask_for_lines(recording);
        ask_for_tasks(recording);
        ask_for_energy(recording);
        ask_for_steps(recording, shape);
        break;
    case 1:
        ask_for_events(recording, shape ? &some : NULL);
        break;
    case 2:
        require(vt_recording_spans(recording, NULL, take_span, NULL) == 0);
        break;
    case 3:
        require(vt_recording_spans(recording, &some, take_span, NULL) == 0);
        break;
    case 4:
        ask_for_stats(recording, shape ? &some : NULL);
        break;
    case 5:
        ask_for_window(recording, -1, last);
        break;
    case 6:
        ask_for_window(recording, INT64_MIN >> 16 * shape, INT64_MAX >> 16 * shape);
        break;
    default:
        ask_for_window(recording, last - pixel_ns[shape % 3] * PIXELS, last + 5);
        break;
    }
}

static void write_all(int fd, const uint8_t *bytes, size_t size, size_t offset)
{
    require(pwrite(fd, bytes + offset, size - offset, (off_t)offset) == (ssize_t)(size - offset));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1; /* kept: making a file takes longer than reading one */
    struct vt_recording_info info;
    vt_recording *recording;
    uint8_t *bytes;
    char path[64];
    size_t cut;

    if (size < PREFIX + 1)
        return 0;
    if (fd < 0)
        fd = memfd_create("recording", MFD_CLOEXEC);
    size -= PREFIX;
    bytes = malloc(size);
    require(fd >= 0 && bytes && ftruncate(fd, 0) == 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    memcpy(bytes, data + PREFIX, size);
    if (data[0] % 2 == 0)
        vti_fuzz_repair(bytes, size);
    cut = size * (data[0] / 2 + 1) / 128;
    write_all(fd, bytes, cut, 0);
    if (vt_recording_open(&recording, path) == 0) {
        ask(recording, data[1] % 8, data[1] / 64);
        write_all(fd, bytes, size, cut);
        if (cut == size || vt_recording_refresh(recording) >= 0)
            ask(recording, data[1] / 8 % 8, data[1] / 64);
        /* With the damage that the questions came upon. */
        vt_recording_info(recording, &info);
        check_facts(recording, &info);
        vt_recording_close(recording);
    } else {
        touch(vt_read_error());
    }
    free(bytes);
    return 0;
}
