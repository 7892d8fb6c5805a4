/*
 * test_page.c - the writer of pages: base64 in pieces, columns at the limits of their types, blocks, texts, the directory; and
 * folding against a count by hand.
 */
#include "base/error.h"
#include "page/base64.h"
#include "page/fold.h"
#include "page/page.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

static int take(void *arg, const void *bytes, size_t count)
{
    vti_buf_add(arg, bytes, count);
    return 0;
}

static int refuse(void *arg, const void *bytes, size_t count)
{
    (void)bytes;
    *(size_t *)arg += count;
    return vti_fail(VTI_E_WRITE, "full");
}

/* ---- base64 ---------------------------------------------------------------------------------- */

static void check_base64(const char *text, size_t piece, const char *wanted)
{
    struct vti_buf out = {0};
    struct vti_sink sink = {take, &out};
    struct vti_base64 *base64 = calloc(1, sizeof *base64);
    size_t len = strlen(text);

    assert_non_null(base64);
    base64->to = &sink;
    for (size_t i = 0; i < len; i += piece)
        assert_int_equal(vti_base64_write(base64, text + i, len - i < piece ? len - i : piece), 0);
    assert_int_equal(vti_base64_finish(base64), 0);
    assert_int_equal(out.len, strlen(wanted));
    assert_memory_equal(out.data ? out.data : (uint8_t *)"", wanted, out.len);
    vti_buf_fini(&out);
    free(base64);
}

/* The examples of RFC 4648, however they come. */
static void test_base64(void **state)
{
    static const char *const pairs[][2] = {{"", ""},
                                           {"f", "Zg=="},
                                           {"fo", "Zm8="},
                                           {"foo", "Zm9v"},
                                           {"foob", "Zm9vYg=="},
                                           {"fooba", "Zm9vYmE="},
                                           {"foobar", "Zm9vYmFy"},
                                           {"\xff\xef\xbe", "/+++"}};

    (void)state;
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
        for (size_t piece = 1; piece < 8; piece++)
            check_base64(pairs[i][0], piece, pairs[i][1]);
}

/* ---- pages ----------------------------------------------------------------------------------- */

/* The bytes of a block of the page. */
static struct vti_buf open_block(const struct vti_buf *page, unsigned number)
{
    static const char alphabet[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct vti_buf out = {0};
    struct vti_buf packed = {0};
    char begin[96];
    const char *at;
    z_stream stream = {0};
    unsigned bits = 0;
    unsigned count = 0;
    uint8_t piece[4096];

    snprintf(begin, sizeof begin, "id=\"venturi-block-%u\">", number);
    at = memmem(page->data, page->len, begin, strlen(begin));
    assert_non_null(at);
    for (at += strlen(begin); strchr(alphabet, *at); at++) {
        bits = bits << 6 | (unsigned)(strchr(alphabet, *at) - alphabet);
        count += 6;
        if (count >= 8) {
            count -= 8;
            vti_buf_add_u8(&packed, (uint8_t)(bits >> count));
        }
    }
    assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
    stream.next_in = packed.data;
    stream.avail_in = (uInt)packed.len;
    do {
        stream.next_out = piece;
        stream.avail_out = sizeof piece;
        inflate(&stream, Z_NO_FLUSH);
        vti_buf_add(&out, piece, sizeof piece - stream.avail_out);
    } while (!stream.avail_out);
    assert_int_equal(stream.avail_in, 0);
    inflateEnd(&stream);
    vti_buf_fini(&packed);
    return out;
}

static bool has_text(const struct vti_buf *page, const char *text)
{
    return memmem(page->data, page->len, text, strlen(text));
}

static void test_columns(void **state)
{
    static const struct vti_page_column columns[] = {{"u", VTI_PAGE_UINT},
                                                     {"d", VTI_PAGE_DELTA},
                                                     {"f", VTI_PAGE_F64},
                                                     {"z", VTI_PAGE_UINT},
                                                     {NULL, 0}};
    /* u: 1, 0x0203, the most; d: 5, 3, 3; f: 1.0, -2.0, 0; z: nothing but 0. */
    static const uint8_t wanted[] = {1, 3, 0xff, 0, 2, 0xff, 0, 0, 0xff, 0,  0, 0xff,
                                     0, 0, 0xff, 0, 0, 0xff, 0, 0, 0xff, 10, 3, 0};
    struct vti_buf out = {0};
    struct vti_sink sink = {take, &out};
    struct vti_page *page;
    struct vti_buf block;

    (void)state;
    assert_int_equal(vti_page_open(&page, &sink), 0);
    assert_int_equal(vti_page_begin(page, "t", columns), 0);
    assert_int_equal(vti_page_row(page, (union vti_page_value[]){{1}, {5}, {.d = 1}, {0}}), 0);
    assert_int_equal(vti_page_row(page, (union vti_page_value[]){{0x203}, {3}, {.d = -2}, {0}}), 0);
    assert_int_equal(vti_page_row(page, (union vti_page_value[]){{UINT64_MAX}, {3}, {.d = 0}, {0}}),
                     0);
    assert_int_equal(vti_page_end(page), 0);
    assert_int_equal(vti_page_begin(page, "without_rows", columns), 0);
    assert_int_equal(vti_page_end(page), 0);
    assert_int_equal(vti_page_close(page), 0);
    block = open_block(&out, 0);
    assert_int_equal(block.len, 3 * (7 + 1 + 8));
    assert_memory_equal(block.data, wanted, sizeof wanted);
    assert_memory_equal(block.data + 3 * 14, "\xf0\x00\x00\x3f\xc0\x00", 6); /* the top of f */
    assert_true(has_text(&out, "\"name\":\"t\",\"rows\":3"));
    assert_true(has_text(&out, "\"widths\":[7,1,8,0]"));
    assert_true(has_text(&out, "{\"name\":\"d\",\"type\":\"uint\",\"delta\":true}"));
    assert_false(has_text(&out, "without_rows"));
    vti_buf_fini(&block);
    vti_buf_fini(&out);
}

/* Differences begin anew with each block. */
static void test_blocks(void **state)
{
    static const struct vti_page_column columns[] = {{"d", VTI_PAGE_DELTA}, {NULL, 0}};
    struct vti_buf out = {0};
    struct vti_sink sink = {take, &out};
    struct vti_page *page;
    struct vti_buf block;

    (void)state;
    assert_int_equal(vti_page_open(&page, &sink), 0);
    assert_int_equal(vti_page_begin(page, "t", columns), 0);
    for (uint64_t i = 0; i < 262145; i++)
        assert_int_equal(vti_page_row(page, (union vti_page_value[]){{i}}), 0);
    assert_int_equal(vti_page_end(page), 0);
    assert_int_equal(vti_page_close(page), 0);
    block = open_block(&out, 0);
    assert_int_equal(block.len, 262144);
    assert_int_equal(block.data[0], 0);
    assert_int_equal(block.data[262143], 2);
    vti_buf_fini(&block);
    block = open_block(&out, 1);
    assert_int_equal(block.len, 3);
    assert_memory_equal(block.data, "\x00\x00\x08", 3);
    assert_true(has_text(&out, "{\"block\":1,\"rows\":1,\"widths\":[3]}"));
    vti_buf_fini(&block);
    vti_buf_fini(&out);
}

static void test_texts(void **state)
{
    struct vti_buf out = {0};
    struct vti_sink sink = {take, &out};
    struct vti_page *page;
    struct vti_buf block;

    (void)state;
    assert_int_equal(vti_page_open(&page, &sink), 0);
    assert_int_equal(vti_page_text(page, ""), 0);
    assert_int_equal(vti_page_text(page, NULL), 0);
    assert_int_equal(vti_page_text(page, "a"), 1);
    assert_int_equal(vti_page_bytes(page, "a\0b", 3), 2);
    assert_int_equal(vti_page_bytes(page, "\xff", 1), 3);
    assert_int_equal(vti_page_bytes(page, "\xfe", 1), 3); /* the same once it is text */
    assert_int_equal(vti_page_text(page, "a"), 1);
    vti_page_note(page, "kind", "</script>&\xe2\x80\xa8\xe2\x80\xa9 \xff %d", 7);
    assert_int_equal(vti_page_close(page), 0);
    block = open_block(&out, 0);
    assert_int_equal(block.len, 4 * 4 + 1 + 3 + 3);
    assert_memory_equal(block.data, "\0\0\0\0\1\0\0\0\3\0\0\0\3\0\0\0aa\0b\xef\xbf\xbd", 23);
    assert_true(has_text(&out, "\"\\u003c/script\\u003e\\u0026\\u2028\\u2029 \xef\xbf\xbd 7\""));
    vti_buf_fini(&block);
    vti_buf_fini(&out);
}

static void test_a_sink_that_fails(void **state)
{
    size_t met = 0;
    struct vti_sink sink = {refuse, &met};
    struct vti_page *page;

    (void)state;
    assert_int_equal(vti_page_open(&page, &sink), VTI_E_WRITE);
    assert_null(page);
    assert_true(met > 0);
}

/* ---- folding --------------------------------------------------------------------------------- */

static void add_both(struct vti_fold *counts, struct vti_fold *fold, int64_t begin, int64_t end,
                     uint32_t depth, uint32_t site)
{
    struct vti_page_rect span = {begin, end, site, depth, 1, 0};

    if (counts)
        assert_int_equal(vti_fold_count(counts, &span), 0);
    if (fold)
        assert_int_equal(vti_fold_add(fold, &span), 0);
}

/* Four short ones, two in each of two long ones. */
static void add_example(struct vti_fold *counts, struct vti_fold *fold)
{
    add_both(counts, fold, 1000, 1003, 1, 1);
    add_both(counts, fold, 1004, 1009, 1, 2);
    add_both(counts, fold, 1000, 1010, 0, 9);
    add_both(counts, fold, 1011, 1014, 1, 3);
    add_both(counts, fold, 1015, 1016, 1, 4);
    add_both(counts, fold, 1010, 1020, 0, 9);
}

static void test_fold(void **state)
{
    struct vti_fold fold = {0};

    (void)state;
    add_example(&fold, NULL);
    vti_fold_choose(&fold, 6);
    assert_int_equal(fold.level, 0);
    vti_fold_choose(&fold, 4);
    assert_int_equal(vti_fold_shortest(&fold), 8);
    add_example(NULL, &fold);
    assert_int_equal(vti_fold_flush(&fold, 0), 0);
    assert_int_equal(fold.count, fold.rows[fold.level]);
    assert_int_equal(fold.count, 4); /* the long ones, and one rectangle in each of them */
    assert_int_equal(fold.rects[0].count, 2);
    assert_int_equal(fold.rects[0].site, 2);
    assert_int_equal(fold.rects[0].begin_ns, 1000);
    assert_int_equal(fold.rects[0].end_ns, 1009);
    assert_int_equal(fold.rects[1].site, 9);
    assert_int_equal(fold.rects[1].count, 1);
    assert_int_equal(fold.rects[2].count, 2);
    assert_int_equal(fold.rects[2].site, 3);
    vti_fold_fini(&fold);
}

/* What was counted is what comes out, whatever the spans. */
static void test_fold_counts_right(void **state)
{
    uint64_t random = 88172645463325252u;

    (void)state;
    for (unsigned level = 0; level < 20; level++) {
        struct vti_fold fold = {0};

        for (unsigned pass = 0; pass < 2; pass++) {
            int64_t begins[6];
            int64_t now = 0;
            uint32_t depth = 0;
            uint64_t number = random + level;

            for (unsigned i = 0; i < 4000; i++) {
                number ^= number << 13;
                number ^= number >> 7;
                number ^= number << 17;
                now += (int64_t)(number >> (44 + number % 20));
                if (depth < 6 && number & 1)
                    begins[depth++] = now;
                else if (depth) {
                    depth--;
                    add_both(pass ? NULL : &fold, pass ? &fold : NULL, begins[depth], now, depth,
                             1);
                }
            }
            fold.level = level;
        }
        assert_int_equal(vti_fold_flush(&fold, 0), 0);
        assert_int_equal(fold.count, fold.rows[level]);
        vti_fold_fini(&fold);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_base64),
        cmocka_unit_test(test_columns),
        cmocka_unit_test(test_blocks),
        cmocka_unit_test(test_texts),
        cmocka_unit_test(test_a_sink_that_fails),
        cmocka_unit_test(test_fold),
        cmocka_unit_test(test_fold_counts_right),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
