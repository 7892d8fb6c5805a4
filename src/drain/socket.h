/* socket.h - the session socket, the drainer's side: a name, requests in, answers out. */
#ifndef VENTURI_DRAIN_SOCKET_H
#define VENTURI_DRAIN_SOCKET_H

#include "share/protocol.h"

#include <sys/types.h>

/* Listens under `name` in the abstract namespace. The descriptor, or a negative code (VTI_E_EXISTS: taken). */
int vti_socket_listen(const char *name);

/* A name nobody can guess, into `to`. */
void vti_socket_make_name(char *to, size_t room);

/* Accepts one client of the same user (or root) and reads its request. The client's descriptor, or -1.
 * Waits at most some milliseconds for a client that says nothing. */
int vti_socket_accept(int listener, struct vti_request *request, pid_t *pid);

/* Sends the answer, with a descriptor unless it is -1. The client is not closed. */
void vti_socket_answer(int client, struct vti_answer *answer, int passed);

#endif
