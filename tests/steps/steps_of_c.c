/*
 * steps_of_c.c - steps that behave in a way that is asked for, with a consumer and a producer of their own; says what it counted.
 *
 *     steps_of_c MESSAGES BATCH MODE      MODE: good, fail (every third batch, and ends), skip (the same, and goes on), stop (after two
 *                                         batches), slow (2 ms in each phase), metrics, own (an own document for each batch), endless
 *                                         (no end until it is told to stop by SIGTERM), phases (the first batch fails in pre_execute, the
 *                                         next ones in execute, post_execute and while producing; those after them are good)
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <venturi/step.h>

struct numbers {
    struct vt_consumer consumer;
    unsigned next, count, committed;
    char text[64][32];
};

static const char *mode = "good";
static vt_step *the_step;
static unsigned batches, sent, flushed;

static void nap(void)
{
    const struct timespec time = {0, 2000000};

    if (!strcmp(mode, "slow"))
        nanosleep(&time, NULL);
}

static int receive(struct vt_consumer *consumer, struct vt_message *messages, size_t most,
                   int timeout_ms)
{
    struct numbers *self = (struct numbers *)consumer;
    struct timespec now;
    size_t i;

    (void)timeout_ms;
    if (self->next >= self->count)
        return VT_CONSUMER_END;
    clock_gettime(CLOCK_REALTIME, &now);
    for (i = 0; i < most && i < 64 && self->next < self->count; i++) {
        int len = snprintf(self->text[i], sizeof self->text[i], "{\"n\":%u}", self->next++);

        messages[i] = (struct vt_message){.data = self->text[i],
                                          .bytes = (size_t)len,
                                          .sent_ns = (int64_t)now.tv_sec * 1000000000 +
                                                     now.tv_nsec - 5000000000};
    }
    return (int)i;
}

static int commit(struct vt_consumer *consumer)
{
    ((struct numbers *)consumer)->committed++;
    return 0;
}

/* Whether it is to fail in this phase: 1 pre_execute, 2 execute, 3 post_execute, 4 producing. */
static int fails_in(unsigned phase, unsigned batch)
{
    return !strcmp(mode, "phases") && phase == batch
               ? vt_step_fail("batch %u fails in phase %u", batch, phase)
               : 0;
}

static int take(struct vt_producer *producer, const struct vt_message *message)
{
    (void)producer, (void)message;
    sent++;
    return fails_in(4, batches);
}

static int flush(struct vt_producer *producer, int timeout_ms)
{
    (void)producer, (void)timeout_ms;
    flushed++;
    return 0;
}

static int pre(vt_step *step, const struct vt_message *messages, size_t count, void *user)
{
    (void)messages, (void)count, (void)user;
    nap();
    batches = (unsigned)vt_step_count(step).batches;
    return fails_in(1, batches + 1);
}

static int post(vt_step *step, const struct vt_message *messages, size_t count, void *user)
{
    (void)step, (void)messages, (void)count, (void)user;
    nap();
    return fails_in(3, batches);
}

/* Those that are taken, and those that are not. */
static int send_documents(vt_step *step)
{
    static const char *const good[] = {"{\"own\": {\"batch\": 1}}",
                                       " \n{\"x\":1,\r\n\t\"y\" :\n[\"a  b\\n\\\"\",2]\n}\n", "{}",
                                       "{ }"};
    static const char *const bad[] = {"[1]",
                                      "",
                                      "{",
                                      "}",
                                      "{\"a\":NaN}",
                                      "{\"a\":01}",
                                      "{\"a\":1,}",
                                      "{\"a\":1}x",
                                      "{\"a\":1 2}",
                                      "{\"a\":\"\n\"}",
                                      "{\"a\":\"\xff\"}",
                                      "{\"a\":1}{}",
                                      "{\"a\":\"}",
                                      "{\"a\" 1}",
                                      "{\"a\":[1}"};

    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (vt_step_send_metrics(step, good[i]))
            return -1;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (vt_step_send_metrics(step, bad[i]) != VT_STEP_BAD_METRICS || !*vt_step_error())
            return vt_step_fail("taken: bad %zu", i);
    return vt_step_send_metrics(step, NULL) == VT_STEP_BAD_METRICS ? 0 : -1;
}

static int execute(vt_step *step, const struct vt_message *messages, size_t count, void *user)
{
    (void)user;
    batches++;
    nap();
    if (!strcmp(mode, "stop") && batches == 2)
        vt_step_stop(step);
    if ((!strcmp(mode, "fail") || !strcmp(mode, "skip")) && batches % 3 == 0)
        return vt_step_fail("batch %u is a third one", batches);
    if (!strcmp(mode, "metrics")) {
        vt_step_metric_text(step, "candid", "a \"quoted\" one");
        vt_step_metric_integer(step, "batch", batches);
        vt_step_metric_number(step, "share", 0.25);
    }
    if (!strcmp(mode, "own") && send_documents(step))
        return -1;
    if (fails_in(2, batches))
        return -1;
    for (size_t i = 0; i < count; i++)
        if (vt_step_produce(step, messages[i].data, messages[i].bytes))
            return -1;
    return 0;
}

static void stop(int number)
{
    (void)number;
    vt_step_stop(the_step);
}

int main(int argc, char **argv)
{
    struct numbers numbers = {.consumer = {receive, commit, NULL}};
    struct vt_producer producer = {take, flush, NULL};
    struct vt_step_options options = {.size = sizeof options,
                                      .source = "StepOfC",
                                      .prefix = "test_step",
                                      .survey = "ztf",
                                      .consumer = &numbers.consumer,
                                      .producer = &producer,
                                      .execute = execute};
    struct vt_step_counts counts;
    int code;

    numbers.count = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 10;
    options.batch = argc > 2 ? strtoul(argv[2], NULL, 10) : 1;
    mode = argc > 3 ? argv[3] : mode;
    options.skip_failed = !strcmp(mode, "skip") || !strcmp(mode, "phases");
    if (!strcmp(mode, "slow") || !strcmp(mode, "phases")) {
        options.pre_execute = pre;
        options.post_execute = post;
    }
    if (!strcmp(mode, "endless"))
        numbers.count = 4000000000u;
    the_step = vt_step_new(&options);
    if (!the_step)
        return 2;
    signal(SIGTERM, stop);
    code = vt_step_run(the_step);
    counts = vt_step_count(the_step);
    printf("{\"code\": %d, \"error\": \"%s\", \"messages\": %llu, \"batches\": %llu, \"failed\": "
           "%llu, "
           "\"produced\": %llu, \"sent\": %u, \"committed\": %u, \"flushed\": %u}\n",
           code, code ? vt_step_error() : "", (unsigned long long)counts.messages,
           (unsigned long long)counts.batches, (unsigned long long)counts.failed,
           (unsigned long long)counts.produced, sent, numbers.committed, flushed);
    vt_step_free(the_step);
    return 0;
}
