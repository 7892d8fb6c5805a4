/*
 * fetch_redis.c - traces from Redis, as osprofiler and Venturi keep them: a list of notifications for each trace, newest first.
 *
 * Redis cannot sum up. What is listed is therefore read, newest traces first and so many notifications at most; which traces those are is found by
 * one look at both ends of each list.
 */
#include "store/fetch.h"

#include "base/error.h"
#include "model/model.h"
#include "store/redis_link.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define KEYS_MOST 1000000u
#define AT_ONCE 2000    /* entries of a list that are asked for */
#define LOOKS_AHEAD 500 /* keys that are looked at with one round trip */
#define LIST_EVENTS 2000000u
#define KEY_MOST 512
#define ANSWER_MOST (256u << 20) /* bytes */
#define SCAN_AT_ONCE 1000u
#define SCAN_MOST (16u << 20) /* bytes of one step */
#define SCAN_STEPS 200000u    /* two hundred million keys, whoever they are of */
#define SCAN_S 120

struct key { /* of a trace */
    char *name;
    int64_t first_ns, last_ns; /* of what stands at the ends of its list */
    uint64_t events;
};

struct reading {
    struct vti_fetch *fetch;
    redisContext *link;
    struct key *keys; /* owned */
    size_t count, room;
    uint64_t left_out;  /* traces for which there is no room */
    uint64_t odd_keys;  /* no id is that long */
    uint64_t too_large; /* traces that have no room by themselves */
};

/* ---- commands -------------------------------------------------------------------------------- */

static int fail_link(const struct reading *reading)
{
    return vti_fail(VTI_E_READ, "%s: %s", reading->fetch->settings.shown,
                    reading->link->err ? reading->link->errstr : "no answer");
}

/* Takes the next reply of what was asked; NULL: the connection is gone. An error reply is handed back like any other. */
static redisReply *next_reply(struct reading *reading)
{
    return vti_redis_next(reading->link, &reading->fetch->settings, ANSWER_MOST);
}

static int fail_reply(const struct reading *reading, redisReply *reply)
{
    int code;

    if (!reply)
        return fail_link(reading);
    code = vti_fail(VTI_E_READ, "%s: %s", reading->fetch->settings.shown,
                    reply->type == REDIS_REPLY_ERROR ? reply->str : "an answer of another kind");
    freeReplyObject(reply);
    return code;
}

static bool is_stopped(const struct reading *reading)
{
    bool (*asked)(void) = reading->fetch->settings.is_stopped;

    return asked && asked();
}

/* ---- which traces there are ------------------------------------------------------------------ */

static int add_key(struct reading *reading, const redisReply *name)
{
    struct key *key;

    if (name->type != REDIS_REPLY_STRING || name->len > KEY_MOST) {
        reading->odd_keys++;
        return 0;
    }
    if (reading->count >= KEYS_MOST) {
        reading->left_out++;
        return 0;
    }
    if (vti_grow(&reading->keys, reading->count, &reading->room, sizeof *reading->keys))
        return VTI_E_NOMEM;
    key = &reading->keys[reading->count];
    *key = (struct key){.name = strndup(name->str, name->len)};
    if (!key->name)
        return VTI_E_NOMEM;
    reading->count++;
    return 0;
}

static int by_name(const void *left, const void *right)
{
    return strcmp(((const struct key *)left)->name, ((const struct key *)right)->name);
}

/* SCAN may give a key twice. */
static void drop_twins(struct reading *reading)
{
    size_t kept = 0;

    if (reading->count)
        qsort(reading->keys, reading->count, sizeof *reading->keys, by_name);
    for (size_t i = 0; i < reading->count; i++)
        if (kept && !strcmp(reading->keys[kept - 1].name, reading->keys[i].name))
            free(reading->keys[i].name);
        else
            reading->keys[kept++] = reading->keys[i];
    reading->count = kept;
}

/* How many steps a search may take: a table has fewer places than a hundred times its keys, unless it is small. */
static unsigned scan_steps(struct reading *reading)
{
    redisReply *reply = vti_redis_ask(reading->link, &reading->fetch->settings, SCAN_MOST,
                                      "DBSIZE");
    unsigned steps = SCAN_STEPS;

    if (reply && reply->type == REDIS_REPLY_INTEGER && reply->integer >= 0 &&
        reply->integer / 10 < SCAN_STEPS - 10000)
        steps = 10000 + (unsigned)(reply->integer / 10);
    if (reply)
        freeReplyObject(reply);
    return steps;
}

/* One step; the cursor moves on. */
static int scan(struct reading *reading, const char *pattern, char cursor[24])
{
    redisReply *reply = vti_redis_ask(reading->link, &reading->fetch->settings, SCAN_MOST,
                                      "SCAN %s MATCH %s COUNT %u", cursor, pattern, SCAN_AT_ONCE);
    const redisReply *names;
    int code = 0;

    if (!reply || reply->type != REDIS_REPLY_ARRAY || reply->elements != 2 ||
        reply->element[0]->type != REDIS_REPLY_STRING || reply->element[0]->len > 20 ||
        reply->element[1]->type != REDIS_REPLY_ARRAY)
        return fail_reply(reading, reply);
    names = reply->element[1];
    for (size_t i = 0; i < names->elements && !code; i++)
        code = add_key(reading, names->element[i]);
    snprintf(cursor, 24, "%.*s", (int)reply->element[0]->len, reply->element[0]->str);
    freeReplyObject(reply);
    return code ? vti_fail(code, "out of memory") : 0;
}

static time_t now_s(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec;
}

/* All keys that fit the pattern. A cursor never comes twice, so one that does is met again at a step whose number is a power of two; a server that
 * has ever new ones is left after as many steps as there can be. */
static int find_keys(struct reading *reading, const char *pattern)
{
    char cursor[24] = "0", seen[24] = "0";
    const unsigned most = scan_steps(reading);
    const time_t begin = now_s();
    int code = 0;

    for (unsigned step = 1; !code && !is_stopped(reading); step++) {
        code = scan(reading, pattern, cursor);
        if (!strcmp(cursor, "0"))
            break;
        if (!code && (!strcmp(cursor, seen) || step >= most || now_s() - begin > SCAN_S))
            code = vti_fail(VTI_E_READ,
                            "%s: its search for keys (SCAN) does not come to an end; a whole id, "
                            "trace show ID, needs none",
                            reading->fetch->settings.shown);
        if (!(step & (step - 1)))
            memcpy(seen, cursor, sizeof seen);
    }
    drop_twins(reading);
    return code;
}

static int64_t time_of(const redisReply *reply)
{
    static const char mark[] = "\"timestamp\":";
    const char *at;
    int64_t ns = 0;

    if (reply->type != REDIS_REPLY_STRING)
        return 0;
    at = memmem(reply->str, reply->len, mark, sizeof mark - 1);
    if (!at)
        return 0;
    at += sizeof mark - 1;
    at += at < reply->str + reply->len && *at == ' ';
    if (at >= reply->str + reply->len || *at != '"')
        return 0;
    at++;
    return vti_span_time(at, (size_t)(reply->str + reply->len - at), &ns) ? ns : 0;
}

/* Length and both ends of each list. Keys that are none have no events. */
static int look_at(struct reading *reading, size_t from, size_t to)
{
    int code = 0;

    for (size_t i = from; i < to; i++) {
        redisAppendCommand(reading->link, "LLEN %s", reading->keys[i].name);
        redisAppendCommand(reading->link, "LINDEX %s -1", reading->keys[i].name);
        redisAppendCommand(reading->link, "LINDEX %s 0", reading->keys[i].name);
    }
    for (size_t i = from; i < to && !code; i++) {
        struct key *key = &reading->keys[i];

        for (unsigned part = 0; part < 3 && !code; part++) {
            redisReply *reply = next_reply(reading);

            if (!reply)
                return fail_link(reading);
            if (part == 0 && reply->type == REDIS_REPLY_INTEGER && reply->integer > 0)
                key->events = (uint64_t)reply->integer;
            else if (part == 1)
                key->first_ns = time_of(reply);
            else if (part == 2)
                key->last_ns = time_of(reply);
            freeReplyObject(reply);
        }
    }
    return code;
}

static int look_at_all(struct reading *reading)
{
    int code = 0;

    for (size_t at = 0; at < reading->count && !code; at += LOOKS_AHEAD) {
        size_t end = at + LOOKS_AHEAD < reading->count ? at + LOOKS_AHEAD : reading->count;

        code = is_stopped(reading) ? vti_fail(VTI_E_TIMEOUT, "interrupted")
                                   : look_at(reading, at, end);
    }
    return code;
}

static int by_time(const void *left, const void *right)
{
    const struct key *a = left, *b = right;

    return a->first_ns > b->first_ns ? -1 : a->first_ns < b->first_ns;
}

static int by_length(const void *left, const void *right)
{
    const struct key *a = left, *b = right;
    int64_t one = a->last_ns - a->first_ns, other = b->last_ns - b->first_ns;

    return one > other ? -1 : one < other;
}

static int by_events(const void *left, const void *right)
{
    const struct key *a = left, *b = right;

    return a->events > b->events ? -1 : a->events < b->events;
}

/* ---- what a trace holds ---------------------------------------------------------------------- */

/* The entries of a list; two requests are under way, so that the server reads while we take apart. */
static int read_list(struct reading *reading, const char *key)
{
    long long asked = 0, got = 0;
    int code = 0;
    bool is_end = false;

    for (int i = 0; i < 2; i++, asked += AT_ONCE)
        redisAppendCommand(reading->link, "LRANGE %s %lld %lld", key, asked, asked + AT_ONCE - 1);
    while (got < asked) {
        redisReply *reply = next_reply(reading);

        if (!reply)
            return fail_link(reading);
        if (reply->type != REDIS_REPLY_ARRAY) {
            is_end = true; /* of another type: a key that is none of ours */
            reading->fetch->all.unusable += !got;
        }
        for (size_t i = 0; reply->type == REDIS_REPLY_ARRAY && i < reply->elements && !code; i++)
            code = vti_fetch_add(reading->fetch,
                                 reply->element[i]->str ? reply->element[i]->str : "",
                                 reply->element[i]->str ? reply->element[i]->len : 0);
        is_end |= reply->type != REDIS_REPLY_ARRAY || reply->elements < AT_ONCE || code;
        freeReplyObject(reply);
        got += AT_ONCE;
        if (!is_end && is_stopped(reading))
            return vti_fail(VTI_E_TIMEOUT, "interrupted, nothing written");
        if (is_end)
            continue;
        redisAppendCommand(reading->link, "LRANGE %s %lld %lld", key, asked, asked + AT_ONCE - 1);
        asked += AT_ONCE;
    }
    if (code == 1)
        snprintf(reading->fetch->note, sizeof reading->fetch->note,
                 "only the newest %llu notifications were read",
                 (unsigned long long)reading->fetch->events);
    return code < 0 ? code : 0;
}

/* osprofiler of old wrote a key for each event. */
static int read_legacy(struct reading *reading, const char *base)
{
    char pattern[KEY_MOST];
    int code;

    snprintf(pattern, sizeof pattern, VTI_REDIS_LEGACY "%.400s*", base);
    code = find_keys(reading, pattern);
    for (size_t i = 0; i < reading->count && !code; i++) {
        redisReply *reply = vti_redis_ask(reading->link, &reading->fetch->settings, ANSWER_MOST,
                                          "GET %s", reading->keys[i].name);

        if (!reply)
            return fail_link(reading);
        if (reply->type == REDIS_REPLY_STRING)
            code = vti_fetch_add(reading->fetch, reply->str, reply->len);
        freeReplyObject(reply);
    }
    return code < 0 ? code : 0;
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static int read_keys(struct reading *reading, size_t count)
{
    int code = 0;

    for (size_t i = 0; i < count && i < reading->count && !code; i++)
        code = read_list(reading, reading->keys[i].name);
    return code;
}

/* Moves those that are read to the front, as long as there is room for all of a trace; how many they are. */
static size_t choose(struct reading *reading, size_t most)
{
    uint64_t events = 0;
    size_t count = 0;

    for (size_t i = 0; i < reading->count && count < most; i++) {
        struct key key = reading->keys[i];

        if (key.events > LIST_EVENTS) { /* it must not hide the others */
            reading->too_large++;
            continue;
        }
        if (events + key.events > LIST_EVENTS)
            break;
        events += key.events;
        reading->keys[i] = reading->keys[count];
        reading->keys[count++] = key;
    }
    return count;
}

static void note(struct vti_fetch *fetch, uint64_t count, const char *why, const char *what)
{
    size_t len = strlen(fetch->note);

    if (count)
        snprintf(fetch->note + len, sizeof fetch->note - len, "%s%s: %llu %s left out",
                 len ? "; " : "", why, (unsigned long long)count, what);
}

static void note_left_out(const struct reading *reading)
{
    struct vti_fetch *fetch = reading->fetch;

    note(fetch, reading->left_out, "more than can be read at once",
         reading->left_out == 1 ? "trace is" : "traces are");
    note(fetch, reading->too_large, "more than 2000000 notifications each (trace show ID reads it)",
         reading->too_large == 1 ? "trace is" : "traces are");
    note(fetch, reading->odd_keys, "longer than 512 bytes",
         reading->odd_keys == 1 ? "key is" : "keys are");
}

/* Newest first (or slowest, or largest). */
static int list(struct reading *reading)
{
    struct vti_fetch *fetch = reading->fetch;
    bool is_by_begin = !strcmp(fetch->sort, "begin") && !fetch->has_errors_only;
    size_t count;
    int code = find_keys(reading, VTI_REDIS_EVENTS "*");

    if (!code)
        code = look_at_all(reading);
    if (code)
        return code;
    if (!reading->count)
        return vti_fail(VTI_E_NOT_FOUND, "%s: holds no traces", fetch->settings.shown);
    qsort(reading->keys, reading->count, sizeof *reading->keys,
          !strcmp(fetch->sort, "time")    ? by_length
          : !strcmp(fetch->sort, "spans") ? by_events
                                          : by_time);
    /* Begins are those of the first that was written: a few more, so that the right ones are among them. */
    count = choose(reading, is_by_begin ? (size_t)fetch->limit + VTI_FETCH_CANDIDATES : SIZE_MAX);
    if (!is_by_begin || count < (size_t)fetch->limit)
        reading->left_out += reading->count - count - reading->too_large;
    if (!count && reading->too_large)
        return vti_fail(VTI_E_NOT_FOUND,
                        "%s: holds only traces of more than %u notifications (trace show ID reads "
                        "one)",
                        fetch->settings.shown, LIST_EVENTS);
    note_left_out(reading);
    return read_keys(reading, count);
}

static int show(struct reading *reading)
{
    struct vti_fetch *fetch = reading->fetch;
    char id[VTI_UUID_TEXT];
    char key[KEY_MOST];
    int code;

    snprintf(key, sizeof key, VTI_REDIS_EVENTS "%.400s", fetch->word);
    if (vti_fetch_is_id(fetch->word, id)) {
        snprintf(key, sizeof key, VTI_REDIS_EVENTS "%s", id);
        code = read_list(reading, key);
        return code || fetch->all.list.count ? code : read_legacy(reading, id);
    }
    if (strcmp(fetch->word, "last") && strcmp(fetch->word, "slowest")) {
        code = read_list(reading, key); /* an id that is no UUID */
        if (code || fetch->all.list.count)
            return code;
        fetch->all.unusable = 0;
        if (!vti_fetch_is_prefix(fetch->word, id))
            return 0;
        snprintf(key, sizeof key, VTI_REDIS_EVENTS "%s*", id);
        code = find_keys(reading, key);
        return code ? code : read_keys(reading, VTI_FETCH_CANDIDATES);
    }
    code = find_keys(reading, VTI_REDIS_EVENTS "*");
    if (!code)
        code = look_at_all(reading);
    if (!code && reading->count)
        qsort(reading->keys, reading->count, sizeof *reading->keys,
              strcmp(fetch->word, "last") ? by_length : by_time);
    return code ? code : read_keys(reading, VTI_FETCH_CANDIDATES);
}

static int run(struct vti_fetch *fetch)
{
    struct reading reading = {.fetch = fetch};
    char why[400];
    int code = vti_redis_check(&fetch->settings);

    if (!code && vti_redis_connect(&reading.link, &fetch->settings, why, sizeof why))
        code = vti_fail(VTI_E_OPEN, "%s", why);
    if (!code)
        code = vti_fetch_begin(fetch);
    if (!code)
        code = fetch->what == VTI_FETCH_SHOW ? show(&reading) : list(&reading);
    if (!code)
        code = vti_fetch_write(fetch);
    for (size_t i = 0; i < reading.count; i++)
        free(reading.keys[i].name);
    free(reading.keys);
    if (reading.link)
        redisFree(reading.link);
    return code;
}

const struct vti_fetcher vti_fetch_redis = {
    .schemes = "redis rediss redissentinel",
    .run = run,
};
