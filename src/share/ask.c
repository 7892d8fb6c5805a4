/*
 * ask.c - one request to a drainer. No allocation, bounded waiting, no descriptor left behind: it also
 * runs inside the measured program.
 */
#include "base/error.h"
#include "share/protocol.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* A connect that blocks would wait for ever for a drainer that is stopped and has a full queue. */
static int connect_within(int fd, const struct sockaddr_un *address, socklen_t size, int limit_ms)
{
    const struct timespec pause = {0, 1000000};

    while (connect(fd, (const struct sockaddr *)address, size)) {
        if (errno != EAGAIN || limit_ms-- <= 0)
            return -1;
        nanosleep(&pause, NULL);
    }
    return 0;
}

static int connect_to(const char *session, int limit_ms)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strnlen(session, sizeof address.sun_path - 1);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    memcpy(address.sun_path + 1, session, len);
    if (connect_within(fd, &address, size, limit_ms)) {
        int saved = errno;

        close(fd);
        errno = saved;
        return -1;
    }
    return fd;
}

/* Anybody could have taken the name: talk only to a drainer of the same user, or of root. Root trusts
 * nobody else: what the drainer hands over becomes part of our memory. */
static bool is_trusted(int fd)
{
    struct ucred peer;
    socklen_t len = sizeof peer;

    return !getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) &&
           (peer.uid == geteuid() || peer.uid == 0);
}

bool vti_send_with(int socket_fd, const void *message, size_t bytes, int given)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    struct iovec part = {(void *)(uintptr_t)message, bytes};
    struct msghdr header = {.msg_iov = &part, .msg_iovlen = 1};

    if (given >= 0) {
        struct cmsghdr *rights;

        header.msg_control = &control;
        header.msg_controllen = sizeof control;
        rights = CMSG_FIRSTHDR(&header);
        rights->cmsg_level = SOL_SOCKET;
        rights->cmsg_type = SCM_RIGHTS;
        rights->cmsg_len = CMSG_LEN(sizeof given);
        memcpy(CMSG_DATA(rights), &given, sizeof given);
    }
    return sendmsg(socket_fd, &header, MSG_NOSIGNAL) == (ssize_t)bytes;
}

ssize_t vti_receive_with(int socket_fd, void *message, size_t room, int *given)
{
    union {
        struct cmsghdr align;
        char room[CMSG_SPACE(sizeof(int))];
    } control;
    struct iovec part = {message, room};
    struct msghdr header = {.msg_iov = &part,
                            .msg_iovlen = 1,
                            .msg_control = &control,
                            .msg_controllen = sizeof control};
    struct cmsghdr *rights;
    ssize_t got = recvmsg(socket_fd, &header, MSG_CMSG_CLOEXEC);

    *given = -1;
    rights = got > 0 ? CMSG_FIRSTHDR(&header) : NULL;
    if (rights && rights->cmsg_level == SOL_SOCKET && rights->cmsg_type == SCM_RIGHTS)
        memcpy(given, CMSG_DATA(rights), sizeof *given);
    return got;
}

static int fail(int code, const char *text, const char **why)
{
    *why = text;
    return code;
}

static int converse(int socket_fd, const struct vti_request *request, size_t bytes, int given,
                    int limit_ms, struct vti_answer *answer, int *passed, const char **why)
{
    struct pollfd ready = {socket_fd, POLLIN, 0};

    if (!is_trusted(socket_fd))
        return fail(VTI_E_SESSION, "the session belongs to another user", why);
    if (!vti_send_with(socket_fd, request, bytes, given))
        return fail(VTI_E_SESSION, "cannot talk to the drainer", why);
    if (poll(&ready, 1, limit_ms) != 1)
        return fail(VTI_E_TIMEOUT, "the drainer does not answer", why);
    if (vti_receive_with(socket_fd, answer, sizeof *answer, passed) != (ssize_t)sizeof *answer ||
        answer->magic != VTI_PROTOCOL_MAGIC)
        return fail(VTI_E_SESSION, "the drainer gave no proper answer", why);
    if (answer->error)
        return fail(answer->error, "the drainer refused", why);
    return 0;
}

static int ask(const char *session, const struct vti_request *request, size_t bytes, int given,
               int limit_ms, struct vti_answer *answer, int *passed, const char **why)
{
    int socket_fd = connect_to(session, limit_ms);
    int code;

    *passed = -1;
    if (socket_fd < 0)
        return fail(VTI_E_SESSION, "cannot reach the drainer", why);
    code = converse(socket_fd, request, bytes, given, limit_ms, answer, passed, why);
    close(socket_fd);
    return code;
}

int vti_ask(const char *session, const struct vti_request *request, int limit_ms,
            struct vti_answer *answer, int *fd, const char **why)
{
    int passed;
    int code = ask(session, request, sizeof *request, -1, limit_ms, answer, &passed, why);

    if (fd)
        *fd = code ? -1 : passed;
    if (passed >= 0 && (!fd || code))
        close(passed);
    return code;
}

int vti_ask_giving(const char *session, const struct vti_request *request, size_t bytes, int given,
                   int limit_ms, struct vti_answer *answer, const char **why)
{
    int passed;
    int code = ask(session, request, bytes, given, limit_ms, answer, &passed, why);

    if (passed >= 0)
        close(passed);
    return code;
}
