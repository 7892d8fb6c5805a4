/*
 * pipeline.c - a small alert pipeline: reads alerts, classifies them on two threads, writes the result.
 *
 * Shows the trace points of C: spans that follow a scope, attributes, errors, a counter with its unit, a
 * mark, an async span that begins on one thread and ends on another. Run it with
 *
 *     venturi run ./pipeline [alerts]
 */
#define _GNU_SOURCE 1 /* pthread_setname_np() */
#include <math.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <venturi/span.h>

#define STAMP 63 /* image stamps are STAMP x STAMP pixels */
#define QUEUE 64
#define WORKERS 2

struct alert {
    int number;
    int stamp_size;
    int ndet;
    float stamp[STAMP * STAMP];
    uint64_t waiting; /* async span from the reader to a worker */
};

static struct {
    struct alert *slots[QUEUE];
    int head, tail;
    int is_closed;
    pthread_mutex_t lock;
    pthread_cond_t changed;
} queue = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

static int candidates;

static void put(struct alert *alert)
{
    pthread_mutex_lock(&queue.lock);
    while (queue.tail - queue.head == QUEUE)
        pthread_cond_wait(&queue.changed, &queue.lock);
    alert->waiting = VT_ASYNC_BEGIN("waiting");
    queue.slots[queue.tail++ % QUEUE] = alert;
    VT_COUNTER("queue", "alerts", queue.tail - queue.head);
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
}

static struct alert *take(void)
{
    struct alert *alert = NULL;

    pthread_mutex_lock(&queue.lock);
    while (queue.head == queue.tail && !queue.is_closed)
        pthread_cond_wait(&queue.changed, &queue.lock);
    if (queue.head != queue.tail) {
        alert = queue.slots[queue.head++ % QUEUE];
        VT_ASYNC_END(alert->waiting);
    }
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    return alert;
}

static struct alert *read_alert(int number)
{
    struct alert *alert;

    VT_SPAN("read_alert");
    alert = malloc(sizeof *alert);
    if (!alert)
        exit(1);
    alert->number = number;
    alert->ndet = 1 + number % 7;
    alert->stamp_size = number % 67 == 66 ? STAMP - 1 : STAMP;
    for (int i = 0; i < STAMP * STAMP; i++)
        alert->stamp[i] = (float)((i * 2654435761u + (unsigned)number) % 1000) / 1000;
    return alert;
}

static float sharpness(const struct alert *alert)
{
    float sum = 0;

    VT_SPAN("sharpness");
    for (int y = 1; y < STAMP - 1; y++)
        for (int x = 1; x < STAMP - 1; x++) {
            const float *at = &alert->stamp[y * STAMP + x];

            sum += fabsf(4 * at[0] - at[1] - at[-1] - at[STAMP] - at[-STAMP]);
        }
    return sum / (STAMP * STAMP);
}

static float brightness(const struct alert *alert)
{
    float sum = 0;

    VT_SPAN("brightness");
    for (int i = 0; i < STAMP * STAMP; i++)
        sum += sqrtf(alert->stamp[i]);
    return sum / (STAMP * STAMP);
}

static int classify(const struct alert *alert)
{
    VT_SPAN("classify");
    VT_ATTR("ndet", alert->ndet);
    if (alert->stamp_size != STAMP) {
        VT_ERROR("BadStamp", "the stamp has the wrong shape");
        return 0;
    }
    if (alert->ndet < 3)
        return 0;
    return sharpness(alert) * brightness(alert) > 0.88f;
}

static void *work(void *name)
{
    struct alert *alert;

    pthread_setname_np(pthread_self(), name);
    VT_SPAN("worker");
    while ((alert = take()) != NULL) {
        if (classify(alert)) {
            VT_MARK("candidate");
            __atomic_fetch_add(&candidates, 1, __ATOMIC_RELAXED);
        }
        free(alert);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    static char *const names[WORKERS] = {"worker-1", "worker-2"};
    pthread_t workers[WORKERS];
    int count = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 20000;
    struct timespec before, after;
    double seconds;

    VT_SPAN("pipeline");
    clock_gettime(CLOCK_MONOTONIC, &before);
    for (int i = 0; i < WORKERS; i++)
        pthread_create(&workers[i], NULL, work, names[i]);
    for (int i = 0; i < count; i++)
        put(read_alert(i));
    pthread_mutex_lock(&queue.lock);
    queue.is_closed = 1;
    pthread_cond_broadcast(&queue.changed);
    pthread_mutex_unlock(&queue.lock);
    for (int i = 0; i < WORKERS; i++)
        pthread_join(workers[i], NULL);
    clock_gettime(CLOCK_MONOTONIC, &after);
    seconds = (double)(after.tv_sec - before.tv_sec) +
              (double)(after.tv_nsec - before.tv_nsec) / 1e9;
    printf("%d alerts, %d candidates, %.1f alert/second\n", count, candidates, count / seconds);
    return 0;
}
