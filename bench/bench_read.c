/*
 * bench_read.c - how long reading takes: bench_read FILE [CRASHED]
 *
 * Prints one JSON object a line: opening, windows of several widths at random places (cold: a place
 * that this process has not looked at yet; warm: the same again), statistics per event, scanning
 * per GB. Warm windows and statistics wait for nothing, so theirs is processor time, which other
 * programs disturb less.
 */
#include "venturi/read.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define PIXELS 2000
#define PLACES 20
#define REPEATS 10

static double read_ms(clockid_t clock)
{
    struct timespec at;

    clock_gettime(clock, &at);
    return (double)at.tv_sec * 1e3 + (double)at.tv_nsec * 1e-6;
}

static double now(void)
{
    return read_ms(CLOCK_MONOTONIC);
}

static double cpu_now(void)
{
    return read_ms(CLOCK_THREAD_CPUTIME_ID);
}

static void print(const char *name, const char *detail, double value, const char *unit)
{
    printf("{\"name\": \"%s%s\", \"value\": %.4f, \"unit\": \"%s\"}\n", name, detail, value, unit);
}

static vt_recording *open_or_exit(const char *path)
{
    vt_recording *recording;

    if (vt_recording_open(&recording, path)) {
        fprintf(stderr, "bench_read: %s\n", vt_read_error());
        exit(2);
    }
    return recording;
}

/* The best of some. */
static double open_ms(const char *path, int repeats)
{
    double best = 1e9;

    for (int i = 0; i < repeats; i++) {
        double start = now();
        vt_recording *recording = open_or_exit(path);
        double took = now() - start;

        best = took < best ? took : best;
        vt_recording_close(recording);
    }
    return best;
}

static double window_ms(vt_recording *recording, int64_t from, int64_t length,
                        double (*clock)(void), size_t *rects)
{
    struct vt_window window;
    double start = clock();
    double took;

    if (vt_window_query(recording, from, from + length, PIXELS, &window)) {
        fprintf(stderr, "bench_read: %s\n", vt_read_error());
        exit(2);
    }
    took = clock() - start;
    *rects = window.rect_count;
    vt_window_free(&window);
    return took;
}

/* The worst of several places, each first cold and then the best of some repeats. */
static void bench_width(vt_recording *recording, const char *name, int64_t start, int64_t duration,
                        double share)
{
    int64_t length = (int64_t)((double)duration * share);
    double worst_cold = 0;
    double worst_warm = 0;
    size_t most_rects = 0;

    for (int place = 0; place < (share < 1 ? PLACES : 1); place++) {
        int64_t from = start + (int64_t)((double)(duration - length) * drand48());
        double best = 1e9;
        size_t rects;

        for (int i = 0; i <= REPEATS; i++) {
            double took = window_ms(recording, from, length, i ? cpu_now : now, &rects);

            if (i == 0)
                worst_cold = took > worst_cold ? took : worst_cold;
            else
                best = took < best ? took : best;
        }
        worst_warm = best > worst_warm ? best : worst_warm;
        most_rects = rects > most_rects ? rects : most_rects;
    }
    print("window cold ", name, worst_cold, "ms");
    print("window warm ", name, worst_warm, "ms");
    print("window rects ", name, (double)most_rects, "rects");
}

static void bench_windows(vt_recording *recording, const struct vt_recording_info *info)
{
    static const struct {
        const char *name;
        double share;
    } widths[] = {{"100 %", 1},       {"50 %", 0.5},     {"10 %", 0.1},     {"3 %", 0.03},
                  {"1 %", 0.01},      {"0.3 %", 0.003},  {"0.1 %", 0.001},  {"0.03 %", 0.0003},
                  {"0.01 %", 0.0001}, {"0.001 %", 1e-5}, {"0.0001 %", 1e-6}};
    struct vt_track_info track;
    int64_t start = INT64_MAX;

    for (uint32_t i = 0; vt_recording_track(recording, i, &track); i++)
        start = track.start_ns < start ? track.start_ns : start;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        bench_width(recording, widths[i].name, start, info->duration_ns, widths[i].share);
}

static void bench_stats(vt_recording *recording, const struct vt_recording_info *info)
{
    struct vt_stats stats;
    double start = cpu_now();

    if (vt_stats_query(recording, NULL, &stats)) {
        fprintf(stderr, "bench_read: %s\n", vt_read_error());
        exit(2);
    }
    print("stats", "", (cpu_now() - start) * 1e6 / (double)info->event_count, "ns per event");
    vt_stats_free(&stats);
}

static void bench_scan(const char *path)
{
    double open = open_ms(path, 3) / 1e3;
    vt_recording *recording = open_or_exit(path);
    struct vt_recording_info info;
    size_t rects;
    double window;

    vt_recording_info(recording, &info);
    window = window_ms(recording, 0, info.duration_ns, now, &rects) / 1e3;
    print("crashed open", "", open / ((double)info.file_bytes / 1e9), "s per GB");
    print("crashed first window", "", window / ((double)info.file_bytes / 1e9), "s per GB");
    vt_recording_close(recording);
}

int main(int argc, char **argv)
{
    struct vt_recording_info info;
    vt_recording *recording;
    double start;

    if (argc < 2) {
        fprintf(stderr, "usage: bench_read FILE [CRASHED]\n");
        return 2;
    }
    print("open", "", open_ms(argv[1], REPEATS), "ms");
    recording = open_or_exit(argv[1]);
    start = now();
    vt_recording_info(recording, &info);
    print("check of the index", "", now() - start, "ms");
    bench_windows(recording, &info);
    bench_stats(recording, &info);
    vt_recording_close(recording);
    if (argc > 2)
        bench_scan(argv[2]);
    return 0;
}
