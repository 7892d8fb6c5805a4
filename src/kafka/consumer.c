/*
 * consumer.c - messages from topics of Kafka.
 *
 * Offsets are committed when the step says so, never by themselves: what was not dealt with is read again. Brokers that come and go
 * are librdkafka's business; only what it calls fatal, and what no retry can mend, ends a step.
 */
#include "kafka/ends.h"
#include "kafka/settings.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MESSAGES_MOST 100000
#define MOST_MS (INT64_MAX / 1000000)

struct kafka_consumer {
    struct vt_consumer consumer;
    rd_kafka_t *kafka;
    int (*fail)(const char *format, ...);
    rd_kafka_message_t **held; /* handed out with the last call */
    size_t held_count, held_room;
    rd_kafka_topic_partition_list_t *over; /* partitions that are read to their ends */
    bool ends;                             /* enable.partition.eof: stop when all partitions are */
    bool is_ended;                         /* they are, and what came before was handed out */
};

static void release(struct kafka_consumer *self)
{
    for (size_t i = 0; i < self->held_count; i++)
        rd_kafka_message_destroy(self->held[i]);
    self->held_count = 0;
}

/* Whether every partition that is ours has been read to its end. */
static bool is_all_over(struct kafka_consumer *self)
{
    rd_kafka_topic_partition_list_t *assigned = NULL;
    bool is_over = false;

    if (rd_kafka_assignment(self->kafka, &assigned) || !assigned)
        return false;
    is_over = assigned->cnt > 0;
    for (int i = 0; i < assigned->cnt && is_over; i++)
        is_over = rd_kafka_topic_partition_list_find(self->over, assigned->elems[i].topic,
                                                     assigned->elems[i].partition) != NULL;
    rd_kafka_topic_partition_list_destroy(assigned);
    return is_over;
}

static void note_end(struct kafka_consumer *self, const rd_kafka_message_t *message)
{
    const char *topic = rd_kafka_topic_name(message->rkt);

    if (!rd_kafka_topic_partition_list_find(self->over, topic, message->partition))
        rd_kafka_topic_partition_list_add(self->over, topic, message->partition);
}

/* An error that comes as a message. 0: it passes. */
static int judge(struct kafka_consumer *self, const rd_kafka_message_t *message)
{
    char line[VTI_KAFKA_LINE];

    switch (message->err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
        note_end(self, message);
        return self->ends && is_all_over(self) ? VT_CONSUMER_END : 0;
    case RD_KAFKA_RESP_ERR__FATAL:
        rd_kafka_fatal_error(self->kafka, line, sizeof line);
        return self->fail("kafka: %s", line);
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_SASL_AUTHENTICATION_FAILED:
    case RD_KAFKA_RESP_ERR__AUTHENTICATION:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        return self->fail("kafka: %s", rd_kafka_message_errstr(message));
    default:
        return 0;
    }
}

static struct vt_message as_message(const rd_kafka_message_t *from)
{
    rd_kafka_timestamp_type_t type;
    int64_t ms = rd_kafka_message_timestamp(from, &type);

    return (struct vt_message){
        .data = from->payload ? from->payload : "",
        .bytes = from->payload ? from->len : 0,
        .key = from->key,
        .key_bytes = from->key_len,
        .sent_ns = type != RD_KAFKA_TIMESTAMP_NOT_AVAILABLE && ms > 0 && ms < MOST_MS ? ms * 1000000
                                                                                      : 0};
}

/* Room to hold so many; false: there is none. */
static bool make_room(struct kafka_consumer *self, size_t most)
{
    rd_kafka_message_t **held;

    if (most <= self->held_room)
        return true;
    held = realloc(self->held, most * sizeof *held);
    if (held) {
        self->held = held;
        self->held_room = most;
    }
    return held != NULL;
}

static int receive(struct vt_consumer *consumer, struct vt_message *messages, size_t most,
                   int timeout_ms)
{
    struct kafka_consumer *self = (struct kafka_consumer *)consumer;
    int code = 0;

    release(self);
    if (self->is_ended)
        return VT_CONSUMER_END;
    if (most > MESSAGES_MOST)
        most = MESSAGES_MOST;
    if (!make_room(self, most))
        return self->fail("kafka: no memory for %zu messages", most);
    while (self->held_count < most && !code) {
        rd_kafka_message_t *got = rd_kafka_consumer_poll(self->kafka,
                                                         self->held_count ? 0 : timeout_ms);

        if (!got)
            break;
        if (got->err) {
            code = judge(self, got);
            rd_kafka_message_destroy(got);
            if (!code && !self->held_count)
                timeout_ms = 0; /* what had to be said does not make the wait longer */
            continue;
        }
        messages[self->held_count] = as_message(got);
        self->held[self->held_count++] = got;
    }
    self->is_ended = code == VT_CONSUMER_END;
    return code && !self->is_ended ? code : self->held_count ? (int)self->held_count : code;
}

static int commit(struct vt_consumer *consumer)
{
    struct kafka_consumer *self = (struct kafka_consumer *)consumer;
    rd_kafka_resp_err_t error = rd_kafka_commit(self->kafka, NULL, 0);

    if (error == RD_KAFKA_RESP_ERR__NO_OFFSET)
        return 0; /* committed already, or taken away by a rebalance: its new owner reads it again */
    return error ? self->fail("kafka: cannot commit: %s", rd_kafka_err2str(error)) : 0;
}

static void close_consumer(struct vt_consumer *consumer)
{
    struct kafka_consumer *self = (struct kafka_consumer *)consumer;

    release(self);
    free(self->held);
    if (self->kafka) {
        rd_kafka_consumer_close(self->kafka);
        rd_kafka_destroy(self->kafka);
    }
    if (self->over)
        rd_kafka_topic_partition_list_destroy(self->over);
    free(self);
}

static int subscribe(struct kafka_consumer *self, const char *const *topics, char *line)
{
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(4);
    rd_kafka_resp_err_t error;

    for (; *topics; topics++)
        rd_kafka_topic_partition_list_add(list, *topics, RD_KAFKA_PARTITION_UA);
    error = rd_kafka_subscribe(self->kafka, list);
    rd_kafka_topic_partition_list_destroy(list);
    if (error)
        snprintf(line, VTI_KAFKA_LINE, "%s", rd_kafka_err2str(error));
    return error ? -1 : 0;
}

/* The last of that name counts; "" if there is none. */
static const char *setting(const struct vt_setting *settings, const char *name)
{
    const char *value = "";

    for (; settings && settings->name; settings++)
        if (!strcmp(settings->name, name))
            value = settings->value;
    return value;
}

int vti_kafka_open_consumer(struct vt_consumer **consumer, const char *const *topics,
                            const struct vt_setting *settings, int (*fail)(const char *format, ...),
                            char *line)
{
    static const struct vt_setting ours[] = {{"enable.auto.commit", "false"}, {NULL, NULL}};
    struct kafka_consumer *self = calloc(1, sizeof *self);
    bool has_group = *setting(settings, "group.id") != 0;
    rd_kafka_conf_t *conf = self && has_group ? vti_kafka_conf(ours, settings, line) : NULL;

    if (!conf) {
        if (!self || !has_group)
            snprintf(line, VTI_KAFKA_LINE, "%s", self ? "group.id is not set" : "no memory");
        free(self);
        return -1;
    }
    self->consumer = (struct vt_consumer){receive, commit, close_consumer};
    self->fail = fail;
    self->ends = !strcmp(setting(settings, "enable.partition.eof"), "true");
    self->over = rd_kafka_topic_partition_list_new(4);
    self->kafka = rd_kafka_new(RD_KAFKA_CONSUMER, conf, line, VTI_KAFKA_LINE);
    if (!self->kafka) {
        rd_kafka_conf_destroy(conf);
        close_consumer(&self->consumer);
        return -1;
    }
    rd_kafka_poll_set_consumer(self->kafka);
    if (subscribe(self, topics, line)) {
        close_consumer(&self->consumer);
        return -1;
    }
    *consumer = &self->consumer;
    return 0;
}
