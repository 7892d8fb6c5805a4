/* socket.c - the session socket, the drainer's side. */
#include "drain/socket.h"

#include "base/error.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 128

int vti_socket_listen(const char *name)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    size_t len = strlen(name);
    socklen_t size = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
    int fd;

    if (len >= sizeof address.sun_path)
        return vti_fail(VTI_E_LIMIT, "session name too long");
    memcpy(address.sun_path + 1, name, len);
    fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return vti_fail_errno(VTI_E_SYSTEM, "cannot make the session socket");
    if (bind(fd, (struct sockaddr *)&address, size) || listen(fd, BACKLOG)) {
        int code = errno == EADDRINUSE ? VTI_E_EXISTS : VTI_E_SYSTEM;

        vti_fail_errno(code, "cannot listen on the session socket");
        close(fd);
        return code;
    }
    return fd;
}

void vti_socket_make_name(char *to, size_t room)
{
    uint64_t noise[2] = {0, 0};

    if (getrandom(noise, sizeof noise, 0) != (ssize_t)sizeof noise)
        noise[0] = (uint64_t)getpid();
    snprintf(to, room, VTI_SESSION_PREFIX "%u-%016llx%016llx", (unsigned)geteuid(),
             (unsigned long long)noise[0], (unsigned long long)noise[1]);
}

int vti_socket_accept(int listener, pid_t *pid, uid_t *uid)
{
    struct ucred peer;
    socklen_t len = sizeof peer;
    int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (client < 0)
        return -1;
    if (getsockopt(client, SOL_SOCKET, SO_PEERCRED, &peer, &len)) {
        close(client);
        return -1;
    }
    *pid = peer.pid;
    *uid = peer.uid;
    return client;
}

bool vti_socket_request(int client, struct vti_gift_request *gift, int *given)
{
    const size_t fixed = offsetof(struct vti_gift_request, name);
    ssize_t got = vti_receive_with(client, gift, fixed + VTI_GIFT_NAME_MAX, given);
    bool is_gift = got >= (ssize_t)fixed && gift->request.type == VTI_REQUEST_GIVE && *given >= 0;

    if (is_gift)
        gift->name[(size_t)got - fixed] = 0;
    return (is_gift || (got == (ssize_t)sizeof gift->request && *given < 0 &&
                        gift->request.type != VTI_REQUEST_GIVE)) &&
           gift->request.magic == VTI_PROTOCOL_MAGIC;
}

bool vti_socket_answer(int client, struct vti_answer *answer, int passed)
{
    answer->magic = VTI_PROTOCOL_MAGIC;
    return vti_send_with(client, answer, sizeof *answer, passed);
}
