/* test_protobuf.c - fields, nesting, and strings that are no UTF-8, byte by byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/protobuf.h"

#include <string.h>

static struct vti_buf out;

static int setup(void **state)
{
    (void)state;
    vti_buf_clear(&out);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    vti_buf_fini(&out);
    return 0;
}

#define EXPECT(...)                                                                                \
    do {                                                                                           \
        static const uint8_t wanted[] = {__VA_ARGS__};                                             \
        assert_false(out.failed);                                                                  \
        assert_int_equal(out.len, sizeof wanted);                                                  \
        assert_memory_equal(out.data, wanted, sizeof wanted);                                      \
    } while (0)

static void test_varint(void **state)
{
    (void)state;
    vti_proto_varint(&out, 1, 150);
    vti_proto_varint(&out, 16, 0);
    vti_proto_varint(&out, 2, (uint64_t)-1);
    EXPECT(0x08, 0x96, 0x01, 0x80, 0x01, 0x00, 0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
           0xff, 0x01);
}

static void test_fixed64_and_double(void **state)
{
    (void)state;
    vti_proto_fixed64(&out, 47, 0x0102030405060708);
    vti_proto_double(&out, 5, 1.0);
    EXPECT(0xf9, 0x02, 8, 7, 6, 5, 4, 3, 2, 1, 0x29, 0, 0, 0, 0, 0, 0, 0xf0, 0x3f);
}

static void test_strings(void **state)
{
    (void)state;
    vti_proto_string(&out, 2, "testing", 7);
    vti_proto_string(&out, 2, "", 0);
    vti_proto_bytes(&out, 3, "\xff\x00", 2);
    EXPECT(0x12, 7, 't', 'e', 's', 't', 'i', 'n', 'g', 0x12, 0, 0x1a, 2, 0xff, 0);
}

static void test_bad_utf8_is_replaced(void **state)
{
    (void)state;
    vti_proto_string(&out, 1, "a\xff\xc3\xa9\xe2\x82", 6);
    EXPECT(0x0a, 12, 'a', 0xef, 0xbf, 0xbd, 0xc3, 0xa9, 0xef, 0xbf, 0xbd, 0xef, 0xbf, 0xbd);
}

static void test_nesting(void **state)
{
    size_t outer;
    size_t inner;

    (void)state;
    outer = vti_proto_begin(&out, 3);
    vti_proto_varint(&out, 1, 1);
    inner = vti_proto_begin(&out, 4);
    vti_proto_end(&out, inner);
    inner = vti_proto_begin(&out, 4);
    vti_proto_varint(&out, 1, 2);
    vti_proto_end(&out, inner);
    vti_proto_end(&out, outer);
    EXPECT(0x1a, 8, 0x08, 1, 0x22, 0, 0x22, 2, 0x08, 2);
}

/* The length then takes more than one byte, in front of bytes that are there already. */
static void test_long_message(void **state)
{
    char text[300];
    size_t begin;

    (void)state;
    memset(text, 'x', sizeof text);
    begin = vti_proto_begin(&out, 1);
    vti_proto_string(&out, 2, text, sizeof text);
    vti_proto_end(&out, begin);
    assert_int_equal(out.len, 3 + 3 + sizeof text);
    assert_memory_equal(out.data, "\x0a\xaf\x02\x12\xac\x02xxx", 9);
    assert_int_equal(out.data[out.len - 1], 'x');
}

static void test_failure_sticks(void **state)
{
    size_t begin;

    (void)state;
    out.failed = true;
    begin = vti_proto_begin(&out, 1);
    vti_proto_varint(&out, 1, 1);
    vti_proto_end(&out, begin);
    assert_true(out.failed);
    assert_int_equal(out.len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_varint, setup, teardown),
        cmocka_unit_test_setup_teardown(test_fixed64_and_double, setup, teardown),
        cmocka_unit_test_setup_teardown(test_strings, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_utf8_is_replaced, setup, teardown),
        cmocka_unit_test_setup_teardown(test_nesting, setup, teardown),
        cmocka_unit_test_setup_teardown(test_long_message, setup, teardown),
        cmocka_unit_test_setup_teardown(test_failure_sticks, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
