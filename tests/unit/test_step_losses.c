/* test_step_losses.c - messages of steps on a disk that is full, for a while or for good: they are there, or counted, under a reason of their own. */
#include "format/write.h"
#include "model/step_log.h"

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

static char path[] = "/tmp/test_step_losses-XXXXXX";
static struct vti_writer *writer;
static uint64_t put_so_far;

/* The kernel refuses what goes beyond; 0: nothing. */
static void limit_file(uint64_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

/* A block of messages of each of two processes. */
static void add_steps(void)
{
    const struct vti_steps_head head = {1, 1000, 1};

    for (uint32_t process = 0; process < 2; process++) {
        struct vti_step_codec codec = {0};
        struct vti_buf out = {0};

        vti_steps_head_write(&out, &head);
        for (uint32_t i = 0; i < BLOCK; i++)
            vti_step_write(&out, &codec,
                           &(struct vti_step_fact){.type = VTI_STEP_DONE,
                                                   .site = 1,
                                                   .number = put_so_far + i + 1,
                                                   .sent = put_so_far + i + 1,
                                                   .messages = 1,
                                                   .lag_ns = VTI_STEP_LAG_UNKNOWN});
        assert_int_equal(
            vti_writer_owned(writer, VTI_STEPS, process, &out, BLOCK, put_so_far + BLOCK), 0);
        vti_step_codec_fini(&codec);
        vti_buf_fini(&out);
    }
    put_so_far += BLOCK;
}

static void start(void)
{
    struct vti_buf out = {0};

    limit_file(0);
    put_so_far = 0;
    assert_int_equal(vti_writer_create(&writer, open(path, O_RDWR | O_TRUNC | O_CLOEXEC), path), 0);
    for (uint32_t process = 0; process < 2; process++)
        vti_process_write(&out, &(struct vti_process_fact){.process = process, .pid = 7});
    assert_int_equal(vti_writer_facts(writer, VTI_PROCESS, &out, 2, 0, 0), 0);
    vti_buf_fini(&out);
}

/* Of each process: what is there and what is said to be lost is all. */
static void check_process(vt_recording *recording, uint32_t process, uint64_t there)
{
    uint64_t lost = 0;

    for (size_t i = 0; i < recording->facts.loss_count; i++) {
        const struct vti_loss_fact *loss = &recording->facts.losses[i];

        assert_int_equal(loss->reason, VTI_LOSS_STEPS_DISK);
        if (loss->process_plus_one == process + 1)
            lost += loss->events;
    }
    assert_int_equal(there + lost, put_so_far);
}

static void finish(uint64_t least, uint64_t most)
{
    uint64_t there[2] = {0, 0};
    uint64_t last[2] = {0, 0};
    struct vti_writer_stats stats;
    struct vti_step_log log;
    vt_recording *recording;
    struct vti_step step;

    assert_int_equal(vti_writer_close(writer, &stats), 0);
    limit_file(0);
    assert_int_equal(vt_recording_open(&recording, path), 0);
    vti_step_log_init(&log, recording, NULL);
    while (vti_step_log_next(&log, &step) > 0) {
        assert_in_range(step.process, 0, 1);
        assert_true(step.number > last[step.process]);
        last[step.process] = step.number;
        there[step.process]++;
    }
    vti_step_log_fini(&log);
    assert_in_range(there[0] + there[1], least, most);
    check_process(recording, 0, there[0]);
    check_process(recording, 1, there[1]);
    assert_int_equal(vti_steps_lost(recording), 2 * put_so_far - there[0] - there[1]);
    assert_int_equal(stats.disk_lost_steps, vti_steps_lost(recording));
    assert_int_equal(stats.disk_lost, vti_steps_lost(recording));
    assert_int_equal(stats.lost_events, vti_steps_lost(recording));
    assert_int_equal(recording->damage.count, 0);
    vt_recording_close(recording);
}

static void full_for_good(void **state)
{
    (void)state;
    for (uint64_t limit = 3000; limit < 40000; limit += 1237) {
        start();
        limit_file(limit);
        for (unsigned i = 0; i < 100; i++) {
            add_steps();
            if (i % 3 == 0)
                assert_int_equal(vti_writer_flush(writer), 0);
        }
        finish(0, 2 * 100 * BLOCK - 1);
    }
}

static void full_for_a_while(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    start();
    limit_file(9000);
    for (unsigned i = 0; i < 20; i++)
        add_steps();
    assert_int_equal(vti_writer_flush(writer), 0);
    assert_in_range(vti_writer_buffered(writer), 0, 200); /* messages do not wait */
    limit_file(0);
    do {
        usleep(10000); /* a disk that was full is left alone for a while */
        assert_int_equal(vti_writer_flush(writer), 0);
        vti_writer_stats(writer, &stats);
    } while (stats.disk_error);
    for (unsigned i = 0; i < 20; i++)
        add_steps();
    finish(2 * 20 * BLOCK, 2 * 40 * BLOCK - 1);
}

/* All fits but the end: the last messages give way. */
static void full_at_the_end(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    for (unsigned extra = 0; extra < 100; extra += 33) {
        start();
        for (unsigned i = 0; i < 200; i++)
            add_steps();
        assert_int_equal(vti_writer_flush(writer), 0);
        vti_writer_stats(writer, &stats);
        limit_file(stats.bytes + extra);
        finish(2 * 150 * BLOCK, 2 * 200 * BLOCK - 1);
    }
}

static void never_full(void **state)
{
    (void)state;
    start();
    for (unsigned i = 0; i < 50; i++)
        add_steps();
    finish(2 * 50 * BLOCK, 2 * 50 * BLOCK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_for_good),
        cmocka_unit_test(full_for_a_while),
        cmocka_unit_test(full_at_the_end),
        cmocka_unit_test(never_full),
    };
    int fd = mkstemp(path);
    int failed;

    if (fd < 0)
        return 1;
    close(fd);
    signal(SIGXFSZ, SIG_IGN);
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
