/*
 * protocol.h - what a program and its drainer say to each other, once, over a SEQPACKET socket in the
 * abstract namespace. After the welcome the program closes its end: everything else goes through the
 * arena, and the drainer notices the program's end by its pidfd.
 */
#ifndef VENTURI_SHARE_PROTOCOL_H
#define VENTURI_SHARE_PROTOCOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define VTI_PROTOCOL_MAGIC 0x31505456u /* "VTP1" */
#define VTI_SESSION_PREFIX "venturi-"  /* of the socket's name, after the zero byte */

enum vti_request_type {
    VTI_REQUEST_ATTACH = 1, /* answered with the arena's memfd */
    VTI_REQUEST_STATUS,
    VTI_REQUEST_ON,
    VTI_REQUEST_OFF,
    VTI_REQUEST_FLUSH, /* answered when all that was recorded until now is in the file */
    VTI_REQUEST_STOP,  /* answered when the recording is closed */
    VTI_REQUEST_GIVE,  /* comes with a descriptor */
};

struct vti_request {
    uint32_t magic;
    uint32_t type;
    uint32_t arena_version;
    int32_t pid; /* STATUS: is this process one of yours? */
};

#define VTI_GIFT_NAME_MAX 4095

/* What follows the request if that is GIVE; the name is the rest of the message. */
struct vti_gift_request {
    struct vti_request request;
    uint32_t kind; /* enum vt_gift of venturi/line.h */
    char name[VTI_GIFT_NAME_MAX + 1];
};

struct vti_answer {
    uint32_t magic;
    int32_t error; /* 0, or a code of base/error.h */
    int32_t drainer_pid;
    uint32_t process_count;
    uint32_t is_on;
    uint32_t knows_pid; /* the process asked for is the drainer or attached to it */
    uint64_t arena_bytes;
    uint64_t events;
    uint64_t lost;
    char path[256]; /* of the recording, cut off if longer */
};

/*
 * One request to the drainer that listens under `session`, and its answer, waiting at most `limit_ms`.
 * 0 or a negative code of base/error.h; *why is then a fixed text and errno may say more. *fd (may be
 * NULL) gets the descriptor that came with the answer, or -1. Allocates nothing.
 */
int vti_ask(const char *session, const struct vti_request *request, int limit_ms,
            struct vti_answer *answer, int *fd, const char **why);

/* The same for a request of `bytes` that takes a descriptor along. */
int vti_ask_giving(const char *session, const struct vti_request *request, size_t bytes, int given,
                   int limit_ms, struct vti_answer *answer, const char **why);

/* Sends one message, with a descriptor unless it is -1. */
bool vti_send_with(int socket_fd, const void *message, size_t bytes, int given);

/* Receives one of at most `room` bytes; *given gets its descriptor, or -1. Its length, -1: none. */
ssize_t vti_receive_with(int socket_fd, void *message, size_t room, int *given);

#endif
