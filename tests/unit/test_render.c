/* test_render.c - harmless text, numbers with units, tables that fit. */
#include "cli/render.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *safe(const char *text, size_t len)
{
    static struct vti_buf out;

    vti_buf_clear(&out);
    vti_text_safe(&out, text, len);
    vti_buf_add_u8(&out, 0);
    return (const char *)out.data;
}

static void text_cannot_steer_a_terminal(void **state)
{
    (void)state;
    assert_string_equal(safe("plain", 5), "plain");
    assert_string_equal(safe("\033[2J", 4), "\\x1b[2J");
    assert_string_equal(safe("a\nb\tc\rd\a", 8), "a\\nb\\tc\\rd\\a");
    assert_string_equal(safe("nul\0x", 5), "nul\\x00x");
    assert_string_equal(safe("\x7f", 1), "\\x7f");
    assert_string_equal(safe("\xc2\x9b", 2), "\\u009b");     /* CSI as one C1 control */
    assert_string_equal(safe("\xe2\x80\xae", 3), "\\u202e"); /* turns text around */
    assert_string_equal(safe("gr\xc3\xbc\xc3\x9f", 6), "gr\xc3\xbc\xc3\x9f");
    assert_string_equal(safe("\xff\xc3", 2), "\\xff\\xc3");          /* not UTF-8, cut off */
    assert_string_equal(safe("\xed\xa0\x80", 3), "\\xed\\xa0\\x80"); /* a surrogate */
    assert_string_equal(safe("\xc0\xaf", 2), "\\xc0\\xaf");          /* overlong */
}

static void every_byte_is_harmless(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 256; first++)
        for (unsigned second = 0; second < 256; second++) {
            const char pair[2] = {(char)first, (char)second};
            const char *text = safe(pair, 2);

            for (; *text; text++)
                assert_true((unsigned char)*text >= 0x20 && *text != 0x7f);
        }
}

static void width_counts_columns(void **state)
{
    (void)state;
    assert_int_equal(vti_text_width("abc", 3), 3);
    assert_int_equal(vti_text_width("gr\xc3\xbc", 4), 3);
    assert_int_equal(vti_text_width("e\xcc\x81", 3), 1);    /* a combining accent */
    assert_int_equal(vti_text_width("\xe6\xbc\xa2", 3), 2); /* a wide character */
}

static void numbers_have_three_digits(void **state)
{
    char text[VTI_NUMBER_BYTES];

    (void)state;
    assert_string_equal(vti_text_duration(text, 0), "0 ns");
    assert_string_equal(vti_text_duration(text, 812), "812 ns");
    assert_string_equal(vti_text_duration(text, 1234), "1.23 us");
    assert_string_equal(vti_text_duration(text, 12345), "12.3 us");
    assert_string_equal(vti_text_duration(text, 999499), "999 us");
    assert_string_equal(vti_text_duration(text, 999500), "1.00 ms"); /* never "1000 us" */
    assert_string_equal(vti_text_duration(text, 9.996e6), "10.0 ms");
    assert_string_equal(vti_text_duration(text, 2948.326e9), "2948 s");
    assert_string_equal(vti_text_duration(text, -1234), "-1.23 us");
    assert_string_equal(vti_text_bytes(text, 3140000), "3.14 MB");
    assert_string_equal(vti_text_bytes(text, 999), "999 B");
    assert_string_equal(vti_text_count(text, 1200000), "1.20 M");
    assert_string_equal(vti_text_count(text, 17), "17");
    assert_string_equal(vti_text_share(text, 1), "100 %");
    assert_string_equal(vti_text_share(text, 0.999), "over 99 %");
    assert_string_equal(vti_text_share(text, 0.26), "26 %");
    assert_string_equal(vti_text_share(text, 0.00026), "0.026 %");
    assert_string_equal(vti_text_share(text, 1e-9), "below 0.01 %");
    assert_string_equal(vti_text_share(text, 0), "0 %");
}

static const struct vti_column columns[] = {{"Total", VTI_RIGHT},
                                            {"Kind", VTI_LEFT},
                                            {"Name", VTI_LEFT}};

static const char *table_text(unsigned width, const char *const *cells, unsigned count)
{
    static struct vti_buf out;
    struct vti_table *table;

    vti_buf_clear(&out);
    assert_int_equal(vti_table_create(&table, columns, 3), 0);
    for (unsigned i = 0; i < count; i++)
        vti_table_text(table, cells[i]);
    assert_int_equal(vti_table_render(table, &out, width), 0);
    vti_table_free(table);
    vti_buf_add_u8(&out, 0);
    return (const char *)out.data;
}

static void tables_are_aligned(void **state)
{
    const char *const cells[] = {"1", "a", "first", "12345678", "long kind", "second", "3", "", ""};

    (void)state;
    assert_string_equal(table_text(0, cells, 9), "   Total  Kind       Name\n"
                                                 "       1  a          first\n"
                                                 "12345678  long kind  second\n"
                                                 "       3\n");
    assert_string_equal(table_text(0, NULL, 0), "Total  Kind  Name\n");
}

static void long_names_are_shortened(void **state)
{
    const char *const cells[] = {"1", "a", "the-beginning-of-a-name-that-is-too-long-for-it"};

    (void)state;
    assert_string_equal(table_text(44, cells, 3),
                        "Total  Kind  Name\n"
                        "    1  a     the-beginning-o\xe2\x80\xa6too-long-for-it\n");
}

static void narrow_tables_are_stacked(void **state)
{
    const char *const cells[] = {"1", "a", "the-name-of-it-is-long"};

    (void)state;
    assert_string_equal(table_text(30, cells, 3), "Name\n"
                                                  "Total  Kind\n"
                                                  "the-name-of-it-is-long\n"
                                                  "    1  a\n");
}

static void shortening_keeps_characters_whole(void **state)
{
    char name[3 * 60 + 1] = "";
    const char *const cells[] = {"1", "a", name};
    const char *text;

    (void)state;
    for (unsigned i = 0; i < 60; i++)
        memcpy(name + 3 * i, "\xe6\xbc\xa2", 3);
    text = strchr(table_text(50, cells, 3), '\n') + 1;
    assert_true(vti_text_width(text, strlen(text) - 1) <= 50);
    assert_null(strstr(safe(text, strlen(text) - 1), "\\x"));
}

static void cells_are_harmless(void **state)
{
    const char *const cells[] = {"\033[31m1", "a\nb", "x\ry"};

    (void)state;
    assert_string_equal(table_text(0, cells, 3), "    Total  Kind  Name\n"
                                                 "\\x1b[31m1  a\\nb  x\\ry\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_cannot_steer_a_terminal),
        cmocka_unit_test(every_byte_is_harmless),
        cmocka_unit_test(width_counts_columns),
        cmocka_unit_test(numbers_have_three_digits),
        cmocka_unit_test(tables_are_aligned),
        cmocka_unit_test(long_names_are_shortened),
        cmocka_unit_test(narrow_tables_are_stacked),
        cmocka_unit_test(shortening_keeps_characters_whole),
        cmocka_unit_test(cells_are_harmless),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
