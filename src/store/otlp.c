/*
 * otlp.c - traces and metrics to whatever speaks OTLP over HTTP: a collector, Jaeger, Tempo, Prometheus. otlp://host:4318, otlps:// with TLS;
 * ?format=json instead of protocol buffers.
 *
 * A span is sent when it has ended: documents of begins are nothing here. A receiver answers for a whole request: what it refuses in part it does
 * not name, so as many as it says are dead, and which is left open.
 */
#include "store/otlp.h"

#include "base/error.h"
#include "base/json_scan.h"
#include "store/http.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OTLP_PORT 4318
#define TIMEOUT_MS 10000 /* as OTEL_EXPORTER_OTLP_TIMEOUT has it */

struct vti_store {
    const struct vti_store_settings *settings; /* borrowed */
    struct vti_http *http;
    struct vti_http_answer answer;
    struct vti_otlp_sums *sums;
    struct vti_otlp_picked picked;
    struct vti_buf body;
    bool is_json;
};

/* ---- opening and closing --------------------------------------------------------------------- */

static void close_store(struct vti_store *store)
{
    if (!store)
        return;
    vti_http_answer_fini(&store->answer);
    vti_http_close(store->http);
    vti_otlp_sums_free(store->sums);
    vti_buf_fini(&store->body);
    free(store->picked.at);
    free(store);
}

static int open_store(struct vti_store **result, const struct vti_store_settings *settings)
{
    struct vti_store *store = calloc(1, sizeof *store);
    char *format;
    int code;

    *result = NULL;
    if (!store)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    store->settings = settings;
    format = vti_settings_query(settings, "format");
    store->is_json = format && !strcmp(format, "json");
    code = format && strcmp(format, "json") && strcmp(format, "protobuf")
               ? vti_fail(VTI_E_USAGE, "%s: format= is json or protobuf", settings->shown)
               : 0;
    free(format);
    if (!code)
        code = vti_otlp_sums_create(&store->sums);
    if (!code)
        code = vti_http_open(&store->http, settings, OTLP_PORT);
    if (code)
        close_store(store);
    else
        *result = store;
    return code;
}

/* ---- answers --------------------------------------------------------------------------------- */

static bool take_varint(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;

        *value |= (uint64_t)(byte & 0x7f) << shift;
        if (!(byte & 0x80))
            return true;
    }
    return false;
}

/* partial_success is field 1, in it the number 1 and the message 2; anything else is nothing that matters. */
static uint64_t rejected_in_proto(const uint8_t *at, size_t len, char *why, size_t room)
{
    const uint8_t *end = at + len;
    uint64_t tag, size, rejected = 0;

    if (!take_varint(&at, end, &tag) || tag != (1 << 3 | 2) || !take_varint(&at, end, &size) ||
        size > (uint64_t)(end - at))
        return 0;
    end = at + size;
    while (at < end && take_varint(&at, end, &tag) && take_varint(&at, end, &size)) {
        if (tag == (1 << 3 | 0)) {
            rejected = size;
        } else if (tag == (2 << 3 | 2) && size <= (uint64_t)(end - at)) {
            snprintf(why, room, "%.*s", (int)(size < room ? size : room - 1), (const char *)at);
            at += size;
        } else {
            break;
        }
    }
    return rejected;
}

static uint64_t rejected_in_json(const struct vti_buf *body, char *why, size_t room)
{
    struct vti_json_scan scan = {.at = (const char *)body->data,
                                 .end = (const char *)body->data + body->len};
    struct vti_buf key = {0}, text = {0};
    bool is_first = true;
    uint64_t rejected = 0;

    vti_json_take(&scan, '{');
    while (vti_json_next_key(&scan, &is_first, &key)) {
        if (!strcmp((const char *)key.data, "partialSuccess") && vti_json_take(&scan, '{')) {
            is_first = true; /* nothing outside of it is wanted */
            continue;
        }
        if (vti_json_peek(&scan) != '"') {
            const char *begin = scan.at;

            vti_json_skip(&scan);
            if (!strncmp((const char *)key.data, "rejected", 8) && isdigit((unsigned char)*begin))
                rejected = strtoull(begin, NULL, 10);
            continue;
        }
        vti_json_scan_string(&scan, &text);
        if (!strncmp((const char *)key.data, "rejected", 8) && text.data)
            rejected = strtoull((const char *)text.data, NULL, 10);
        else if (!strcmp((const char *)key.data, "errorMessage") && text.data)
            snprintf(why, room, "%s", (const char *)text.data);
    }
    vti_buf_fini(&key);
    vti_buf_fini(&text);
    return rejected;
}

static void finish_all(struct vti_batch *batch, const size_t *at, size_t count, uint64_t rejected,
                       const char *why)
{
    char reason[400];

    snprintf(reason, sizeof reason, "the receiver refused %llu of %zu and did not say which: %s",
             (unsigned long long)rejected, count, why);
    for (size_t i = 0; i < count; i++)
        if (i + rejected >= count)
            vti_batch_dead(batch, &batch->documents[at[i]], 200, reason);
        else
            vti_batch_done(batch, &batch->documents[at[i]]);
}

enum verdict { TAKEN, SPLIT, REFUSED, STOP };

static void hold(const struct vti_store *store, struct vti_answer *answer, enum vti_outcome outcome,
                 const char *what)
{
    answer->outcome = outcome;
    answer->wait_ms = store->answer.wait_ms;
    snprintf(answer->why, sizeof answer->why, "%s: %s", store->settings->shown, what);
}

static enum verdict judge(struct vti_store *store, struct vti_answer *answer)
{
    const struct vti_http_answer *got = &store->answer;
    char text[96];

    snprintf(text, sizeof text, "status %ld", got->status);
    if (!got->status) {
        hold(store, answer, got->is_settings ? VTI_OUTCOME_HELD : VTI_OUTCOME_AWAY, got->why);
        answer->may_have_arrived |= got->was_asked;
        return STOP;
    }
    switch (got->status) {
    case 200:
    case 202:
    case 204:
        return TAKEN;
    case 413:
        return SPLIT;
    case 401:
    case 403:
        hold(store, answer, VTI_OUTCOME_HELD, "does not let us in (VENTURI_STORE_TOKEN, _USER)");
        return STOP;
    case 404:
    case 405:
        hold(store, answer, VTI_OUTCOME_HELD, "there is no OTLP receiver at this address");
        return STOP;
    case 408:
    case 429:
    case 502:
    case 503:
    case 504:
        hold(store, answer, VTI_OUTCOME_AWAY, text);
        return STOP;
    default:
        return REFUSED;
    }
}

/* ---- requests -------------------------------------------------------------------------------- */

enum signal { TRACES, METRICS };

static int ask(struct vti_store *store, enum signal signal, struct vti_answer *answer)
{
    const struct vti_http_request request = {
        .method = "POST",
        .path = signal == TRACES ? "/v1/traces" : "/v1/metrics",
        .type = store->is_json ? "application/json" : "application/x-protobuf",
        .body = store->body.data,
        .body_bytes = store->body.len,
        .has_gzip = store->settings->has_gzip,
    };
    int code = vti_http_ask(store->http, &request, &store->answer);

    answer->requests++;
    answer->bytes += store->body.len;
    return code;
}

static int write_body(struct vti_store *store, enum signal signal, struct vti_batch *batch,
                      size_t *at, size_t count)
{
    vti_buf_clear(&store->body);
    if (signal == TRACES)
        return vti_otlp_spans(&store->body, store->is_json, batch, at, count);
    vti_otlp_forget(store->sums);
    return vti_otlp_metrics(store->sums, &store->body, store->is_json, batch, at, count);
}

static void refuse(struct vti_store *store, struct vti_batch *batch, const size_t *at, size_t count)
{
    char reason[300];
    size_t len = store->answer.body.len < 200 ? store->answer.body.len : 200;

    snprintf(reason, sizeof reason, "status %ld: %.*s", store->answer.status, (int)len,
             len ? (const char *)store->answer.body.data : "");
    for (size_t i = 0; i < count; i++)
        vti_batch_dead(batch, &batch->documents[at[i]], (int)store->answer.status, reason);
}

/* Documents from `at` on in as few requests as the receiver takes. 1: stop for now. */
static int send_some(struct vti_store *store, enum signal signal, struct vti_batch *batch,
                     size_t *at, size_t count, struct vti_answer *answer)
{
    char why[256] = "";
    uint64_t rejected;
    int code = write_body(store, signal, batch, at, count);

    if (!code)
        code = ask(store, signal, answer);
    if (code)
        return code;
    switch (judge(store, answer)) {
    case STOP:
        vti_otlp_forget(store->sums);
        return 1;
    case SPLIT:
        if (count > 1) {
            code = send_some(store, signal, batch, at, count / 2, answer);
            return code
                       ? code
                       : send_some(store, signal, batch, at + count / 2, count - count / 2, answer);
        }
        refuse(store, batch, at, count);
        return 0;
    case REFUSED:
        vti_otlp_forget(store->sums);
        refuse(store, batch, at, count);
        return 0;
    case TAKEN:
        break;
    }
    rejected = store->is_json ? rejected_in_json(&store->answer.body, why, sizeof why)
                              : rejected_in_proto(store->answer.body.data, store->answer.body.len,
                                                  why, sizeof why);
    if (signal == METRICS) { /* points of sums, not documents: nothing of them is anybody's */
        vti_otlp_commit(store->sums);
        if (rejected)
            snprintf(answer->why, sizeof answer->why, "%s: refused %llu metrics: %s",
                     store->settings->shown, (unsigned long long)rejected, why);
        rejected = 0;
    }
    finish_all(batch, at, count, rejected < count ? rejected : count, why);
    return 0;
}

/* Those of one signal that wait; what is nothing for it is done. */
static int pick(struct vti_store *store, struct vti_batch *batch, enum signal signal)
{
    struct vti_otlp_picked *picked = &store->picked;

    picked->count = 0;
    if (batch->count > picked->room) {
        size_t *more = reallocarray(picked->at, batch->count, sizeof *more);

        if (!more)
            return vti_fail(VTI_E_NOMEM, "out of memory");
        picked->at = more;
        picked->room = batch->count;
    }
    for (size_t i = 0; i < batch->count; i++) {
        struct vti_document *document = &batch->documents[i];
        const struct vti_trace_detail *span = vti_trace_detail_of(batch, document);

        if (document->fate != VTI_FATE_WAITING ||
            (signal == TRACES) != (document->kind == VTI_DOCUMENT_TRACE))
            continue;
        if (!vti_batch_detail(batch, document)) /* a dead letter */
            vti_batch_dead(batch, document, 0,
                           signal == TRACES
                               ? "is no notification of a trace"
                               : "a step is sent as metrics with its recording, not from a letter");
        else if (span && span->part != VTI_TRACE_END &&
                 !(span->part == VTI_TRACE_BEGIN && span->is_open))
            vti_batch_pass(document);
        else
            picked->at[picked->count++] = i;
    }
    return 0;
}

static int send_batch(struct vti_store *store, struct vti_batch *batch, struct vti_answer *answer)
{
    for (enum signal signal = TRACES; signal <= METRICS; signal++) {
        int code = pick(store, batch, signal);

        if (!code && store->picked.count)
            code = send_some(store, signal, batch, store->picked.at, store->picked.count, answer);
        if (code)
            return code < 0 ? code : 0;
    }
    return 0;
}

const struct vti_store_type vti_store_otlp = {
    .name = "otlp",
    .schemes = "otlp otlps",
    .about = "OpenTelemetry receivers over HTTP: traces, and steps as metrics",
    .kinds = VTI_DOCUMENT_STEP | VTI_DOCUMENT_TRACE,
    .open = open_store,
    .send = send_batch,
    .close = close_store,
};
