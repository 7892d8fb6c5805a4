/* test_store.c - documents, URLs, and what a shipper writes down. */
#include "store/ship_impl.h"
#include "store/store.h"

#include "base/error.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define ID_OF_123 "8fc1f4fa2d361341579dd41e2e330031"

/* One that makes nothing: the state keeps its place. */
static const struct vti_maker one = {.name = "one"};

const struct vti_maker *vti_maker_at(size_t at)
{
    return at ? NULL : &one;
}

static void test_times(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "1970-01-01T00:00:00.000Z"},
        {-1, "1969-12-31T23:59:59.999999999Z"},
        {1500000000, "1970-01-01T00:00:01.500Z"},
        {INT64_C(1709164800) * 1000000000, "2024-02-29T00:00:00.000Z"},
        {INT64_C(1709251199) * 1000000000 + 123456700, "2024-02-29T23:59:59.1234567Z"},
        {INT64_MAX, "2262-04-11T23:47:16.854775807Z"},
        {INT64_MIN, "1677-09-21T00:12:43.145224192Z"},
    };
    char text[VTI_TIME_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_int_equal(vti_time_text(text, cases[i].ns), strlen(cases[i].text));
        assert_string_equal(text, cases[i].text);
    }
}

static void test_ids(void **state)
{
    static const uint8_t recording[VTI_UUID] = {1, 2, 3}, other[VTI_UUID] = {1, 2, 4};
    enum { COUNT = 20000 };
    struct vti_map *seen;
    uint8_t id[VTI_UUID];
    char hex[VTI_UUID_HEX];
    int is_new;

    (void)state;
    assert_int_equal(vti_map_create(&seen), 0);
    for (uint64_t i = 0; i < COUNT; i++) {
        vti_document_id(id, i % 2 ? recording : other, 1, i / 2 % 4, i / 8);
        assert_true(vti_map_add(seen, id, sizeof id, &is_new) >= 0 && is_new);
    }
    vti_map_free(seen);
    /* For good: what is in stores must be found again. */
    vti_document_id(id, recording, 1, 2, 3);
    vti_uuid_hex(id, hex);
    assert_string_equal(hex, ID_OF_123);
}

static void test_index_names(void **state)
{
    struct vti_index_names names = {0};
    const char *first = vti_index_daily(&names, "test_step", "MyStep",
                                        INT64_C(1590105600) * 1000000000);
    char source[16];

    (void)state;
    assert_string_equal(first, "test_step-mystep-20200522");
    assert_string_equal(
        vti_index_daily(&names, "test_step", "MyStep", INT64_C(1590105600) * 1000000000 - 1),
        "test_step-mystep-20200521");
    for (int i = 0; i < 1000; i++) {
        snprintf(source, sizeof source, "S%d", i);
        assert_non_null(vti_index_daily(&names, "p", source, i));
    }
    assert_ptr_equal(
        vti_index_daily(&names, "test_step", "MyStep", INT64_C(1590105601) * 1000000000), first);
    assert_string_equal(vti_index_daily(&names, "", "", 0), "x-19700101");
    /* As Python has them in lower case: \u0130stanbul, \u039f\u03a3\u039f\u03a3, \u03a3\u03a3A1. */
    assert_string_equal(vti_index_daily(&names, "p", "\u0130stanbul", 0),
                        "p-i\u0307stanbul-19700101");
    assert_string_equal(vti_index_daily(&names, "p", "\u039f\u03a3\u039f\u03a3", 0),
                        "p-\u03bf\u03c3\u03bf\u03c2-19700101");
    assert_string_equal(vti_index_daily(&names, "\u03a3", "\u03a3\u03a3A1\u03a3", 0),
                        "\u03c3-\u03c3\u03c3a1\u03c3-19700101");
    assert_string_equal(vti_index_daily(&names, "a\xff", "\xc3\x89", 0), "a_-\xc3\xa9-19700101");
    vti_index_names_fini(&names);
}

static void test_urls(void **state)
{
    struct vti_store_settings settings;
    char *value;

    (void)state;
    assert_int_equal(
        vti_settings_parse(&settings, "Redis+TLS://:p%40w@[::1]:6380/3?ttl=1%20h&x=#y"), 0);
    assert_string_equal(settings.scheme, "redis");
    assert_string_equal(settings.host, "[::1]");
    assert_string_equal(settings.path, "/3");
    assert_string_equal(settings.password, "p@w");
    assert_null(settings.user);
    assert_int_equal(settings.port, 6380);
    assert_true(settings.is_tls);
    assert_string_equal(settings.shown, "redis+https://[::1]:6380/3");
    value = vti_settings_query(&settings, "ttl");
    assert_string_equal(value, "1 h");
    free(value);
    value = vti_settings_query(&settings, "x");
    assert_string_equal(value, "");
    free(value);
    assert_null(vti_settings_query(&settings, "tt"));
    vti_settings_fini(&settings);
    assert_int_equal(vti_settings_parse(&settings, "file:///var/log/x.ndjson"), 0);
    assert_string_equal(settings.host, "");
    assert_string_equal(settings.path, "/var/log/x.ndjson");
    vti_settings_fini(&settings);
    assert_int_equal(vti_settings_parse(&settings, "nothing"), VTI_E_USAGE);
    vti_settings_fini(&settings);
}

static void test_state(void **state)
{
    static const uint8_t id[VTI_UUID] = {0xab}, other[VTI_UUID] = {0xcd};
    char path[] = "/tmp/test_store_XXXXXX";
    struct vti_ship_state kept;
    struct vti_ship_file *file;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
    assert_int_equal(vti_ship_state_load(&kept, path), 0);
    file = vti_ship_state_file(&kept, "a b.vt", id);
    file->sent = UINT64_MAX;
    file->is_done = true;
    file->at[0].words[3] = 7;
    kept.counts.dead = 3;
    kept.dead_bytes = 99;
    assert_int_equal(vti_ship_state_save(&kept, "here"), 0);
    vti_ship_state_fini(&kept);
    assert_int_equal(vti_ship_state_load(&kept, path), 0);
    file = vti_ship_state_find(&kept, "a b.vt");
    assert_true(file && file->is_done && file->sent == UINT64_MAX && file->at[0].words[3] == 7);
    assert_memory_equal(file->id, id, sizeof id);
    assert_true(kept.counts.dead == 3 && kept.dead_bytes == 99);
    /* Another recording under the name begins at its start. */
    file = vti_ship_state_file(&kept, "a b.vt", other);
    assert_true(file && !file->is_done && !file->sent && !file->at[0].words[3]);
    vti_ship_state_fini(&kept);
    assert_int_equal(truncate(path, 20), 0);
    assert_int_equal(vti_ship_state_load(&kept, path), VTI_E_DAMAGED);
    assert_int_equal(kept.count, 0);
    vti_ship_state_fini(&kept);
    unlink(path);
}

static void test_spool_names(void **state)
{
    (void)state;
    assert_true(vti_spool_is_name("20261116T230506.123456Z-1a2b3c4d5e6f-000001.vt"));
    assert_true(vti_spool_is_name("20261116T230506.123456Z-1a2b3c4d5e6f-1000001.vt"));
    assert_false(vti_spool_is_name("20261116T230506.123456Z-1a2b3c4d5e6f-00001.vt"));
    assert_false(vti_spool_is_name("20261116T230506.123456Z-1a2b3c4d5e6f-000001.vtx"));
    assert_false(vti_spool_is_name("20261116t230506.123456Z-1a2b3c4d5e6f-000001.vt"));
    assert_false(vti_spool_is_name("night.vt"));
    assert_false(vti_spool_is_name(""));
}

static void test_fates(void **state)
{
    struct vti_batch batch = {0};
    struct vti_document *document;
    char longest[2000];
    size_t size;

    (void)state;
    for (int i = 0; i < 3; i++) {
        size_t at = batch.text.len;

        vti_buf_add_text(&batch.text, "{}");
        assert_non_null(vti_batch_add(&batch, VTI_DOCUMENT_STEP, at));
    }
    memset(longest, 'x', sizeof longest - 1);
    longest[sizeof longest - 1] = 0;
    memcpy(longest, "a\nb\x1b\xff", 5);
    document = batch.documents;
    assert_string_equal(vti_batch_reason(&batch, document), "");
    vti_batch_dead(&batch, document, 400, longest);
    assert_int_equal(strncmp(vti_batch_reason(&batch, document), "a b \xef\xbf\xbdxxx", 10), 0);
    assert_true(strlen(vti_batch_reason(&batch, document)) < 510);
    vti_batch_done(&batch, document + 1);
    assert_int_equal(vti_batch_waiting(&batch), 1);
    vti_batch_later(&batch, document + 2, 429, "busy");
    size = batch.reasons.len;
    for (int i = 0; i < 100; i++)
        vti_batch_later(&batch, document + 2, 429, "busy");
    assert_int_equal(batch.reasons.len,
                     size); /* one that is busy for long does not fill the memory */
    assert_int_equal(document[2].tries, 101);
    vti_batch_fini(&batch);
}

/* Anything up to a limit that doubles, and is never more than what was asked for. */
static void test_backoff(void **state)
{
    (void)state;
    for (unsigned try = 0; try < 40; try++) {
        uint64_t limit = try < 7 ? (uint64_t)500 <<
        try:
            60000;
        uint64_t sum = 0;
        unsigned least = UINT_MAX, most = 0;

        limit = limit < 60000 ? limit : 60000;
        for (int i = 0; i < 2000; i++) {
            unsigned wait = vti_ship_backoff(try, 60000);

            assert_in_range(wait, 1, limit);
            sum += wait;
            least = wait < least ? wait : least;
            most = wait > most ? wait : most;
        }
        /* Of an even spread: the mean is 30 standard errors away from these, both ends are met. */
        assert_in_range(sum / 2000, limit * 4 / 10, limit * 6 / 10);
        assert_true(least < limit / 10 && most > limit * 9 / 10);
    }
    assert_int_equal(vti_ship_backoff(3, 0), 1);
    assert_in_range(vti_ship_backoff(UINT_MAX, 5), 1, 5);
}

/* Shippers that were started together, one of them the copy of the other, do not come back together. */
static void test_backoff_of_others(void **state)
{
    unsigned own[16], others[16];
    int ends[2], status;
    pid_t child;

    (void)state;
    assert_int_equal(pipe(ends), 0);
    child = fork();
    for (size_t i = 0; i < 16; i++)
        own[i] = vti_ship_backoff(20, 60000);
    if (!child)
        _exit(write(ends[1], own, sizeof own) != (ssize_t)sizeof own);
    assert_int_equal(read(ends[0], others, sizeof others), sizeof others);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_memory_not_equal(own, others, sizeof own);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_times),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_index_names),
        cmocka_unit_test(test_urls),
        cmocka_unit_test(test_state),
        cmocka_unit_test(test_spool_names),
        cmocka_unit_test(test_fates),
        cmocka_unit_test(test_backoff),
        cmocka_unit_test(test_backoff_of_others),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
