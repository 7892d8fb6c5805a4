/*
 * clients.h - those who have connected to the session's socket and not yet said what for. They may take their time: the machine is busy.
 */
#ifndef VENTURI_DRAIN_CLIENTS_H
#define VENTURI_DRAIN_CLIENTS_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#define VTI_CLIENTS_MAX 256

struct vti_client {
    int fd;
    pid_t pid;
    bool is_same_user; /* or root: may control the recording, not only be recorded */
    uint64_t since_ns;
};

struct vti_clients {
    int listener; /* owned, as are the clients' descriptors; negative: nobody can come any more */
    struct vti_client list[VTI_CLIENTS_MAX];
    unsigned count;
};

/* What to wait for, at most 1 + VTI_CLIENTS_MAX: returns how many. */
unsigned vti_clients_poll(const struct vti_clients *clients, struct pollfd *polls);

/* Takes in who has come: other users only if `is_ours` says so of their process. */
void vti_clients_accept(struct vti_clients *clients, uint64_t now_ns,
                        bool (*is_ours)(void *arg, pid_t pid), void *arg);

/* Those who have spoken are served, those who say nothing for too long are dropped. */
void vti_clients_serve(struct vti_clients *clients, uint64_t now_ns,
                       void (*serve)(void *arg, const struct vti_client *client), void *arg);

/* All are sent away, and nobody can come any more. */
void vti_clients_leave(struct vti_clients *clients);

#endif
