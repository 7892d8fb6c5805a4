/*
 * step.c - a step of C: alerts come from a file, a CSV file, standard input or Kafka, each is classified, kinds go to another of these.
 *
 *     venturi run build/examples/step/step examples/step/messages.jsonl kinds.csv
 *     venturi run build/examples/step/step 'kafka://localhost:9092/alerts?group.id=kinds' kafka://localhost:9092/kinds
 */
#define _GNU_SOURCE 1 /* memmem() */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <venturi/step.h>

#define BATCH 10
#define VALUE_BYTES 64 /* of a member, with a zero byte */

static vt_step *step;

static void stop(int signal_number)
{
    (void)signal_number;
    vt_step_stop(step);
}

/* The beginning of the value of a member of a flat object; false: it has none. A message may be long, and no zero byte ends it. */
static bool member(const struct vt_message *object, const char *name, char value[VALUE_BYTES])
{
    const char *end = (const char *)object->data + object->bytes;
    char wanted[64];
    const char *at;
    size_t left;

    snprintf(wanted, sizeof wanted, "\"%s\":", name);
    at = memmem(object->data, object->bytes, wanted, strlen(wanted));
    if (!at)
        return false;
    for (at += strlen(wanted); at < end && *at == ' ';)
        at++;
    left = (size_t)(end - at) < VALUE_BYTES - 1 ? (size_t)(end - at) : VALUE_BYTES - 1;
    memcpy(value, at, left);
    value[left] = 0;
    return true;
}

static const char *kind_of(double magnitude)
{
    return magnitude < 17.5 ? "bright" : magnitude < 19 ? "usual" : "faint";
}

static int classify(vt_step *self, const struct vt_message *alert, int *bright)
{
    char magnitude[VALUE_BYTES], candid[VALUE_BYTES], result[160];
    const char *digits = candid;
    const char *kind;
    int len;

    if (!member(alert, "magnitude", magnitude) || !member(alert, "candid", candid))
        return vt_step_fail("an alert without candid or magnitude: %.*s",
                            alert->bytes < 60 ? (int)alert->bytes : 60, (const char *)alert->data);
    kind = kind_of(strtod(magnitude, NULL));
    *bright += !strcmp(kind, "bright");
    digits += *digits == '"';
    len = snprintf(result, sizeof result, "{\"candid\":\"%.*s\",\"kind\":\"%s\"}",
                   (int)strspn(digits, "0123456789"), digits, kind);
    return vt_step_produce(self, result, (size_t)len);
}

static int execute(vt_step *self, const struct vt_message *messages, size_t count, void *user)
{
    int bright = 0;
    int code = 0;

    (void)user;
    for (size_t i = 0; i < count && !code; i++)
        code = classify(self, &messages[i], &bright);
    vt_step_metric_integer(self, "bright", bright);
    return code;
}

int main(int argc, char **argv)
{
    struct vt_step_options options = {.size = sizeof options,
                                      .source = "KindStep",
                                      .prefix = "test_step",
                                      .batch = BATCH,
                                      .execute = execute};
    struct vt_step_counts counts;
    int code;

    if (vt_consumer_open(&options.consumer, argc > 1 ? argv[1] : "-", NULL) ||
        vt_producer_open(&options.producer, argc > 2 ? argv[2] : "-", NULL)) {
        fprintf(stderr, "step: %s\n", vt_step_error());
        vt_consumer_close(options.consumer);
        return 2;
    }
    step = vt_step_new(&options);
    if (!step) {
        fprintf(stderr, "step: %s\n", vt_step_error());
        return 2;
    }
    signal(SIGINT, stop);
    signal(SIGTERM, stop);
    code = vt_step_run(step);
    counts = vt_step_count(step);
    if (code)
        fprintf(stderr, "step: %s\n", vt_step_error());
    fprintf(stderr, "step: %llu alerts, %llu kinds\n", (unsigned long long)counts.messages,
            (unsigned long long)counts.produced);
    vt_step_free(step);
    return code ? 1 : 0;
}
