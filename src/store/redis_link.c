/*
 * redis_link.c - connecting to Redis, directly or by asking its sentinels for the master.
 *
 * Debian's hiredis knows no TLS: such URLs are refused, never answered with a connection in the clear. It also keeps all that a server sends until an
 * answer is whole: answers are therefore taken piece by piece here, so many bytes of each and so long at most.
 */
#include "store/redis_link.h"

#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define REDIS_PORT 6379
#define SENTINEL_PORT 26379
#define TIMEOUT_MS 10000
#define ANSWER_MS 60000          /* a whole answer, however it drips in */
#define ELEMENTS_MOST (1 << 20)  /* of one array */
#define SMALL_ANSWER (64u << 10) /* bytes */
#define LINE_MOST (64u << 10)
#define MASTER "mymaster" /* osprofiler's sentinel_service_name, unless ?master= says another */

static bool is_sentinel(const struct vti_store_settings *settings)
{
    return !strcmp(settings->scheme, "redissentinel");
}

/* The number of the database: "/2"; -1: that is none. */
static long database_of(const struct vti_store_settings *settings)
{
    const char *path = settings->path ? settings->path : "";
    char *end;
    long number;

    path += *path == '/';
    if (!*path)
        return 0;
    number = strtol(path, &end, 10);
    return *end || number < 0 || number > 1000000 ? -1 : number;
}

int vti_redis_check(const struct vti_store_settings *settings)
{
    if (settings->is_tls)
        return vti_fail(VTI_E_USAGE,
                        "%s: this hiredis knows no TLS: use a tunnel (stunnel, ssh -L)",
                        settings->shown);
    if (!settings->host || !*settings->host)
        return vti_fail(VTI_E_USAGE, "%s: which host?", settings->shown);
    if (database_of(settings) < 0)
        return vti_fail(VTI_E_USAGE, "%s: behind the slash stands the number of a database",
                        settings->shown);
    return 0;
}

static bool begins(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

enum vti_redis_trouble vti_redis_judge(const char *error)
{
    static const char *const later[] = {"LOADING",
                                        "BUSY",
                                        "TRYAGAIN",
                                        "CLUSTERDOWN",
                                        "MASTERDOWN",
                                        "OOM",
                                        "ERR max number of clients",
                                        "READONLY",
                                        "NOREPLICAS"};

    for (size_t i = 0; i < sizeof later / sizeof *later; i++)
        if (begins(error, later[i]))
            return VTI_REDIS_AWAY;
    return VTI_REDIS_HELD;
}

static struct timeval time_of(const struct vti_store_settings *settings)
{
    long ms = settings->timeout_ms > 0 ? settings->timeout_ms : TIMEOUT_MS;

    return (struct timeval){ms / 1000, ms % 1000 * 1000};
}

/* ---- answers --------------------------------------------------------------------------------- */

#if HIREDIS_MAJOR >= 1
typedef size_t element_count;
#else
typedef int element_count;
#endif

static redisReplyObjectFunctions bounded; /* hiredis's own, but for arrays */
static void *(*make_array)(const redisReadTask *task, element_count count);

/* The room for an array is taken when its size is read, before any of it is there. */
static void *make_bounded_array(const redisReadTask *task, element_count count)
{
    return count > ELEMENTS_MOST ? NULL : make_array(task, count);
}

static void bound_arrays(redisReader *reader)
{
    if (!make_array) {
        bounded = *reader->fn;
        make_array = bounded.createArray;
        bounded.createArray = make_bounded_array;
    }
    reader->fn = &bounded;
}

static redisReply *give_up(redisContext *link, const char *why)
{
    link->err = REDIS_ERR_OTHER;
    snprintf(link->errstr, sizeof link->errstr, "%s", why);
    return NULL;
}

static redisReply *fail_answer(redisContext *link)
{
    if (link->err == REDIS_ERR_IO && errno == EAGAIN)
        return give_up(link, "it does not answer");
    if (link->err == REDIS_ERR_OOM)
        return give_up(link, "an answer that is too large");
    return NULL;
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* A line is looked through again from its begin with each piece that comes, so one without an end costs time above all. */
static bool has_endless_line(const redisReader *reader)
{
    return reader->len - reader->pos > LINE_MOST &&
           !memchr(reader->buf + reader->pos, '\n', LINE_MOST);
}

redisReply *vti_redis_next(redisContext *link, const struct vti_store_settings *settings,
                           size_t most)
{
    int64_t end = now_ms() + ANSWER_MS;
    void *reply = NULL;
    size_t got = 0;
    int is_sent = 0;

    for (;;) {
        size_t before;

        if (!is_sent && redisBufferWrite(link, &is_sent) != REDIS_OK)
            return fail_answer(link);
        if (is_sent && redisGetReplyFromReader(link, &reply) != REDIS_OK)
            return fail_answer(link);
        if (reply)
            return reply;
        if (got > most || has_endless_line(link->reader))
            return give_up(link, "an answer that is too large");
        if (now_ms() > end)
            return give_up(link, "an answer that does not end");
        if (settings->is_stopped && settings->is_stopped())
            return give_up(link, "interrupted");
        before = link->reader->len;
        if (is_sent && redisBufferRead(link) != REDIS_OK)
            return fail_answer(link);
        got += link->reader->len > before ? link->reader->len - before : 0;
    }
}

redisReply *vti_redis_ask(redisContext *link, const struct vti_store_settings *settings,
                          size_t most, const char *format, ...)
{
    va_list values;
    int code;

    va_start(values, format);
    code = redisvAppendCommand(link, format, values);
    va_end(values);
    return code == REDIS_OK ? vti_redis_next(link, settings, most) : NULL;
}

/* ---- connecting ------------------------------------------------------------------------------ */

/* NULL, and why. */
static redisContext *dial(const struct vti_store_settings *settings, const char *host,
                          unsigned port, char *why, size_t room)
{
    redisContext *link = redisConnectWithTimeout(host, (int)port, time_of(settings));

    if (link && !link->err && redisSetTimeout(link, time_of(settings)) == REDIS_OK) {
        bound_arrays(link->reader);
        return link;
    }
    snprintf(why, room, "%s: no connection: %s", settings->shown,
             link ? link->errstr : "out of memory");
    if (link)
        redisFree(link);
    return NULL;
}

/* One command of setting up; frees the reply. */
static enum vti_redis_trouble expect(redisContext *link, const struct vti_store_settings *settings,
                                     redisReply *reply, const char *what, char *why, size_t room)
{
    enum vti_redis_trouble trouble = VTI_REDIS_FINE;

    if (!reply) {
        snprintf(why, room, "%s: no answer to %s: %s", settings->shown, what, link->errstr);
        return VTI_REDIS_AWAY;
    }
    if (reply->type == REDIS_REPLY_ERROR) {
        snprintf(why, room, "%s: %s: %s", settings->shown, what, reply->str);
        trouble = vti_redis_judge(reply->str);
    }
    freeReplyObject(reply);
    return trouble;
}

static enum vti_redis_trouble enter(redisContext *link, const struct vti_store_settings *settings,
                                    char *why, size_t room)
{
    long database = is_sentinel(settings) ? 0 : database_of(settings);
    enum vti_redis_trouble trouble = VTI_REDIS_FINE;

    if (settings->password && settings->user && *settings->user)
        trouble = expect(link, settings,
                         vti_redis_ask(link, settings, SMALL_ANSWER, "AUTH %s %s", settings->user,
                                       settings->password),
                         "login", why, room);
    else if (settings->password)
        trouble = expect(link, settings,
                         vti_redis_ask(link, settings, SMALL_ANSWER, "AUTH %s", settings->password),
                         "login", why, room);
    if (!trouble)
        trouble = expect(link, settings,
                         vti_redis_ask(link, settings, SMALL_ANSWER, "SELECT %ld", database),
                         "choosing the database", why, room);
    return trouble;
}

/* The master's address, as a sentinel knows it. */
static bool ask_sentinel(const struct vti_store_settings *settings, char *host, size_t host_room,
                         unsigned *port, char *why, size_t room)
{
    redisContext *link = dial(settings, settings->host,
                              settings->port ? settings->port : SENTINEL_PORT, why, room);
    char *master = vti_settings_query(settings, "master");
    redisReply *reply;
    bool is_known = false;

    if (link) {
        reply = vti_redis_ask(link, settings, SMALL_ANSWER, "SENTINEL get-master-addr-by-name %s",
                              master ? master : MASTER);
        is_known = reply && reply->type == REDIS_REPLY_ARRAY && reply->elements == 2 &&
                   reply->element[0]->str && reply->element[1]->str;
        if (is_known) {
            snprintf(host, host_room, "%s", reply->element[0]->str);
            *port = (unsigned)strtoul(reply->element[1]->str, NULL, 10);
        } else {
            snprintf(why, room, "%s: the sentinel knows no master %s", settings->shown,
                     master ? master : MASTER);
        }
        if (reply)
            freeReplyObject(reply);
        redisFree(link);
    }
    free(master);
    return is_known;
}

enum vti_redis_trouble vti_redis_connect(redisContext **link,
                                         const struct vti_store_settings *settings, char *why,
                                         size_t room)
{
    unsigned port = settings->port ? settings->port : REDIS_PORT;
    enum vti_redis_trouble trouble;
    char host[256];

    *link = NULL;
    snprintf(host, sizeof host, "%s", settings->host);
    if (is_sentinel(settings) && !ask_sentinel(settings, host, sizeof host, &port, why, room))
        return VTI_REDIS_AWAY;
    *link = dial(settings, host, port, why, room);
    if (!*link)
        return VTI_REDIS_AWAY;
    trouble = enter(*link, settings, why, room);
    if (trouble) {
        redisFree(*link);
        *link = NULL;
    }
    return trouble;
}
