/*
 * bench_span.c - what a trace point costs the program, beside the floor.
 *
 *     bench_span on ROUNDS     under `venturi run`: everything that records
 *     bench_span off ROUNDS    without it: what remains when nobody records
 *
 * Linked with libventuri like any program of a user.
 */
#include "batch.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <venturi/span.h>

#define PAIRS 5000
#define OFF_PAIRS 200000 /* so that a batch of nearly nothing is long enough to be timed */
#define REST_US 1000
#define NEW_THREADS 200
#define COUNT_OF(array) (sizeof(array) / sizeof *(array))

/* ---- one thread ------------------------------------------------------------------------------- */

static void run_span(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        VT_SPAN("span");
        __asm__ volatile("" : : : "memory");
    }
}

static void run_start_stop(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        VT_START("start");
        VT_STOP();
    }
}

static void run_lap(uint32_t count)
{
    VT_START("first lap");
    for (uint32_t i = 0; i < count; i++)
        VT_LAP("lap");
    VT_STOP();
}

static void run_dynamic(uint32_t count)
{
    static char name[] = "stage-00-of-the-pipeline";

    for (uint32_t i = 0; i < count; i++) {
        name[7] = (char)('0' + i % 8);
        vt_start(name);
        vt_stop();
    }
}

static void run_attr(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        VT_SPAN("span with attribute");
        VT_ATTR("number", i);
    }
}

static void run_counter(uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        VT_COUNTER("counter", "items", i);
}

static void print_cases(const struct bench_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        bench_print(cases[i].name, cases[i].min, cases[i].median, "ns");
}

static void measure_on(uint32_t rounds)
{
    struct bench_case cases[] = {
        {.name = "floor", .run = bench_floor, .count = PAIRS},
        {.name = "span", .run = run_span, .count = PAIRS},
        {.name = "start_stop", .run = run_start_stop, .count = PAIRS},
        {.name = "lap", .run = run_lap, .count = PAIRS},
        {.name = "start_dynamic", .run = run_dynamic, .count = PAIRS},
        {.name = "span_attr", .run = run_attr, .count = PAIRS},
        {.name = "counter", .run = run_counter, .count = PAIRS},
    };

    bench_rounds(cases, COUNT_OF(cases), rounds, REST_US);
    print_cases(cases, COUNT_OF(cases));
}

static void measure_off(uint32_t rounds)
{
    struct bench_case cases[] = {
        {.name = "empty", .run = bench_empty, .count = OFF_PAIRS},
        {.name = "span_off", .run = run_span, .count = OFF_PAIRS},
        {.name = "start_stop_off", .run = run_start_stop, .count = OFF_PAIRS},
        {.name = "counter_off", .run = run_counter, .count = OFF_PAIRS},
    };

    bench_rounds(cases, COUNT_OF(cases), rounds, REST_US / 4);
    for (size_t i = 1; i < COUNT_OF(cases); i++) {
        cases[i].min -= cases[0].min;
        cases[i].median -= cases[0].median;
    }
    print_cases(cases, COUNT_OF(cases));
}

/* ---- two threads at the same time -------------------------------------------------------------- */

#define DUETS 2

struct duet {
    struct bench_case cases[DUETS];
    uint32_t sample_counts[DUETS];
    uint32_t rounds;
    uint32_t arrivals; /* a barrier of spinning threads: both have arrived when it is even */
    struct {
        uint64_t begin, end;
    } times[2];
};

/* The `which`-th time that both meet, from 1. */
static void meet(struct duet *duet, uint32_t which)
{
    __atomic_add_fetch(&duet->arrivals, 1, __ATOMIC_ACQ_REL);
    while (__atomic_load_n(&duet->arrivals, __ATOMIC_ACQUIRE) < 2 * which)
        sched_yield();
}

/* Only batches during which both threads really ran count, and of those the slower thread. */
static void judge(struct duet *duet, size_t at)
{
    uint64_t first = duet->times[0].end - duet->times[0].begin;
    uint64_t second = duet->times[1].end - duet->times[1].begin;
    uint64_t longer = first > second ? first : second;
    uint64_t late = duet->times[0].begin > duet->times[1].begin
                        ? duet->times[0].begin - duet->times[1].begin
                        : duet->times[1].begin - duet->times[0].begin;

    if (late <= longer / 10)
        duet->cases[at].samples[duet->sample_counts[at]++] = (double)longer / PAIRS;
}

/* Each thread on a CPU of its own: otherwise the scheduler likes to run one after the other. */
static void take_cpu(int voice)
{
    cpu_set_t all, one;
    int seen = 0;

    CPU_ZERO(&one);
    sched_getaffinity(0, sizeof all, &all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && seen++ == voice)
            CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void play(struct duet *duet, int voice)
{
    uint32_t met = 0;

    take_cpu(voice);
    for (size_t at = 0; at < DUETS; at++)
        duet->cases[at].run(PAIRS);
    for (uint32_t i = 0; i < duet->rounds * DUETS; i++) {
        usleep(REST_US);
        meet(duet, ++met);
        duet->times[voice].begin = bench_now_ns();
        duet->cases[i % DUETS].run(PAIRS);
        duet->times[voice].end = bench_now_ns();
        meet(duet, ++met);
        if (voice == 0)
            judge(duet, i % DUETS);
    }
}

static void *play_second(void *arg)
{
    play(arg, 1);
    return NULL;
}

static void measure_two(uint32_t rounds)
{
    struct duet duet = {
        .cases = {{.name = "floor_2", .run = bench_floor}, {.name = "span_2", .run = run_span}},
        .rounds = rounds};
    cpu_set_t before;
    pthread_t second;

    sched_getaffinity(0, sizeof before, &before);
    duet.cases[0].samples = calloc(rounds, sizeof(double));
    duet.cases[1].samples = calloc(rounds, sizeof(double));
    if (!duet.cases[0].samples || !duet.cases[1].samples || CPU_COUNT(&before) < 2 ||
        pthread_create(&second, NULL, play_second, &duet))
        goto out;
    play(&duet, 0);
    pthread_join(second, NULL);
    sched_setaffinity(0, sizeof before, &before);
    for (size_t at = 0; at < DUETS; at++) {
        double median = bench_median(duet.cases[at].samples, duet.sample_counts[at]);

        if (duet.sample_counts[at])
            bench_print(duet.cases[at].name, duet.cases[at].samples[0], median, "ns");
    }
out:
    free(duet.cases[0].samples);
    free(duet.cases[1].samples);
}

/* ---- the first event of a thread --------------------------------------------------------------- */

struct debut {
    sem_t done, end;
    bool stays; /* all threads live until the last one began: none gets the things of another */
    double ns;
};

static void *first_event(void *arg)
{
    struct debut *debut = arg;
    uint64_t before = bench_now_ns();

    {
        VT_SPAN("first");
    }
    debut->ns = (double)(bench_now_ns() - before);
    sem_post(&debut->done);
    if (debut->stays)
        sem_wait(&debut->end);
    return NULL;
}

static void measure_first(const char *name, bool stays)
{
    struct debut debut = {.stays = stays};
    pthread_t threads[NEW_THREADS];
    double samples[NEW_THREADS];
    double median;
    size_t count;

    sem_init(&debut.done, 0, 0);
    sem_init(&debut.end, 0, 0);
    for (count = 0; count < NEW_THREADS; count++) {
        if (pthread_create(&threads[count], NULL, first_event, &debut))
            break;
        sem_wait(&debut.done);
        samples[count] = debut.ns;
        if (!stays)
            pthread_join(threads[count], NULL);
        usleep(REST_US);
    }
    for (size_t i = 0; stays && i < count; i++)
        sem_post(&debut.end);
    for (size_t i = 0; stays && i < count; i++)
        pthread_join(threads[i], NULL);
    median = bench_median(samples, count);
    bench_print(name, samples[0], median, "ns");
}

int main(int argc, char **argv)
{
    bool is_on;
    uint32_t rounds;

    if (argc != 3 || (strcmp(argv[1], "on") != 0 && strcmp(argv[1], "off") != 0)) {
        fputs("usage: bench_span on|off ROUNDS\n", stderr);
        return 2;
    }
    is_on = !strcmp(argv[1], "on");
    rounds = bench_number(argv[2]);
    VT_MARK("begin");
    if (is_on != vt_is_on()) {
        fprintf(stderr, "bench_span: %s\n", is_on ? "nobody records" : "somebody records");
        return 1;
    }
    if (!is_on) {
        measure_off(rounds);
        return 0;
    }
    measure_on(rounds);
    measure_two(rounds);
    measure_first("first_event", true);
    measure_first("first_event_again", false);
    return 0;
}
