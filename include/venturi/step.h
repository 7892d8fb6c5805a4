/*
 * venturi/step.h - steps of a pipeline: a step takes messages from a consumer, executes, and hands on to a producer.
 *
 *     static int execute(vt_step *step, const struct vt_message *messages, size_t count, void *user)
 *     {
 *         return vt_step_produce(step, messages[0].data, messages[0].bytes);
 *     }
 *     …
 *     struct vt_step_options options = {.size = sizeof options, .source = "MyStep", .execute = execute};
 *     if (vt_consumer_open(&options.consumer, "alerts.jsonl", NULL) || vt_producer_open(&options.producer, "-", NULL))
 *         …vt_step_error()…
 *     step = vt_step_new(&options);
 *     code = vt_step_run(step);
 *     vt_step_free(step);
 *
 * What each message or batch took is recorded after it, without the author doing anything: see venturi/step_record.h. That
 * never blocks and never fails, whatever becomes of the recording and of those who read it. Functions return 0 or a negative
 * number, and leave one line in vt_step_error(). libventuri-step; needs libventuri and libc, and loads libventuri-kafka
 * when an address of Kafka is opened. A step is for one thread.
 */
#ifndef VENTURI_STEP_H
#define VENTURI_STEP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef VT_API
#define VT_API __attribute__((visibility("default")))
#endif

/* ---- messages, consumers, producers ------------------------------------------------------------------------------- */

struct vt_message {
    const void *data;
    size_t bytes;
    const void *key; /* by which Kafka chooses a partition */
    size_t key_bytes;
    int64_t sent_ns; /* when it was sent to this step, since 1970; 0: unknown */
};

#define VT_CONSUMER_END (-1000) /* no more messages will come */

/* Where messages come from. Make one of your own with a struct that begins with this one. */
struct vt_consumer {
    /* Up to `most` messages, after waiting up to so long for the first. How many: 0, none yet; VT_CONSUMER_END; or another
     * negative number after vt_step_fail(). They are valid until the next call. */
    int (*receive)(struct vt_consumer *self, struct vt_message *messages, size_t most,
                   int timeout_ms);
    int (*commit)(struct vt_consumer *self); /* what was received is done with; or NULL */
    void (*close)(struct vt_consumer *self); /* frees it; or NULL */
};

/* Where messages go. */
struct vt_producer {
    int (*send)(struct vt_producer *self, const struct vt_message *message); /* copies it */
    int (*flush)(struct vt_producer *self, int timeout_ms); /* all of it has arrived; or NULL */
    void (*close)(struct vt_producer *self);                /* frees it; or NULL */
};

/* A setting of a consumer or producer. A list of them ends with one whose name is NULL. */
struct vt_setting {
    const char *name, *value;
};

/*
 * From an address: FILE.jsonl (one message a line), FILE.csv (each row becomes a JSON object), "-" (lines of standard input
 * or output), with jsonl: or csv: in front if the name does not say it; kafka://HOST[:PORT][,…]/TOPIC[,…][?NAME=VALUE[&…]].
 * `settings` may be NULL. For Kafka they are librdkafka's (group.id; a topic may be ^a pattern; with enable.partition.eof a
 * consumer ends when all partitions are read); for files "part" and "parts": only every n-th message, for one of n
 * processes. A file that is written to is appended to.
 */
VT_API int vt_consumer_open(struct vt_consumer **consumer, const char *from,
                            const struct vt_setting *settings);
VT_API int vt_producer_open(struct vt_producer **producer, const char *to,
                            const struct vt_setting *settings);

/* What the functions of the structs do; NULL ones do nothing. */
VT_API int vt_consumer_receive(struct vt_consumer *consumer, struct vt_message *messages,
                               size_t most, int timeout_ms);
VT_API int vt_consumer_commit(struct vt_consumer *consumer);
VT_API void vt_consumer_close(struct vt_consumer *consumer);
VT_API int vt_producer_send(struct vt_producer *producer, const struct vt_message *message);
VT_API int vt_producer_flush(struct vt_producer *producer, int timeout_ms);
VT_API void vt_producer_close(struct vt_producer *producer);

/* ---- steps ---------------------------------------------------------------------------------------------------------- */

typedef struct vt_step vt_step;

/* Not 0: the messages have failed; vt_step_fail() says why. */
typedef int vt_step_function(vt_step *step, const struct vt_message *messages, size_t count,
                             void *user);

struct vt_step_options {
    size_t size;                  /* sizeof this struct, so that it can grow */
    const char *source;           /* the step's name */
    const char *prefix;           /* of the index that its metrics go to; NULL: "pipeline" */
    const char *survey;           /* or NULL */
    struct vt_consumer *consumer; /* the step closes it */
    struct vt_producer *producer; /* the step closes it; or NULL */
    size_t batch;                 /* messages at a time; 0: 1 */
    vt_step_function *pre_execute, *execute, *post_execute; /* all but the second may be NULL */
    void *user;
    int no_commit;   /* messages stay as if nobody had read them: for trying things out */
    int skip_failed; /* go on after messages that failed; else vt_step_run() ends with them */
};

/* `failed` counts batches, each once, whatever its size: of `batches`, not of `messages`. Reports, documents and /metrics count the
 * messages of such batches; both are the same where a batch is one message. */
struct vt_step_counts {
    uint64_t messages, batches; /* received */
    uint64_t failed;            /* batches */
    uint64_t produced;          /* messages */
};

/* NULL: see vt_step_error(); the caller keeps consumer and producer then. Texts are copied. */
VT_API vt_step *vt_step_new(const struct vt_step_options *options);

/* Until there are no more messages, vt_step_stop() is called, or something fails. What was produced has arrived before what it came
 * from is committed. */
VT_API int vt_step_run(vt_step *step);

/* Ends vt_step_run() after the batch that is being executed; for any thread, and for signal handlers. */
VT_API void vt_step_stop(vt_step *step);

VT_API void vt_step_free(vt_step *step);

/* In the step's functions: a message for the producer, which gets it when post_execute is through. Copied. */
VT_API int vt_step_produce(vt_step *step, const void *data, size_t bytes);
VT_API int vt_step_produce_keyed(vt_step *step, const void *key, size_t key_bytes, const void *data,
                                 size_t bytes);

/* In the step's functions: a metric of one's own beside those of the messages that are being executed. */
VT_API void vt_step_metric_text(vt_step *step, const char *name, const char *text);
VT_API void vt_step_metric_integer(vt_step *step, const char *name, int64_t value);
VT_API void vt_step_metric_number(vt_step *step, const char *name, double value);

#define VT_STEP_BAD_METRICS (-2)

/* A document of one's own, at once: one JSON object as RFC 8259 has it, in UTF-8, nested less than 256 deep, on one line or
 * several. What is none (NaN, 01, a comma before the brace, something behind it) is VT_STEP_BAD_METRICS, and nothing of it is
 * recorded. One of more than VT_STEP_EXTRA_MAX bytes is left out whole, and counted. */
VT_API int vt_step_send_metrics(vt_step *step, const char *json);

VT_API struct vt_step_counts vt_step_count(const vt_step *step);

/* One line about the last failure in this thread. */
VT_API const char *vt_step_error(void);

/* Sets that line, and returns -1. */
VT_API int vt_step_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

#ifdef __cplusplus
}
#endif
#endif
