/* test_step_losses.c - messages of steps on a disk that is full, for a while or for good: they are there, or counted, under a reason of their own. */
#include "full_disk_kit.h"
#include "model/step_log.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static uint64_t put_so_far;

/* A block of messages of each of two processes. */
static void add_steps(void)
{
    const struct vti_steps_head head = {1, 1000, 1};

    for (uint32_t process = 0; process < 2; process++) {
        struct vti_step_codec codec = {0};
        struct vti_buf out = {0};

        vti_steps_head_write(&out, &head);
        for (uint32_t i = 0; i < KIT_BLOCK; i++)
            vti_step_write(&out, &codec,
                           &(struct vti_step_fact){.type = VTI_STEP_DONE,
                                                   .site = 1,
                                                   .number = put_so_far + i + 1,
                                                   .sent = put_so_far + i + 1,
                                                   .messages = 1,
                                                   .lag_ns = VTI_STEP_LAG_UNKNOWN});
        assert_int_equal(vti_writer_owned(kit_writer, VTI_STEPS, process, &out, KIT_BLOCK,
                                          put_so_far + KIT_BLOCK),
                         0);
        vti_step_codec_fini(&codec);
        vti_buf_fini(&out);
    }
    put_so_far += KIT_BLOCK;
}

static void start(void)
{
    struct vti_buf out = {0};

    put_so_far = 0;
    for (uint32_t process = 0; process < 2; process++)
        vti_process_write(&out, &(struct vti_process_fact){.process = process, .pid = 7});
    assert_int_equal(vti_writer_facts(kit_writer, VTI_PROCESS, &out, 2, 0, 0), 0);
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

    kit_close(&stats);
    assert_int_equal(vt_recording_open(&recording, kit_path), 0);
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

int main(void)
{
    return kit_run_course(&(struct kit_course){
        .start = start, .add = add_steps, .entries = 2 * (uint64_t)KIT_BLOCK, .finish = finish});
}
