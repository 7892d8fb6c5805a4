/*
 * fake.c NAME HOW - listens under a session's name as a drainer does and hands every program that asks an arena
 * which is not what it should be. HOW is
 *     good     nothing is wrong with it: the program records, and nobody reads
 *     open     its size is not sealed
 *     short    it is smaller than said
 *     long     it is larger than said
 *     tiny     it is said to be too small for an arena
 *     blocks   its number of blocks does not fit its size
 *     version  it is of another version
 *     file     it is an ordinary file
 *     nothing  there is none
 */
#include "drain/socket.h"
#include "share/arena.h"

#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLOCKS 4

static const char *how;

static int is(const char *text)
{
    return !strcmp(how, text);
}

static int make_arena(uint64_t bytes)
{
    int fd = is("file") ? open("/tmp", O_TMPFILE | O_RDWR, 0600)
                        : memfd_create("venturi", MFD_ALLOW_SEALING);
    struct vti_arena_control *arena;

    if (fd < 0 || ftruncate(fd, (off_t)(is("short") ? 2 * VTI_PAGE : bytes)))
        exit(3);
    arena = mmap(NULL, 2 * VTI_PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (arena == MAP_FAILED)
        exit(3);
    vti_arena_layout(arena, BLOCKS);
    arena->word = VTI_CONTROL_PERIOD | VTI_CONTROL_SPANS;
    arena->clock = 2;
    arena->drainer_pid = getpid();
    arena->block_count += is("blocks");
    arena->version += is("version");
    munmap(arena, 2 * VTI_PAGE);
    if (!is("open"))
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    return fd;
}

static void serve(int client)
{
    uint64_t bytes = vti_arena_bytes(BLOCKS);
    struct vti_answer answer = {.drainer_pid = getpid(), .arena_bytes = bytes};
    struct pollfd said = {client, POLLIN, 0};
    struct vti_gift_request request;
    int given;
    int fd;

    if (poll(&said, 1, -1) != 1 || !vti_socket_request(client, &request, &given))
        return;
    fd = is("nothing") ? -1 : make_arena(is("long") ? bytes + VTI_PAGE : bytes);
    if (is("tiny"))
        answer.arena_bytes = VTI_PAGE;
    vti_socket_answer(client, &answer, fd);
    if (fd >= 0)
        close(fd);
}

int main(int argc, char **argv)
{
    int listener = argc > 2 ? vti_socket_listen(argv[1]) : -1;
    struct pollfd asked = {listener, POLLIN, 0};

    if (listener < 0)
        return 3;
    how = argv[2];
    puts("ready");
    fflush(stdout);
    for (;;) {
        pid_t pid;
        uid_t uid;
        int client;

        poll(&asked, 1, -1);
        client = vti_socket_accept(listener, &pid, &uid);
        if (client >= 0) {
            serve(client);
            close(client);
        }
    }
}
