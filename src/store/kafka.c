/*
 * kafka.c - documents as records of Kafka: kafka://host[:9092][,…]/topic. Without a topic the index of a document names it.
 *
 * The key is the trace, or the id of a document that is of none, so that what belongs together stays in order. Every record is acknowledged by itself; those
 * without an answer wait. librdkafka sends each once as long as it lives (idempotence); after a restart a batch may come again.
 */
#include "base/error.h"
#include "store/documents_traces.h"
#include "store/store.h"

#include <ctype.h>
#include <librdkafka/rdkafka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KAFKA_PORT 9092
#define TIMEOUT_MS 30000
#define POLL_MS 100
#define TOPIC_MOST 249 /* characters; Kafka's own bound */
#define CLOSE_MS 2000

struct sending;

struct vti_store {
    const struct vti_store_settings *settings; /* borrowed */
    rd_kafka_t *kafka;
    char topic[TOPIC_MOST + 1]; /* "": that of each document */
    struct sending *sending;    /* the batch under way */
    char trouble[300];          /* what librdkafka said last, "" nothing */
};

struct sending {
    struct vti_batch *batch;
    struct vti_answer *answer;
    size_t left; /* answers to come */
};

/* ---- opening and closing --------------------------------------------------------------------- */

static void take_report(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *arg);

static void take_trouble(rd_kafka_t *kafka, int code, const char *reason, void *arg)
{
    struct vti_store *store = arg;

    (void)kafka, (void)code;
    snprintf(store->trouble, sizeof store->trouble, "%s", reason ? reason : "");
}

static void close_store(struct vti_store *store)
{
    if (!store)
        return;
    if (store->kafka) {
        rd_kafka_purge(store->kafka, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(store->kafka, CLOSE_MS);
        rd_kafka_destroy(store->kafka);
    }
    free(store);
}

static bool put(rd_kafka_conf_t *conf, const char *name, const char *value)
{
    char why[256];

    if (!value || rd_kafka_conf_set(conf, name, value, why, sizeof why) == RD_KAFKA_CONF_OK)
        return true;
    vti_fail(VTI_E_USAGE, "kafka: %s: %s", name, why);
    return false;
}

static bool fill_conf(rd_kafka_conf_t *conf, const struct vti_store_settings *settings)
{
    bool has_login = settings->user && *settings->user;
    char servers[512], timeout[24];

    snprintf(servers, sizeof servers, "%s:%u", settings->host,
             settings->port ? settings->port : KAFKA_PORT);
    snprintf(timeout, sizeof timeout, "%ld",
             settings->timeout_ms > 0 ? settings->timeout_ms : (long)TIMEOUT_MS);
    return put(conf, "bootstrap.servers", servers) && put(conf, "acks", "all") &&
           put(conf, "enable.idempotence", "true") && put(conf, "linger.ms", "5") &&
           put(conf, "message.timeout.ms", timeout) && put(conf, "client.id", "venturi-ship") &&
           put(conf, "log_level", "0") &&
           put(conf, "compression.type", settings->has_gzip ? "gzip" : "none") &&
           put(conf, "security.protocol",
               settings->is_tls ? (has_login ? "sasl_ssl" : "ssl")
                                : (has_login ? "sasl_plaintext" : "plaintext")) &&
           (!has_login ||
            (put(conf, "sasl.mechanism", "PLAIN") && put(conf, "sasl.username", settings->user) &&
             put(conf, "sasl.password", settings->password))) &&
           put(conf, "ssl.ca.location", settings->ca_file) &&
           put(conf, "ssl.certificate.location", settings->cert_file) &&
           put(conf, "ssl.key.location", settings->key_file) &&
           (!settings->is_insecure || put(conf, "enable.ssl.certificate.verification", "false"));
}

/* A name that Kafka takes; false: there is none of it. */
static bool name_topic(char to[TOPIC_MOST + 1], const char *from)
{
    size_t len = 0;

    from += *from == '/';
    for (; *from && len < TOPIC_MOST; from++)
        to[len++] = isalnum((unsigned char)*from) || strchr("._-", *from) ? *from : '_';
    to[len] = 0;
    return !*from && strcmp(to, ".") && strcmp(to, "..");
}

static int open_store(struct vti_store **result, const struct vti_store_settings *settings)
{
    struct vti_store *store = calloc(1, sizeof *store);
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    char why[256];
    int code = 0;

    *result = NULL;
    if (!store || !conf) {
        code = vti_fail(VTI_E_NOMEM, "out of memory");
        goto out;
    }
    store->settings = settings;
    if (!settings->host || !*settings->host)
        code = vti_fail(VTI_E_USAGE, "%s: which host?", settings->shown);
    else if (!name_topic(store->topic, settings->path ? settings->path : ""))
        code = vti_fail(VTI_E_USAGE, "%s: behind the slash stands the name of a topic",
                        settings->shown);
    else if (!fill_conf(conf, settings))
        code = VTI_E_USAGE;
    if (code)
        goto out;
    rd_kafka_conf_set_opaque(conf, store);
    rd_kafka_conf_set_dr_msg_cb(conf, take_report);
    rd_kafka_conf_set_error_cb(conf, take_trouble);
    store->kafka = rd_kafka_new(RD_KAFKA_PRODUCER, conf, why, sizeof why);
    if (store->kafka)
        conf = NULL; /* it has it now */
    else
        code = vti_fail(VTI_E_USAGE, "%s: %s", settings->shown, why);
out:
    if (conf)
        rd_kafka_conf_destroy(conf);
    if (code)
        close_store(store);
    else
        *result = store;
    return code;
}

/* ---- answers --------------------------------------------------------------------------------- */

/* What will never be taken, whatever happens. */
static bool is_final(rd_kafka_resp_err_t error)
{
    return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
           error == RD_KAFKA_RESP_ERR_INVALID_MSG || error == RD_KAFKA_RESP_ERR_INVALID_MSG_SIZE ||
           error == RD_KAFKA_RESP_ERR_INVALID_RECORD || error == RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION;
}

static bool is_held(rd_kafka_resp_err_t error)
{
    return error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
           error == RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED ||
           error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
           error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
           error == RD_KAFKA_RESP_ERR__AUTHENTICATION;
}

static void take_failure(struct vti_store *store, struct sending *sending,
                         struct vti_document *document, rd_kafka_resp_err_t error)
{
    const char *text = rd_kafka_err2str(error);

    if (is_final(error)) {
        vti_batch_dead(sending->batch, document, (int)error, text);
        return;
    }
    vti_batch_later(sending->batch, document, (int)error, text);
    sending->answer->outcome = is_held(error) ? VTI_OUTCOME_HELD : VTI_OUTCOME_AWAY;
    snprintf(sending->answer->why, sizeof sending->answer->why, "%s: %s%s%s",
             store->settings->shown, text, *store->trouble ? ": " : "", store->trouble);
}

/* From rd_kafka_poll(), on our own thread. */
static void take_report(rd_kafka_t *kafka, const rd_kafka_message_t *message, void *arg)
{
    struct vti_store *store = arg;
    struct sending *sending = store->sending;
    size_t at = (size_t)(uintptr_t)message->_private;

    (void)kafka;
    if (!sending || at >= sending->batch->count)
        return; /* of a batch that was given up */
    sending->left--;
    if (message->err)
        take_failure(store, sending, &sending->batch->documents[at], message->err);
    else
        vti_batch_done(sending->batch, &sending->batch->documents[at]);
}

/* ---- batches --------------------------------------------------------------------------------- */

static rd_kafka_resp_err_t produce(struct vti_store *store, struct vti_batch *batch, size_t at)
{
    struct vti_document *document = &batch->documents[at];
    const struct vti_trace_detail *span = vti_trace_detail_of(batch, document);
    char topic[TOPIC_MOST + 1];
    char key[VTI_UUID_TEXT];

    vti_uuid_text(span ? span->ids.base : document->id, key);
    if (store->topic[0])
        memcpy(topic, store->topic, sizeof topic);
    else
        name_topic(topic, document->index);
    return rd_kafka_producev(
        store->kafka, RD_KAFKA_V_TOPIC(topic), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_KEY(key, VTI_UUID_TEXT - 1),
        RD_KAFKA_V_VALUE((void *)(uintptr_t)vti_batch_body(batch, document), document->body_len),
        RD_KAFKA_V_TIMESTAMP(document->time_ns / 1000000), RD_KAFKA_V_OPAQUE((void *)(uintptr_t)at),
        RD_KAFKA_V_END);
}

/* A batch that is given up is purged, so that no answer of it comes with the next. */
static void wait_for_answers(struct vti_store *store, struct sending *sending)
{
    long left_ms = (store->settings->timeout_ms > 0 ? store->settings->timeout_ms : TIMEOUT_MS) +
                   5000;

    for (; sending->left && left_ms > 0; left_ms -= POLL_MS) {
        rd_kafka_poll(store->kafka, POLL_MS);
        if (store->settings->is_stopped && store->settings->is_stopped())
            break;
    }
    if (!sending->left)
        return;
    rd_kafka_purge(store->kafka, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
    rd_kafka_flush(store->kafka, CLOSE_MS);
    sending->answer->may_have_arrived = true;
}

static int send_batch(struct vti_store *store, struct vti_batch *batch, struct vti_answer *answer)
{
    struct sending sending = {.batch = batch, .answer = answer};

    store->sending = &sending;
    store->trouble[0] = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct vti_document *document = &batch->documents[i];
        const struct vti_trace_detail *span = vti_trace_detail_of(batch, document);
        rd_kafka_resp_err_t error;

        if (document->fate != VTI_FATE_WAITING)
            continue;
        if (span && span->part == VTI_TRACE_ERROR) { /* an index is nothing for a log */
            vti_batch_pass(document);
            continue;
        }
        error = produce(store, batch, i);
        if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL)
            break; /* the rest with the next request */
        if (error) {
            take_failure(store, &sending, document, error);
            continue;
        }
        sending.left++;
        answer->bytes += document->body_len;
        answer->requests = 1;
    }
    wait_for_answers(store, &sending);
    store->sending = NULL;
    return 0;
}

const struct vti_store_type vti_store_kafka = {
    .name = "kafka",
    .schemes = "kafka kafkas",
    .about = "Kafka, a record for each document",
    .kinds = VTI_DOCUMENT_STEP | VTI_DOCUMENT_TRACE | VTI_DOCUMENT_SAMPLE,
    .open = open_store,
    .send = send_batch,
    .close = close_store,
};
