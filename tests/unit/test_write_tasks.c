/* test_write_tasks.c - tasks on a disk that is full, for a while or for good: runs stay, tasks are there with all that they depend on, or counted. */
#include "analyze/overview.h"
#include "analyze/tasks.h"
#include "format/write.h"
#include "venturi/task.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#define BLOCK 100u

static char path[] = "/tmp/test_write_tasks-XXXXXX";
static struct vti_writer *writer;
static uint32_t next_task;

/* The kernel refuses what goes beyond; 0: nothing. */
static void limit_file(uint64_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void add_run(enum vti_task_entry type, const char *text)
{
    struct vti_task_codec codec = {0};
    struct vti_task_fact fact = {
        .type = type, .run = 1, .ticks = 1 + next_task, .text = vti_bytes_of(text)};
    struct vti_buf out = {0};

    vti_task_write(&out, &codec, &fact);
    assert_int_equal(vti_writer_owned(writer, VTI_TASKS, 0, &out, 1, fact.ticks), 0);
    vti_task_codec_fini(&codec);
    vti_buf_fini(&out);
}

/* A block of tasks, each of which depends on the one before it; what they depend on comes first. */
static void add_tasks(void)
{
    struct vti_task_codec codecs[2] = {0};
    struct vti_buf tasks = {0}, edges = {0};
    uint32_t count = 0;

    for (uint32_t i = 0; i < BLOCK; i++, next_task++) {
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
    assert_int_equal(vti_writer_owned(writer, VTI_EDGES, 0, &edges, count, next_task), 0);
    assert_int_equal(vti_writer_owned(writer, VTI_TASKS, 0, &tasks, BLOCK, next_task), 0);
    vti_task_codec_fini(&codecs[0]);
    vti_task_codec_fini(&codecs[1]);
    vti_buf_fini(&tasks);
    vti_buf_fini(&edges);
}

static void start(void)
{
    struct vti_buf out = {0};

    limit_file(0);
    next_task = 0;
    assert_int_equal(vti_writer_create(&writer, open(path, O_RDWR | O_TRUNC | O_CLOEXEC), path), 0);
    vti_process_write(&out, &(struct vti_process_fact){.pid = 7});
    assert_int_equal(vti_writer_facts(writer, VTI_PROCESS, &out, 1, 0, 0), 0);
    vti_buf_fini(&out);
    add_run(VTI_TASK_RUN, "threads");
}

/* Closes it, and looks at what is there: `least` to `most` tasks, the others are counted. */
static void finish(uint32_t least, uint32_t most)
{
    struct vti_writer_stats stats;
    vt_recording *recording;
    struct vti_losses losses;
    struct vti_tasks tasks;

    add_run(VTI_TASK_RUN_END, "over");
    assert_int_equal(vti_writer_close(writer, &stats), 0);
    limit_file(0);
    assert_int_equal(vt_recording_open(&recording, path), 0);
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

static void full_for_good(void **state)
{
    (void)state;
    for (uint64_t limit = 3000; limit < 40000; limit += 1237) {
        start();
        limit_file(limit);
        for (unsigned i = 0; i < 100; i++) {
            add_tasks();
            if (i % 3 == 0)
                assert_int_equal(vti_writer_flush(writer), 0);
        }
        finish(limit < 10000 ? 0 : 1, 100 * BLOCK - 1); /* runs and losses come first */
    }
}

static void full_for_a_while(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    start();
    limit_file(9000);
    for (unsigned i = 0; i < 20; i++)
        add_tasks();
    assert_int_equal(vti_writer_flush(writer), 0);
    assert_in_range(vti_writer_buffered(writer), 0, 200); /* tasks do not wait */
    limit_file(0);
    do {
        usleep(10000); /* a disk that was full is left alone for a while */
        assert_int_equal(vti_writer_flush(writer), 0);
        vti_writer_stats(writer, &stats);
    } while (stats.disk_error);
    for (unsigned i = 0; i < 20; i++)
        add_tasks();
    finish(20 * BLOCK, 40 * BLOCK - 1);
}

/* All fits but the end: the last tasks give way. */
static void full_at_the_end(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    for (unsigned extra = 0; extra < 100; extra += 33) {
        start();
        for (unsigned i = 0; i < 200; i++)
            add_tasks();
        assert_int_equal(vti_writer_flush(writer), 0);
        vti_writer_stats(writer, &stats);
        limit_file(stats.bytes + extra);
        finish(150 * BLOCK, 200 * BLOCK - 1);
    }
}

static int set_up(void **state)
{
    int fd = mkstemp(path);

    (void)state;
    signal(SIGXFSZ, SIG_IGN);
    return fd < 0 ? -1 : close(fd);
}

static int tear_down(void **state)
{
    (void)state;
    return unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_for_good),
        cmocka_unit_test(full_for_a_while),
        cmocka_unit_test(full_at_the_end),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
