/*
 * worker_main.c - vt_worker_main(): a worker in a program of its own. The environment names a socket, on which the caller has sent the
 * shared memory and the lane; all of it is looked at before it is believed.
 */
#include "graph/worker.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define BAD_START 2

struct introduction {
    uint32_t lane;
    int memory, caller;
};

static int socket_of_environment(void)
{
    const char *text = getenv(VTI_WORKER_ENVIRONMENT);
    struct stat about;
    char *end = NULL;
    long fd = text && *text ? strtol(text, &end, 10) : -1;

    if (end == NULL || *end || fd < 0 || fd > 1 << 20 || fstat((int)fd, &about) != 0 ||
        !S_ISSOCK(about.st_mode))
        return -1;
    /* Programs that it starts are no workers. */
    unsetenv(VTI_WORKER_ENVIRONMENT);
    fcntl((int)fd, F_SETFD, FD_CLOEXEC);
    return (int)fd;
}

static int hear(int control, struct introduction *heard)
{
    int fds[2];
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof fds)];
    } extra;
    struct iovec part = {.iov_base = &heard->lane, .iov_len = sizeof heard->lane};
    struct msghdr message = {.msg_iov = &part,
                             .msg_iovlen = 1,
                             .msg_control = &extra,
                             .msg_controllen = sizeof extra.room};
    struct cmsghdr *head;
    ssize_t count;

    do
        count = recvmsg(control, &message, MSG_CMSG_CLOEXEC);
    while (count < 0 && errno == EINTR);
    head = CMSG_FIRSTHDR(&message);
    if (count != sizeof heard->lane || head == NULL || head->cmsg_level != SOL_SOCKET ||
        head->cmsg_type != SCM_RIGHTS || head->cmsg_len != CMSG_LEN(sizeof fds))
        return -1;
    memcpy(fds, CMSG_DATA(head), sizeof fds);
    heard->memory = fds[0];
    heard->caller = fds[1];
    return 0;
}

static int is_whole(const struct vti_header *header, uint64_t size, uint32_t lane)
{
    return header->magic == VTI_SHARED_MAGIC && header->bytes == size &&
           lane < header->lane_count && header->ticks_per_second && !header->is_forked &&
           header->owners < size && header->first_segment < size &&
           header->first_segment + (uint64_t)header->segment_count * header->segment_bytes <= size;
}

static struct vti_header *map(const struct introduction *heard)
{
    struct vti_header *header;
    struct stat about;

    if (fstat(heard->memory, &about) != 0 || about.st_size < (off_t)sizeof *header)
        return NULL;
    header = mmap(NULL, (size_t)about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                  heard->memory, 0);
    if (header == MAP_FAILED)
        return NULL;
    if (!is_whole(header, (uint64_t)about.st_size, heard->lane)) {
        munmap(header, (size_t)about.st_size);
        return NULL;
    }
    return header;
}

int vt_worker_main(void)
{
    struct introduction heard = {.memory = -1, .caller = -1};
    struct vti_header *header = NULL;
    int control = socket_of_environment(), result = BAD_START;

    if (control < 0 || hear(control, &heard) != 0)
        return BAD_START;
    header = map(&heard);
    close(heard.memory);
    if (header != NULL) {
        uint64_t size = header->bytes;

        result = vti_worker_loop(header, heard.lane, control, heard.caller);
        munmap(header, size);
    }
    close(heard.caller);
    close(control);
    return result;
}
