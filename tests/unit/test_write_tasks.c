/* test_write_tasks.c - tasks on a disk that is full, for a while or for good: runs stay, tasks are there with all that they depend on, or counted. */
#include "analyze/overview.h"
#include "analyze/tasks.h"
#include "full_disk_kit.h"
#include "venturi/task.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint32_t next_task;

static void add_run(enum vti_task_entry type, const char *text)
{
    struct vti_task_codec codec = {0};
    struct vti_task_fact fact = {
        .type = type, .run = 1, .ticks = 1 + next_task, .text = vti_bytes_of(text)};
    struct vti_buf out = {0};

    vti_task_write(&out, &codec, &fact);
    assert_int_equal(vti_writer_owned(kit_writer, VTI_TASKS, 0, &out, 1, fact.ticks), 0);
    vti_task_codec_fini(&codec);
    vti_buf_fini(&out);
}

/* A block of tasks, each of which depends on the one before it; what they depend on comes first. */
static void add_tasks(void)
{
    struct vti_task_codec codecs[2] = {0};
    struct vti_buf tasks = {0}, edges = {0};
    uint32_t count = 0;

    for (uint32_t i = 0; i < KIT_BLOCK; i++, next_task++) {
        struct vti_edges_fact edge = {.run = 1, .number = next_task, .count = 1};
        struct vti_task_fact fact = {.type = VTI_TASK_TASK,
                                     .run = 1,
                                     .number = next_task,
                                     .site = 1,
                                     .state = VT_TASK_DONE,
                                     .start = 1 + next_task,
                                     .end = 2 + next_task,
                                     .cpu_ns = VTI_TASK_UNKNOWN,
                                     .bytes = VTI_TASK_UNKNOWN};

        vti_task_write(&tasks, &codecs[0], &fact);
        edge.dependencies = &(uint32_t){next_task - 1};
        if (next_task)
            vti_edges_write(&edges, &codecs[1], &edge);
        count += next_task > 0;
    }
    assert_int_equal(vti_writer_owned(kit_writer, VTI_EDGES, 0, &edges, count, next_task), 0);
    assert_int_equal(vti_writer_owned(kit_writer, VTI_TASKS, 0, &tasks, KIT_BLOCK, next_task), 0);
    vti_task_codec_fini(&codecs[0]);
    vti_task_codec_fini(&codecs[1]);
    vti_buf_fini(&tasks);
    vti_buf_fini(&edges);
}

static void start(void)
{
    struct vti_buf out = {0};

    next_task = 0;
    vti_process_write(&out, &(struct vti_process_fact){.pid = 7});
    assert_int_equal(vti_writer_facts(kit_writer, VTI_PROCESS, &out, 1, 0, 0), 0);
    vti_buf_fini(&out);
    add_run(VTI_TASK_RUN, "threads");
}

/* Closes it, and looks at what is there: `least` to `most` tasks, the others are counted. */
static void finish(uint64_t least, uint64_t most)
{
    struct vti_writer_stats stats;
    vt_recording *recording;
    struct vti_losses losses;
    struct vti_tasks tasks;

    add_run(VTI_TASK_RUN_END, "over");
    kit_close(&stats);
    assert_int_equal(vt_recording_open(&recording, kit_path), 0);
    assert_int_equal(vti_tasks_load(recording, &tasks), 0);
    assert_int_equal(vti_losses_query(recording, &losses), 0);
    assert_int_equal(tasks.run_count, 1);
    assert_string_equal(tasks.runs[0].scheduler, "threads");
    assert_string_equal(tasks.runs[0].error, "over");
    assert_in_range(tasks.task_count, least, most);
    assert_int_equal(tasks.task_count + losses.lost_events, next_task);
    assert_int_equal(stats.disk_lost, losses.lost_events);
    assert_int_equal(stats.disk_lost_tasks, losses.lost_events);
    for (uint32_t i = 1; i < tasks.task_count; i++) /* the one before may be lost, and is no edge */
        assert_int_equal(tasks.tasks[i].edge_count,
                         tasks.tasks[i - 1].number + 1 == tasks.tasks[i].number);
    vti_losses_free(&losses);
    vti_tasks_free(&tasks);
    vt_recording_close(recording);
}

int main(void)
{
    return kit_run_course(&(struct kit_course){.start = start,
                                               .add = add_tasks,
                                               .entries = KIT_BLOCK,
                                               .finish = finish,
                                               .least = 1}); /* runs and losses come first */
}
