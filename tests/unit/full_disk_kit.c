/* full_disk_kit.c - the limit of a file's size is the full disk. */
#include "full_disk_kit.h"

#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

struct vti_writer *kit_writer;
const char *kit_path;

static const struct kit_course *course;

/* The kernel refuses what goes beyond; 0: nothing. */
static void limit_file(uint64_t bytes)
{
    struct rlimit limit;

    assert_int_equal(getrlimit(RLIMIT_FSIZE, &limit), 0);
    limit.rlim_cur = bytes ? bytes : limit.rlim_max;
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void start(void)
{
    limit_file(0);
    assert_int_equal(
        vti_writer_create(&kit_writer, open(kit_path, O_RDWR | O_TRUNC | O_CLOEXEC), kit_path), 0);
    course->start();
}

static void add(unsigned times)
{
    for (unsigned i = 0; i < times; i++)
        course->add();
}

void kit_close(struct vti_writer_stats *stats)
{
    assert_int_equal(vti_writer_close(kit_writer, stats), 0);
    limit_file(0);
}

static void full_for_good(void **state)
{
    (void)state;
    for (uint64_t limit = 3000; limit < 40000; limit += 1237) {
        start();
        limit_file(limit);
        for (unsigned i = 0; i < 100; i++) {
            course->add();
            if (i % 3 == 0)
                assert_int_equal(vti_writer_flush(kit_writer), 0);
        }
        course->finish(limit < 10000 ? 0 : course->least, 100 * course->entries - 1);
    }
}

static void full_for_a_while(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    start();
    limit_file(9000);
    add(20);
    assert_int_equal(vti_writer_flush(kit_writer), 0);
    assert_in_range(vti_writer_buffered(kit_writer), 0, 200); /* nothing waits */
    limit_file(0);
    do {
        usleep(10000); /* a disk that was full is left alone for a while */
        assert_int_equal(vti_writer_flush(kit_writer), 0);
        vti_writer_stats(kit_writer, &stats);
    } while (stats.disk_error);
    add(20);
    course->finish(20 * course->entries, 40 * course->entries - 1);
}

/* All fits but the end: the last entries give way. */
static void full_at_the_end(void **state)
{
    struct vti_writer_stats stats;

    (void)state;
    for (unsigned extra = 0; extra < 100; extra += 33) {
        start();
        add(200);
        assert_int_equal(vti_writer_flush(kit_writer), 0);
        vti_writer_stats(kit_writer, &stats);
        limit_file(stats.bytes + extra);
        course->finish(150 * course->entries, 200 * course->entries - 1);
    }
}

static void never_full(void **state)
{
    (void)state;
    start();
    add(50);
    course->finish(50 * course->entries, 50 * course->entries);
}

int kit_run_course(const struct kit_course *wanted)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(full_for_good),
        cmocka_unit_test(full_for_a_while),
        cmocka_unit_test(full_at_the_end),
        cmocka_unit_test(never_full),
    };
    char path[] = "/tmp/full_disk-XXXXXX";
    int fd = mkstemp(path);
    int failed;

    if (fd < 0)
        return 1;
    close(fd);
    signal(SIGXFSZ, SIG_IGN);
    kit_path = path;
    course = wanted;
    failed = cmocka_run_group_tests(tests, NULL, NULL);
    unlink(path);
    return failed;
}
