/* recording_steps.c - the steps of make_recording: messages of two processes, with all that can be said of one. */
#include "make_recording.h"

#include "format/steps.h"

static void step_block(uint32_t process, const struct vti_step_fact *facts, uint32_t count)
{
    const struct vti_steps_head head = {ticks_at(600), 1700000000000000000, 0.4};
    struct vti_step_codec codec = {0};

    vti_steps_head_write(&payload, &head);
    for (uint32_t i = 0; i < count; i++)
        vti_step_write(&payload, &codec, &facts[i]);
    check(vti_writer_owned(writer, VTI_STEPS, process, &payload, count, ticks_at(900)));
    vti_buf_clear(&payload);
    vti_step_codec_fini(&codec);
}

static struct vti_step_fact step(uint64_t number, uint32_t site, uint64_t received_us,
                                 uint64_t sent_us, const char *extra)
{
    return (struct vti_step_fact){.type = VTI_STEP_DONE,
                                  .site = site,
                                  .number = number,
                                  .received = ticks_at(received_us),
                                  .sent = ticks_at(sent_us),
                                  .messages = 1,
                                  .execute_ns = 1000 * (sent_us - received_us),
                                  .pre_ns = VTI_STEP_UNKNOWN,
                                  .post_ns = VTI_STEP_UNKNOWN,
                                  .produce_ns = VTI_STEP_UNKNOWN,
                                  .lag_ns = VTI_STEP_LAG_UNKNOWN,
                                  .extra = vti_bytes_of(extra)};
}

static void add_step_sites(void)
{
    vti_site_write(&payload, &(struct vti_site_fact){.site = 931,
                                                     .type = VTI_SITE_STEP,
                                                     .name = text("Classifier"),
                                                     .function = text("pipeline"),
                                                     .unit = text("ztf")});
    vti_site_write(&payload, &(struct vti_site_fact){.site = 932,
                                                     .type = VTI_SITE_STEP,
                                                     .name = text("Saver"),
                                                     .function = text("alerts")});
    check(vti_writer_facts(writer, VTI_SITES, &payload, 2, 0, 0));
    vti_buf_clear(&payload);
}

/* The second process has a site that nobody defined; some were lost for want of room, and some to the disk. */
void add_steps(void)
{
    struct vti_step_fact all[] = {
        step(1, 931, 100, 110, "\"candid\":\"1523\",\"n\":1"),
        step(2, 931, 120, 150, "\"candid\":\"1524\",\"n\":2"),
        step(3, 932, 90, 160, ""),
        step(4, 931, 150, 155, "\"candid\":\"1524\",\"\u00e9\":[{},null]"),
        step(5, 932, 170, 171, "not JSON\n"),
        step(9, 932, 180, 700, ""),
    };
    const struct vti_step_fact other = step(1, 933, 200, 201, "\"a\":1");

    add_step_sites();
    all[1].is_failed = true;
    all[1].pre_ns = 3;
    all[1].post_ns = 1500;
    all[1].produce_ns = 0;
    all[1].lag_ns = -250;
    all[2].messages = 500;
    all[2].lag_ns = 123456789;
    all[3].is_metrics = true;
    all[3].execute_ns = VTI_STEP_UNKNOWN;
    all[5].is_cut = true;
    step_block(0, all, sizeof all / sizeof *all);
    step_block(1, &other, 1);
    check(vti_writer_loss(writer, &(struct vti_loss_fact){.reason = VTI_LOSS_STEPS,
                                                          .process_plus_one = 1,
                                                          .events = 3,
                                                          .first = ticks_at(180),
                                                          .last = ticks_at(190)}));
    check(vti_writer_loss(writer, &(struct vti_loss_fact){.reason = VTI_LOSS_STEPS_DISK,
                                                          .process_plus_one = 1,
                                                          .events = 4,
                                                          .first = ticks_at(700),
                                                          .last = ticks_at(800)}));
}
