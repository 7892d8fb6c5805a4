/*
 * events.c - server-sent events: the state as it changes, and the tasks since the last time.
 *
 * A client has no queue. When its socket has taken what it was given, it gets the newest state, made once for all of them, and the tasks
 * that it does not know yet; in between it sleeps (its connection is suspended). So one that reads slowly misses states, and one that does
 * not read at all costs one event and is let go.
 */
#include "live/tick.h"
#include "serve/serve.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TASKS_MOST 2000
#define SECOND_NS 1000000000LL
#define QUIET_NS 10000000000 /* without anything new a client is told so */

struct vti_stream {
    struct vti_stream *next;
    struct vti_serve *serve;
    struct MHD_Connection *connection;
    bool is_suspended, is_done;
    uint64_t seq; /* of the state that it got last */
    uint64_t task;
    struct vti_told told;
    uint32_t replaced; /* the recording that these are of */
    int64_t sent_ns;   /* when it got something last */
    int64_t turn_ns; /* since when it is the client's turn, or libmicrohttpd's, unless it sleeps */
    struct vti_picture *picture; /* a reference, while it is being sent */
    size_t at;                   /* in `head`, then in the picture, then in `tail` */
    struct vti_buf head, tail;
};

/* ---- with the lock held -------------------------------------------------------------------------- */

/* Numbers begin anew with another recording. */
static void forget_tasks(struct vti_stream *stream)
{
    struct vti_live_summary all;

    vti_live_summary(stream->serve->live, &all);
    if (all.replaced == stream->replaced)
        return;
    stream->replaced = all.replaced;
    stream->task = 0;
    stream->told = (struct vti_told){0};
}

static void add_tasks(struct vti_stream *stream)
{
    struct vti_json json;

    forget_tasks(stream);
    if (vti_live_stream_last(stream->serve->live) == stream->task)
        return;
    vti_buf_add_text(&stream->tail, "event: tasks\ndata: ");
    vti_json_init(&json, &stream->tail);
    vti_tasks_json(stream->serve->live, &json, stream->task, TASKS_MOST, false, &stream->told,
                   &stream->task);
    vti_buf_add_text(&stream->tail, "\n\n");
}

/* Something to send: true. */
static bool compose(struct vti_stream *stream)
{
    struct vti_serve *serve = stream->serve;

    /* The last state first. */
    if (serve->is_stopping && stream->seq == serve->seq) {
        if (stream->is_done)
            return false;
        stream->is_done = true;
        vti_buf_add_text(&stream->head, "event: end\ndata: {}\n\n");
        return true;
    }
    if (stream->seq == serve->seq && serve->refreshed_ns - stream->sent_ns < QUIET_NS)
        return false;
    stream->picture = vti_picture_get(serve);
    if (!stream->picture)
        return false;
    if (stream->seq && stream->picture->seq > stream->seq + 1)
        serve->dropped += stream->picture->seq - stream->seq - 1;
    stream->seq = stream->picture->seq;
    stream->sent_ns = stream->turn_ns = serve->refreshed_ns;
    vti_buf_printf(&stream->head,
                   "event: state\nid: %llu\ndata: ", (unsigned long long)stream->seq);
    vti_buf_add_text(&stream->tail, "\n\n");
    add_tasks(stream);
    return !stream->head.failed && !stream->tail.failed;
}

static void clear(struct vti_stream *stream)
{
    if (stream->picture)
        vti_picture_put(stream->serve, stream->picture);
    stream->picture = NULL;
    stream->at = 0;
    vti_buf_clear(&stream->head);
    vti_buf_clear(&stream->tail);
}

/* ---- libmicrohttpd's side ------------------------------------------------------------------------ */

static size_t copy_from(const struct vti_buf *from, size_t *skip, char *to, size_t room)
{
    size_t count;

    if (*skip >= from->len) {
        *skip -= from->len;
        return 0;
    }
    count = from->len - *skip < room ? from->len - *skip : room;
    memcpy(to, from->data + *skip, count);
    *skip = 0;
    return count;
}

static size_t copy_out(struct vti_stream *stream, char *to, size_t room)
{
    size_t skip = stream->at;
    size_t count = copy_from(&stream->head, &skip, to, room);

    if (stream->picture && count < room)
        count += copy_from(&stream->picture->text, &skip, to + count, room - count);
    if (count < room)
        count += copy_from(&stream->tail, &skip, to + count, room - count);
    stream->at += count;
    return count;
}

static ssize_t give(void *arg, uint64_t position, char *to, size_t room)
{
    struct vti_stream *stream = arg;
    struct vti_serve *serve = stream->serve;
    ssize_t count;

    (void)position;
    pthread_mutex_lock(&serve->lock);
    count = (ssize_t)copy_out(stream, to, room);
    if (!count) {
        clear(stream);
        if (stream->is_done)
            count = MHD_CONTENT_READER_END_OF_STREAM;
        else if (compose(stream))
            count = (ssize_t)copy_out(stream, to, room);
        else {
            stream->is_suspended = true;
            MHD_suspend_connection(stream->connection);
        }
    }
    pthread_mutex_unlock(&serve->lock);
    return count;
}

static void end(void *arg)
{
    struct vti_stream *stream = arg;
    struct vti_serve *serve = stream->serve;
    struct vti_stream **at = &serve->streams;

    pthread_mutex_lock(&serve->lock);
    while (*at && *at != stream)
        at = &(*at)->next;
    if (*at) {
        *at = stream->next;
        serve->stream_count--;
    }
    clear(stream);
    pthread_mutex_unlock(&serve->lock);
    vti_buf_fini(&stream->head);
    vti_buf_fini(&stream->tail);
    free(stream);
}

static bool add(struct vti_serve *serve, struct vti_stream *stream)
{
    bool has_room;

    pthread_mutex_lock(&serve->lock);
    stream->turn_ns = serve->refreshed_ns;
    has_room = serve->stream_count < VTI_SERVE_STREAMS && !serve->is_stopping;
    if (has_room) {
        stream->next = serve->streams;
        serve->streams = stream;
        serve->stream_count++;
    }
    pthread_mutex_unlock(&serve->lock);
    return has_room;
}

enum MHD_Result vti_serve_events(const struct vti_request *request)
{
    struct vti_stream *stream = calloc(1, sizeof *stream);
    struct MHD_Response *response;

    if (!stream)
        return MHD_NO;
    stream->serve = request->serve;
    stream->connection = request->connection;
    if (!add(request->serve, stream)) {
        free(stream);
        return vti_answer_error(request, MHD_HTTP_TOO_MANY_REQUESTS,
                                "%u event streams are open already", VTI_SERVE_STREAMS);
    }
    vti_peers_keep(request->serve->peers, request->connection);
    vti_buf_add_text(&stream->head, "retry: 1000\n\n");
    response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 32768, give, stream, end);
    if (!response) {
        end(stream);
        return MHD_NO;
    }
    return vti_answer(request, MHD_HTTP_OK, response, "text/event-stream");
}

/* ---- the main thread's side: with the lock held -------------------------------------------------- */

void vti_streams_wake(struct vti_serve *serve)
{
    for (struct vti_stream *at = serve->streams; at; at = at->next) {
        /* What it was given last has not even left for its socket. */
        if (!at->is_suspended && serve->refreshed_ns - at->turn_ns > VTI_SERVE_DEAF_S * SECOND_NS)
            vti_peers_end(serve->peers, at->connection);
        if (at->is_suspended && (serve->is_stopping || at->seq != serve->seq ||
                                 serve->refreshed_ns - at->sent_ns >= QUIET_NS)) {
            at->is_suspended = false;
            at->turn_ns = serve->refreshed_ns;
            MHD_resume_connection(at->connection);
        }
    }
}

void vti_streams_end(struct vti_serve *serve)
{
    serve->is_stopping = 1;
    vti_streams_wake(serve);
}
