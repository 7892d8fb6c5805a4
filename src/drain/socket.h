/* socket.h - the session socket, the drainer's side: a name, requests in, answers out. */
#ifndef VENTURI_DRAIN_SOCKET_H
#define VENTURI_DRAIN_SOCKET_H

#include "share/protocol.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* Listens under `name` in the abstract namespace. The descriptor, or a negative code (VTI_E_EXISTS: taken). */
int vti_socket_listen(const char *name);

/* A name nobody can guess, into `to`. */
void vti_socket_make_name(char *to, size_t room);

/* Accepts one client. Its descriptor, or -1 if there is none. */
int vti_socket_accept(int listener, pid_t *pid, uid_t *uid);

/* The request of a client that has something to say, which may be a gift with a name and a descriptor; false if it
 * is none. *given is the caller's to close in any case, -1: none. */
bool vti_socket_request(int client, struct vti_gift_request *gift, int *given);

/* Sends the answer, with a descriptor unless it is -1. The client is not closed. False: it is gone. */
bool vti_socket_answer(int client, struct vti_answer *answer, int passed);

#endif
