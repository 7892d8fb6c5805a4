/* test_history.c - a day and more of history by a clock of our own: what is kept, how much at most, and which steps are given for which stretch. */
#include "live/history.h"
#include "live/state.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#define MS 1000000LL
#define MINUTE 60000LL
#define HOUR (60 * MINUTE)
#define START 1794870000000LL

/* Looks at the state every `step_ms` until `until_ms`. */
static void go_on(struct vti_history *history, struct vti_live *live, int64_t step_ms,
                  int64_t until_ms)
{
    for (int64_t now = live->now_unix_ns / MS + step_ms; now <= until_ms; now += step_ms) {
        live->now_unix_ns = now * MS;
        live->resources.usage.cpu = (double)(now % 977) / 7;
        live->resources.usage.memory_bytes = (uint64_t)now * 3;
        live->energy.watts = (double)(now % 811) / 3;
        assert_int_equal(vti_history_add(history, live), 0);
    }
}

/* The times that are given for a stretch, and their step. */
static unsigned ask(struct vti_history *history, int64_t from_ms, int64_t to_ms, int64_t *step_ms,
                    int64_t *first_ms)
{
    struct vti_history_question question = {
        .from_ms = from_ms, .to_ms = to_ms, .points = 5000, .names = "cpu"};
    struct vti_buf text = {0};
    struct vti_json json;
    unsigned count = 0;
    const char *at, *end;

    vti_json_init(&json, &text);
    vti_json_object(&json);
    assert_int_equal(vti_history_write(history, &question, &json), 0);
    vti_json_object_end(&json);
    vti_buf_add_u8(&text, 0);
    at = strstr((const char *)text.data, "\"step_ms\":");
    assert_non_null(at);
    *step_ms = strtoll(at + 10, NULL, 10);
    at = strstr(at, "\"times_ms\":[") + 12;
    end = strchr(at, ']');
    *first_ms = at < end ? strtoll(at, NULL, 10) : 0;
    for (; at < end; at++)
        count += *at == ',' || at + 1 == end;
    vti_buf_fini(&text);
    return count;
}

/* Of steps of `step_ms`, asked for in pieces that fit, so that none of them are put together. */
static unsigned count_steps(struct vti_history *history, int64_t from_ms, int64_t to_ms,
                            int64_t step_ms)
{
    int64_t piece_ms = 4000 * step_ms;
    int64_t given_ms, first_ms;
    unsigned count = 0;

    for (int64_t at = from_ms; at < to_ms; at += piece_ms) {
        unsigned got = ask(history, at, at + piece_ms < to_ms ? at + piece_ms : to_ms, &given_ms,
                           &first_ms);

        if (given_ms == step_ms)
            count += got;
    }
    return count;
}

static void bounds(void **state)
{
    char path[] = "/tmp/venturi-history-XXXXXX";
    static struct vti_live live;
    struct vti_history *history;
    struct stat about;
    int64_t now_ms = START + 30 * HOUR;
    int64_t step_ms, first_ms;
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    close(fd);
    live.now_unix_ns = START * MS;
    live.resources.is_known = live.energy.is_known = true;
    assert_int_equal(vti_history_open(&history, path), 0);
    /* Each level is full before the next, finer one is filled. */
    go_on(history, &live, 10000, now_ms - 150 * MINUTE);
    go_on(history, &live, 1000, now_ms - 15 * MINUTE);
    go_on(history, &live, 100, now_ms);
    /* Ten minutes of 100 ms, two hours of 1 s, a day of 10 s; what is too old goes within ten seconds. */
    assert_in_range(count_steps(history, now_ms - 10 * MINUTE, now_ms + 1, 100), 5990, 6001);
    assert_in_range(count_steps(history, now_ms - 2 * HOUR, now_ms + 1, 1000), 600, 7201);
    assert_in_range(count_steps(history, now_ms - 24 * HOUR, now_ms + 1, 10000), 700, 8641);
    ask(history, now_ms - 10 * MINUTE, now_ms - 9 * MINUTE, &step_ms, &first_ms);
    assert_int_equal(step_ms, 100);
    ask(history, now_ms - 2 * HOUR, now_ms - 119 * MINUTE, &step_ms, &first_ms);
    assert_int_equal(step_ms, 1000);
    assert_in_range(first_ms, now_ms - 2 * HOUR, now_ms - 2 * HOUR + 1000);
    ask(history, now_ms - 24 * HOUR, now_ms - 23 * HOUR, &step_ms, &first_ms);
    assert_int_equal(step_ms, 10000);
    assert_in_range(first_ms, now_ms - 24 * HOUR, now_ms - 24 * HOUR + 10000);
    assert_int_equal(ask(history, START, now_ms - 24 * HOUR - 10000, &step_ms, &first_ms), 0);
    /* The clock is set back: what lies in the future goes, and nothing stands still. */
    live.now_unix_ns = (now_ms - 3 * HOUR) * MS;
    go_on(history, &live, 100, now_ms - 3 * HOUR + MINUTE);
    now_ms += -3 * HOUR + MINUTE;
    assert_int_equal(ask(history, now_ms + 11000, now_ms + 3 * HOUR, &step_ms, &first_ms), 0);
    assert_in_range(count_steps(history, now_ms - MINUTE, now_ms + 1, 100), 590, 601);
    vti_history_close(history);
    assert_int_equal(stat(path, &about), 0);
    assert_in_range(about.st_size, 100000, 8 << 20);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bounds)};

    return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
