/* test_csv.c - fields are quoted when they must be, and only then; numbers as text. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/csv.h"

#include <math.h>
#include <string.h>

static void expect_field(const char *text, size_t len, const char *wanted)
{
    struct vti_buf out = {0};

    vti_csv_text(&out, text, len);
    assert_int_equal(out.len, strlen(wanted));
    if (out.len)
        assert_memory_equal(out.data, wanted, out.len);
    vti_buf_fini(&out);
}

static void test_plain(void **state)
{
    (void)state;
    expect_field("", 0, "");
    expect_field("load alerts", 11, "load alerts");
    expect_field("caf\xc3\xa9", 5, "caf\xc3\xa9");
    expect_field("'; drop", 7, "'; drop");
}

static void test_bad_utf8_is_replaced(void **state)
{
    (void)state;
    expect_field("a\xff"
                 "b",
                 3,
                 "a\xef\xbf\xbd"
                 "b");
    expect_field("\xc3\"\xa9", 3, "\"\xef\xbf\xbd\"\"\xef\xbf\xbd\"");
}

static void test_quoted(void **state)
{
    (void)state;
    expect_field("a,b", 3, "\"a,b\"");
    expect_field("a\nb", 3, "\"a\nb\"");
    expect_field("a\rb", 3, "\"a\rb\"");
    expect_field("\"", 1, "\"\"\"\"");
    expect_field("say \"hi\"", 8, "\"say \"\"hi\"\"\"");
    expect_field(" a", 2, "\" a\"");
    expect_field("a ", 2, "\"a \"");
}

static void test_formulas_are_text(void **state)
{
    (void)state;
    expect_field("=1+1", 4, "'=1+1");
    expect_field("+1", 2, "'+1");
    expect_field("-1", 2, "'-1");
    expect_field("@A1", 3, "'@A1");
    expect_field("\t=1", 3, "'\t=1");
    expect_field("\r=1", 3, "\"'\r=1\"");
    expect_field("=a,\"b\"", 6, "\"'=a,\"\"b\"\"\"");
    expect_field("a=1", 3, "a=1");
    expect_field("'=1", 3, "'=1");
}

static void test_numbers(void **state)
{
    const double values[] = {-0.5, 1e300, NAN, INFINITY, -INFINITY};
    struct vti_buf out = {0};

    (void)state;
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        vti_csv_double(&out, values[i]);
        vti_buf_add_u8(&out, ',');
    }
    vti_buf_add_u8(&out, 0);
    assert_string_equal((const char *)out.data, "-0.5,1e+300,,,,");
    vti_buf_fini(&out);
}

static void test_decimals(void **state)
{
    struct vti_buf out = {0};

    (void)state;
    vti_buf_add_decimal(&out, 0);
    vti_buf_add_u8(&out, ' ');
    vti_buf_add_decimal(&out, INT64_MIN);
    vti_buf_add_u8(&out, ' ');
    vti_buf_add_decimal(&out, 1234567);
    vti_buf_add_u8(&out, ' ');
    vti_buf_add_decimal_u(&out, UINT64_MAX);
    vti_buf_add_u8(&out, 0);
    assert_string_equal((const char *)out.data,
                        "0 -9223372036854775808 1234567 18446744073709551615");
    vti_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_plain),
        cmocka_unit_test(test_quoted),
        cmocka_unit_test(test_bad_utf8_is_replaced),
        cmocka_unit_test(test_formulas_are_text),
        cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_decimals),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
