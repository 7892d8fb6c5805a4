/*
 * producer.c - messages to a topic of Kafka.
 *
 * Sending queues a copy; where the queue is full it waits for room, for the step's output is no metric that may be lost. What could not be
 * delivered is told by the next call, with the broker's reason.
 */
#include "kafka/ends.h"
#include "kafka/settings.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_MS 60000 /* to wait for room in the queue, unless "venturi.wait.ms" says otherwise */
#define SLICE_MS 100
#define CLOSE_MS 10000

struct kafka_producer {
    struct vt_producer producer;
    rd_kafka_t *kafka;
    rd_kafka_topic_t *topic;
    int (*fail)(const char *format, ...);
    rd_kafka_resp_err_t undelivered; /* the first reason; written while we poll */
    uint64_t undelivered_count;
    int wait_ms;
};

/* Called from within rd_kafka_poll() and rd_kafka_flush(), in our thread. */
static void delivered(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *with)
{
    struct kafka_producer *self = with;

    (void)kafka;
    if (!message->err)
        return;
    if (!self->undelivered_count++)
        self->undelivered = message->err;
}

static int check_delivered(struct kafka_producer *self)
{
    uint64_t count = self->undelivered_count;

    self->undelivered_count = 0;
    if (!count)
        return 0;
    return self->fail("kafka: %llu messages to %s not delivered: %s", (unsigned long long)count,
                      rd_kafka_topic_name(self->topic), rd_kafka_err2str(self->undelivered));
}

static int send_message(struct vt_producer *producer, const struct vt_message *message)
{
    struct kafka_producer *self = (struct kafka_producer *)producer;
    int code;

    for (int waited_ms = 0;; waited_ms += SLICE_MS) {
        /* The cast: librdkafka copies it. */
        code = rd_kafka_produce(self->topic, RD_KAFKA_PARTITION_UA, RD_KAFKA_MSG_F_COPY,
                                (void *)message->data, message->bytes, message->key,
                                message->key ? message->key_bytes : 0, NULL);
        if (!code) {
            rd_kafka_poll(self->kafka, 0);
            return check_delivered(self);
        }
        if (rd_kafka_last_error() != RD_KAFKA_RESP_ERR__QUEUE_FULL || waited_ms >= self->wait_ms)
            break;
        rd_kafka_poll(self->kafka, SLICE_MS);
    }
    return self->fail("kafka: cannot send to %s: %s", rd_kafka_topic_name(self->topic),
                      rd_kafka_err2str(rd_kafka_last_error()));
}

static int flush(struct vt_producer *producer, int timeout_ms)
{
    struct kafka_producer *self = (struct kafka_producer *)producer;

    if (rd_kafka_flush(self->kafka, timeout_ms))
        return self->fail("kafka: %d messages to %s have not arrived within %d ms",
                          rd_kafka_outq_len(self->kafka), rd_kafka_topic_name(self->topic),
                          timeout_ms);
    return check_delivered(self);
}

static void close_producer(struct vt_producer *producer)
{
    struct kafka_producer *self = (struct kafka_producer *)producer;

    if (self->kafka)
        rd_kafka_flush(self->kafka, CLOSE_MS);
    if (self->topic)
        rd_kafka_topic_destroy(self->topic);
    if (self->kafka)
        rd_kafka_destroy(self->kafka);
    free(self);
}

int vti_kafka_open_producer(struct vt_producer **producer, const char *topic,
                            const struct vt_setting *settings, int (*fail)(const char *format, ...),
                            char *line)
{
    struct kafka_producer *self = calloc(1, sizeof *self);
    rd_kafka_conf_t *conf = self ? vti_kafka_conf(NULL, settings, line) : NULL;

    if (!conf) {
        if (!self)
            snprintf(line, VTI_KAFKA_LINE, "no memory for a producer");
        free(self);
        return -1;
    }
    self->producer = (struct vt_producer){send_message, flush, close_producer};
    self->fail = fail;
    self->wait_ms = vti_kafka_wait(settings, ROOM_MS);
    rd_kafka_conf_set_opaque(conf, self);
    rd_kafka_conf_set_dr_msg_cb(conf, delivered);
    self->kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, line, VTI_KAFKA_LINE);
    if (!self->kafka)
        rd_kafka_conf_destroy(conf);
    else
        self->topic = rd_kafka_topic_new(self->kafka, topic, NULL);
    if (self->kafka && !self->topic)
        snprintf(line, VTI_KAFKA_LINE, "topic '%s': %s", topic,
                 rd_kafka_err2str(rd_kafka_last_error()));
    if (!self->topic) {
        close_producer(&self->producer);
        return -1;
    }
    *producer = &self->producer;
    return 0;
}
