/* redis_link.h - a connection to Redis, as osprofiler's URLs say it: redis://[user][:password]@host[:port][/db], redissentinel://… */
#ifndef VENTURI_STORE_REDIS_LINK_H
#define VENTURI_STORE_REDIS_LINK_H

#include "store/store.h"

#include <hiredis/hiredis.h>

#define VTI_REDIS_EVENTS "osprofiler_opt:" /* and the base id: a list, newest first */
#define VTI_REDIS_ERRORS                                                                           \
    "osprofiler_error:"                /* and the base id: base_id and timestamp of an error */
#define VTI_REDIS_LEGACY "osprofiler:" /* and base id, span id and time: one event each */

enum vti_redis_trouble {
    VTI_REDIS_FINE,
    VTI_REDIS_AWAY, /* no connection, no answer, or it is loading: later */
    VTI_REDIS_HELD, /* wrong password, no such database, no right to write: somebody must do something */
};

/* Whether the URL can be meant: 0 or VTI_E_USAGE with a message. */
int vti_redis_check(const struct vti_store_settings *settings);

/* Connects, logs in and selects the database; `why` gets one line without credentials. */
enum vti_redis_trouble vti_redis_connect(redisContext **link,
                                         const struct vti_store_settings *settings, char *why,
                                         size_t room);

/* The next answer to what was asked, which freeReplyObject() takes; it has `most` bytes at most. NULL: the connection is of no use any more, and
 * link->errstr says why. */
redisReply *vti_redis_next(redisContext *link, const struct vti_store_settings *settings,
                           size_t most);

/* A command as redisCommand() has it, and its answer. */
redisReply *vti_redis_ask(redisContext *link, const struct vti_store_settings *settings,
                          size_t most, const char *format, ...);

/* What an error reply means for those who come back later. */
enum vti_redis_trouble vti_redis_judge(const char *error);

#endif
