/* test_log_lines.c - lines of a trace log byte for byte, and formats of Python's logging around them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "net/log_file.h"
#include "net/log_format.h"
#include "net/log_lines.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#define BASE "f12e75d5-5d59-4cbc-b74d-357f19290dd7"
#define PARENT "603f1fab-be78-438d-af13-d94ed3b7e416"
#define SPAN "b1d0a77a-52f5-4415-a6c4-f16b3591a47d"
#define START_NS 1582790665954502999
#define STOP_NS 1582790665961298001

static void test_seconds(void **state)
{
    static const struct {
        int64_t ns;
        const char *text;
    } cases[] = {
        {0, "0.0"},
        {999, "0.0"},
        {1000, "1e-06"},
        {5999, "5e-06"},
        {10000, "1e-05"},
        {17000, "1.7e-05"},
        {90000, "9e-05"},
        {99000, "9.9e-05"},
        {100000, "0.0001"},
        {267000, "0.000267"},
        {6782000, "0.006782"},
        {100000000, "0.1"},
        {1000000000, "1.0"},
        {12500000000, "12.5"},
        {1000000000000, "1000.0"},
        {1234567891000, "1234.567891"},
    };
    char text[VTI_SECONDS_TEXT];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        vti_log_seconds(text, cases[i].ns);
        assert_string_equal(text, cases[i].text);
    }
}

static void check_line(const char *name, int64_t realtime_ns, int64_t duration_ns,
                       const char *expected)
{
    struct vt_id base;
    struct vt_id parent;
    struct vt_id span;
    struct vt_trace_news news = {.name = name,
                                 .base = &base,
                                 .parent = &parent,
                                 .span = &span,
                                 .realtime_ns = realtime_ns,
                                 .duration_ns = duration_ns};
    char line[VTI_LOG_LINE_MOST];

    vt_id_parse(&base, BASE, 36);
    vt_id_parse(&parent, PARENT, 36);
    vt_id_parse(&span, SPAN, 36);
    assert_int_equal(vti_log_line(line, &news), strlen(expected));
    assert_string_equal(line, expected);
}

static void test_lines(void **state)
{
#define IDS BASE " " PARENT " " SPAN " "
    (void)state;
    check_line("workflow-set-state", START_NS, -1,
               "2020-02-27T08:04:25.954502          " IDS "workflow-set-state-start");
    check_line("workflow-set-state", STOP_NS, 6782000,
               "2020-02-27T08:04:25.961298 0.006782 " IDS "workflow-set-state-stop");
    check_line("x", STOP_NS, 500000999, "2020-02-27T08:04:25.961298 0.5 " IDS "x-stop");
    check_line("x", STOP_NS, 500001000,
               "2020-02-27T08:04:25.961298 0.500001 " IDS "x-stop  <- !!!");
    check_line("a\nb\r\x7f", STOP_NS, 0, "2020-02-27T08:04:25.961298 0.0 " IDS "a b  -stop");
    check_line("x", 0, -1, "1970-01-01T00:00:00.000000          " IDS "x-start");
#undef IDS
}

static void test_long_name(void **state)
{
    struct vt_id id = {{0}};
    char name[3 * VTI_LOG_LINE_MOST];
    char line[VTI_LOG_LINE_MOST];
    struct vt_trace_news news = {
        .name = name, .base = &id, .parent = &id, .span = &id, .duration_ns = 600000000};
    size_t len;

    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = 0;
    len = vti_log_line(line, &news);
    assert_true(len < sizeof line);
    assert_string_equal(line + len - 13, "-stop  <- !!!");
}

static void check_format(const char *format, const char *date, const char *expected)
{
    const struct vti_log_record record = {"profiler_trace", "the message", START_NS};
    char text[256];

    assert_int_equal(vti_log_format(text, sizeof text, format, date, &record), strlen(expected));
    assert_string_equal(text, expected);
}

static void test_formats(void **state)
{
    char text[8];
    char number[32];
    const struct vti_log_record record = {"l", "0123456789", 0};
    size_t len;

    (void)state;
    setenv("TZ", "UTC", 1);
    tzset();
    check_format("%(message)s", NULL, "the message");
    check_format("%(asctime)s WF [-] %(message)s", "",
                 "2020-02-27 08:04:25,954 WF [-] the message");
    check_format("%(asctime)s - %(message)s", "%y-%m-%d %H:%M:%S",
                 "20-02-27 08:04:25 - the message");
    check_format("%(levelname)-8s|%(levelname)6s|%(levelno)d|%(msecs)03d|%(name).8s", NULL,
                 "INFO    |  INFO|20|954|profiler");
    check_format("%(created)f", NULL, "1582790665.954502");
    check_format("100%% %(module)s", NULL, "100% test_log_lines");
    snprintf(number, sizeof number, "%d", (int)getpid());
    check_format("%(process)d", NULL, number);
    check_format("%(process)s", NULL, number);
    check_format("%(project_name)s %d %n %", NULL, "? ?d ?n ?");
    assert_int_equal(vti_log_format(text, sizeof text, "%(message)20s", NULL, &record), 7);
    assert_int_equal(vti_log_format(text, sizeof text, "%(message)s", NULL, &record), 7);
    assert_string_equal(text, "0123456");
    assert_null(vti_log_format_check("%(asctime)s %% %(thread)d %(message)s", &len));
    assert_non_null(vti_log_format_check("%(message)s %(user)s", &len));
    assert_int_equal(len, 8);
}

/* ---- files ----------------------------------------------------------------------------------- */

static void check_file(const char *path, const char *expected)
{
    char text[256] = "";
    int fd = open(path, O_RDONLY);

    if (!expected) {
        assert_int_equal(fd, -1);
        return;
    }
    assert_true(fd >= 0);
    assert_true(read(fd, text, sizeof text - 1) >= 0);
    close(fd);
    assert_string_equal(text, expected);
}

static void enter_folder(char folder[32])
{
    memcpy(folder, "/tmp/venturi-log-XXXXXX", 24);
    assert_non_null(mkdtemp(folder));
    assert_int_equal(chdir(folder), 0);
}

static void test_rotating(void **state)
{
    struct vti_log_spec spec = {
        .kind = VTI_LOG_ROTATING, .path = "r.log", .bytes_most = 10, .backups = 2};
    struct vti_log_file file;
    char folder[32];

    (void)state;
    enter_folder(folder);
    assert_int_equal(vti_log_file_open(&file, &spec), 0);
    for (char c = '1'; c <= '6'; c++)
        assert_true(vti_log_file_write(&file, (char[]){'l', c, '\n'}, 3));
    check_file("r.log", "l4\nl5\nl6\n");
    check_file("r.log.1", "l1\nl2\nl3\n");
    for (char c = '7'; c <= '9'; c++)
        assert_true(vti_log_file_write(&file, (char[]){'l', c, '\n'}, 3));
    assert_true(vti_log_file_write(&file, "a line that is too long\n", 24));
    check_file("r.log", "a line that is too long\n");
    check_file("r.log.1", "l7\nl8\nl9\n");
    check_file("r.log.2", "l4\nl5\nl6\n");
    check_file("r.log.3", NULL);
    vti_log_file_close(&file);
    unlink("r.log");
    unlink("r.log.1");
    unlink("r.log.2");
    assert_int_equal(rmdir(folder), 0);
}

/* How many files there may be is no measure of the work. */
static void test_rotating_without_end(void **state)
{
    struct vti_log_spec spec = {
        .kind = VTI_LOG_ROTATING, .path = "e.log", .bytes_most = 4, .backups = INT64_MAX};
    struct vti_log_file file;
    char folder[32];

    (void)state;
    enter_folder(folder);
    assert_int_equal(vti_log_file_open(&file, &spec), 0);
    for (char c = '1'; c <= '4'; c++)
        assert_true(vti_log_file_write(&file, (char[]){'l', c, '\n'}, 3));
    check_file("e.log", "l4\n");
    check_file("e.log.1", "l3\n");
    check_file("e.log.2", "l2\n");
    check_file("e.log.3", "l1\n");
    vti_log_file_close(&file);
    unlink("e.log");
    unlink("e.log.1");
    unlink("e.log.2");
    unlink("e.log.3");
    assert_int_equal(rmdir(folder), 0);
}

#define WRITERS 4
#define WRITER_LINES 1000

static void *write_many(void *arg)
{
    struct vti_log_file *file = arg;

    for (int i = 0; i < WRITER_LINES; i++)
        if (!vti_log_file_write(file, "a line of 19 bytes\n", 19))
            return file;
    return NULL;
}

/* Threads write while files change under them: each line is in one of the files. */
static void test_rotating_threads(void **state)
{
    struct vti_log_spec spec = {
        .kind = VTI_LOG_ROTATING, .path = "t.log", .bytes_most = 4000, .backups = 100};
    struct vti_log_file file;
    pthread_t threads[WRITERS];
    char folder[32];
    char path[32] = "t.log";
    size_t total = 0;
    int files = 0;
    struct stat st;
    void *failed;

    (void)state;
    enter_folder(folder);
    assert_int_equal(vti_log_file_open(&file, &spec), 0);
    for (size_t i = 0; i < WRITERS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, write_many, &file), 0);
    for (size_t i = 0; i < WRITERS; i++) {
        pthread_join(threads[i], &failed);
        assert_null(failed);
    }
    vti_log_file_close(&file);
    while (!stat(path, &st)) {
        total += (size_t)st.st_size;
        unlink(path);
        snprintf(path, sizeof path, "t.log.%d", ++files);
    }
    assert_int_equal(total, 19 * WRITERS * WRITER_LINES);
    assert_true(files > 1); /* how many depends on who runs when */
    assert_int_equal(rmdir(folder), 0);
}

static void test_watched(void **state)
{
    struct vti_log_spec spec = {.kind = VTI_LOG_WATCHED, .path = "w.log"};
    struct vti_log_file file;
    char folder[32];

    (void)state;
    enter_folder(folder);
    assert_int_equal(vti_log_file_open(&file, &spec), 0);
    assert_true(vti_log_file_write(&file, "1\n", 2));
    assert_int_equal(rename("w.log", "w.old"), 0);
    assert_true(vti_log_file_write(&file, "2\n", 2));
    check_file("w.old", "1\n");
    check_file("w.log", "2\n");
    vti_log_file_close(&file);
    unlink("w.log");
    unlink("w.old");
    assert_int_equal(rmdir(folder), 0);
}

/* A pipe without a reader, and with one that goes away: no waiting, no signal. */
static void test_pipe(void **state)
{
    struct vti_log_spec spec = {.kind = VTI_LOG_FILE, .path = "p"};
    struct vti_log_file file;
    char folder[32];
    int reader;

    (void)state;
    enter_folder(folder);
    assert_int_equal(mkfifo("p", 0600), 0);
    assert_true(vti_log_file_open(&file, &spec) < 0);
    vti_log_file_close(&file);
    reader = open("p", O_RDONLY | O_NONBLOCK);
    assert_int_equal(vti_log_file_open(&file, &spec), 0);
    assert_true(vti_log_file_write(&file, "1\n", 2));
    close(reader);
    assert_false(vti_log_file_write(&file, "2\n", 2));
    vti_log_file_close(&file);
    unlink("p");
    assert_int_equal(rmdir(folder), 0);
}

/* A stream of the program that nobody reads: lines are lost, nothing waits, and the program's own writes go on to wait. */
static void check_stream_is_full(int reader, int writer)
{
    struct vti_log_spec spec = {.kind = VTI_LOG_STDOUT};
    struct vti_log_file file;
    char line[300];
    int standard_output = dup(STDOUT_FILENO);
    int flags = fcntl(writer, F_GETFL);
    size_t written = 0;
    size_t got = 0;
    bool is_lost = false;

    memset(line, 'x', sizeof line);
    fflush(stdout);
    assert_int_equal(dup2(writer, STDOUT_FILENO), STDOUT_FILENO);
    assert_int_equal(vti_log_file_open(&file, &spec), 0);
    for (size_t i = 0; i < 100000 && !is_lost; i++) {
        is_lost = !vti_log_file_write(&file, line, sizeof line);
        written += is_lost ? 0 : sizeof line;
    }
    dup2(standard_output, STDOUT_FILENO);
    close(standard_output);
    vti_log_file_close(&file);
    assert_true(is_lost && written);
    assert_int_equal(fcntl(writer, F_GETFL), flags);
    fcntl(reader, F_SETFL, O_NONBLOCK);
    for (ssize_t part; (part = read(reader, line, sizeof line)) > 0;)
        got += (size_t)part;
    assert_in_range(got, written, written + sizeof line - 1);
    close(reader);
    close(writer);
}

static void test_streams_that_nobody_reads(void **state)
{
    struct termios raw;
    int pair[2];
    int terminal;

    (void)state;
    assert_int_equal(pipe(pair), 0);
    check_stream_is_full(pair[0], pair[1]);
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    check_stream_is_full(pair[0], pair[1]);
    terminal = posix_openpt(O_RDWR | O_NOCTTY);
    if (terminal < 0 || grantpt(terminal) || unlockpt(terminal))
        return;
    pair[1] = open(ptsname(terminal), O_RDWR | O_NOCTTY);
    assert_true(pair[1] >= 0);
    assert_int_equal(tcgetattr(pair[1], &raw), 0);
    cfmakeraw(&raw);
    assert_int_equal(tcsetattr(pair[1], TCSANOW, &raw), 0);
    check_stream_is_full(terminal, pair[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_seconds),
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_long_name),
        cmocka_unit_test(test_formats),
        cmocka_unit_test(test_rotating),
        cmocka_unit_test(test_watched),
        cmocka_unit_test(test_rotating_threads),
        cmocka_unit_test(test_pipe),
        cmocka_unit_test(test_rotating_without_end),
        cmocka_unit_test(test_streams_that_nobody_reads),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
