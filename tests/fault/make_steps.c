/*
 * make_steps.c OUT [--open] [--lost N] - a recording of steps from lines on standard input, so that tests know every nanosecond of it.
 *
 * A line: sent_ns, received_ns, execute_ns, flags, messages, source, prefix, survey, extra, with tabs between them; flags as
 * in venturi/step_record.h. --open: as a drainer that was killed leaves it. --lost: so many are said to have found no room.
 */
#include "base/error.h"
#include "format/facts.h"
#include "format/steps.h"
#include "format/write.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELDS 9
#define BLOCK 500
#define SITES 64

static struct vti_writer *writer;
static struct vti_buf payload;
static char *sites[SITES];
static uint32_t site_count;

static void check(int code)
{
    if (code < 0) {
        fprintf(stderr, "make_steps: %s\n", vti_error_message(code));
        exit(1);
    }
}

static void write_facts(enum vti_kind kind)
{
    check(vti_writer_facts(writer, kind, &payload, 1, 0, 0));
    vti_buf_clear(&payload);
}

static void begin(void)
{
    struct vti_anchor anchor = {1000000000, 1000000000, 1700000000000000000, 40};

    vti_host_write(&payload,
                   &(struct vti_host_fact){0, vti_bytes_of("alpha"), vti_bytes_of("Linux"),
                                           vti_bytes_of("CPU"), 8});
    write_facts(VTI_HOST);
    vti_clock_write(&payload, &(struct vti_clock_fact){0, 0, VTI_CLOCK_MONOTONIC_NS, 1, &anchor});
    write_facts(VTI_CLOCK);
    vti_process_write(&payload, &(struct vti_process_fact){.process = 0,
                                                           .pid = 4711,
                                                           .start = 1000000000,
                                                           .name = vti_bytes_of("steps")});
    write_facts(VTI_PROCESS);
}

static uint32_t site_of(char **fields)
{
    char key[1024];

    snprintf(key, sizeof key, "%s\t%s\t%s", fields[5], fields[6], fields[7]);
    for (uint32_t i = 0; i < site_count; i++)
        if (!strcmp(sites[i], key))
            return 900 + i;
    if (site_count == SITES || !(sites[site_count] = strdup(key)))
        exit(1);
    vti_site_write(&payload, &(struct vti_site_fact){.site = 900 + site_count,
                                                     .type = VTI_SITE_STEP,
                                                     .name = vti_bytes_of(fields[5]),
                                                     .function = vti_bytes_of(fields[6]),
                                                     .unit = vti_bytes_of(fields[7])});
    write_facts(VTI_SITES);
    return 900 + site_count++;
}

static struct vti_step_fact step_of(char *line, uint64_t number)
{
    char *fields[FIELDS];
    uint64_t flags;

    for (int i = 0; i < FIELDS; i++) {
        fields[i] = i + 1 < FIELDS ? strsep(&line, "\t") : line;
        if (!fields[i]) {
            fprintf(stderr, "make_steps: a line has %d fields\n", i);
            exit(1);
        }
    }
    flags = strtoull(fields[3], NULL, 10);
    return (struct vti_step_fact){.type = VTI_STEP_DONE,
                                  .site = site_of(fields),
                                  .number = number,
                                  .sent = strtoull(fields[0], NULL, 10),
                                  .received = strtoull(fields[1], NULL, 10),
                                  .execute_ns = strtoull(fields[2], NULL, 10),
                                  .is_failed = flags & 1,
                                  .is_metrics = flags & 2,
                                  .messages = strtoull(fields[4], NULL, 10),
                                  .pre_ns = VTI_STEP_UNKNOWN,
                                  .post_ns = VTI_STEP_UNKNOWN,
                                  .produce_ns = VTI_STEP_UNKNOWN,
                                  .lag_ns = VTI_STEP_LAG_UNKNOWN,
                                  .extra = vti_bytes_of(strdup(fields[8]))};
}

static void write_block(const struct vti_step_fact *facts, uint32_t count)
{
    struct vti_steps_head head = {facts[0].sent, (int64_t)facts[0].sent, 1.0};
    struct vti_step_codec codec = {0};

    vti_steps_head_write(&payload, &head);
    for (uint32_t i = 0; i < count; i++) {
        vti_step_write(&payload, &codec, &facts[i]);
        free((char *)(uintptr_t)facts[i].extra.data);
    }
    check(vti_writer_owned(writer, VTI_STEPS, 0, &payload, count, facts[count - 1].sent));
    vti_buf_clear(&payload);
    vti_step_codec_fini(&codec);
}

static void write_steps(void)
{
    static struct vti_step_fact facts[BLOCK];
    char *line = NULL;
    size_t room = 0;
    ssize_t len;
    uint64_t number = 0;
    uint32_t count = 0;

    while ((len = getline(&line, &room, stdin)) > 0) {
        if (line[len - 1] == '\n')
            line[len - 1] = 0;
        facts[count++] = step_of(line, ++number);
        if (count == BLOCK) {
            write_block(facts, count);
            count = 0;
        }
    }
    if (count)
        write_block(facts, count);
    free(line);
}

int main(int argc, char **argv)
{
    struct vti_writer_stats stats;
    int is_open = 0;
    uint64_t lost = 0;
    int fd = argc > 1 ? open(argv[1], O_RDWR | O_CREAT | O_TRUNC, 0600) : -1;

    for (int i = 2; i < argc; i++) {
        is_open |= !strcmp(argv[i], "--open");
        if (!strcmp(argv[i], "--lost") && i + 1 < argc)
            lost = strtoull(argv[i + 1], NULL, 10);
    }
    if (fd < 0)
        return 2;
    check(vti_writer_create(&writer, fd, argv[1]));
    begin();
    write_steps();
    if (lost)
        check(vti_writer_loss(writer, &(struct vti_loss_fact){.reason = VTI_LOSS_STEPS,
                                                              .process_plus_one = 1,
                                                              .events = lost,
                                                              .first = 1000000000,
                                                              .last = 1000000001}));
    if (is_open) {
        check(vti_writer_flush(writer));
        vti_writer_abandon(writer);
    } else {
        check(vti_writer_close(writer, &stats));
    }
    vti_buf_fini(&payload);
    while (site_count)
        free(sites[--site_count]);
    return 0;
}
