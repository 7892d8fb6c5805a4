/* test_rank.c - lines of a trace log, and what is counted from them however they come in. */
#include "analyze/rank_impl.h"
#include "base/error.h"
#include "recording_kit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TIME "2020-02-27T08:04:25.789433"
#define BASE "f12e75d5-5d59-4cbc-b74d-357f19290dd7"
#define ROOT "b9b29981-0916-4635-af18-d6c92f991f46"
#define LEAF "3cdd41b5-318a-4926-a38e-63344b6aef7a"
#define START(parent, span, name) TIME "          " BASE " " parent " " span " " name "-start\n"
#define STOP(seconds, parent, span, name)                                                          \
    TIME " " seconds " " BASE " " parent " " span " " name "-stop\n"

static struct vti_rank *create(bool is_wide, bool is_compat)
{
    struct vti_rank_options options = {.is_wide = is_wide, .is_compat = is_compat};
    struct vti_rank *rank;

    assert_int_equal(vti_rank_create(&rank, &options), 0);
    return rank;
}

/* Feeds text in pieces of `step` bytes and ends it. */
static int feed(struct vti_rank *rank, const char *text, size_t len, size_t step)
{
    int code = 0;

    while (len && !code) {
        size_t room;
        char *to = vti_rank_log_room(rank, &room);
        size_t count = step < len ? step : len;

        assert_non_null(to);
        count = count < room ? count : room;
        memcpy(to, text, count);
        code = vti_rank_log_filled(rank, count);
        text += count;
        len -= count;
    }
    if (!code)
        code = vti_rank_log_end(rank);
    return code ? code : vti_rank_sort(rank, VTI_RANK_TOTAL);
}

static void feed_text(struct vti_rank *rank, const char *text)
{
    assert_int_equal(feed(rank, text, strlen(text), 1 << 20), 0);
}

static struct vti_rank_row row_at(const struct vti_rank *rank, size_t at)
{
    struct vti_rank_row row;

    assert_true(at < vti_rank_count(rank));
    vti_rank_row(rank, at, &row);
    return row;
}

/* ---- numbers --------------------------------------------------------------------------------- */

static void check_number(const char *text)
{
    double value = -1;
    double expected = strtod(text, NULL);
    const char *end = vti_log_number(text, text + strlen(text), &value);

    assert_ptr_equal(end, text + strlen(text));
    assert_memory_equal(&value, &expected, sizeof value);
}

static void numbers_are_read_as_strtod_does(void **state)
{
    static const char *const texts[] = {"0.006782",
                                        "0.1",
                                        "1.0",
                                        "1.7e-05",
                                        "5e-06",
                                        "0.0",
                                        "12.5",
                                        "1234.567891",
                                        "0",
                                        "5.",
                                        ".5",
                                        "-0.000001",
                                        "+3",
                                        "1e22",
                                        "1e23",
                                        "1e-22",
                                        "1e-23",
                                        "123456789012345",
                                        "1234567890123456",
                                        "0.1234567890123456789",
                                        "9007199254740993",
                                        "1e308",
                                        "4.9e-324",
                                        "1e-400",
                                        "000000000000000000001.5",
                                        "1e0000000000001",
                                        "0e99999",
                                        "-0.0",
                                        "2.2250738585072011e-308"};
    unsigned rounds = getenv("VENTURI_SOAK") ? 200000 : 20000;
    char text[64];

    (void)state;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++)
        check_number(texts[i]);
    srand(1);
    for (unsigned i = 0; i < rounds; i++) {
        snprintf(text, sizeof text, "%d.%0*d", rand() % 1000, rand() % 9 + 1, rand());
        check_number(text);
        snprintf(text, sizeof text, "%d.%de%d", rand() % 10, rand(), rand() % 60 - 30);
        check_number(text);
    }
}

static void other_text_is_no_number(void **state)
{
    static const char *const texts[] = {"",    ".",     "-",        "e5", "nan",
                                        "inf", "1e999", "f12e75d5", "1e", "1e+"};

    (void)state;
    for (unsigned i = 0; i < sizeof texts / sizeof *texts; i++) {
        double value;

        assert_null(vti_log_number(texts[i], texts[i] + strlen(texts[i]), &value));
    }
}

/* ---- lines ----------------------------------------------------------------------------------- */

static void check_refused(const char *text, const char *reason)
{
    struct vti_log_line line;

    assert_string_equal(vti_log_line_parse(&line, text, strlen(text)), reason);
}

static void lines_are_refused_with_a_reason(void **state)
{
    (void)state;
    check_refused("", "is blank");
    check_refused(" \t \r", "is blank");
    check_refused("Traceback (most recent call last):", "does not begin with a timestamp");
    check_refused(TIME, "ends after the timestamp");
    check_refused(TIME " 0.5", "ends before its name");
    check_refused("2020-02-27T08:04:2  <- !!!", "ends before its name"); /* the mark is no name */
    check_refused(TIME "  <- !!!", "ends before its name");
    check_refused(TIME " 0.5 " BASE " " BASE " " ROOT, "ends before its name");
    check_refused(TIME " 0.5 " BASE " " BASE " " ROOT " name-start",
                  "has a duration but ends in -start");
    check_refused(TIME " 0.5 " BASE " " BASE " " ROOT " name",
                  "has a name that ends neither in -start nor in -stop");
    check_refused(TIME " abc " BASE " " BASE " " ROOT " name-stop",
                  "has no duration that can be read");
    check_refused(TIME "          " BASE " " BASE " " ROOT " name-stop",
                  "has no duration that can be read");
    check_refused(TIME " nan " BASE " " BASE " " ROOT " name-stop",
                  "has no duration that can be read");
}

static void check_name(const char *rest, const char *name)
{
    struct vti_log_line line;
    char text[512];

    snprintf(text, sizeof text, "%s 0.5 %s %s %s %s", TIME, BASE, ROOT, LEAF, rest);
    assert_null(vti_log_line_parse(&line, text, strlen(text)));
    assert_true(line.is_stop);
    assert_true(line.duration == 0.5);
    assert_int_equal(line.name.len, strlen(name));
    assert_memory_equal(line.name.at, name, strlen(name));
    assert_memory_equal(line.parent.at, ROOT, 36);
    assert_memory_equal(line.span.at, LEAF, 36);
}

static void names_end_where_they_do(void **state)
{
    (void)state;
    check_name("task-run-stop", "task-run");
    check_name("task-run-stop\r", "task-run");
    check_name("task-run-stop  ", "task-run");
    check_name("task-run-stop  <- !!!", "task-run");
    check_name("db-stop {\"statement\": \"x-stop {\"}", "db");
    check_name("db-stop  <- !!! {\"statement\": \"a  <- !!!\"}", "db");
    check_name("my own name-stop", "my own name");
    check_name("my own name-stop  <- !!!", "my own name");
    check_name("vm-stop-now-stop", "vm-stop-now");
    check_name("vm-stop now-stop", "vm-stop now");
    check_name("vm-stop and more", "vm");
    check_name("-stop", "");
}

static void starts_are_known_by_their_gap(void **state)
{
    struct vti_log_line line;
    const char *numeric = TIME "          123 456 789 name-start";
    const char *narrow = TIME " " BASE " " BASE " " ROOT " name-start";
    const char *padded = TIME "      0.25 " BASE " " BASE " " ROOT " name-stop";

    (void)state;
    assert_null(vti_log_line_parse(&line, numeric, strlen(numeric)));
    assert_false(line.is_stop);
    assert_int_equal(line.base.len, 3);
    assert_null(vti_log_line_parse(&line, narrow, strlen(narrow)));
    assert_false(line.is_stop);
    assert_null(vti_log_line_parse(&line, padded, strlen(padded)));
    assert_true(line.is_stop);
    assert_true(line.duration == 0.25);
}

/* ---- counting -------------------------------------------------------------------------------- */

static void totals_are_counted(void **state)
{
    struct vti_rank *rank = create(false, false);
    struct vti_rank_row row;

    (void)state;
    feed_text(rank, START(BASE, ROOT, "a") STOP("0.5", BASE, ROOT, "a")
                        STOP("0.25", BASE, ROOT, "b") STOP("0.25", BASE, ROOT, "a"));
    assert_int_equal(vti_rank_count(rank), 2);
    row = row_at(rank, 0);
    assert_string_equal(row.name, "a");
    assert_true(row.total == 0.75 && row.max == 0.5 && row.avg == 0.375 && row.count == 2);
    assert_string_equal(row_at(rank, 1).name, "b");
    vti_rank_free(rank);
}

static void equal_totals_keep_their_order(void **state)
{
    struct vti_rank *rank = create(false, false);

    (void)state;
    feed_text(rank, STOP("1.0", BASE, ROOT, "zz") STOP("1.0", BASE, ROOT, "mm")
                        STOP("1.0", BASE, ROOT, "aa"));
    assert_string_equal(row_at(rank, 0).name, "zz");
    assert_string_equal(row_at(rank, 2).name, "aa");
    assert_int_equal(vti_rank_sort(rank, VTI_RANK_NAME), 0);
    assert_string_equal(row_at(rank, 0).name, "aa");
    vti_rank_free(rank);
}

static void self_time_leaves_children_out(void **state)
{
    struct vti_rank *rank = create(true, false);
    struct vti_rank_lines lines;

    (void)state;
    feed_text(rank, START(BASE, ROOT, "root") START(ROOT, LEAF, "leaf")
                        STOP("0.25", ROOT, LEAF, "leaf") STOP("0.5", ROOT, "not-a-uuid", "leaf")
                            STOP("1.0", BASE, ROOT, "root") START(BASE, "hangs", "stuck"));
    vti_rank_lines(rank, &lines);
    assert_int_equal(lines.orphans, 1);
    assert_true(row_at(rank, 0).self == 0.25);
    assert_true(row_at(rank, 1).self == 0.75);
    assert_true(row_at(rank, 1).min == 0.25 && row_at(rank, 1).p50 == 0.25 &&
                row_at(rank, 1).p99 == 0.5);
    assert_string_equal(row_at(rank, 2).name, "stuck");
    assert_int_equal(row_at(rank, 2).unfinished, 1);
    assert_int_equal(row_at(rank, 2).count, 0);
    vti_rank_free(rank);
}

/* Twenty thousand spans one after the other: the table of open ones stays as it was. */
static void memory_follows_open_spans(void **state)
{
    struct vti_rank *rank = create(true, false);
    char text[1024];

    (void)state;
    for (unsigned i = 0; i < 20000; i++) {
        size_t room;
        char *to = vti_rank_log_room(rank, &room);
        int len = snprintf(text, sizeof text,
                           "%s          %s %s id-%u name-start\n%s 0.5 %s %s id-%u name-stop\n",
                           TIME, BASE, ROOT, i, TIME, BASE, ROOT, i);

        memcpy(to, text, (size_t)len);
        assert_int_equal(vti_rank_log_filled(rank, (size_t)len), 0);
    }
    assert_int_equal(rank->open.used, 0);
    assert_true(rank->open.place_count <= 64);
    vti_rank_free(rank);
}

static void spans_are_found_after_removals(void **state)
{
    struct vti_open_spans open;
    int64_t replaced;
    uint64_t key[2];
    char id[16];

    (void)state;
    assert_int_equal(vti_open_init(&open), 0);
    for (unsigned i = 0; i < 5000; i++) {
        snprintf(id, sizeof id, "%u", i);
        vti_open_key(key, id, strlen(id));
        assert_int_equal(vti_open_add(&open, key, i, &replaced), 0);
        assert_int_equal(replaced, -1);
        if (i % 3) {
            snprintf(id, sizeof id, "%u", i - i % 3);
            vti_open_key(key, id, strlen(id));
            if (vti_open_find(&open, key))
                vti_open_remove(&open, vti_open_find(&open, key));
        }
    }
    for (unsigned i = 0; i < 4999; i++) {
        snprintf(id, sizeof id, "%u", i);
        vti_open_key(key, id, strlen(id));
        if (i % 3)
            assert_int_equal(vti_open_find(&open, key)->row, i);
        else
            assert_null(vti_open_find(&open, key));
    }
    vti_open_key(key, "1", 1);
    assert_int_equal(vti_open_add(&open, key, 7, &replaced), 0);
    assert_int_equal(replaced, 1);
    vti_open_fini(&open);
}

static void percentiles_are_near(void **state)
{
    struct vti_rank *rank = create(true, false);
    struct vti_rank_row row;
    char line[512];

    (void)state;
    for (unsigned i = 1; i <= 10000; i++) {
        size_t room;
        char *to = vti_rank_log_room(rank, &room);
        int len = snprintf(line, sizeof line, STOP("%u.%06u", BASE, ROOT, "x"), i / 1000,
                           i % 1000 * 1000);

        memcpy(to, line, (size_t)len);
        assert_int_equal(vti_rank_log_filled(rank, (size_t)len), 0);
    }
    assert_int_equal(vti_rank_log_end(rank), 0);
    assert_int_equal(vti_rank_sort(rank, VTI_RANK_TOTAL), 0);
    row = row_at(rank, 0);
    assert_true(row.p50 > 5.0 * 0.99 && row.p50 < 5.0 * 1.01);
    assert_true(row.p99 > 9.9 * 0.99 && row.p99 < 9.9 * 1.01);
    assert_true(row.min == 0.001 && row.max == 10.0);
    vti_rank_free(rank);
}

static void negative_durations_are_left_out(void **state)
{
    struct vti_rank *rank = create(false, false);
    struct vti_rank_lines lines;

    (void)state;
    feed_text(rank, STOP("0.5", BASE, ROOT, "a") STOP("-0.25", BASE, ROOT, "a")
                        STOP("-1", BASE, ROOT, "b"));
    vti_rank_lines(rank, &lines);
    assert_int_equal(lines.negative, 2);
    assert_int_equal(lines.first_negative, 2);
    assert_int_equal(vti_rank_count(rank), 1);
    assert_true(row_at(rank, 0).total == 0.5);
    vti_rank_free(rank);
}

/* A line of `len` bytes between two good ones. */
static void check_long_line(size_t len, unsigned unusable, size_t step)
{
    static const char good[] = STOP("0.5", BASE, ROOT, "a");
    struct vti_rank *rank = create(false, false);
    size_t room = 2 * sizeof good + len + 2;
    char *text = malloc(room);
    struct vti_rank_lines lines;
    int used = snprintf(text, room, "%s" TIME " 0.25 %s %s %s db-stop {\"", good, BASE, ROOT, LEAF);
    size_t have = (size_t)used - (sizeof good - 1);

    memset(text + used, 'x', len - have);
    text[used + (int)(len - have) - 1] = '}';
    memcpy(text + sizeof good - 1 + len, "\n", 1);
    memcpy(text + sizeof good + len, good, sizeof good);
    assert_int_equal(feed(rank, text, strlen(text), step), 0);
    vti_rank_lines(rank, &lines);
    assert_int_equal(lines.read, 3);
    assert_int_equal(lines.unusable, unusable);
    assert_int_equal(lines.stops, 3 - unusable);
    if (unusable) {
        assert_int_equal(lines.first_unusable, 2);
        assert_string_equal(lines.reason, "is longer than 1 MiB");
    }
    free(text);
    vti_rank_free(rank);
}

static void lines_over_the_limit_are_skipped(void **state)
{
    (void)state;
    for (size_t step = 999; step < 4 << 20; step = step * 7 + 1) {
        check_long_line(5000, 0, step);
        check_long_line(VTI_LOG_LINE_MOST, 0, step);
        check_long_line(VTI_LOG_LINE_MOST + 1, 1, step);
        check_long_line(3 * VTI_LOG_LINE_MOST, 1, step);
    }
}

/* However a log is cut into pieces, the result is the same: in small ones every line is cut. */
static void pieces_make_no_difference(void **state)
{
    static const char log[] = START(BASE, ROOT, "workflow-start") START(ROOT, LEAF, "db")
        STOP("0.25", ROOT, LEAF, "a name with blanks") "\n" STOP("1.7e-05", ROOT, LEAF, "x")
            STOP("0.501  ", ROOT, LEAF, "slow") TIME
        " 0.75 " BASE " " ROOT " " LEAF " y-stop  <- !!!\r\n" STOP(
            "1000.123456", BASE, ROOT, "workflow-start") "garbage\n" STOP("3", "1", "2", "no-uuids")
            STOP("0.1234567", BASE, ROOT,
                 "a-name-that-is-so-long-that-it-does-not-fit-into-64-bytes-at-all-is-it") TIME
        " 0.125 " BASE " " ROOT " " LEAF " last-stop";
    struct vti_rank *whole = create(true, false);
    struct vti_rank_lines lines;

    (void)state;
    feed_text(whole, log);
    vti_rank_lines(whole, &lines);
    assert_int_equal(lines.unusable, 2);
    assert_int_equal(lines.first_unusable, 4);
    assert_int_equal(lines.stops, 8);
    for (size_t step = 1; step < sizeof log; step++) {
        struct vti_rank *rank = create(true, false);
        struct vti_rank_lines again;

        assert_int_equal(feed(rank, log, sizeof log - 1, step), 0);
        vti_rank_lines(rank, &again);
        assert_memory_equal(&lines, &again, sizeof lines);
        assert_int_equal(vti_rank_count(rank), vti_rank_count(whole));
        for (size_t i = 0; i < vti_rank_count(rank); i++) {
            struct vti_rank_row one = row_at(whole, i);
            struct vti_rank_row other = row_at(rank, i);

            assert_string_equal(one.name, other.name);
            assert_true(one.total == other.total && one.self == other.self &&
                        one.count == other.count);
        }
        vti_rank_free(rank);
    }
    vti_rank_free(whole);
}

/* ---- the script's way ------------------------------------------------------------------------ */

static void script_drops_long_durations(void **state)
{
    struct vti_rank *rank = create(false, true);

    (void)state;
    feed_text(rank, STOP("1000.123456", BASE, ROOT, "a") STOP("1000.12345", BASE, ROOT, "b")
                        STOP("0.5", BASE, ROOT, "my name") STOP("-0.5", BASE, ROOT, "c"));
    assert_int_equal(vti_rank_count(rank), 3);
    assert_string_equal(row_at(rank, 0).name, "b");
    assert_string_equal(row_at(rank, 1).name,
                        ""); /* "my" without its last five, as Python slices */
    assert_true(row_at(rank, 2).total == -0.5);
    vti_rank_free(rank);
}

static void check_script_fails(const char *text, const char *message)
{
    struct vti_rank *rank = create(false, true);

    assert_int_equal(feed(rank, text, strlen(text), 1 << 20), VTI_E_DAMAGED);
    assert_string_equal(vti_error_message(VTI_E_DAMAGED), message);
    vti_rank_free(rank);
}

static void script_fails_where_it_does(void **state)
{
    (void)state;
    check_script_fails(STOP("1", BASE, ROOT, "a") "\n", "line 2 is blank, where the script fails");
    check_script_fails("x\n", "line 1 has only one word, where the script fails");
    check_script_fails("a b c d e\n", "line 1 has fewer than six words, where the script fails");
    check_script_fails("a b c d e f\n",
                       "line 1 has no number as its second word, where the script fails");
    check_script_fails("a 1__0 c d e f\n",
                       "line 1 has no number as its second word, where the script fails");
    check_script_fails("\xff\n", "line 1 is not UTF-8, where the script fails");
}

static void script_reads_as_python_does(void **state)
{
    struct vti_rank *rank = create(false, true);

    (void)state;
    feed_text(rank, "t 1_0.5 b p s four-stop\r" /* a lone carriage return ends a line */
                    "t\xc2\xa0"
                    "2\t b p s \xc3\xa4\xc3\xb6-stop\r\n"
                    "t INF b p s x-stop\n"
                    "t 1 b p s four");
    assert_int_equal(vti_rank_count(rank), 4);
    assert_string_equal(row_at(rank, 0).name, "x");
    assert_string_equal(row_at(rank, 1).name, "four");
    assert_true(row_at(rank, 1).total == 10.5);
    assert_string_equal(row_at(rank, 2).name, "\xc3\xa4\xc3\xb6");
    assert_string_equal(row_at(rank, 3).name, "fou"); /* "four"[0:-1] */
    vti_rank_free(rank);
}

/* ---- recordings ------------------------------------------------------------------------------ */

/* Two sites of one name, one of another, a span inside the other; every span costs 10 ns. */
static void make_recording(struct kit *kit)
{
    struct vti_process_fact process = {.pid = 1, .start = 1000, .pair_millis = 10000};

    kit_init(kit, 1);
    kit_clock(kit, 1);
    kit_process(kit, &process);
    kit_track(kit, 0, 0, "main");
    kit_site(kit, 0, "outer");
    kit_site(kit, 1, "query");
    kit_site(kit, 2, "query");
    kit_begin(kit, 0, 10000, 0);
    kit_begin(kit, 0, 20000, 1);
    kit_end(kit, 0, 21000);
    kit_begin(kit, 0, 30000, 2);
    kit_end(kit, 0, 33000);
    kit_end(kit, 0, 90000);
    kit_begin(kit, 0, 95000, 0);
    kit_close(kit);
}

static struct vti_rank *rank_recording(const struct kit *kit, bool is_wide, bool is_raw)
{
    struct vti_rank_options options = {.is_wide = is_wide, .is_raw = is_raw};
    struct vti_rank *rank;

    assert_int_equal(vti_rank_create(&rank, &options), 0);
    assert_int_equal(vti_rank_file(rank, kit->path), 0);
    assert_true(vti_rank_is_recording(rank));
    assert_int_equal(vti_rank_sort(rank, VTI_RANK_TOTAL), 0);
    return rank;
}

static void assert_ns(double seconds, double ns)
{
    assert_true(seconds * 1e9 > ns * 0.99 && seconds * 1e9 < ns * 1.01);
}

static void sites_of_one_name_are_one_row(void **state)
{
    struct kit kit;
    struct vti_rank *rank;
    struct vti_rank_row row;

    (void)state;
    make_recording(&kit);
    rank = rank_recording(&kit, true, true);
    assert_int_equal(vti_rank_count(rank), 2);
    row = row_at(rank, 0);
    assert_string_equal(row.name, "outer");
    assert_int_equal(row.count, 2);
    assert_int_equal(row.unfinished, 1);
    assert_ns(row.max, 80000);
    assert_ns(row.self, 76000);
    row = row_at(rank, 1);
    assert_string_equal(row.name, "query");
    assert_int_equal(row.count, 2);
    assert_ns(row.total, 4000);
    assert_ns(row.min, 1000);
    assert_ns(row.p50, 1000);
    assert_ns(row.p99, 3000);
    assert_ns(row.avg, 2000);
    vti_rank_free(rank);
    kit_fini(&kit);
}

static void own_cost_is_taken_out_unless_raw(void **state)
{
    struct kit kit;
    struct vti_rank *raw;
    struct vti_rank *corrected;

    (void)state;
    make_recording(&kit);
    raw = rank_recording(&kit, false, true);
    corrected = rank_recording(&kit, false, false);
    assert_ns(row_at(raw, 0).max, 80000);
    assert_true(row_at(corrected, 0).max < row_at(raw, 0).max);
    assert_true(row_at(corrected, 0).total < row_at(raw, 0).total);
    vti_rank_free(raw);
    vti_rank_free(corrected);
    kit_fini(&kit);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_are_read_as_strtod_does),
        cmocka_unit_test(other_text_is_no_number),
        cmocka_unit_test(lines_are_refused_with_a_reason),
        cmocka_unit_test(names_end_where_they_do),
        cmocka_unit_test(starts_are_known_by_their_gap),
        cmocka_unit_test(totals_are_counted),
        cmocka_unit_test(equal_totals_keep_their_order),
        cmocka_unit_test(self_time_leaves_children_out),
        cmocka_unit_test(memory_follows_open_spans),
        cmocka_unit_test(spans_are_found_after_removals),
        cmocka_unit_test(percentiles_are_near),
        cmocka_unit_test(negative_durations_are_left_out),
        cmocka_unit_test(lines_over_the_limit_are_skipped),
        cmocka_unit_test(pieces_make_no_difference),
        cmocka_unit_test(script_drops_long_durations),
        cmocka_unit_test(script_fails_where_it_does),
        cmocka_unit_test(script_reads_as_python_does),
        cmocka_unit_test(sites_of_one_name_are_one_row),
        cmocka_unit_test(own_cost_is_taken_out_unless_raw),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
