/*
 * test_stats.c - numbers per site against sums over all spans: recursion, our own cost,
 * percentiles, filters, spans without an end, async spans. And the histogram alone.
 */
#include "analyze/histogram.h"
#include "base/error.h"
#include "recording_kit.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define FIRST_TICK 1000
#define SITES 8

static int compare_numbers(const void *left, const void *right)
{
    const int64_t *a = left;
    const int64_t *b = right;

    return *a < *b ? -1 : *a > *b;
}

static void assert_within_1_percent(int64_t found, int64_t expected)
{
    if (llabs(found - expected) > expected / 100)
        fail_msg("%lld is not within 1 %% of %lld", (long long)found, (long long)expected);
}

static const struct vt_site_stats *find(const struct vt_stats *stats, uint32_t site)
{
    for (size_t i = 0; i < stats->site_count; i++)
        if (stats->sites[i].site == site)
            return &stats->sites[i];
    return NULL;
}

/* ---- against all spans ----------------------------------------------------------------------- */

struct expected {
    uint64_t count, unfinished;
    int64_t total, self, raw_total, raw_self, min, max, sum;
    int64_t *durations; /* owned */
};

static bool is_in(const struct kit_span *span, const struct vt_filter *filter)
{
    int64_t begin = (int64_t)span->begin - FIRST_TICK;

    return begin >= filter->from_ns && begin < filter->to_ns &&
           (filter->track == VT_NONE || filter->track == span->track);
}

/* Whether a span of the same site that counts is open around it. Spans are noted in order of
 * their begins. */
static bool is_nested(size_t at, const struct vt_filter *filter)
{
    const struct kit_span *span = &kit.spans[at];
    uint32_t depth = span->depth;

    for (size_t i = at; i-- > 0 && depth;) {
        const struct kit_span *around = &kit.spans[i];

        if (around->track != span->track)
            break;
        if (around->depth != depth - 1)
            continue;
        if (around->site == span->site && is_in(around, filter))
            return true;
        depth--;
    }
    return false;
}

static int64_t without(int64_t ns, double cost)
{
    double left = (double)ns - cost;

    return left > 0 ? (int64_t)(left + 0.5) : 0;
}

/* Spans inside it that never ended, which only one that never ended has: they are open in each
 * other, so that one of them is directly inside. Nothing is taken off for them. */
static uint64_t unended_inside(const struct kit_span *span)
{
    uint64_t count = 0;

    for (size_t i = 0; i < kit.span_count && !span->is_finished; i++)
        count += kit.spans[i].track == span->track && !kit.spans[i].is_finished &&
                 kit.spans[i].depth > span->depth;
    return count;
}

static void expect(struct expected *expected, const struct vt_filter *filter, double pair,
                   double inner)
{
    memset(expected, 0, (SITES + 1) * sizeof *expected);
    for (size_t i = 0; i < kit.span_count; i++) {
        const struct kit_span *span = &kit.spans[i];
        struct expected *to = &expected[span->site];
        int64_t raw = (int64_t)(span->end - span->begin);
        int64_t raw_self = raw - (int64_t)span->children;
        uint64_t unended = unended_inside(span);
        double own = span->is_finished ? inner : 0;
        int64_t ns = without(raw, own + (double)(span->inside - unended) * pair);

        if (!is_in(span, filter))
            continue;
        if (!to->count++)
            to->min = INT64_MAX;
        to->unfinished += !span->is_finished;
        to->raw_self += raw_self;
        to->self += without(raw_self,
                            own + (double)(span->direct - (unended > 0)) * (pair - inner));
        if (!is_nested(i, filter)) {
            to->total += ns;
            to->raw_total += raw;
        }
        to->sum += ns;
        to->min = ns < to->min ? ns : to->min;
        to->max = ns > to->max ? ns : to->max;
        to->durations = realloc(to->durations, to->count * sizeof *to->durations);
        assert_non_null(to->durations);
        to->durations[to->count - 1] = ns;
    }
}

static int64_t quantile(const struct expected *expected, double share)
{
    return expected->durations[(size_t)ceil(share * (double)expected->count) - 1];
}

static void check(vt_recording *recording, const struct vt_filter *filter, double pair,
                  double inner)
{
    struct expected expected[SITES + 1];
    int64_t overhead = 0;
    uint64_t spans = 0;
    struct vt_stats stats;

    expect(expected, filter, pair, inner);
    assert_int_equal(vt_stats_query(recording, filter, &stats), 0);
    for (uint32_t site = 1; site <= SITES; site++) {
        const struct vt_site_stats *found = find(&stats, site);
        struct expected *want = &expected[site];

        if (!want->count) {
            assert_null(found);
            continue;
        }
        assert_non_null(found);
        assert_int_equal(found->count, want->count);
        assert_int_equal(found->unfinished, want->unfinished);
        assert_int_equal(found->raw_total_ns, want->raw_total);
        assert_int_equal(found->raw_self_ns, want->raw_self);
        want->self = want->self < want->total ? want->self : want->total;
        assert_int_equal(found->total_ns, want->total);
        assert_int_equal(found->self_ns, want->self);
        assert_int_equal(found->min_ns, want->min);
        assert_int_equal(found->max_ns, want->max);
        assert_int_equal(found->avg_ns, want->sum / (int64_t)want->count);
        qsort(want->durations, want->count, sizeof *want->durations, compare_numbers);
        assert_within_1_percent(found->p50_ns, quantile(want, 0.50));
        assert_within_1_percent(found->p90_ns, quantile(want, 0.90));
        assert_within_1_percent(found->p99_ns, quantile(want, 0.99));
        overhead += want->raw_self - want->self;
        spans += want->count;
        free(want->durations);
    }
    assert_int_equal(stats.overhead_ns, overhead);
    assert_int_equal(stats.span_count, spans);
    for (size_t i = 1; i < stats.site_count; i++)
        assert_true(stats.sites[i - 1].total_ns >= stats.sites[i].total_ns);
    vt_stats_free(&stats);
}

static void make(double pair, double inner)
{
    kit_clock(&kit, 1);
    kit_process(&kit, &(struct vti_process_fact){.pair_millis = (uint64_t)(pair * 1000),
                                                 .inner_millis = (uint64_t)(inner * 1000)});
    for (uint32_t i = 0; i < 3; i++)
        kit_track(&kit, i, 0, "thread");
    kit_random(&kit, 3, 3000, 7, SITES, 60, 100, true);
}

static const struct vt_filter everything = {INT64_MIN, INT64_MAX, VT_NONE};

static void test_everything(void **state)
{
    vt_recording *recording;

    (void)state;
    make(0, 0);
    kit_close(&kit);
    recording = kit_open(&kit);
    check(recording, &everything, 0, 0);
    vt_recording_close(recording);
}

static void test_our_own_cost(void **state)
{
    vt_recording *recording;

    (void)state;
    make(14, 5.5);
    kit_abandon(&kit);
    recording = kit_open(&kit);
    check(recording, &everything, 14, 5.5);
    vt_recording_close(recording);
}

/* Spans shorter than what they cost, in spans of their own site: none has more of its own than in
 * all. */
static void test_self_within_total(void **state)
{
    vt_recording *recording;
    struct vt_stats stats;

    (void)state;
    kit_clock(&kit, 1);
    kit_process(&kit, &(struct vti_process_fact){.pair_millis = 20000, .inner_millis = 10000});
    kit_track(&kit, 0, 0, "thread");
    kit_begin(&kit, 0, 2000, 1);
    for (uint64_t i = 0; i < 10; i++) {
        kit_begin(&kit, 0, 2100 + 10 * i, 1);
        kit_end(&kit, 0, 2102 + 10 * i);
    }
    kit_end(&kit, 0, 2300);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vt_stats_query(recording, NULL, &stats), 0);
    assert_int_equal(find(&stats, 1)->total_ns, 300 - 10 - 10 * 20);
    assert_int_equal(find(&stats, 1)->self_ns, find(&stats, 1)->total_ns);
    assert_int_equal(stats.overhead_ns, find(&stats, 1)->raw_self_ns - find(&stats, 1)->self_ns);
    vt_stats_free(&stats);
    vt_recording_close(recording);
}

static void test_filters(void **state)
{
    vt_recording *recording;

    (void)state;
    make(14, 5.5);
    kit_close(&kit);
    recording = kit_open(&kit);
    for (uint32_t i = 0; i < 30; i++) {
        struct vt_filter filter = {.track = i % 2 ? VT_NONE : i % 3};

        filter.from_ns = (int64_t)kit_number(&kit, kit.ticks);
        filter.to_ns = filter.from_ns + (int64_t)kit_number(&kit, kit.ticks / (1 + i));
        check(recording, &filter, 14, 5.5);
    }
    vt_recording_close(recording);
}

static void test_errors(void **state)
{
    vt_recording *recording;
    struct vt_stats stats;

    (void)state;
    kit_clock(&kit, 1);
    for (uint64_t i = 0; i < 5; i++) {
        kit_begin(&kit, 0, 2000 + i * 100, 1);
        kit_begin(&kit, 0, 2010 + i * 100, 2);
        if (i % 2)
            kit_add(&kit, 0,
                    &(struct vti_event){.ticks = 2020 + i * 100,
                                        .kind = VTI_EVENT_ERROR,
                                        .error_type = vti_bytes_of("Bad")});
        kit_end(&kit, 0, 2030 + i * 100);
        kit_end(&kit, 0, 2040 + i * 100);
    }
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vt_stats_query(recording, NULL, &stats), 0);
    assert_int_equal(find(&stats, 1)->errors, 0);
    assert_int_equal(find(&stats, 2)->errors, 2);
    assert_int_equal(find(&stats, 2)->p50_ns, 20);
    vt_stats_free(&stats);
    vt_recording_close(recording);
}

static void add_async(uint32_t track, uint64_t ticks, enum vti_event_kind kind, uint64_t id,
                      unsigned flags)
{
    kit_add(&kit, track,
            &(struct vti_event){
                .ticks = ticks, .kind = kind, .site = 3, .async_id = id, .flags = (uint8_t)flags});
}

static void test_async(void **state)
{
    struct vt_filter filter = {0, 60, VT_NONE};
    vt_recording *recording;
    struct vt_stats stats;

    (void)state;
    kit_clock(&kit, 1);
    kit_process(&kit, &(struct vti_process_fact){0});
    kit_track(&kit, 0, 0, "a");
    kit_track(&kit, 1, 0, "b");
    add_async(1, 1010, VTI_EVENT_ASYNC_BEGIN, 1, 0);
    add_async(0, 1040, VTI_EVENT_ASYNC_END, 1, 0); /* read before its begin */
    add_async(0, 1050, VTI_EVENT_ASYNC_BEGIN, 2, 0);
    add_async(0, 1060, VTI_EVENT_ASYNC_BEGIN, 3, 0); /* never ends; not in the filter */
    kit_cut_all(&kit);
    add_async(1, 1090, VTI_EVENT_ASYNC_END, 2, VTI_FLAG_FAILED); /* after the filter */
    kit_track_end(&kit, 0, 1060);
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vt_stats_query(recording, NULL, &stats), 0);
    assert_int_equal(stats.site_count, 1);
    assert_int_equal(stats.sites[0].count, 3);
    assert_int_equal(stats.sites[0].total_ns, 30 + 40 + 0);
    assert_int_equal(stats.sites[0].unfinished, 1);
    assert_int_equal(stats.sites[0].errors, 1);
    vt_stats_free(&stats);
    assert_int_equal(vt_stats_query(recording, &filter, &stats), 0);
    assert_int_equal(stats.sites[0].count, 2);
    assert_int_equal(stats.sites[0].total_ns, 30 + 40);
    assert_int_equal(stats.sites[0].unfinished, 0);
    vt_stats_free(&stats);
    vt_recording_close(recording);
}

static void test_nothing(void **state)
{
    vt_recording *recording;
    struct vt_stats stats;

    (void)state;
    kit_close(&kit);
    recording = kit_open(&kit);
    assert_int_equal(vt_stats_query(recording, NULL, &stats), 0);
    assert_int_equal(stats.site_count, 0);
    vt_stats_free(&stats);
    vt_recording_close(recording);
}

/* ---- the histogram --------------------------------------------------------------------------- */

static void check_histogram(size_t count, int magnitude)
{
    static const double shares[] = {0.001, 0.1, 0.5, 0.9, 0.99, 1};
    struct vti_histogram histogram = {0};
    int64_t *values = calloc(count, sizeof *values);

    assert_non_null(values);
    for (size_t i = 0; i < count; i++) {
        values[i] = (int64_t)(kit_number(&kit, UINT64_MAX) >>
                              (64 - 1 - kit_number(&kit, (uint64_t)magnitude)));
        assert_int_equal(vti_histogram_add(&histogram, values[i]), 0);
    }
    qsort(values, count, sizeof *values, compare_numbers);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        assert_within_1_percent(vti_histogram_quantile(&histogram, shares[i]),
                                values[(size_t)ceil(shares[i] * (double)count) - 1]);
    vti_histogram_fini(&histogram);
    free(values);
}

static void test_histogram(void **state)
{
    struct vti_histogram histogram = {0};

    (void)state;
    assert_int_equal(vti_histogram_quantile(&histogram, 0.5), 0);
    for (size_t count = 1; count < 3000; count = count * 3 / 2 + 1)
        for (int magnitude = 1; magnitude < 53; magnitude += 4)
            check_histogram(count, magnitude);
    for (int i = 0; i < 100; i++)
        assert_int_equal(vti_histogram_add(&histogram, i % 2 ? INT64_MAX : -5), 0);
    assert_int_equal(vti_histogram_quantile(&histogram, 0.5), 0);
    assert_within_1_percent(vti_histogram_quantile(&histogram, 0.51), INT64_MAX);
    vti_histogram_fini(&histogram);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, kit_set_up, kit_tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_everything),
        TEST(test_our_own_cost),
        TEST(test_filters),
        TEST(test_errors),
        TEST(test_async),
        TEST(test_nothing),
        TEST(test_self_within_total),
        TEST(test_histogram),
    };
#undef TEST

    return cmocka_run_group_tests(tests, NULL, NULL);
}
