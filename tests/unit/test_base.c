/* test_base.c - buffers, numbers, checksum, hash map, JSON and output files. */
#include "base/buf.h"
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "base/varint.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* ---- buf --------------------------------------------------------------------------------------------- */

static void buf_appends(void **state)
{
    static const uint8_t expected[] = {1,  2,  3, 4,    5, 6, 7, 8,   9,   10, 11,  12,  13,
                                       14, 15, 0, 0xac, 2, 3, 2, 'h', 'i', 0,  'x', '4', '2'};
    struct vti_buf buf;

    (void)state;
    vti_buf_init(&buf);
    vti_buf_add_u8(&buf, 1);
    vti_buf_add_u16(&buf, 0x0302);
    vti_buf_add_u32(&buf, 0x07060504);
    vti_buf_add_u64(&buf, 0x0f0e0d0c0b0a0908);
    vti_buf_add_zeros(&buf, 1);
    vti_buf_add_varint(&buf, 300);
    vti_buf_add_signed(&buf, -2);
    vti_buf_add_string(&buf, "hi");
    vti_buf_add_string(&buf, NULL);
    vti_buf_add_text(&buf, "x");
    vti_buf_printf(&buf, "%d", 42);
    assert_false(buf.failed);
    assert_int_equal(buf.len, sizeof expected);
    assert_memory_equal(buf.data, expected, sizeof expected);
    vti_buf_fini(&buf);
    assert_null(buf.data);
}

static void buf_grows(void **state)
{
    struct vti_buf buf = {0};
    char line[16];

    (void)state;
    vti_buf_add(&buf, "", 0); /* nothing to an empty buffer */
    assert_int_equal(buf.len, 0);
    assert_false(buf.failed);
    for (int i = 0; i < 10000; i++)
        vti_buf_printf(&buf, "%06d\n", i);
    assert_int_equal(buf.len, 70000);
    for (int i = 0; i < 10000; i++) {
        snprintf(line, sizeof line, "%06d\n", i);
        assert_memory_equal(buf.data + 7 * i, line, 7);
    }
    vti_buf_fini(&buf);
}

/* A failed append leaves the contents, and later ones do nothing. */
static void buf_fails_once_and_for_all(void **state)
{
    struct vti_buf buf = {0};

    (void)state;
    vti_buf_add_text(&buf, "kept");
    assert_null(vti_buf_reserve(&buf, SIZE_MAX));
    assert_true(buf.failed);
    vti_buf_add_u8(&buf, 1);
    assert_int_equal(buf.len, 4);
    assert_memory_equal(buf.data, "kept", 4);
    vti_buf_clear(&buf);
    vti_buf_add_u8(&buf, 1);
    assert_int_equal(buf.len, 1);
    assert_false(buf.failed);
    vti_buf_fini(&buf);
}

/* ---- bytes and varint ----------------------------------------------------------------------------------- */

static void fixed_numbers(void **state)
{
    uint8_t bytes[8];

    (void)state;
    vti_put_u16(bytes, 0xfedc);
    assert_memory_equal(bytes, "\xdc\xfe", 2);
    assert_int_equal(vti_get_u16(bytes), 0xfedc);
    vti_put_u32(bytes, 0xfedcba98);
    assert_memory_equal(bytes, "\x98\xba\xdc\xfe", 4);
    assert_int_equal(vti_get_u32(bytes), 0xfedcba98);
    vti_put_u64(bytes, 0xfedcba9876543210);
    assert_memory_equal(bytes, "\x10\x32\x54\x76\x98\xba\xdc\xfe", 8);
    assert_int_equal(vti_get_u64(bytes), 0xfedcba9876543210);
}

static void sums_do_not_wrap(void **state)
{
    (void)state;
    assert_true(vti_add_capped(0, 0) == 0 && vti_add_capped(2, 3) == 5);
    assert_true(vti_add_capped(UINT64_MAX - 1, 1) == UINT64_MAX);
    assert_true(vti_add_capped(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(vti_add_capped(UINT64_MAX, UINT64_MAX) == UINT64_MAX);
}

static void reader_is_bounded(void **state)
{
    static const uint8_t bytes[] = {1,  2,  3,  4,  5,  6, 7,   8,   9,   10,
                                    11, 12, 13, 14, 15, 3, 'a', 'b', 'c', 9};
    struct vti_reader in;
    size_t len;

    (void)state;
    vti_reader_init(&in, bytes, sizeof bytes);
    assert_int_equal(vti_reader_u8(&in), 1);
    assert_int_equal(vti_reader_u16(&in), 0x0302);
    assert_int_equal(vti_reader_u32(&in), 0x07060504);
    assert_int_equal(vti_reader_u64(&in), 0x0f0e0d0c0b0a0908);
    assert_memory_equal(vti_reader_string(&in, &len), "abc", 3);
    assert_int_equal(len, 3);
    assert_int_equal(vti_reader_left(&in), 1);
    assert_int_equal(vti_reader_u16(&in), 0);
    assert_true(in.failed);
    assert_int_equal(vti_reader_u8(&in), 0); /* there is one, but it is too late */
    assert_int_equal(vti_reader_left(&in), 0);

    vti_reader_init(&in, bytes + 19, 1); /* a string longer than what follows */
    assert_null(vti_reader_string(&in, &len));
    assert_int_equal(len, 0);
    vti_reader_init(&in, bytes + 19, 1);
    assert_int_equal(vti_reader_count(&in, 9), 9);
    vti_reader_init(&in, bytes + 19, 1);
    assert_int_equal(vti_reader_count(&in, 8), 0);
    assert_true(in.failed);
    vti_reader_init(&in, bytes, 2);
    assert_null(vti_reader_bytes(&in, SIZE_MAX));
}

static void varints(void **state)
{
    uint8_t bytes[VTI_VARINT_MAX];

    (void)state;
    for (unsigned bit = 0; bit <= 64; bit++)
        for (int step = -1; step <= 1; step++) {
            uint64_t value = (bit < 64 ? (uint64_t)1 << bit : 0) + (uint64_t)step;
            uint64_t read = ~value;
            size_t used = vti_varint_put(bytes, value);
            size_t expected = 1;

            for (uint64_t rest = value >> 7; rest; rest >>= 7)
                expected++;
            assert_int_equal(used, expected);
            assert_ptr_equal(vti_varint_get(bytes, bytes + used, &read), bytes + used);
            assert_int_equal(read, value);
            for (size_t left = 0; left < used; left++)
                assert_null(vti_varint_get(bytes, bytes + left, &read));
            assert_int_equal((uint64_t)vti_unzigzag(vti_zigzag((int64_t)value)), value);
        }
    assert_int_equal(vti_zigzag(0), 0);
    assert_int_equal(vti_zigzag(-1), 1);
    assert_int_equal(vti_zigzag(1), 2);
    assert_int_equal(vti_zigzag(INT64_MIN), UINT64_MAX);
}

static void varints_that_are_too_long(void **state)
{
    static const uint8_t bit_64[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 2};
    static const uint8_t eleven[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0};
    uint64_t value;

    (void)state;
    assert_null(vti_varint_get(bit_64, bit_64 + sizeof bit_64, &value));
    assert_null(vti_varint_get(eleven, eleven + sizeof eleven, &value));
}

/* ---- checksum --------------------------------------------------------------------------------------------- */

static uint32_t crc_bit_by_bit(const uint8_t *bytes, size_t count)
{
    uint32_t crc = UINT32_MAX;

    while (count--) {
        crc ^= *bytes++;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc >> 1) ^ (crc & 1 ? 0x82f63b78u : 0);
    }
    return ~crc;
}

/* The vectors of RFC 3720, B.4, and the usual one. */
static void crc32c_vectors(void **state)
{
    uint8_t bytes[32];

    (void)state;
    assert_int_equal(vti_crc32c("123456789", 9), 0xE3069283u);
    assert_int_equal(vti_crc32c("", 0), 0);
    memset(bytes, 0, sizeof bytes);
    assert_int_equal(vti_crc32c(bytes, 32), 0x8A9136AAu);
    memset(bytes, 0xff, sizeof bytes);
    assert_int_equal(vti_crc32c(bytes, 32), 0x62A8AB43u);
    for (uint8_t i = 0; i < 32; i++)
        bytes[i] = i;
    assert_int_equal(vti_crc32c(bytes, 32), 0x46DD794Eu);
    for (uint8_t i = 0; i < 32; i++)
        bytes[i] = (uint8_t)(31 - i);
    assert_int_equal(vti_crc32c(bytes, 32), 0x113FDB5Cu);
}

static void crc32c_any_length(void **state)
{
    uint8_t bytes[200];

    (void)state;
    for (unsigned i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 37 + (i >> 3));
    for (size_t from = 0; from < 9; from++)
        for (size_t count = 0; from + count <= sizeof bytes; count += 1 + from) {
            uint32_t whole = crc_bit_by_bit(bytes + from, count);
            uint32_t half = vti_crc32c(bytes + from, count / 2);

            assert_int_equal(vti_crc32c(bytes + from, count), whole);
            assert_int_equal(vti_crc32c_more(half, bytes + from + count / 2, count - count / 2),
                             whole);
        }
}

/* ---- hash map ------------------------------------------------------------------------------------------------ */

static void map_keeps_order(void **state)
{
    struct vti_map *map;
    char key[32];
    size_t len;
    int is_new;

    (void)state;
    assert_int_equal(vti_map_create(&map), 0);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 20000; i++) {
            int used = snprintf(key, sizeof key, "key %d", i);

            assert_int_equal(vti_map_find(map, key, (size_t)used), round ? i : -1);
            assert_int_equal(vti_map_add(map, key, (size_t)used, &is_new), i);
            assert_int_equal(is_new, round == 0);
        }
    assert_int_equal(vti_map_count(map), 20000);
    assert_string_equal(vti_map_key(map, 777, &len), "key 777");
    assert_int_equal(len, 7);
    vti_map_free(map);
}

static void map_takes_any_bytes(void **state)
{
    struct vti_map *map;
    size_t len;
    int is_new;

    (void)state;
    assert_int_equal(vti_map_create(&map), 0);
    assert_int_equal(vti_map_add(map, "a\0b", 3, &is_new), 0);
    assert_int_equal(vti_map_add(map, "a\0c", 3, &is_new), 1);
    assert_int_equal(vti_map_add(map, "a", 1, &is_new), 2);
    assert_int_equal(vti_map_add(map, "", 0, &is_new), 3);
    assert_int_equal(vti_map_add(map, "\0", 1, &is_new), 4);
    assert_int_equal(vti_map_add(map, "\0\0", 2, &is_new), 5);
    assert_int_equal(vti_map_find(map, "a\0c", 3), 1);
    assert_int_equal(vti_map_find(map, "", 0), 3);
    assert_memory_equal(vti_map_key(map, 0, &len), "a\0b", 4);
    assert_int_equal(len, 3);
    vti_map_free(map);
    vti_map_free(NULL);
}

static void hash_spreads(void **state)
{
    uint32_t counts[256] = {0};

    (void)state;
    for (uint64_t i = 0; i < 65536; i++)
        counts[vti_hash(&i, sizeof i) & 255]++;
    for (int i = 0; i < 256; i++)
        assert_in_range(counts[i], 150, 370);
    assert_int_not_equal(vti_hash("\0", 1), vti_hash("\0\0", 2));
}

/* ---- JSON ------------------------------------------------------------------------------------------------------ */

static void assert_json(struct vti_buf *buf, const char *expected)
{
    vti_buf_add_u8(buf, 0);
    assert_string_equal((const char *)buf->data, expected);
    vti_buf_clear(buf);
}

static void json_nests(void **state)
{
    struct vti_buf buf = {0};
    struct vti_json json;

    (void)state;
    vti_json_init(&json, &buf);
    vti_json_object(&json);
    vti_json_key(&json, "empty");
    vti_json_array(&json);
    vti_json_array_end(&json);
    vti_json_key(&json, "list");
    vti_json_array(&json);
    vti_json_int(&json, INT64_MIN);
    vti_json_uint(&json, UINT64_MAX);
    vti_json_object(&json);
    vti_json_object_end(&json);
    vti_json_null(&json);
    vti_json_array_end(&json);
    vti_json_key(&json, "yes");
    vti_json_bool(&json, true);
    vti_json_key(&json, "none");
    vti_json_string(&json, NULL);
    vti_json_object_end(&json);
    assert_json(&buf, "{\"empty\":[],\"list\":[-9223372036854775808,18446744073709551615,{},null],"
                      "\"yes\":true,\"none\":null}");
    vti_buf_fini(&buf);
}

static void assert_quoted(const char *text, size_t len, const char *expected)
{
    struct vti_buf buf = {0};
    struct vti_json json;

    vti_json_init(&json, &buf);
    vti_json_bytes(&json, text, len);
    assert_json(&buf, expected);
    vti_buf_fini(&buf);
}

static void json_escapes(void **state)
{
    (void)state;
    assert_quoted("", 0, "\"\"");
    assert_quoted(NULL, 0, "\"\"");
    assert_quoted("a\"b\\c/", 6, "\"a\\\"b\\\\c/\"");
    assert_quoted("\b\t\n\f\r", 5, "\"\\b\\t\\n\\f\\r\"");
    assert_quoted("\xc2\x9b", 2, "\"\\u009b\""); /* a control that terminals obey */
    assert_quoted("\0\x01\x1f\x7f", 4, "\"\\u0000\\u0001\\u001f\\u007f\"");
    assert_quoted("\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80", 9,
                  "\"\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80\"");
}

/* What is not UTF-8 becomes U+FFFD, one for each byte that does not fit. */
static void json_repairs_utf8(void **state)
{
    static const char bad[] = "\xef\xbf\xbd";
    static const char *const broken[] = {
        "\x80",         "\xff",         "\xc3",     "\xc0\xaf",         "\xe2\x82",
        "\xed\xa0\x80", "\xf0\x80\x80", "\xf0\x9f", "\xf4\x90\x80\x80", "\xf8\x88\x80\x80",
        "\xc1\xbf",
    };

    (void)state;
    for (unsigned i = 0; i < sizeof broken / sizeof *broken; i++) {
        char text[16];
        char expected[64];
        size_t used = 0;

        snprintf(text, sizeof text, "a%sz", broken[i]);
        used += (size_t)snprintf(expected, sizeof expected, "\"a");
        for (size_t k = 0; k < strlen(broken[i]); k++)
            used += (size_t)snprintf(expected + used, sizeof expected - used, "%s", bad);
        snprintf(expected + used, sizeof expected - used, "z\"");
        assert_quoted(text, strlen(text), expected);
    }
}

static void json_doubles(void **state)
{
    static const double values[] = {0.1, 1e300, -2.5, 1.0 / 3, 5e-324, 123456789012345680.0, 0};
    struct vti_buf buf = {0};
    struct vti_json json;

    (void)state;
    vti_json_init(&json, &buf);
    vti_json_array(&json);
    vti_json_double(&json, 0.1);
    vti_json_double(&json, NAN);
    vti_json_double(&json, -INFINITY);
    vti_json_array_end(&json);
    assert_json(&buf, "[0.1,null,null]");
    for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
        char text[32];

        assert_true(vti_double_text(text, values[i]) < 32);
        assert_true(strtod(text, NULL) == values[i]);
    }
    vti_buf_fini(&buf);
}

/* ---- errors -------------------------------------------------------------------------------------------------------- */

static void errors(void **state)
{
    (void)state;
    assert_int_equal(vti_fail(VTI_E_READ, "%s: byte %d", "x.vt", 7), VTI_E_READ);
    assert_string_equal(vti_error_message(VTI_E_READ), "x.vt: byte 7");
    assert_string_equal(vti_error_message(VTI_E_OPEN),
                        "cannot open"); /* another code: its own text */
    errno = ENOENT;
    assert_int_equal(vti_fail_errno(VTI_E_OPEN, "x.vt"), VTI_E_OPEN);
    assert_string_equal(vti_error_message(VTI_E_OPEN), "x.vt: No such file or directory");
    assert_string_equal(vti_error_message(-9999), "unknown error");
    assert_string_equal(vti_error_hint(VTI_E_EXISTS), "use --force to replace it");
    assert_string_equal(vti_error_hint(VTI_E_NOMEM), "");
}

/* ---- files ----------------------------------------------------------------------------------------------------------- */

static char folder[] = "/tmp/venturi-base-XXXXXX";
static char path[64];
static char part[96];

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(part, sizeof part, "%s.part-%ld", path, (long)getpid());
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static int clean(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

static void assert_contents(const char *expected)
{
    struct vti_mapping mapping;

    assert_int_equal(vti_mapping_open(&mapping, path), 0);
    assert_int_equal(mapping.size, strlen(expected));
    if (mapping.size)
        assert_memory_equal(mapping.data, expected, mapping.size);
    vti_mapping_close(&mapping);
    assert_null(mapping.data);
}

static void put_file(const char *text)
{
    struct vti_output *out;

    assert_int_equal(vti_output_open(&out, path, true, false), 0);
    assert_int_equal(vti_output_write(out, text, strlen(text)), 0);
    assert_int_equal(vti_output_commit(out), 0);
}

static void output_appears_when_whole(void **state)
{
    struct vti_output *out;

    (void)state;
    assert_int_equal(vti_output_open(&out, path, false, false), 0);
    assert_int_equal(vti_output_write(out, "some ", 5), 0);
    assert_int_equal(vti_output_write(out, "text", 4), 0);
    assert_int_equal(vti_output_offset(out), 9);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_int_equal(access(part, F_OK), 0);
    assert_int_equal(vti_output_commit(out), 0);
    assert_contents("some text");
    assert_int_not_equal(access(part, F_OK), 0);
}

static void output_abandoned(void **state)
{
    struct vti_output *out;

    (void)state;
    put_file("old");
    assert_int_equal(vti_output_open(&out, path, true, false), 0);
    assert_int_equal(vti_output_write(out, "new", 3), 0);
    vti_output_abandon(out);
    assert_contents("old");
    assert_int_not_equal(access(part, F_OK), 0);
    vti_output_abandon(NULL);
}

static void output_does_not_replace(void **state)
{
    struct vti_output *out;

    (void)state;
    put_file("old");
    assert_int_equal(vti_output_open(&out, path, false, false), VTI_E_EXISTS);
    assert_non_null(strstr(vti_error_message(VTI_E_EXISTS), path));
    unlink(path);
    assert_int_equal(vti_output_open(&out, path, false, false), 0); /* appears meanwhile */
    assert_int_equal(close(open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600)), 0);
    assert_int_equal(vti_output_commit(out), VTI_E_EXISTS);
    assert_contents("");
    assert_int_not_equal(access(part, F_OK), 0);
    put_file("forced");
    assert_contents("forced");
}

static void output_modes(void **state)
{
    mode_t mask = umask(022);
    struct vti_output *out;
    struct stat st;

    (void)state;
    assert_int_equal(vti_output_open(&out, path, true, true), 0);
    assert_int_equal(vti_output_commit(out), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(vti_output_open(&out, path, true, false), 0);
    assert_int_equal(vti_output_commit(out), 0);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0644);
    umask(mask);
}

static void output_that_is_large(void **state)
{
    enum { SIZE = 700000 };
    struct vti_mapping mapping;
    struct vti_output *out;
    uint8_t *bytes = malloc(SIZE);

    (void)state;
    assert_non_null(bytes);
    for (unsigned i = 0; i < SIZE; i++)
        bytes[i] = (uint8_t)(i * 7 + (i >> 8));
    assert_int_equal(vti_output_open(&out, path, false, false), 0);
    for (unsigned at = 0, step = 1; at < SIZE; at += step, step = step * 3 % 300007) {
        step = step < SIZE - at ? step : SIZE - at;
        assert_int_equal(vti_output_write(out, bytes + at, step), 0);
    }
    assert_int_equal(vti_output_commit(out), 0);
    assert_int_equal(vti_mapping_open(&mapping, path), 0);
    assert_int_equal(mapping.size, SIZE);
    assert_memory_equal(mapping.data, bytes, SIZE);
    vti_mapping_close(&mapping);
    free(bytes);
}

static void output_to_a_full_device(void **state)
{
    struct vti_output *out;

    (void)state;
    if (access("/dev/full", W_OK))
        skip();
    assert_int_equal(vti_output_open(&out, "/dev/full", true, false), 0);
    assert_int_equal(vti_output_write(out, "x", 1), 0);
    assert_int_equal(vti_output_commit(out), VTI_E_DISK_FULL);
    assert_int_equal(access("/dev/full", W_OK), 0);
}

static void files_that_cannot_be(void **state)
{
    struct vti_mapping mapping;
    struct vti_output *out;
    char missing[96];

    (void)state;
    snprintf(missing, sizeof missing, "%s/none/out", folder);
    assert_int_equal(vti_output_open(&out, missing, true, false), VTI_E_WRITE);
    assert_int_equal(vti_output_open(&out, folder, true, false), VTI_E_WRITE);
    assert_int_equal(vti_mapping_open(&mapping, missing), VTI_E_OPEN);
    assert_non_null(strstr(vti_error_message(VTI_E_OPEN), missing));
    assert_int_equal(vti_mapping_open(&mapping, folder), VTI_E_OPEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(buf_appends),
        cmocka_unit_test(buf_grows),
        cmocka_unit_test(buf_fails_once_and_for_all),
        cmocka_unit_test(fixed_numbers),
        cmocka_unit_test(sums_do_not_wrap),
        cmocka_unit_test(reader_is_bounded),
        cmocka_unit_test(varints),
        cmocka_unit_test(varints_that_are_too_long),
        cmocka_unit_test(crc32c_vectors),
        cmocka_unit_test(crc32c_any_length),
        cmocka_unit_test(map_keeps_order),
        cmocka_unit_test(map_takes_any_bytes),
        cmocka_unit_test(hash_spreads),
        cmocka_unit_test(json_nests),
        cmocka_unit_test(json_escapes),
        cmocka_unit_test(json_repairs_utf8),
        cmocka_unit_test(json_doubles),
        cmocka_unit_test(errors),
        cmocka_unit_test_teardown(output_appears_when_whole, clean),
        cmocka_unit_test_teardown(output_abandoned, clean),
        cmocka_unit_test_teardown(output_does_not_replace, clean),
        cmocka_unit_test_teardown(output_modes, clean),
        cmocka_unit_test_teardown(output_that_is_large, clean),
        cmocka_unit_test(output_to_a_full_device),
        cmocka_unit_test(files_that_cannot_be),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
