/*
 * serve.h - the inside of venturi-serve: one live state, its history, and who looks at it.
 *
 * Two threads. The main one refreshes the state and writes its history; libmicrohttpd's answers. What they share is locked: `lock` for the state
 * and what is made of it, `peers_lock` (peers.c) for the connections. Everything that a client sends is hostile.
 */
#ifndef VENTURI_SERVE_SERVE_H
#define VENTURI_SERVE_SERVE_H

#include "base/buf.h"
#include "base/json.h"
#include "live/history.h"
#include "live/live.h"

#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#define VTI_SERVE_PORT 8787
#define VTI_SERVE_PORTS 50        /* tried one after the other if they are taken */
#define VTI_SERVE_CONNECTIONS 128 /* at once: beyond, who has kept us waiting longest goes … */
#define VTI_SERVE_SPARE 64        /* … and until they are gone there is room for so many more */
#define VTI_SERVE_OF_ONE 64       /* from one address, other than on loopback */
#define VTI_SERVE_PARAMETERS 64   /* of an address */
#define VTI_SERVE_STREAMS 32      /* … of which so many may be event streams */
#define VTI_SERVE_MEMORY                                                                           \
    32768 /* of a connection: request line and headers fit in there, or are refused */
#define VTI_SERVE_REQUEST_S                                                                        \
    5 /* from connecting, or the answer before, to the end of a request's headers */
#define VTI_SERVE_IDLE_S 30    /* without a byte going either way */
#define VTI_SERVE_DEAF_S 10    /* an event stream that does not take what is there */
#define VTI_SERVE_BUFFER 65536 /* of a socket: what nobody reads fills it soon, and is seen */
#define VTI_SERVE_TOKEN_BYTES 128
#define VTI_SERVE_HOSTS 8
#define VTI_SERVE_ORIGIN_BYTES 300 /* http://HOST:PORT before a path */

struct vti_serve_options {
    const char *target;
    const char *bind;
    unsigned port;
    bool
        is_port_fixed; /* given by the user as the one: still the next one is taken if it is in use */
    char *token;       /* owned; NULL: a random one */
    const char *history; /* NULL: in memory */
    const char *hosts[VTI_SERVE_HOSTS];
    unsigned host_count;
    long parent; /* ends when this process does; 0: none */
    bool opens, is_quiet;
    int ready_fd; /* the address is written there, then it is closed; -1: none */
};

/* What a state looks like as JSON; shared by those who send it. */
struct vti_picture {
    unsigned refs; /* changed with the state's lock held */
    uint64_t seq;
    struct vti_buf text;
};

struct vti_peers;
struct vti_stream;

struct vti_serve {
    struct vti_serve_options options;
    struct vti_live *live;       /* owned; under `lock`, as all up to the daemon */
    struct vti_history *history; /* owned */
    struct vti_picture *picture; /* the newest one */
    uint64_t seq;                /* of the state: goes up when something changed */
    int64_t refreshed_ns;
    bool has_news, was_growing; /* since listeners were told; at the last refresh */
    struct vti_stream *streams; /* event streams */
    unsigned stream_count;
    uint64_t dropped; /* states that slow clients did not get */
    pthread_mutex_t lock;
    struct MHD_Daemon *daemon;
    struct vti_peers *peers;
    char token[VTI_SERVE_TOKEN_BYTES + 1];
    char cookie[32]; /* its name */
    unsigned port;
    bool is_loopback;
    char origin[300]; /* "http://127.0.0.1:8787" */
    char *policy;     /* owned: content security policy of the dashboard … */
    int64_t started_ns;
    volatile int is_stopping;
};

/* A request that is being answered. */
struct vti_request {
    struct vti_serve *serve;
    struct MHD_Connection *connection;
    const char *path;
    char origin[VTI_SERVE_ORIGIN_BYTES]; /* that stood before the path; "": nothing did */
    bool is_head;
    bool is_again; /* it was suspended, and is asked once more */
    bool *again;   /* set by who suspends it */
};

/* ---- answer.c: all return what libmicrohttpd's handler returns ---------------------------------- */

/* Takes the response over in every case; adds the headers that every answer has. */
enum MHD_Result vti_answer(const struct vti_request *request, unsigned status,
                           struct MHD_Response *response, const char *type);

/* Takes the text over. A buffer that failed becomes an error. */
enum MHD_Result vti_answer_text(const struct vti_request *request, unsigned status,
                                struct vti_buf *text, const char *type);
enum MHD_Result vti_answer_error(const struct vti_request *request, unsigned status,
                                 const char *format, ...) __attribute__((format(printf, 3, 4)));
/* `to` is one of our own addresses. */
enum MHD_Result vti_answer_redirect(const struct vti_request *request, const char *to,
                                    const char *cookie);

/* A parameter of the address: true with the value, or `otherwise` if it is not there; false after an answer 400 was decided on: `*bad` names
 * it. */
bool vti_ask_number(const struct vti_request *request, const char *name, int64_t least,
                    int64_t most, int64_t otherwise, int64_t *value, const char **bad);

/* ---- guard.c ------------------------------------------------------------------------------------ */

/* Takes what stands before the path apart from it: proxies write `GET http://HOST:PORT/PATH`. The path; `origin` is "" if it is all there is. */
const char *vti_guard_split(const char *url, char origin[VTI_SERVE_ORIGIN_BYTES]);

/* 0: may go on; else the status of the refusal and why, a literal. */
unsigned vti_guard_check(const struct vti_request *request, const char *method, const char **why);

/* Whether the right token was sent, as cookie or header. */
bool vti_guard_has_token(const struct vti_request *request);

/* Whether ?token= has the right one; then its owner gets the cookie. */
bool vti_guard_has_ticket(const struct vti_request *request);
int vti_guard_make_token(char token[VTI_SERVE_TOKEN_BYTES + 1]);

/* ---- server.c, peers.c --------------------------------------------------------------------------- */

int vti_server_start(struct vti_serve *serve);
void vti_server_stop(struct vti_serve *serve);

int vti_peers_create(struct vti_peers **peers);
void vti_peers_free(struct vti_peers *peers);
void vti_peers_notify(void *arg, struct MHD_Connection *connection, void **socket_context,
                      enum MHD_ConnectionNotificationCode code);
void vti_peers_asked(struct vti_peers *peers, struct MHD_Connection *connection, bool is_answered);

/* It is an event stream, of which there are few: it does not have to make room. */
void vti_peers_keep(struct vti_peers *peers, struct MHD_Connection *connection);
void vti_peers_end(struct vti_peers *peers, struct MHD_Connection *connection);

/* Ends those that have not got a request together in time. */
void vti_peers_reap(struct vti_peers *peers, int64_t now_ns);
unsigned vti_peers_count(struct vti_peers *peers);

/* ---- what is answered ----------------------------------------------------------------------------- */

/* state_json.c, tasks_json.c, machine_json.c: with the lock held */
void vti_state_json(const struct vti_serve *serve, struct vti_json *json);
void vti_state_add_tasks(struct vti_json *json, const struct vti_live *live);
void vti_state_add_machine(struct vti_json *json, const struct vti_serve *serve);

/* json.c. What is not known is null. */
void vti_json_add_times(struct vti_json *json, const struct vti_live_times *times);
void vti_json_add_usage(struct vti_json *json, const struct vti_live_usage *usage);
void vti_json_add_known(struct vti_json *json, const char *key, uint64_t value);
void vti_json_add_ms(struct vti_json *json, const char *key, int64_t unix_ns);
void vti_json_add_rate(struct vti_json *json, const char *key, double value);

/* A list in an object that says how long it is, and how much was left out: at most `most` items are then written by the caller. */
void vti_json_begin_list(struct vti_json *json, const char *key, size_t count, size_t most);
void vti_json_end_list(struct vti_json *json);

/* Those whose places are what `recording` means to clients. */
const struct vti_live_recording *vti_shown_recordings(const struct vti_live *live, size_t *count);

/* picture.c: a reference to the newest, made anew if it is older than the state; NULL without memory. */
struct vti_picture *vti_picture_get(struct vti_serve *serve);
void vti_picture_put(struct vti_serve *serve, struct vti_picture *picture);

enum MHD_Result vti_serve_state(const struct vti_request *request);
enum MHD_Result vti_serve_events(const struct vti_request *request);
enum MHD_Result vti_serve_tasks(const struct vti_request *request);
enum MHD_Result vti_serve_history(const struct vti_request *request);
enum MHD_Result vti_serve_functions(const struct vti_request *request);
enum MHD_Result vti_serve_window(const struct vti_request *request);
enum MHD_Result vti_serve_spans(const struct vti_request *request);
enum MHD_Result vti_serve_status(const struct vti_request *request);
enum MHD_Result vti_serve_report(const struct vti_request *request);
enum MHD_Result vti_serve_health(const struct vti_request *request);
enum MHD_Result vti_serve_metrics(const struct vti_request *request);

/* events.c: with the lock held; tells the streams that there is something new. */
void vti_streams_wake(struct vti_serve *serve);
void vti_streams_end(struct vti_serve *serve);

/* tasks_json.c: tasks after `after`, at most `most`; *last is the number of the last one. `told` says which names were told before. */
struct vti_told {
    uint32_t names, workers; /* all below these were */
};
void vti_tasks_json(const struct vti_live *live, struct vti_json *json, uint64_t after,
                    unsigned most, bool with_keys, struct vti_told *told, uint64_t *last);

/* pages.c */
char *vti_dashboard_policy(void); /* owned by the caller; NULL without memory */

/* address.c: says where the server is, in all the ways that were asked for; removes what that took. */
void vti_address_say(const struct vti_serve *serve);
void vti_address_forget(void);

/* options.c: 0, 1 (help was asked for, and printed) or a negative code with a message. */
int vti_serve_options_take(struct vti_serve_options *options, int argc, char **argv);

#endif
