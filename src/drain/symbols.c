/*
 * symbols.c - names and lines for C functions, from venturi-symbols.
 *
 * That is a program of its own: debug info is untrusted and its reader is large. It reads its questions from a
 * file in memory and writes its answers to another, so that nobody waits for anybody; whatever it
 * has answered when it ends, crashes or is stopped counts.
 */
#include "drain/symbols.h"

#include "base/beside.h"
#include "drain/clock.h"

#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIMIT_NS 30000000000u
#define WAIT_US 1000

extern char **environ;

/* What is asked, and for which sites. */
struct questions {
    struct vti_buf text;
    struct vti_buf ids; /* u32 each, in order */
};

static bool is_plain(struct vti_bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.data[i] < ' ')
            return false;
    return true;
}

/* The collector's own way to say that it knows no name: "module+0xoffset" and no line. */
static bool is_unresolved(const struct vti_site_fact *site, const char **offset)
{
    *offset = memrchr(site->name.data, '+', site->name.len);
    return site->type == VTI_SITE_FUNCTION && site->line == 0 && site->unit.len == 1 &&
           site->unit.data[0] == 'c' && *offset && site->name.data + site->name.len - *offset > 3 &&
           !memcmp(*offset, "+0x", 3) && is_plain(site->file) && is_plain(site->function) &&
           is_plain(site->name);
}

static void gather(const struct vti_recorder *recorder, struct questions *all)
{
    struct vti_site_fact site;
    const char *offset;

    for (uint32_t id = 1; id <= vti_recorder_site_count(recorder); id++) {
        if (!vti_recorder_get_site(recorder, id, &site) || !is_unresolved(&site, &offset))
            continue;
        vti_buf_add(&all->text, site.file.data, site.file.len);
        vti_buf_add_u8(&all->text, '\t');
        vti_buf_add(&all->text, site.function.data, site.function.len);
        vti_buf_add_u8(&all->text, '\t');
        vti_buf_add(&all->text, offset + 1, (size_t)(site.name.data + site.name.len - offset - 1));
        vti_buf_add_u8(&all->text, '\n');
        vti_buf_add_u32(&all->ids, id);
    }
}

/* The environment without what would have the helper recorded. */
static char **helper_environment(void)
{
    size_t count = 0, kept = 0;
    char **list;

    while (environ[count])
        count++;
    list = calloc(count + 1, sizeof *list);
    for (size_t i = 0; list && i < count; i++)
        if (strncmp(environ[i], "LD_PRELOAD=", 11) && strncmp(environ[i], "VENTURI_", 8))
            list[kept++] = environ[i];
    return list;
}

static pid_t start(const char *program, int in, int out)
{
    char *const arguments[] = {"venturi-symbols", NULL};
    char **environment = helper_environment();
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    sigset_t none, all;
    pid_t pid = -1;

    sigemptyset(&none);
    sigfillset(&all);
    posix_spawn_file_actions_init(&files);
    posix_spawn_file_actions_adddup2(&files, in, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&files, out, STDOUT_FILENO);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &all);
    if (!environment || posix_spawn(&pid, program, &files, &attributes, arguments, environment))
        pid = -1;
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&files);
    free(environment);
    return pid;
}

static void await(pid_t pid)
{
    uint64_t end_ns = vti_clock_now_ns() + LIMIT_NS;

    while (waitpid(pid, NULL, WNOHANG) == 0) {
        if (vti_clock_now_ns() > end_ns) {
            kill(pid, SIGKILL);
            waitpid(pid, NULL, 0);
            return;
        }
        usleep(WAIT_US);
    }
}

/* One answer: name, plain name, file, line. False if it says nothing. */
static bool take_answer(struct vti_recorder *recorder, uint32_t id, const char *line, size_t len)
{
    struct vti_site_fact site;
    struct vti_bytes parts[4];

    for (int i = 0; i < 4; i++) {
        const char *tab = i < 3 ? memchr(line, '\t', len) : line + len;

        if (!tab)
            return false;
        parts[i] = (struct vti_bytes){line, (size_t)(tab - line)};
        len -= parts[i].len + (i < 3);
        line = tab + 1;
    }
    if (!parts[0].len || !vti_recorder_get_site(recorder, id, &site))
        return false;
    site.name = parts[0];
    site.function = parts[1];
    if (parts[2].len)
        site.file = parts[2];
    for (size_t i = 0; i < parts[3].len && parts[3].data[i] >= '0' && parts[3].data[i] <= '9'; i++)
        site.line = site.line * 10 + (uint32_t)(parts[3].data[i] - '0');
    vti_recorder_put_site(recorder, &site);
    return true;
}

/* It stays an address; who reads the recording shows that, not the build id. */
static void give_up(struct vti_recorder *recorder, uint32_t id)
{
    struct vti_site_fact site;

    if (!vti_recorder_get_site(recorder, id, &site))
        return;
    site.function = site.name;
    vti_recorder_put_site(recorder, &site);
}

static void take_answers(struct vti_recorder *recorder, const struct questions *all, int fd)
{
    off_t size = fd >= 0 ? lseek(fd, 0, SEEK_END) : 0;
    char *text = size > 0 ? mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0) : MAP_FAILED;
    const char *at = text != MAP_FAILED ? text : NULL;

    for (size_t i = 0; i < all->ids.len / sizeof(uint32_t); i++) {
        uint32_t id = vti_get_u32(all->ids.data + i * sizeof(uint32_t));
        const char *end = at ? memchr(at, '\n', (size_t)(text + size - at)) : NULL;

        if (!end || !take_answer(recorder, id, at, (size_t)(end - at)))
            give_up(recorder, id);
        at = end ? end + 1 : NULL;
    }
    if (text != MAP_FAILED)
        munmap(text, (size_t)size);
}

static void ask(struct vti_recorder *recorder, const struct questions *all)
{
    static const char *const places[] = {"venturi-symbols", "../libexec/venturi/venturi-symbols"};
    char program[PATH_MAX];
    int in = memfd_create("venturi-questions", MFD_CLOEXEC);
    int out = memfd_create("venturi-answers", MFD_CLOEXEC);
    pid_t pid = -1;

    if (in >= 0 && out >= 0 && write(in, all->text.data, all->text.len) == (ssize_t)all->text.len &&
        lseek(in, 0, SEEK_SET) == 0 &&
        vti_beside_find(places, sizeof places / sizeof *places, program, sizeof program))
        pid = start(program, in, out);
    if (pid > 0)
        await(pid);
    take_answers(recorder, all, out);
    if (in >= 0)
        close(in);
    if (out >= 0)
        close(out);
}

void vti_symbols_resolve(struct vti_recorder *recorder)
{
    struct questions all = {0};

    gather(recorder, &all);
    if (all.ids.len && !all.text.failed && !all.ids.failed)
        ask(recorder, &all);
    vti_buf_fini(&all.text);
    vti_buf_fini(&all.ids);
}
