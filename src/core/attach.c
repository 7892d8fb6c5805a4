/*
 * attach.c - the program's side of the session socket.
 *
 * Slow path: no malloc, and descriptors are closed again before it returns, so that the program's own
 * descriptors keep their numbers. Waiting is bounded: a drainer that does not answer costs the program
 * its recording, not its time.
 */
#include "core/attach.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define ATTACH_LIMIT_MS 2000

static __thread char last_error[160];

const char *vti_attach_error(void)
{
    return last_error[0] ? last_error : "no error";
}

int vti_attach_fail(int code, const char *what, int error_number)
{
    snprintf(last_error, sizeof last_error, "%s%s%s", what, error_number ? ": " : "",
             error_number ? strerror(error_number) : "");
    return code;
}

int vti_session_ask(const char *session, uint32_t type, int limit_ms, struct vti_answer *answer,
                    int *fd)
{
    struct vti_request request = {VTI_PROTOCOL_MAGIC, type, VTI_ARENA_VERSION, 0};
    const char *why = "";
    int code;

    errno = 0;
    code = vti_ask(session, &request, limit_ms, answer, fd, &why);
    return code ? vti_attach_fail(code, why, errno) : 0;
}

static struct vti_arena_control *map_arena(int fd, uint64_t bytes)
{
    struct vti_arena_control *arena;
    int seals = fcntl(fd, F_GET_SEALS);
    struct stat st;

    /* A file that is or becomes shorter than what we map is one that can kill us. */
    if (seals < 0 || !(seals & F_SEAL_SHRINK) || bytes < vti_arena_bytes(0) || fstat(fd, &st) ||
        (uint64_t)st.st_size != bytes) {
        vti_attach_fail(VTI_E_SESSION, "the drainer's memory is not what it should be", 0);
        return NULL;
    }
    arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (arena == MAP_FAILED) {
        vti_attach_fail(VTI_E_NOMEM, "cannot map the arena", errno);
        return NULL;
    }
    if (arena->magic != VTI_ARENA_MAGIC || arena->version != VTI_ARENA_VERSION ||
        arena->bytes != bytes || vti_arena_bytes(arena->block_count) != bytes) {
        vti_attach_fail(VTI_E_UNSUPPORTED, "the drainer is of another version", 0);
        munmap(arena, bytes);
        return NULL;
    }
    /* A wild pointer of the program must not switch recording or move the drainer's bounds. */
    mprotect(arena, VTI_PAGE, PROT_READ);
    return arena;
}

struct vti_arena_control *vti_attach(const struct vti_settings *settings)
{
    struct vti_arena_control *arena = NULL;
    struct vti_answer answer;
    char session[sizeof settings->session];
    int code;
    int fd = -1;

    if (settings->session[0])
        memcpy(session, settings->session, sizeof session);
    else
        vti_session_name(session, sizeof session, settings->output);
    code = vti_session_ask(session, VTI_REQUEST_ATTACH, ATTACH_LIMIT_MS, &answer, &fd);
    if (code && !settings->session[0]) {
        code = vti_helper_start(settings);
        if (!code)
            code = vti_session_ask(session, VTI_REQUEST_ATTACH, ATTACH_LIMIT_MS, &answer, &fd);
    }
    if (!code && fd < 0)
        code = vti_attach_fail(VTI_E_SESSION, "the drainer sent no memory", 0);
    if (code)
        return NULL;
    arena = map_arena(fd, answer.arena_bytes);
    close(fd);
    return arena;
}

void vti_session_name(char *to, size_t room, const char *output)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (; *output; output++)
        hash = (hash ^ (uint8_t)*output) * 0x100000001b3u;
    snprintf(to, room, VTI_SESSION_PREFIX "%u-%016llx", (unsigned)geteuid(),
             (unsigned long long)hash);
}
