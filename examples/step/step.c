/*
 * step.c - a step of C: alerts come from a file, a CSV file, standard input or Kafka, each is classified, kinds go to another of these.
 *
 *     venturi run build/examples/step/step examples/step/messages.jsonl kinds.csv
 *     venturi run build/examples/step/step 'kafka://localhost:9092/alerts?group.id=kinds' kafka://localhost:9092/kinds
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <venturi/step.h>

#define BATCH 10

static vt_step *step;

static void stop(int signal_number)
{
    (void)signal_number;
    vt_step_stop(step);
}

/* Where the value of a member of a flat object begins, or NULL. */
static const char *member(const char *object, const char *name)
{
    char wanted[64];
    const char *at;

    snprintf(wanted, sizeof wanted, "\"%s\":", name);
    at = strstr(object, wanted);
    return at ? at + strlen(wanted) : NULL;
}

static const char *kind_of(double magnitude)
{
    return magnitude < 17.5 ? "bright" : magnitude < 19 ? "usual" : "faint";
}

static int classify(vt_step *self, const char *alert, int *bright)
{
    const char *magnitude = member(alert, "magnitude");
    const char *candid = member(alert, "candid");
    char result[160];
    const char *kind;
    int len;

    if (!magnitude || !candid)
        return vt_step_fail("an alert without candid or magnitude: %.60s", alert);
    kind = kind_of(strtod(magnitude, NULL));
    *bright += !strcmp(kind, "bright");
    candid += strspn(candid, " \"");
    len = snprintf(result, sizeof result, "{\"candid\":\"%.*s\",\"kind\":\"%s\"}",
                   (int)strspn(candid, "0123456789"), candid, kind);
    return vt_step_produce(self, result, (size_t)len);
}

static int execute(vt_step *self, const struct vt_message *messages, size_t count, void *user)
{
    int bright = 0;
    int code = 0;

    (void)user;
    for (size_t i = 0; i < count && !code; i++) {
        char alert[4096];

        snprintf(alert, sizeof alert, "%.*s", (int)messages[i].bytes,
                 (const char *)messages[i].data);
        code = classify(self, alert, &bright);
    }
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
