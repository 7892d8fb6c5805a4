/* clients.c - who waits at the session's socket. Never waits for any of them. */
#include "drain/clients.h"

#include "drain/socket.h"

#include <unistd.h>

#define LIMIT_NS 5000000000u

unsigned vti_clients_poll(const struct vti_clients *clients, struct pollfd *polls)
{
    bool has_room = clients->count < VTI_CLIENTS_MAX;

    polls[0] = (struct pollfd){has_room ? clients->listener : -1, POLLIN, 0};
    for (unsigned i = 0; i < clients->count; i++)
        polls[1 + i] = (struct pollfd){clients->list[i].fd, POLLIN, 0};
    return 1 + clients->count;
}

void vti_clients_accept(struct vti_clients *clients, uint64_t now_ns,
                        bool (*is_ours)(void *arg, pid_t pid), void *arg)
{
    while (clients->count < VTI_CLIENTS_MAX) {
        struct vti_client *client = &clients->list[clients->count];
        uid_t uid;

        client->since_ns = now_ns;
        client->fd = vti_socket_accept(clients->listener, &client->pid, &uid);
        if (client->fd < 0)
            break;
        client->is_same_user = uid == geteuid() || uid == 0;
        if (client->is_same_user || is_ours(arg, client->pid))
            clients->count++;
        else
            close(client->fd);
    }
}

void vti_clients_serve(struct vti_clients *clients, uint64_t now_ns,
                       void (*serve)(void *arg, const struct vti_client *client), void *arg)
{
    unsigned kept = 0;

    for (unsigned i = 0; i < clients->count; i++) {
        struct vti_client *client = &clients->list[i];
        struct pollfd said = {client->fd, POLLIN, 0};
        bool has_spoken = poll(&said, 1, 0) == 1;

        if (has_spoken)
            serve(arg, client);
        if (has_spoken || now_ns > client->since_ns + LIMIT_NS)
            close(client->fd);
        else
            clients->list[kept++] = *client;
    }
    clients->count = kept;
}

void vti_clients_leave(struct vti_clients *clients)
{
    if (clients->listener >= 0)
        close(clients->listener);
    clients->listener = -1;
    for (unsigned i = 0; i < clients->count; i++)
        close(clients->list[i].fd);
    clients->count = 0;
}
