/* test_facts.c - every kind of fact round-trips, and is refused when cut anywhere. */
#include "base/error.h"
#include "format/facts.h"
#include "format/resources.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct vti_bytes text(const char *bytes, size_t len)
{
    return (struct vti_bytes){bytes, len};
}

static void assert_text(struct vti_bytes found, const char *bytes, size_t len)
{
    assert_int_equal(found.len, len);
    assert_memory_equal(found.data, bytes, len);
}

/* A fact that lost its last byte, or any more of them, does not parse. The copy has no byte to spare,
 * so that a sanitizer sees a read beyond it. */
#define ASSERT_CUTS(out, read, fact)                                                               \
    for (size_t left_ = 0; left_ < (out)->len; left_++) {                                          \
        uint8_t *copy = malloc(left_ + 1);                                                         \
        struct vti_reader in;                                                                      \
                                                                                                   \
        assert_non_null(copy);                                                                     \
        memcpy(copy + 1, (out)->data, left_);                                                      \
        vti_reader_init(&in, copy + 1, left_);                                                     \
        assert_false(read(&in, fact));                                                             \
        free(copy);                                                                                \
    }

#define ASSERT_READ(out, read, fact)                                                               \
    do {                                                                                           \
        struct vti_reader whole;                                                                   \
                                                                                                   \
        assert_false((out)->failed);                                                               \
        vti_reader_init(&whole, (out)->data, (out)->len);                                          \
        assert_true(read(&whole, fact));                                                           \
        assert_int_equal(vti_reader_left(&whole), 0);                                              \
    } while (0)

static void meta(void **state)
{
    struct vti_meta_fact fact = {vti_bytes_of("command"), text("cc\0-o\0x y", 9)};
    struct vti_meta_fact cut;
    struct vti_buf out = {0};

    (void)state;
    vti_meta_write(&out, &fact);
    assert_int_equal(out.len, 1 + 7 + 1 + 9);
    memset(&fact, 0, sizeof fact);
    ASSERT_READ(&out, vti_meta_read, &fact);
    assert_text(fact.key, "command", 7);
    assert_text(fact.value, "cc\0-o\0x y", 9);
    ASSERT_CUTS(&out, vti_meta_read, &cut);
    vti_buf_fini(&out);
}

static void host(void **state)
{
    struct vti_host_fact fact = {3, vti_bytes_of("node7"), vti_bytes_of("Linux"),
                                 vti_bytes_of("EPYC"), 128};
    struct vti_host_fact cut;
    struct vti_buf out = {0};

    (void)state;
    vti_host_write(&out, &fact);
    memset(&fact, 0, sizeof fact);
    ASSERT_READ(&out, vti_host_read, &fact);
    assert_int_equal(fact.host, 3);
    assert_text(fact.name, "node7", 5);
    assert_text(fact.os, "Linux", 5);
    assert_text(fact.cpu, "EPYC", 4);
    assert_int_equal(fact.cpu_count, 128);
    ASSERT_CUTS(&out, vti_host_read, &cut);
    vti_buf_fini(&out);
}

static void process(void **state)
{
    struct vti_process_fact fact = {
        .process = 1,
        .host = 2,
        .domain = 3,
        .pid = 4000000,
        .parent_pid = 1,
        .parent_plus_one = UINT32_MAX,
        .start = UINT64_MAX - 1,
        .end = UINT64_MAX,
        .how = VTI_ENDED_SIGNAL,
        .status = 9,
        .name = vti_bytes_of("step"),
        .command = text("step\0alerts", 11),
        .pair_millis = 55000,
        .inner_millis = 27000,
    };
    struct vti_process_fact read;
    struct vti_process_fact cut;
    struct vti_buf out = {0};

    (void)state;
    vti_process_write(&out, &fact);
    ASSERT_READ(&out, vti_process_read, &read);
    assert_int_equal(read.process, 1);
    assert_int_equal(read.host, 2);
    assert_int_equal(read.domain, 3);
    assert_int_equal(read.pid, 4000000);
    assert_int_equal(read.parent_pid, 1);
    assert_int_equal(read.parent_plus_one, UINT32_MAX);
    assert_int_equal(read.start, UINT64_MAX - 1);
    assert_int_equal(read.end, UINT64_MAX);
    assert_int_equal(read.how, VTI_ENDED_SIGNAL);
    assert_int_equal(read.status, 9);
    assert_text(read.name, "step", 4);
    assert_text(read.command, "step\0alerts", 11);
    assert_int_equal(read.pair_millis, 55000);
    assert_int_equal(read.inner_millis, 27000);
    ASSERT_CUTS(&out, vti_process_read, &cut);
    vti_buf_fini(&out);
}

static void track(void **state)
{
    struct vti_track_fact fact = {9, 8, 1, 12345, 100, 200, vti_bytes_of("worker/3")};
    struct vti_track_fact cut;
    struct vti_buf out = {0};

    (void)state;
    vti_track_write(&out, &fact);
    memset(&fact, 0, sizeof fact);
    ASSERT_READ(&out, vti_track_read, &fact);
    assert_int_equal(fact.track, 9);
    assert_int_equal(fact.process, 8);
    assert_int_equal(fact.type, 1);
    assert_int_equal(fact.tid, 12345);
    assert_int_equal(fact.start, 100);
    assert_int_equal(fact.end, 200);
    assert_text(fact.name, "worker/3", 8);
    ASSERT_CUTS(&out, vti_track_read, &cut);
    vti_buf_fini(&out);
}

static bool read_clock(struct vti_reader *in, struct vti_anchor anchors[2])
{
    struct vti_clock_fact fact;

    if (!vti_clock_read(in, &fact) || fact.anchor_count != 2)
        return false;
    return vti_anchor_read(in, &anchors[0]) && vti_anchor_read(in, &anchors[1]);
}

static void clock_anchors(void **state)
{
    const struct vti_anchor anchors[2] = {{1000, 2000, 3000, 50}, {UINT64_MAX, 1, 2, UINT32_MAX}};
    struct vti_clock_fact fact = {1, 2, VTI_CLOCK_ARM, 2, anchors};
    struct vti_anchor read[2];
    struct vti_clock_fact head;
    struct vti_reader in;
    struct vti_buf out = {0};

    (void)state;
    vti_clock_write(&out, &fact);
    assert_int_equal(out.len, 4 + 2 * 28);
    vti_reader_init(&in, out.data, out.len);
    assert_true(vti_clock_read(&in, &head));
    assert_int_equal(head.domain, 1);
    assert_int_equal(head.host, 2);
    assert_int_equal(head.type, VTI_CLOCK_ARM);
    assert_int_equal(head.anchor_count, 2);
    assert_null(head.anchors);
    ASSERT_READ(&out, read_clock, read);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(read[i].ticks, anchors[i].ticks);
        assert_int_equal(read[i].monotonic_ns, anchors[i].monotonic_ns);
        assert_int_equal(read[i].realtime_ns, anchors[i].realtime_ns);
        assert_int_equal(read[i].error_ns, anchors[i].error_ns);
    }
    ASSERT_CUTS(&out, read_clock, read);
    vti_buf_fini(&out);
}

/* A number of anchors that the block cannot hold is refused at once. */
static void clock_lies(void **state)
{
    struct vti_clock_fact fact = {1, 1, VTI_CLOCK_TSC, 0, NULL};
    struct vti_reader in;
    struct vti_buf out = {0};

    (void)state;
    vti_clock_write(&out, &fact);
    out.len--;
    vti_buf_add_varint(&out, UINT32_MAX);
    vti_buf_add_zeros(&out, 100);
    vti_reader_init(&in, out.data, out.len);
    assert_false(vti_clock_read(&in, &fact));
    vti_buf_fini(&out);
}

static void clock_link(void **state)
{
    struct vti_clock_link_fact fact = {1, 2, -1234567890123, 800};
    struct vti_clock_link_fact cut;
    struct vti_buf out = {0};

    (void)state;
    vti_clock_link_write(&out, &fact);
    memset(&fact, 0, sizeof fact);
    ASSERT_READ(&out, vti_clock_link_read, &fact);
    assert_int_equal(fact.a, 1);
    assert_int_equal(fact.b, 2);
    assert_true(fact.offset_ns == -1234567890123);
    assert_int_equal(fact.error_ns, 800);
    ASSERT_CUTS(&out, vti_clock_link_read, &cut);
    vti_buf_fini(&out);
}

static void site(void **state)
{
    struct vti_site_fact fact = {
        300, VTI_SITE_COUNTER,     vti_bytes_of("queue"), vti_bytes_of(NULL), vti_bytes_of("a/b.c"),
        77,  vti_bytes_of("bytes")};
    struct vti_site_fact cut;
    struct vti_buf out = {0};

    (void)state;
    vti_site_write(&out, &fact);
    memset(&fact, 0, sizeof fact);
    ASSERT_READ(&out, vti_site_read, &fact);
    assert_int_equal(fact.site, 300);
    assert_int_equal(fact.type, VTI_SITE_COUNTER);
    assert_text(fact.name, "queue", 5);
    assert_text(fact.function, "", 0);
    assert_text(fact.file, "a/b.c", 5);
    assert_int_equal(fact.line, 77);
    assert_text(fact.unit, "bytes", 5);
    ASSERT_CUTS(&out, vti_site_read, &cut);
    vti_buf_fini(&out);
}

static void loss(void **state)
{
    struct vti_loss_fact fact = {VTI_LOSS_DISK, 0, 5, 1u << 30, 10, UINT64_MAX, 1};
    struct vti_loss_fact cut;
    struct vti_buf out = {0};

    (void)state;
    vti_loss_write(&out, &fact);
    memset(&fact, 0, sizeof fact);
    ASSERT_READ(&out, vti_loss_read, &fact);
    assert_int_equal(fact.reason, 3);
    assert_int_equal(fact.process_plus_one, 0);
    assert_int_equal(fact.track_plus_one, 5);
    assert_int_equal(fact.events, 1u << 30);
    assert_int_equal(fact.first, 10);
    assert_int_equal(fact.last, UINT64_MAX);
    assert_int_equal(fact.flags, 1);
    ASSERT_CUTS(&out, vti_loss_read, &cut);
    vti_buf_fini(&out);
}

/* Ids are 32 bits; a longer number is damage, not another id. */
static void ids_are_bounded(void **state)
{
    struct vti_track_fact fact;
    struct vti_reader in;
    struct vti_buf out = {0};

    (void)state;
    vti_buf_add_varint(&out, (uint64_t)UINT32_MAX + 1);
    vti_buf_add_zeros(&out, 32);
    vti_reader_init(&in, out.data, out.len);
    assert_false(vti_track_read(&in, &fact));
    vti_buf_fini(&out);
}

static void test_resources(void **state)
{
    struct vti_resource_fact process = {.type = VTI_RESOURCE_PROCESS,
                                        .tree = 1,
                                        .number = 2,
                                        .host = 3,
                                        .domain = 4,
                                        .process_plus_one = 5,
                                        .parent = 6,
                                        .pid = 7,
                                        .start = 8,
                                        .end = 9,
                                        .name = {"cc1", 3},
                                        .command = {"cc1\0-O2", 7}};
    struct vti_resource_fact reading = {.type = VTI_RESOURCE_READING,
                                        .number = 2,
                                        .ticks = UINT64_MAX,
                                        .known = 1u << VTI_RESOURCE_CPU_NS |
                                                 1u << VTI_RESOURCE_AVAILABLE_BYTES};
    struct vti_resource_fact got;
    struct vti_buf out = {0};
    struct vti_reader in;

    (void)state;
    reading.values[VTI_RESOURCE_CPU_NS] = 1;
    reading.values[VTI_RESOURCE_AVAILABLE_BYTES] = UINT64_MAX;
    vti_resource_write(&out, &process);
    vti_buf_add(&out, "\x09\x02zz", 4); /* of a later version */
    vti_resource_write(&out, &reading);
    vti_reader_init(&in, out.data, out.len);
    assert_true(vti_resource_read(&in, &got));
    assert_int_equal(got.pid, 7);
    assert_int_equal(got.end, 9);
    assert_int_equal(got.parent, 6);
    assert_memory_equal(got.command.data, "cc1\0-O2", 7);
    assert_true(vti_resource_read(&in, &got));
    assert_int_equal(got.type, 9);
    assert_true(vti_resource_read(&in, &got));
    assert_int_equal(got.known, reading.known);
    assert_memory_equal(got.values, reading.values, sizeof got.values);
    assert_int_equal(vti_reader_left(&in), 0);
    for (size_t len = 0; len < out.len; len++) { /* cut off anywhere: no read beyond, no crash */
        vti_reader_init(&in, out.data, len);
        while (vti_resource_read(&in, &got))
            ;
        assert_true(in.failed || vti_reader_left(&in) == 0);
    }
    vti_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(meta),           cmocka_unit_test(host),
        cmocka_unit_test(process),        cmocka_unit_test(track),
        cmocka_unit_test(clock_anchors),  cmocka_unit_test(clock_lies),
        cmocka_unit_test(clock_link),     cmocka_unit_test(site),
        cmocka_unit_test(loss),           cmocka_unit_test(ids_are_bounded),
        cmocka_unit_test(test_resources),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
