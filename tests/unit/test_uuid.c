/* test_uuid.c - ids and their text: what is an id, and what other texts become. */
#include "base/uuid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char plain[] = "f12e75d5-5d59-4cbc-b74d-357f19290dd7";

static void expect(const char *given, bool is_itself, const char *wanted)
{
    uint8_t id[VTI_UUID];
    char text[VTI_UUID_TEXT];

    assert_int_equal(vti_uuid_parse(id, given, strlen(given)), is_itself);
    vti_uuid_text(id, text);
    assert_string_equal(text, wanted);
}

static void test_forms_of_one_id(void **state)
{
    (void)state;
    expect(plain, true, plain);
    expect("F12E75D5-5D59-4CBC-B74D-357F19290DD7", true, plain);
    expect("f12e75d55d594cbcb74d357f19290dd7", true, plain);
    expect("{f12e75d5-5d59-4cbc-b74d-357f19290dd7}", true, plain);
    expect("urn:uuid:f12e75d5-5d59-4cbc-b74d-357f19290dd7", true, plain);
    expect("b74d357f19290dd7", true, "00000000-0000-0000-b74d-357f19290dd7");
}

/* Written into recordings: these may never change. */
static void test_other_texts(void **state)
{
    (void)state;
    expect("", false, "9ca066f1-a4ab-8eea-a4b5-720b4b825f21");
    expect("trace-1", false, "97d7879d-bfea-8871-be78-5af19d942ee5");
    expect("trace-2", false, "ad53a7e1-c982-874d-be26-e3c27a646c1d");
    expect("a?>\xc3\xbf~~~", false, "f744363f-1418-8bad-8805-a90c6d1eebdf");
    expect("f12e75d5-5d59-4cbc-b74d-357f19290dd", false, "0ea91e1e-2f01-8a08-a0f5-9025903df983");
    expect("f12e75d5-5d59-4cbc-b74d-357f19290dd77", false, "76caefb8-35d1-8917-821f-813b03f7aecd");
    expect("f12e75d5-5d59-4cbc-b74d-357f19290dg7", false, "bde0ec05-e295-8381-9c49-08750b8d3876");
}

static int compare(const void *a, const void *b)
{
    return memcmp(a, b, 8);
}

/* Links are by the lower half: that alone must tell texts apart. */
static void test_texts_do_not_meet(void **state)
{
    enum { COUNT = 20000 };
    uint8_t(*halves)[8] = malloc(COUNT * sizeof *halves);
    uint8_t id[VTI_UUID];

    (void)state;
    assert_non_null(halves);
    for (uint32_t i = 0; i < COUNT; i++) {
        char text[9] = "span-";

        text[5] = (char)('!' + i % 90);
        text[6] = (char)('!' + i / 90 % 90);
        text[7] = (char)('!' + i / 8100);
        vti_uuid_parse(id, text, 8);
        memcpy(halves[i], id + 8, 8);
    }
    qsort(halves, COUNT, sizeof *halves, compare);
    for (uint32_t i = 1; i < COUNT; i++)
        assert_memory_not_equal(halves[i - 1], halves[i], 8);
    free(halves);
}

static void test_short(void **state)
{
    uint8_t id[VTI_UUID];
    char hex[VTI_UUID_HEX];

    (void)state;
    vti_uuid_parse(id, plain, strlen(plain));
    assert_true(vti_uuid_short(id) == 0xb74d357f19290dd7u);
    vti_uuid_hex(id, hex);
    assert_string_equal(hex, "f12e75d55d594cbcb74d357f19290dd7");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_forms_of_one_id),
        cmocka_unit_test(test_other_texts),
        cmocka_unit_test(test_texts_do_not_meet),
        cmocka_unit_test(test_short),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
