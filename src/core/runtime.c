/*
 * runtime.c - the process's one runtime: whether it records, and where.
 *
 * Nothing here runs unless the environment or the program asked for a recording.
 */
#include "core/runtime.h"

#include "core/attach.h"
#include "core/calibrate.h"
#include "core/call.h"
#include "core/clock.h"
#include "core/site.h"
#include "core/thread.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MADV_WIPEONFORK
#define MADV_WIPEONFORK 18
#endif

#define DRAINER_SILENCE_NS 2000000000u
#define DRAINER_CHECK_NS 100000000u
#define LOCAL_BLOCKS 4 /* nobody would read more; trees have their own room */

static const uint32_t off_word = 0;
static const uint32_t armed_word = VTI_CONTROL_SPANS | VTI_CONTROL_CALLS | VTI_CONTROL_LINES;

const uint32_t *vt_control_word = &off_word;

static struct vti_runtime *the_runtime;

/* Survives a fork, unlike the runtime: the child takes the sites over from here. */
static const struct vti_arena_control *last_arena;

static void set_control_word(const uint32_t *word)
{
    __atomic_store_n(&vt_control_word, word, __ATOMIC_RELEASE);
}

void *vti_private_map(size_t bytes)
{
    void *at = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return NULL;
    if (madvise(at, bytes, MADV_WIPEONFORK)) {
        munmap(at, bytes);
        return NULL;
    }
    return at;
}

struct vti_runtime *vti_runtime(void)
{
    return the_runtime;
}

static void futex(uint32_t *word, int operation, uint32_t value)
{
    syscall(SYS_futex, word, operation | FUTEX_PRIVATE_FLAG, value, NULL, NULL, 0);
}

void vti_runtime_lock(void)
{
    uint32_t *lock = &the_runtime->lock;
    uint32_t seen = 0;

    if (__atomic_compare_exchange_n(lock, &seen, 1, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
        return;
    while (__atomic_exchange_n(lock, 2, __ATOMIC_ACQUIRE))
        futex(lock, FUTEX_WAIT, 2);
}

void vti_runtime_unlock(void)
{
    uint32_t *lock = &the_runtime->lock;

    if (__atomic_exchange_n(lock, 0, __ATOMIC_RELEASE) == 2)
        futex(lock, FUTEX_WAKE, 1);
}

void vti_runtime_switch_off(void)
{
    set_control_word(&off_word);
}

void vti_runtime_arm(void)
{
    set_control_word(&armed_word);
}

/* VENTURI_OUTPUT was set by a person, who would wait in vain, or for something else: the one line that
 * this library prints. */
static void say_once(const char *what, const char *why)
{
    char line[512];
    size_t path = strlen(vti_settings.output);
    bool is_there = strstr(why, "already exists") != NULL;
    int len;

    if (!strncmp(why, vti_settings.output, path) && !strncmp(why + path, ": ", 2))
        why += path + 2; /* the drainer names the file too */
    len = snprintf(line, sizeof line, "venturi: %.200s: %s%.200s%s\n", vti_settings.output, what,
                   why, is_there ? " (VENTURI_FORCE=1 replaces it)" : "");
    if (vti_settings.is_from_environment && !last_arena && len > 0 && len < (int)sizeof line)
        (void)!write(STDERR_FILENO, line, (size_t)len);
}

/* Gives back the memory of an earlier session of this process. The mapping stays: a thread may still
 * be about to end a span there. A parent's arena is not ours to empty. */
static void release(const struct vti_arena_control *arena)
{
    if (arena && vti_arena_producer(arena)->pid == getpid())
        madvise(vti_arena_sites(arena), arena->bytes - 2 * VTI_PAGE, MADV_REMOVE);
}

static bool is_asked_for(void)
{
    return vti_settings.session[0] || vti_settings.output[0];
}

/* For a profiler inside of the program, where nobody records: nothing is shared, the rest is the same. */
static struct vti_arena_control *local_arena(void)
{
    size_t bytes = vti_arena_bytes(LOCAL_BLOCKS);
    struct vti_arena_control *arena = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                                           MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (arena == MAP_FAILED)
        return NULL;
    vti_arena_layout(arena, LOCAL_BLOCKS);
    arena->clock = vti_ticks_choose();
    arena->drainer_pid = getpid();
    return arena;
}

static struct vti_arena_control *attach(void)
{
    struct vti_arena_control *arena;
    struct vti_arena_producer *producer;

    set_control_word(&armed_word); /* in a forked child it still is the parent's */
    arena = is_asked_for() ? vti_attach(&vti_settings) : NULL;
    if (!arena && is_asked_for())
        say_once("not recording: ", vti_attach_error());
    the_runtime->is_local = !arena && vti_local_kinds;
    if (the_runtime->is_local)
        arena = local_arena();
    if (!arena)
        return NULL;
    if (vti_settings.trouble[0])
        say_once("recording, but ", vti_settings.trouble);
    producer = vti_arena_producer(arena);
    vti_sites_carry_over(arena, last_arena);
    if (last_arena) /* hooks measure themselves once, a forked child is a new process */
        memcpy(producer->costs, vti_arena_producer(last_arena)->costs, sizeof producer->costs);
    release(last_arena);
    last_arena = arena;
    vti_settings.force = false; /* a child that comes late must not replace this recording */
    producer->pid = getpid();
    producer->start = vti_clock_read(arena->clock);
    the_runtime->attached_ticks = producer->start;
    the_runtime->attached_ns = vti_clock_monotonic();
    the_runtime->sees_drainer = kill(arena->drainer_pid, 0) == 0 || errno != ESRCH;
    vti_calibrate(arena->clock, &producer->pair_millis, &producer->inner_millis);
    __atomic_store_n(&producer->is_ready, 1, __ATOMIC_RELEASE);
    return arena;
}

struct vti_arena_control *vti_runtime_arena(void)
{
    struct vti_runtime *runtime = the_runtime;

    if (__atomic_load_n(&runtime->is_attached, __ATOMIC_ACQUIRE))
        return runtime->arena;
    vti_runtime_lock();
    if (!runtime->is_attached) {
        runtime->arena = attach();
        set_control_word(runtime->arena ? &runtime->arena->word : &off_word);
        __atomic_store_n(&runtime->is_attached, true, __ATOMIC_RELEASE);
    }
    vti_runtime_unlock();
    return runtime->arena;
}

/* Killed, and its parent has not looked yet. */
static bool is_zombie(pid_t pid)
{
    char text[256];
    const char *after;
    ssize_t got = 0;
    int fd;

    snprintf(text, sizeof text, "/proc/%ld/stat", (long)pid);
    fd = open(text, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        got = read(fd, text, sizeof text - 1);
        close(fd);
    }
    text[got > 0 ? got : 0] = 0;
    after = strrchr(text, ')'); /* the name before it may hold anything */
    return got > 0 && after && !strncmp(after, ") Z", 3);
}

bool vti_drainer_is_alive(const struct vti_arena_control *arena)
{
    uint64_t heard = __atomic_load_n(&arena->heartbeat_ns, __ATOMIC_RELAXED);
    uint64_t silence = vti_clock_monotonic() - heard;

    if (!the_runtime->sees_drainer)
        return silence < DRAINER_SILENCE_NS;
    if (kill(arena->drainer_pid, 0) && errno == ESRCH)
        return false;
    return silence < DRAINER_CHECK_NS || !is_zombie(arena->drainer_pid);
}

void vti_runtime_check_drainer(const struct vti_arena_control *arena)
{
    uint64_t now = vti_clock_monotonic();

    if (now - __atomic_load_n(&the_runtime->drainer_checked_ns, __ATOMIC_RELAXED) <
        DRAINER_CHECK_NS)
        return;
    __atomic_store_n(&the_runtime->drainer_checked_ns, now, __ATOMIC_RELAXED);
    if (!vti_drainer_is_alive(arena))
        vti_runtime_switch_off();
}

/* Early: in a program that is linked statically there are others' constructors that need it. */
__attribute__((constructor(101))) static void start(void)
{
    the_runtime = vti_private_map(sizeof *the_runtime);
    if (!the_runtime)
        return;
    vti_thread_init();
    vti_settings_read();
    if (is_asked_for())
        vti_runtime_arm();
}
