/*
 * peers.c - the connections, and how long each may take to say what it wants.
 *
 * libmicrohttpd lets go of a connection on which nothing happens. One that sends a byte now and then would hold its place for ever: so
 * each has a time by which its request has to be there. And where all places are taken, one that came and says nothing makes room for the
 * next: whoever asks at once is answered, however many do not.
 */
#include "base/error.h"
#include "live/tick.h"
#include "serve/serve.h"

#include <stdlib.h>
#include <sys/socket.h>

#define SECOND_NS 1000000000LL

struct peer {
    struct peer *next;
    int fd;
    int64_t since_ns; /* when it became our turn to wait, or, if it is being answered, its own */
    bool is_asked, is_kept, is_ended;
};

struct vti_peers {
    pthread_mutex_t lock;
    struct peer *first;
    unsigned count;
};

int vti_peers_create(struct vti_peers **result)
{
    struct vti_peers *peers = calloc(1, sizeof *peers);

    *result = peers;
    if (!peers || pthread_mutex_init(&peers->lock, NULL))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    return 0;
}

void vti_peers_free(struct vti_peers *peers)
{
    while (peers && peers->first) {
        struct peer *next = peers->first->next;

        free(peers->first);
        peers->first = next;
    }
    free(peers);
}

static int fd_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(
        connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    return info ? info->connect_fd : -1;
}

static struct peer **find(struct vti_peers *peers, int fd)
{
    struct peer **at = &peers->first;

    while (*at && (*at)->fd != fd)
        at = &(*at)->next;
    return at;
}

static void end(struct peer *peer)
{
    shutdown(peer->fd, SHUT_RDWR);
    peer->is_ended = true;
}

/* Who has kept us waiting longest goes; if nobody does, who has taken longest to read, if that is long. */
static void make_room(struct vti_peers *peers, int64_t now_ns)
{
    struct peer *silent = NULL;
    struct peer *slow = NULL;

    for (struct peer *at = peers->first; at; at = at->next) {
        struct peer **of = at->is_asked ? &slow : &silent;

        if (!at->is_ended && !at->is_kept && (!*of || at->since_ns < (*of)->since_ns))
            *of = at;
    }
    if (silent)
        end(silent);
    else if (slow && now_ns - slow->since_ns > VTI_SERVE_REQUEST_S * SECOND_NS)
        end(slow);
}

static void add(struct vti_peers *peers, int fd)
{
    struct peer *peer;
    int64_t now_ns = vti_tick_now();

    if (peers->count >= VTI_SERVE_CONNECTIONS)
        make_room(peers, now_ns);
    peer = calloc(1, sizeof *peer);

    if (!peer)
        return;
    *peer = (struct peer){.next = peers->first, .fd = fd, .since_ns = now_ns};
    peers->first = peer;
    peers->count++;
}

/* The socket is still open when its end is told: until then its number is nobody else's. */
void vti_peers_notify(void *arg, struct MHD_Connection *connection, void **socket_context,
                      enum MHD_ConnectionNotificationCode code)
{
    const int buffer = VTI_SERVE_BUFFER;
    struct vti_peers *peers = arg;
    struct peer **at;
    struct peer *gone;

    (void)socket_context;
    pthread_mutex_lock(&peers->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        setsockopt(fd_of(connection), SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
        add(peers, fd_of(connection));
    } else {
        at = find(peers, fd_of(connection));
        gone = *at;
        if (gone) {
            *at = gone->next;
            peers->count--;
            free(gone);
        }
    }
    pthread_mutex_unlock(&peers->lock);
}

void vti_peers_asked(struct vti_peers *peers, struct MHD_Connection *connection, bool is_answered)
{
    struct peer *peer;

    pthread_mutex_lock(&peers->lock);
    peer = *find(peers, fd_of(connection));
    if (peer) {
        peer->since_ns = vti_tick_now();
        peer->is_asked = !is_answered;
        peer->is_kept &= !is_answered;
    }
    pthread_mutex_unlock(&peers->lock);
}

void vti_peers_keep(struct vti_peers *peers, struct MHD_Connection *connection)
{
    struct peer *peer;

    pthread_mutex_lock(&peers->lock);
    peer = *find(peers, fd_of(connection));
    if (peer)
        peer->is_kept = true;
    pthread_mutex_unlock(&peers->lock);
}

void vti_peers_end(struct vti_peers *peers, struct MHD_Connection *connection)
{
    struct peer *peer;

    pthread_mutex_lock(&peers->lock);
    peer = *find(peers, fd_of(connection));
    if (peer && !peer->is_ended)
        end(peer);
    pthread_mutex_unlock(&peers->lock);
}

void vti_peers_reap(struct vti_peers *peers, int64_t now_ns)
{
    pthread_mutex_lock(&peers->lock);
    for (struct peer *at = peers->first; at; at = at->next)
        if (!at->is_asked && !at->is_ended &&
            now_ns - at->since_ns > VTI_SERVE_REQUEST_S * SECOND_NS)
            end(at);
    pthread_mutex_unlock(&peers->lock);
}

unsigned vti_peers_count(struct vti_peers *peers)
{
    unsigned count;

    pthread_mutex_lock(&peers->lock);
    count = peers->count;
    pthread_mutex_unlock(&peers->lock);
    return count;
}
