/* test_layout.c - file header, block headers, trailer: bytes as in docs/format.md, damage refused. */
#include "base/bytes.h"
#include "base/crc32c.h"
#include "base/error.h"
#include "format/layout.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static const struct vti_file_header sample_file = {
    .major = 1,
    .minor = 0,
    .compatible = 0x8000000000000001u,
    .created_ns = 1700000000123456789u,
    .id = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
};

static void kind_names(void **state)
{
    (void)state;
    assert_string_equal(vti_kind_name(VTI_META), "META");
    assert_string_equal(vti_kind_name(10), "EVENTS");
    assert_string_equal(vti_kind_name(22), "END");
    for (unsigned kind = 1; kind < VTI_KIND_COUNT; kind++)
        assert_non_null(vti_kind_name(kind));
    assert_null(vti_kind_name(0));
    assert_null(vti_kind_name(VTI_KIND_COUNT));
    assert_null(vti_kind_name(255));
}

static void file_header_bytes(void **state)
{
    static const uint8_t start[16] = {0x89, 'V', 'T', '\r', '\n', 0x1a, '\n', 0,
                                      1,    0,   0,   0,    64,   0,    0,    0};
    uint8_t bytes[VTI_FILE_HEADER_BYTES];
    struct vti_file_header read;

    (void)state;
    vti_file_header_write(bytes, &sample_file);
    assert_memory_equal(bytes, start, sizeof start);
    assert_int_equal(vti_get_u64(bytes + 24), sample_file.compatible);
    assert_int_equal(vti_get_u64(bytes + 32), sample_file.created_ns);
    assert_memory_equal(bytes + 40, sample_file.id, 16);
    assert_int_equal(vti_get_u32(bytes + 60), vti_crc32c(bytes, 60));
    assert_int_equal(vti_file_header_parse(bytes, sizeof bytes, &read), 0);
    assert_int_equal(read.major, 1);
    assert_int_equal(read.minor, 0);
    assert_int_equal(read.compatible, sample_file.compatible);
    assert_int_equal(read.created_ns, sample_file.created_ns);
    assert_memory_equal(read.id, sample_file.id, 16);
}

static void file_header_refused(void **state)
{
    uint8_t bytes[VTI_FILE_HEADER_BYTES];
    struct vti_file_header header = sample_file;
    struct vti_file_header read;

    (void)state;
    vti_file_header_write(bytes, &header);
    for (size_t left = 0; left < 8; left++)
        assert_int_equal(vti_file_header_parse(bytes, left, &read), VTI_E_NOT_RECORDING);
    for (size_t left = 8; left < sizeof bytes; left++)
        assert_int_equal(vti_file_header_parse(bytes, left, &read), VTI_E_DAMAGED);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 0x10;
        assert_int_equal(vti_file_header_parse(bytes, sizeof bytes, &read),
                         i < 8 ? VTI_E_NOT_RECORDING : VTI_E_DAMAGED);
        bytes[i] ^= 0x10;
    }
    header.major = 2;
    vti_file_header_write(bytes, &header);
    assert_int_equal(vti_file_header_parse(bytes, sizeof bytes, &read), VTI_E_UNSUPPORTED);
    header = sample_file;
    header.incompatible = 1;
    vti_file_header_write(bytes, &header);
    assert_int_equal(vti_file_header_parse(bytes, sizeof bytes, &read), VTI_E_UNSUPPORTED);
    header = sample_file;
    header.minor = 7; /* a newer minor version is readable */
    vti_file_header_write(bytes, &header);
    assert_int_equal(vti_file_header_parse(bytes, sizeof bytes, &read), 0);
}

static void block_header_round_trip(void **state)
{
    static const char payload[] = "123456789";
    struct vti_block_header header = {
        .kind = VTI_EVENTS,
        .flags = 0,
        .payload_bytes = 9,
        .count = 3,
        .owner = 77,
        .summary_bytes = 4,
        .first = 0x1122334455667788,
        .last = 0x99aabbccddeeff00,
    };
    struct vti_block_header read;
    uint8_t bytes[VTI_BLOCK_HEADER_BYTES];

    (void)state;
    vti_block_header_write(bytes, &header, payload);
    assert_int_equal(header.payload_crc, 0xE3069283u);
    assert_memory_equal(bytes, "VTB1\x0a\0\0\0\x09\0\0\0\x03\0\0\0M\0\0\0\x04\0\0\0", 24);
    assert_true(vti_block_header_parse(bytes, sizeof bytes, &read));
    assert_int_equal(read.kind, header.kind);
    assert_int_equal(read.payload_bytes, 9);
    assert_int_equal(read.count, 3);
    assert_int_equal(read.owner, 77);
    assert_int_equal(read.summary_bytes, 4);
    assert_int_equal(read.first, header.first);
    assert_int_equal(read.last, header.last);
    assert_int_equal(read.payload_crc, header.payload_crc);
    assert_int_equal(vti_block_bytes(&read), 48 + 16);
    for (size_t left = 0; left < sizeof bytes; left++)
        assert_false(vti_block_header_parse(bytes, left, &read));
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 1;
        assert_false(vti_block_header_parse(bytes, sizeof bytes, &read));
        bytes[i] ^= 1;
    }
}

/* Sizes that cannot be are refused even if the checksum fits. */
static void block_header_sizes(void **state)
{
    struct vti_block_header header = {.kind = VTI_META};
    struct vti_block_header read;
    uint8_t bytes[VTI_BLOCK_HEADER_BYTES];

    (void)state;
    vti_block_header_write(bytes, &header, "");
    assert_true(vti_block_header_parse(bytes, sizeof bytes, &read));
    assert_int_equal(vti_block_bytes(&read), 48);
    vti_put_u32(bytes + 8, VTI_PAYLOAD_MAX);
    vti_put_u32(bytes + 44, vti_crc32c(bytes, 44));
    assert_true(vti_block_header_parse(bytes, sizeof bytes, &read));
    assert_int_equal(vti_block_bytes(&read), 48 + (uint64_t)VTI_PAYLOAD_MAX);
    vti_put_u32(bytes + 8, VTI_PAYLOAD_MAX + 1);
    vti_put_u32(bytes + 44, vti_crc32c(bytes, 44));
    assert_false(vti_block_header_parse(bytes, sizeof bytes, &read));
    vti_put_u32(bytes + 8, 10);
    vti_put_u32(bytes + 20, 11);
    vti_put_u32(bytes + 44, vti_crc32c(bytes, 44));
    assert_false(vti_block_header_parse(bytes, sizeof bytes, &read));
}

static void trailer_round_trip(void **state)
{
    struct vti_trailer trailer = {.end_offset = 0x123456789a, .block_count = 42};
    struct vti_trailer read;
    uint8_t bytes[VTI_TRAILER_BYTES];

    (void)state;
    vti_trailer_write(bytes, &trailer);
    assert_memory_equal(bytes, "VTEND\0\0\0", 8);
    assert_true(vti_trailer_parse(bytes, &read));
    assert_int_equal(read.end_offset, trailer.end_offset);
    assert_int_equal(read.block_count, 42);
    for (size_t i = 0; i < sizeof bytes; i++) {
        bytes[i] ^= 0x40;
        assert_false(vti_trailer_parse(bytes, &read));
        bytes[i] ^= 0x40;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kind_names),          cmocka_unit_test(file_header_bytes),
        cmocka_unit_test(file_header_refused), cmocka_unit_test(block_header_round_trip),
        cmocka_unit_test(block_header_sizes),  cmocka_unit_test(trailer_round_trip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
