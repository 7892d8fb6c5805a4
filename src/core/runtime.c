/*
 * runtime.c - the process's one runtime: whether it records, and where.
 *
 * Nothing here runs unless the environment or the program asked for a recording.
 */
#include "core/runtime.h"

#include "core/attach.h"
#include "core/calibrate.h"
#include "core/clock.h"
#include "core/site.h"
#include "core/thread.h"

#include <errno.h>
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

static const uint32_t off_word = 0;
static const uint32_t armed_word = VTI_CONTROL_SPANS;

const uint32_t *vt_control_word = &off_word;
struct vti_settings vti_settings;

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

/* VENTURI_OUTPUT was set by a person, who would wait in vain: the one line that this library prints. */
static void say_why_not(void)
{
    char line[512];
    int len = snprintf(line, sizeof line, "venturi: %.200s: not recording: %s\n",
                       vti_settings.output, vti_attach_error());

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

static struct vti_arena_control *attach(void)
{
    struct vti_arena_control *arena;
    struct vti_arena_producer *producer;

    set_control_word(&armed_word); /* in a forked child it still is the parent's */
    arena = vti_attach(&vti_settings);
    if (!arena) {
        say_why_not();
        return NULL;
    }
    vti_sites_carry_over(arena, last_arena);
    release(last_arena);
    last_arena = arena;
    vti_settings.force = false; /* a child that comes late must not replace this recording */
    producer = vti_arena_producer(arena);
    producer->pid = getpid();
    producer->start = vti_clock_read(arena->clock);
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

bool vti_drainer_is_alive(const struct vti_arena_control *arena)
{
    uint64_t heard = __atomic_load_n(&arena->heartbeat_ns, __ATOMIC_RELAXED);

    if (vti_clock_monotonic() - heard < DRAINER_SILENCE_NS)
        return true;
    return kill(arena->drainer_pid, 0) == 0 || errno != ESRCH;
}

void vti_runtime_check_drainer(const struct vti_arena_control *arena)
{
    uint64_t now = vti_clock_monotonic();

    if (now - the_runtime->drainer_checked_ns < DRAINER_CHECK_NS)
        return;
    the_runtime->drainer_checked_ns = now;
    if (!vti_drainer_is_alive(arena))
        vti_runtime_switch_off();
}

static uint64_t number_from(const char *text, uint64_t fallback)
{
    char *end;
    unsigned long long value;

    if (!text)
        return fallback;
    errno = 0;
    value = strtoull(text, &end, 10);
    if (errno || end == text)
        return fallback;
    if (*end == 'k' || *end == 'K')
        return value << 10;
    if (*end == 'm' || *end == 'M')
        return value << 20;
    if (*end == 'g' || *end == 'G')
        return value << 30;
    return value;
}

static void copy_setting(char *to, size_t room, const char *from)
{
    if (from && strlen(from) < room)
        memcpy(to, from, strlen(from) + 1);
}

void vti_settings_output(const char *path)
{
    char *to = vti_settings.output;
    size_t room = sizeof vti_settings.output;
    size_t used = 0;

    to[0] = 0;
    if (path[0] != '/' && getcwd(to, room - 1)) {
        used = strlen(to);
        to[used++] = '/';
    }
    if (used + strlen(path) < room)
        memcpy(to + used, path, strlen(path) + 1);
    else
        to[0] = 0;
}

/* The environment of a set-user-id program is not trusted (secure_getenv). */
static void read_environment(void)
{
    const char *policy = secure_getenv("VENTURI_POLICY");
    const char *output = secure_getenv("VENTURI_OUTPUT");

    copy_setting(vti_settings.session, sizeof vti_settings.session,
                 secure_getenv("VENTURI_SESSION"));
    if (output && output[0] && !vti_settings.session[0]) {
        vti_settings_output(output);
        vti_settings.is_from_environment = true;
    }
    vti_settings.force = number_from(secure_getenv("VENTURI_FORCE"), 0) != 0;
    vti_settings.buffer_bytes = number_from(secure_getenv("VENTURI_BUFFER"), 0);
    vti_settings.ring_seconds = (uint32_t)number_from(secure_getenv("VENTURI_RING"), 0);
    if (policy && !strncmp(policy, "block:", 6))
        vti_settings.block_ms = (uint32_t)number_from(policy + 6, 0);
}

__attribute__((constructor)) static void start(void)
{
    the_runtime = vti_private_map(sizeof *the_runtime);
    if (!the_runtime)
        return;
    vti_thread_init();
    read_environment();
    if (vti_settings.session[0] || vti_settings.output[0])
        vti_runtime_arm();
}
