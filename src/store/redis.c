/*
 * redis.c - trace points to Redis, under the keys and in the words of osprofiler's own driver, which reads them.
 *
 * Requests of a batch go out together; each has its answer. A list takes the same entry twice: what may have arrived before is looked for first. With
 * ?ttl=SECONDS keys go away by themselves, which osprofiler's never do.
 */
#include "base/error.h"
#include "store/documents_traces.h"
#include "store/redis_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 500             /* documents whose answers are waited for together */
#define ANSWER_MOST (64u << 10) /* bytes: numbers, and what went wrong */

struct vti_store {
    const struct vti_store_settings *settings; /* borrowed */
    redisContext *link;                        /* NULL: none at the moment */
    unsigned long ttl_s;                       /* 0: for ever */
    bool has_lpos;                             /* Redis 6.0.6 and later */
};

static int open_store(struct vti_store **store, const struct vti_store_settings *settings)
{
    int code = vti_redis_check(settings);
    char *ttl, *end;

    if (code)
        return code;
    *store = calloc(1, sizeof **store);
    if (!*store)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    (*store)->settings = settings;
    (*store)->has_lpos = true;
    ttl = vti_settings_query(settings, "ttl");
    if (ttl) {
        (*store)->ttl_s = strtoul(ttl, &end, 10);
        if (*end || !*ttl || *ttl == '-' || !(*store)->ttl_s)
            code = vti_fail(VTI_E_USAGE, "%s: ttl= is a number of seconds", settings->shown);
        free(ttl);
    }
    if (code) {
        free(*store);
        *store = NULL;
    }
    return code;
}

static void drop_link(struct vti_store *store)
{
    if (store->link)
        redisFree(store->link);
    store->link = NULL;
}

static void close_store(struct vti_store *store)
{
    if (!store)
        return;
    drop_link(store);
    free(store);
}

/* ---- requests -------------------------------------------------------------------------------- */

static void key_of(char to[64], const struct vti_trace_detail *detail)
{
    char id[VTI_UUID_TEXT];

    vti_uuid_text(detail->ids.base, id);
    snprintf(to, 64, "%s%s", detail->part == VTI_TRACE_ERROR ? VTI_REDIS_ERRORS : VTI_REDIS_EVENTS,
             id);
}

enum asking { IS_IT_THERE, PUT_IT };

static int append(struct vti_store *store, const struct vti_batch *batch,
                  const struct vti_document *document, enum asking asking)
{
    const struct vti_trace_detail *detail = vti_trace_detail_of(batch, document);
    const char *body = vti_batch_body(batch, document);
    char key[64];

    key_of(key, detail);
    if (asking == IS_IT_THERE)
        return redisAppendCommand(store->link, "LPOS %s %b", key, body, document->body_len);
    return redisAppendCommand(store->link,
                              detail->part == VTI_TRACE_ERROR ? "SET %s %b" : "LPUSH %s %b", key,
                              body, document->body_len);
}

/* The connection is gone, or was never there: what has no answer waits. */
static void lose_link(struct vti_store *store, struct vti_answer *answer, bool was_asked)
{
    answer->outcome = VTI_OUTCOME_AWAY;
    answer->may_have_arrived |= was_asked;
    if (!answer->why[0])
        snprintf(answer->why, sizeof answer->why, "%s: %s", store->settings->shown,
                 store->link && store->link->err ? store->link->errstr : "no answer");
    drop_link(store);
}

/* What an error says about one document, or about the store. True: go on with the others. */
static bool take_error(struct vti_store *store, struct vti_batch *batch,
                       struct vti_document *document, const char *error, struct vti_answer *answer)
{
    if (!strncmp(error, "WRONGTYPE", 9)) { /* somebody else's key */
        vti_batch_dead(batch, document, 0, error);
        return true;
    }
    snprintf(answer->why, sizeof answer->why, "%s: %s", store->settings->shown, error);
    answer->outcome = vti_redis_judge(error) == VTI_REDIS_AWAY ? VTI_OUTCOME_AWAY
                                                               : VTI_OUTCOME_HELD;
    vti_batch_later(batch, document, 0, error);
    return false;
}

/* One answer for each document of [from, to) that waits; documents that are found or taken are done. False: the connection is lost. */
static bool take_answers(struct vti_store *store, struct vti_batch *batch, const size_t *asked,
                         size_t count, enum asking asking, struct vti_answer *answer)
{
    for (size_t i = 0; i < count; i++) {
        struct vti_document *document = &batch->documents[asked[i]];
        redisReply *reply = vti_redis_next(store->link, store->settings, ANSWER_MOST);

        if (!reply) {
            lose_link(store, answer, true);
            return false;
        }
        if (asking == IS_IT_THERE) {
            if (reply->type == REDIS_REPLY_INTEGER)
                vti_batch_done(batch, document);
            else if (reply->type == REDIS_REPLY_ERROR && !strncmp(reply->str, "ERR unknown", 11))
                store->has_lpos = false;
        } else if (reply->type == REDIS_REPLY_ERROR) {
            take_error(store, batch, document, reply->str, answer);
        } else {
            vti_batch_done(batch, document);
        }
        freeReplyObject(reply);
    }
    return true;
}

static bool ask(struct vti_store *store, struct vti_batch *batch, const size_t *asked, size_t count,
                enum asking asking, struct vti_answer *answer)
{
    for (size_t i = 0; i < count; i++) {
        const struct vti_document *document = &batch->documents[asked[i]];

        if (append(store, batch, document, asking) != REDIS_OK) {
            lose_link(store, answer, i > 0);
            return false;
        }
        answer->bytes += document->body_len;
    }
    answer->requests += count;
    return take_answers(store, batch, asked, count, asking, answer);
}

/* ---- batches --------------------------------------------------------------------------------- */

/* Once for each trace; those of a batch mostly follow each other. */
static bool expire(struct vti_store *store, const struct vti_batch *batch, const size_t *asked,
                   size_t count, struct vti_answer *answer)
{
    char last[64] = "", key[64];
    size_t sent = 0;

    for (size_t i = 0; i < count && store->ttl_s; i++) {
        key_of(key, vti_trace_detail_of(batch, &batch->documents[asked[i]]));
        if (!strcmp(key, last))
            continue;
        memcpy(last, key, sizeof last);
        redisAppendCommand(store->link, "EXPIRE %s %lu", key, store->ttl_s);
        sent++;
    }
    while (sent--) {
        redisReply *reply = vti_redis_next(store->link, store->settings, ANSWER_MOST);

        if (!reply) {
            lose_link(store, answer, false);
            return false;
        }
        freeReplyObject(reply);
    }
    return true;
}

/* A dead letter that somebody has edited may not say of which trace it is. */
static size_t gather(struct vti_batch *batch, size_t *at, size_t *asked)
{
    size_t count = 0;

    for (; *at < batch->count && count < AT_ONCE; (*at)++) {
        struct vti_document *document = &batch->documents[*at];

        if (document->fate != VTI_FATE_WAITING)
            continue;
        if (vti_trace_detail_of(batch, document))
            asked[count++] = *at;
        else
            vti_batch_dead(batch, document, 0, "is no notification of a trace");
    }
    return count;
}

/* Those that are still to be sent, of the ones that were asked about. */
static size_t still_waiting(const struct vti_batch *batch, size_t *asked, size_t count)
{
    size_t kept = 0;

    for (size_t i = 0; i < count; i++)
        if (batch->documents[asked[i]].fate == VTI_FATE_WAITING)
            asked[kept++] = asked[i];
    return kept;
}

static int send_batch(struct vti_store *store, struct vti_batch *batch, struct vti_answer *answer)
{
    size_t asked[AT_ONCE];
    size_t count;

    if (!store->link) {
        enum vti_redis_trouble trouble = vti_redis_connect(&store->link, store->settings,
                                                           answer->why, sizeof answer->why);

        if (trouble) {
            answer->outcome = trouble == VTI_REDIS_AWAY ? VTI_OUTCOME_AWAY : VTI_OUTCOME_HELD;
            return 0;
        }
    }
    for (size_t at = 0; (count = gather(batch, &at, asked)) > 0;) {
        if (batch->may_repeat && store->has_lpos) {
            if (!ask(store, batch, asked, count, IS_IT_THERE, answer))
                return 0;
            count = still_waiting(batch, asked, count);
        }
        if (!ask(store, batch, asked, count, PUT_IT, answer) ||
            !expire(store, batch, asked, count, answer) || answer->outcome)
            return 0;
        if (store->settings->is_stopped && store->settings->is_stopped())
            return 0;
    }
    return 0;
}

const struct vti_store_type vti_store_redis = {
    .name = "redis",
    .schemes = "redis rediss redissentinel",
    .about = "Redis, traces as osprofiler keeps them",
    .kinds = VTI_DOCUMENT_TRACE,
    .open = open_store,
    .send = send_batch,
    .close = close_store,
};
