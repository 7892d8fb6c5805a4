/*
 * elasticsearch.c - documents to Elasticsearch 7, 8, 9 and OpenSearch by _bulk, each acknowledged by itself.
 *
 * Every document is created under an id that is its own: that it is there already (409) means that it was sent before, which is
 * what is wanted. What is busy (429, 5xx) is sent again, that document only; what is refused for good is dead; who does not let
 * us in (401, 403) loses nothing: all of it waits.
 */
#include "store/elasticsearch.h"

#include "base/error.h"
#include "base/json.h"
#include "base/json_scan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Only what is looked at; the ids alone would be as much as the rest. */
#define BULK_PATH "/_bulk?filter_path=errors,items.*.status,items.*.error"

enum verdict { GO_ON, TOO_LARGE, MALFORMED, STOP };

/* ---- requests -------------------------------------------------------------------------------- */

static void begin_action(struct vti_es *store, const char *index)
{
    struct vti_json json;

    vti_buf_clear(&store->action);
    vti_buf_add_text(&store->action, "{\"create\":{\"_index\":");
    vti_json_init(&json, &store->action);
    vti_json_string(&json, index);
    vti_buf_add_text(&store->action, ",\"_id\":\"");
    store->action_index = index;
}

static void add_document(struct vti_es *store, const struct vti_batch *batch,
                         const struct vti_document *document)
{
    char id[VTI_UUID_HEX];

    if (document->index != store->action_index)
        begin_action(store, document->index);
    vti_uuid_hex(document->id, id);
    vti_buf_add(&store->body, store->action.data, store->action.len);
    vti_buf_add(&store->body, id, sizeof id - 1);
    vti_buf_add(&store->body, "\"}}\n", 4);
    vti_buf_add(&store->body, vti_batch_body(batch, document), document->body_len);
    vti_buf_add_u8(&store->body, '\n');
}

/* A request of documents that wait, from `*at` on; moves `*at` behind them. */
static int fill(struct vti_es *store, const struct vti_batch *batch, size_t *at, size_t most)
{
    vti_buf_clear(&store->body);
    store->sent_count = 0;
    store->action_index = NULL; /* the text may be gone since the last batch */
    if (batch->count > store->sent_room) {
        void *more = reallocarray(store->sent, batch->count, sizeof *store->sent);

        if (!more)
            return vti_fail(VTI_E_NOMEM, "out of memory");
        store->sent = more;
        store->sent_room = batch->count;
    }
    for (; *at < batch->count && store->sent_count < most; (*at)++) {
        const struct vti_document *document = &batch->documents[*at];

        if (document->fate != VTI_FATE_WAITING)
            continue;
        if (store->sent_count && store->body.len + document->body_len > store->most_bytes)
            break;
        add_document(store, batch, document);
        store->sent[store->sent_count++] = *at;
    }
    return store->body.failed || store->action.failed ? vti_fail(VTI_E_NOMEM, "out of memory") : 0;
}

/* ---- answers --------------------------------------------------------------------------------- */

static void say(struct vti_es *store, struct vti_answer *answer, enum vti_outcome outcome,
                const char *what, const char *detail)
{
    answer->outcome = outcome;
    snprintf(answer->why, sizeof answer->why, "%s: %s%s%s", store->settings->shown, what,
             *detail ? ": " : "", detail);
    for (char *c = answer->why; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = ' ';
}

/* {"type":…,"reason":…} or a text, into `text` as "type: reason" and `kind` as the type alone. */
static void read_error(struct vti_es *store, struct vti_json_scan *scan)
{
    struct vti_buf reason = {0};
    bool is_first = true;

    vti_buf_clear(&store->text);
    vti_buf_clear(&store->kind);
    if (vti_json_peek(scan) == '"') {
        vti_json_scan_string(scan, &store->text);
        return;
    }
    if (!vti_json_take(scan, '{')) {
        vti_json_skip(scan);
        return;
    }
    while (vti_json_next_key(scan, &is_first, &store->key)) {
        bool is_text = vti_json_peek(scan) == '"';

        if (is_text && store->key.len == 4 && !memcmp(store->key.data, "type", 4))
            vti_json_scan_string(scan, &store->kind);
        else if (is_text && store->key.len == 6 && !memcmp(store->key.data, "reason", 6))
            vti_json_scan_string(scan, &reason);
        else
            vti_json_skip(scan);
    }
    vti_buf_add(&store->text, store->kind.data, store->kind.len);
    if (store->kind.len && reason.len)
        vti_buf_add_text(&store->text, ": ");
    vti_buf_add(&store->text, reason.data, reason.len);
    vti_buf_fini(&reason);
}

static const char *terminated(struct vti_buf *text)
{
    vti_buf_add_u8(text, 0);
    if (text->failed)
        return "";
    text->len--;
    return (const char *)text->data;
}

bool vti_es_error(struct vti_es *store, const struct vti_http_answer *answer)
{
    struct vti_json_scan scan = {.at = (const char *)answer->body.data,
                                 .end = (const char *)answer->body.data + answer->body.len};
    bool is_first = true, has_error = false;

    vti_buf_clear(&store->text);
    vti_buf_clear(&store->kind);
    if (vti_json_take(&scan, '{'))
        while (!has_error && vti_json_next_key(&scan, &is_first, &store->key)) {
            has_error = store->key.len == 5 && !memcmp(store->key.data, "error", 5);
            if (has_error)
                read_error(store, &scan);
            else
                vti_json_skip(&scan);
        }
    terminated(&store->text);
    if (store->text.failed || scan.failed)
        vti_buf_clear(&store->text), terminated(&store->text);
    return has_error && !scan.failed;
}

static bool is_block(struct vti_es *store)
{
    static const char name[] = "cluster_block_exception";

    return store->kind.len == sizeof name - 1 && !memcmp(store->kind.data, name, sizeof name - 1);
}

static void judge(struct vti_es *store, struct vti_batch *batch, struct vti_document *document,
                  int status, struct vti_answer *answer)
{
    const char *reason = terminated(&store->text);

    if (status < 300 || status == 409) {
        vti_batch_done(batch, document);
        if (status == 409)
            answer->repeated++;
    } else if (status == 429 || status >= 500 || is_block(store)) {
        vti_batch_later(batch, document, status, reason);
        if (!*answer->why)
            say(store, answer, VTI_OUTCOME_OK, "cannot take some of it now", reason);
    } else if (status == 401 || status == 403) {
        vti_batch_later(batch, document, status, reason);
        say(store, answer, VTI_OUTCOME_HELD, "these credentials may not write there", reason);
    } else {
        vti_batch_dead(batch, document, status, *reason ? reason : "refused without a reason");
    }
}

/* One item: {"create":{"status":201}}. The status, or 0. */
static int read_item(struct vti_es *store, struct vti_json_scan *scan)
{
    bool is_first = true, is_first_inside = true;
    int status = 0;

    vti_buf_clear(&store->text);
    vti_buf_clear(&store->kind);
    if (!vti_json_take(scan, '{') || !vti_json_next_key(scan, &is_first, &store->key) ||
        !vti_json_take(scan, '{'))
        return 0;
    while (vti_json_next_key(scan, &is_first_inside, &store->key)) {
        const char *text;
        size_t len;

        if (store->key.len == 6 && !memcmp(store->key.data, "status", 6) &&
            vti_json_peek(scan) != '"') {
            if (vti_json_scan_number(scan, &text, &len) && len == 3)
                status = (int)strtol(text, NULL, 10);
        } else if (store->key.len == 5 && !memcmp(store->key.data, "error", 5)) {
            read_error(store, scan);
        } else {
            vti_json_skip(scan);
        }
    }
    return vti_json_next_key(scan, &is_first, &store->key) || scan->failed ? 0 : status;
}

static size_t read_items(struct vti_es *store, struct vti_json_scan *scan, struct vti_batch *batch,
                         struct vti_answer *answer)
{
    bool is_first = true;
    size_t count = 0;

    if (!vti_json_take(scan, '['))
        return 0;
    while (vti_json_next_item(scan, &is_first)) {
        int status = read_item(store, scan);

        if (status < 100 || scan->failed || count == store->sent_count)
            break;
        judge(store, batch, &batch->documents[store->sent[count++]], status, answer);
    }
    return count;
}

/* Status 200: what became of each. By the items alone: `errors` may be false where somebody between us and the store has answered. */
static enum verdict read_bulk(struct vti_es *store, struct vti_batch *batch,
                              struct vti_answer *answer)
{
    struct vti_json_scan scan = {.at = (const char *)store->answer.body.data,
                                 .end = (const char *)store->answer.body.data +
                                        store->answer.body.len};
    bool is_first = true, has_items = false;
    size_t count = 0;

    if (vti_json_take(&scan, '{'))
        while (!has_items && vti_json_next_key(&scan, &is_first, &store->key)) {
            has_items = store->key.len == 5 && !memcmp(store->key.data, "items", 5);
            if (has_items)
                count = read_items(store, &scan, batch, answer);
            else
                vti_json_skip(&scan);
        }
    if (count == store->sent_count)
        return answer->outcome == VTI_OUTCOME_HELD ? STOP : GO_ON;
    answer->may_have_arrived = true; /* those that the answer does not tell of */
    say(store, answer, VTI_OUTCOME_HELD,
        has_items ? "its answer does not tell of all documents"
                  : "answers, but not as Elasticsearch or OpenSearch do",
        "");
    return STOP;
}

static enum verdict refuse(struct vti_es *store, struct vti_answer *answer)
{
    const struct vti_http_answer *got = &store->answer;
    bool is_error = vti_es_error(store, got);
    const char *reason = (const char *)store->text.data;
    bool has_login = store->settings->user || store->settings->api_key || store->settings->token;
    char what[160];

    answer->wait_ms = got->wait_ms;
    snprintf(what, sizeof what, "answers %ld", got->status);
    if (got->status == 413)
        return TOO_LARGE;
    if (got->status == 400 && is_error)
        return MALFORMED;
    if (got->status == 429 || got->status == 408 || got->status >= 500)
        say(store, answer, VTI_OUTCOME_AWAY,
            got->status == 429 ? "is busy and wants us to wait (429)" : what, reason);
    else if (got->status == 401)
        say(store, answer, VTI_OUTCOME_HELD,
            has_login ? "does not accept these credentials (401)"
                      : "wants credentials (401): in the URL, VENTURI_STORE_… or --credentials",
            "");
    else if (got->status == 403)
        say(store, answer, VTI_OUTCOME_HELD, "these credentials may not write there (403)", reason);
    else if (got->status >= 300 && got->status < 400)
        say(store, answer, VTI_OUTCOME_HELD, "sends us elsewhere: give the address it means", what);
    else
        say(store, answer, VTI_OUTCOME_HELD,
            "is that the address of Elasticsearch or OpenSearch? It", what);
    return STOP;
}

static int exchange(struct vti_es *store, struct vti_batch *batch, struct vti_answer *answer,
                    enum verdict *verdict)
{
    const struct vti_http_request request = {.method = "POST",
                                             .path = BULK_PATH,
                                             .type = "application/x-ndjson",
                                             .body = store->body.data,
                                             .body_bytes = store->body.len,
                                             .has_gzip = store->settings->has_gzip};
    int code = vti_http_ask(store->http, &request, &store->answer);

    if (code)
        return code;
    answer->requests++;
    answer->bytes += store->answer.sent_bytes;
    *verdict = STOP;
    if (!store->answer.status) {
        answer->may_have_arrived |= store->answer.was_asked;
        say(store, answer, store->answer.is_settings ? VTI_OUTCOME_HELD : VTI_OUTCOME_AWAY,
            store->answer.was_asked ? "gives no answer" : "cannot be reached", store->answer.why);
    } else if (store->answer.status == 200) {
        *verdict = read_bulk(store, batch, answer);
    } else {
        *verdict = refuse(store, answer);
    }
    return 0;
}

/* ---- the store ------------------------------------------------------------------------------- */

static void bury(struct vti_es *store, struct vti_batch *batch, enum verdict verdict)
{
    struct vti_document *document = &batch->documents[store->sent[0]];
    char reason[80];

    if (verdict == TOO_LARGE) {
        snprintf(reason, sizeof reason, "a document of %zu bytes is more than the store takes",
                 document->body_len);
        vti_batch_dead(batch, document, 413, reason);
    } else {
        vti_batch_dead(batch, document, 400, terminated(&store->text));
    }
}

static int send_batch(struct vti_store *of, struct vti_batch *batch, struct vti_answer *answer)
{
    struct vti_es *store = (struct vti_es *)of;
    size_t most = SIZE_MAX;
    size_t at = 0;

    while (at < batch->count) {
        enum verdict verdict = STOP;
        size_t begin = at;
        int code = fill(store, batch, &at, most);

        if (!code && !store->sent_count)
            return 0;
        if (!code)
            code = exchange(store, batch, answer, &verdict);
        if (code || verdict == STOP)
            return code;
        if (verdict == GO_ON) {
            most = most > SIZE_MAX / 2 ? SIZE_MAX : most * 2;
        } else if (store->sent_count == 1) {
            bury(store, batch, verdict);
        } else {
            at = begin;
            if (verdict == TOO_LARGE)
                store->most_bytes = store->body.len / 2;
            most = (store->sent_count + 1) / 2;
        }
    }
    return 0;
}

static void close_store(struct vti_store *of)
{
    struct vti_es *store = (struct vti_es *)of;

    if (!store)
        return;
    vti_http_close(store->http);
    vti_http_answer_fini(&store->answer);
    vti_buf_fini(&store->body);
    vti_buf_fini(&store->action);
    vti_buf_fini(&store->key);
    vti_buf_fini(&store->text);
    vti_buf_fini(&store->kind);
    free(store->sent);
    free(store);
}

static int open_store(struct vti_store **to, const struct vti_store_settings *settings)
{
    struct vti_es *store = calloc(1, sizeof *store);
    int code;

    if (!store)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    store->settings = settings;
    store->most_bytes = SIZE_MAX;
    code = vti_http_open(&store->http, settings, VTI_ES_PORT);
    if (code) {
        close_store((struct vti_store *)store);
        return code;
    }
    *to = (struct vti_store *)store;
    return 0;
}

static int set_up(struct vti_store *of, const struct vti_setup *setup)
{
    return vti_es_setup((struct vti_es *)of, setup);
}

const struct vti_store_type vti_store_elasticsearch = {
    .name = "elasticsearch",
    .schemes = "elasticsearch opensearch http https",
    .about = "Elasticsearch 7 to 9, OpenSearch",
    .kinds = VTI_DOCUMENT_STEP | VTI_DOCUMENT_TRACE | VTI_DOCUMENT_SAMPLE,
    .open = open_store,
    .send = send_batch,
    .setup = set_up,
    .close = close_store,
};
