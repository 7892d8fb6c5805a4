/*
 * thread_cpu.c - when the recording threads use CPU time, and where they are then, seen from outside.
 *
 * Runs in the drainer's loop and touches no measured process. CPU time is charged to where a thread is when it is seen running. Of one
 * that is found asleep it goes to where it was seen running at the look before; if it was not, it waits for the next time that it is,
 * so that nothing is charged to where it sleeps. The pauses between two looks vary, so that a program with a clock of its own is not always met at the same place.
 */
#include "drain/thread_cpu.h"

#include "drain/clock.h"
#include "drain/target.h"
#include "drain/where.h"
#include "format/energy.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 7000000u  /* at least, … */
#define VARIES_NS 6000000u /* … and so much more or less of it: 10 ms on average */
#define REST_FACTOR 20u
#define BLOCK_NS 1000000000u /* a block has at least so many entries after this time … */
#define BLOCK_ENTRIES 16u
#define BLOCK_LATEST_NS 5000000000u /* … and is written after this one in any case */
#define BLOCK_BYTES (64u << 10)
#define KEPT_MOST 512u /* files that stay open */
#define SECOND_NS 1000000000u
#define RECENT_NS 200000000u /* a busy machine lets it wait so long, and us */

struct thread {
    bool is_used;
    bool is_seen; /* cpu_ns is what it had used when it was last looked at */
    bool is_gone;
    bool has_fine; /* nanoseconds, not steps of the kernel's clock */
    uint32_t track;
    int fd; /* its schedstat; -1: opened each time */
    uint64_t cpu_ns;
    uint64_t slices;     /* how often it was given a CPU … */
    bool has_moved;      /* … which has changed: it has run, be its CPU time not counted yet */
    uint64_t waiting_ns; /* used since it was last seen running … */
    uint64_t since;      /* … and since when that counts, in ticks */
    uint64_t ran;        /* ticks: it was seen running then, and not asleep since; 0: not … */
    uint32_t node, line; /* … where */
    struct vti_where where;
    struct vti_buf entries; /* of the block to come */
    uint32_t count;
    uint64_t ticks;    /* of the last entry in it */
    uint64_t block_ns; /* when its first entry came */
};

struct vti_cpu_threads {
    struct vti_cpu_feed *feed; /* borrowed */
    int folder; /* of the process in /proc: stays its own when the number is given to another */
    clockid_t clock;
    uint64_t cpu_ns;        /* of the whole process, a look ago */
    struct thread *threads; /* owned; by slot */
    uint32_t count;
};

struct vti_cpu_feed {
    struct vti_recorder *recorder; /* borrowed */
    uint64_t due_ns;
    uint64_t random;
    uint32_t kept, kept_most; /* files */
    long clock_hz;
};

struct vti_cpu_feed *vti_cpu_feed_create(struct vti_recorder *recorder)
{
    struct vti_cpu_feed *feed = calloc(1, sizeof *feed);
    struct rlimit files;

    if (!feed)
        return NULL;
    feed->recorder = recorder;
    feed->random = vti_clock_now_ns();
    feed->clock_hz = sysconf(_SC_CLK_TCK);
    if (!getrlimit(RLIMIT_NOFILE, &files))
        feed->kept_most = files.rlim_cur / 4 < KEPT_MOST ? (uint32_t)(files.rlim_cur / 4)
                                                         : KEPT_MOST;
    return feed;
}

void vti_cpu_feed_free(struct vti_cpu_feed *feed)
{
    free(feed);
}

uint64_t vti_cpu_feed_due_ns(const struct vti_cpu_feed *feed)
{
    return feed ? feed->due_ns : UINT64_MAX;
}

/* ---- blocks ---------------------------------------------------------------------------------- */

static void write_block(struct vti_cpu_feed *feed, struct thread *thread)
{
    struct vti_block_header header = {.kind = VTI_THREAD_CPU,
                                      .owner = thread->track,
                                      .count = thread->count,
                                      .last = thread->ticks};

    if (thread->count && !thread->entries.failed)
        vti_recorder_block(feed->recorder, &header, &thread->entries, true);
    vti_buf_clear(&thread->entries);
    thread->count = 0;
    thread->ticks = 0;
}

static void write_if_due(struct vti_cpu_feed *feed, struct thread *thread, uint64_t now_ns)
{
    uint64_t age_ns = now_ns - thread->block_ns;

    if (thread->count && ((age_ns >= BLOCK_NS && thread->count >= BLOCK_ENTRIES) ||
                          age_ns >= BLOCK_LATEST_NS || thread->entries.len >= BLOCK_BYTES))
        write_block(feed, thread);
}

/* Charges what has waited. */
static void add_entry(struct thread *thread, uint64_t ticks, uint32_t flags, uint32_t node,
                      uint32_t line)
{
    const struct vti_cpu_fact fact = {.ticks = ticks - thread->ticks,
                                      .span = ticks > thread->since ? ticks - thread->since : 0,
                                      .cpu_ns = thread->waiting_ns,
                                      .flags = flags | (thread->has_fine ? 0 : VTI_CPU_COARSE),
                                      .node = node,
                                      .line = line};

    if (!thread->count)
        thread->block_ns = vti_clock_now_ns();
    vti_cpu_fact_write(&thread->entries, &fact);
    thread->count++;
    thread->ticks = ticks;
    thread->since = ticks;
    thread->waiting_ns = 0;
}

/* ---- threads --------------------------------------------------------------------------------- */

static void close_file(struct vti_cpu_feed *feed, struct thread *thread)
{
    if (thread->fd < 0)
        return;
    close(thread->fd);
    thread->fd = -1;
    feed->kept--;
}

static void end_thread(struct vti_cpu_feed *feed, struct thread *thread)
{
    if (!thread->is_used)
        return;
    if (thread->waiting_ns)
        add_entry(thread, vti_recorder_ticks(feed->recorder), 0, 0, 0);
    write_block(feed, thread);
    close_file(feed, thread);
    vti_where_fini(&thread->where);
    vti_buf_fini(&thread->entries);
    memset(thread, 0, sizeof *thread);
}

void vti_cpu_thread_end(struct vti_cpu_threads *threads, uint32_t slot)
{
    if (threads && slot < threads->count)
        end_thread(threads->feed, &threads->threads[slot]);
}

void vti_cpu_threads_free(struct vti_cpu_threads *threads)
{
    if (!threads)
        return;
    for (uint32_t i = 0; i < threads->count; i++)
        end_thread(threads->feed, &threads->threads[i]);
    free(threads->threads);
    close(threads->folder);
    free(threads);
}

/* As text; false if it is not there. */
static bool read_file(int fd, char *to, size_t room)
{
    ssize_t got = fd < 0 ? -1 : pread(fd, to, room - 1, 0);

    to[got > 0 ? got : 0] = 0;
    return got > 0;
}

static int open_file(const struct vti_cpu_threads *threads, int32_t tid, const char *name)
{
    char path[64];

    snprintf(path, sizeof path, "task/%d/%s", (int)tid, name);
    return openat(threads->folder, path, O_RDONLY | O_CLOEXEC);
}

/* What its stat file says: its state, and CPU time in steps. The name in front may hold anything. */
static bool read_stat(const struct vti_cpu_threads *threads, int32_t tid, char *state,
                      uint64_t *cpu_ns)
{
    unsigned long long user = 0;
    unsigned long long system = 0;
    char text[1024];
    int fd = open_file(threads, tid, "stat");
    bool is_read = read_file(fd, text, sizeof text);
    const char *behind = is_read ? strrchr(text, ')') : NULL;

    if (fd >= 0)
        close(fd);
    if (!behind || sscanf(behind + 1, " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %llu %llu",
                          state, &user, &system) != 3)
        return false;
    *cpu_ns = (user + system) * (SECOND_NS / (uint64_t)threads->feed->clock_hz);
    return true;
}

/* CPU time, time spent waiting for a CPU, and how often it got one. */
static uint64_t parse_schedstat(struct thread *thread, const char *text)
{
    char *end;
    uint64_t cpu_ns = strtoull(text, &end, 10);
    uint64_t slices;

    strtoull(end, &end, 10);
    slices = strtoull(end, NULL, 10);
    thread->has_moved = slices != thread->slices;
    thread->slices = slices;
    return cpu_ns;
}

/* CPU time of a thread; false: errno says why not. Kernels that do not count nanoseconds say 0 or have no such file. */
static bool read_cpu(struct vti_cpu_threads *threads, struct thread *thread, int32_t tid,
                     uint64_t *cpu_ns)
{
    struct vti_cpu_feed *feed = threads->feed;
    bool is_kept = thread->fd >= 0;
    int fd = is_kept ? thread->fd : open_file(threads, tid, "schedstat");
    char text[128];
    char state;
    bool is_read = read_file(fd, text, sizeof text);

    if (!is_kept && is_read && feed->kept < feed->kept_most) {
        thread->fd = fd;
        feed->kept++;
    } else if (!is_kept && fd >= 0) {
        close(fd);
    }
    if (is_kept && !is_read)
        return false;
    *cpu_ns = is_read ? parse_schedstat(thread, text) : 0;
    if (*cpu_ns) {
        thread->has_fine = true;
        return true;
    }
    return !thread->has_fine && read_stat(threads, tid, &state, cpu_ns);
}

/* It began to record a moment ago: what it had used before that is not counted, however much it was. */
static uint64_t first_use(const struct vti_cpu_feed *feed, const struct thread *thread,
                          uint64_t ticks, uint64_t cpu_ns)
{
    double rate = vti_recorder_ticks_per_ns(feed->recorder);
    double most = ticks > thread->since && rate > 0 ? (double)(ticks - thread->since) / rate : 0;

    return (double)cpu_ns < most ? cpu_ns : (uint64_t)most;
}

static bool has_just_run(const struct vti_cpu_feed *feed, const struct thread *thread,
                         uint64_t ticks)
{
    double rate = vti_recorder_ticks_per_ns(feed->recorder);

    return thread->ran && (double)(ticks - thread->ran) < RECENT_NS * rate;
}

/* It has run: where, and whose is what it has used. The kernel counts that when it stops, or a few milliseconds later. */
static void charge(struct vti_cpu_threads *threads, struct thread *thread,
                   const struct vti_target *process, const struct vti_slot *slot, uint64_t ticks)
{
    int32_t tid = __atomic_load_n(&slot->tid, __ATOMIC_RELAXED);
    uint64_t coarse_ns;
    char state;

    if (!read_stat(threads, tid, &state, &coarse_ns))
        return;
    if (state == 'R') {
        vti_where_find(&thread->where, process->arena,
                       __atomic_load_n(&slot->chunks, __ATOMIC_ACQUIRE), &thread->node,
                       &thread->line);
        thread->ran = ticks;
    } else if (has_just_run(threads->feed, thread, ticks)) {
        thread->ran = 0;
    } else {
        return;
    }
    if (thread->waiting_ns)
        add_entry(thread, ticks, VTI_CPU_RUNNING, thread->node, thread->line);
}

static void look_at(struct vti_cpu_threads *threads, struct thread *thread,
                    const struct vti_target *process, const struct vti_slot *slot)
{
    struct vti_cpu_feed *feed = threads->feed;
    int32_t tid = __atomic_load_n(&slot->tid, __ATOMIC_RELAXED);
    uint64_t ticks = vti_recorder_ticks(feed->recorder);
    uint64_t cpu_ns;
    uint64_t used;

    errno = 0;
    if (!read_cpu(threads, thread, tid, &cpu_ns)) {
        thread->is_gone = errno == ENOENT || errno == ESRCH; /* else descriptors are short: later */
        return;
    }
    used = !thread->is_seen          ? first_use(feed, thread, ticks, cpu_ns)
           : cpu_ns > thread->cpu_ns ? cpu_ns - thread->cpu_ns
                                     : 0;
    thread->is_seen = true;
    thread->cpu_ns = cpu_ns;
    if (!used && !thread->waiting_ns)
        thread->since = ticks;
    thread->waiting_ns += used;
    if (used || thread->has_moved)
        charge(threads, thread, process, slot, ticks);
}

/* ---- processes ------------------------------------------------------------------------------- */

static struct vti_cpu_threads *threads_of(struct vti_cpu_feed *feed, struct vti_target *process)
{
    struct vti_cpu_threads *threads = process->cpu;
    char path[32];

    if (threads)
        return threads;
    threads = calloc(1, sizeof *threads);
    if (!threads)
        return NULL;
    snprintf(path, sizeof path, "/proc/%d", (int)process->pid);
    threads->folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    threads->feed = feed;
    if (threads->folder < 0 || clock_getcpuclockid(process->pid, &threads->clock)) {
        if (threads->folder >= 0)
            close(threads->folder);
        free(threads);
        return NULL;
    }
    process->cpu = threads;
    return threads;
}

static bool grow(struct vti_cpu_threads *threads, uint32_t count)
{
    struct thread *grown;

    if (count <= threads->count)
        return true;
    grown = realloc(threads->threads, count * sizeof *grown);
    if (!grown)
        return false;
    memset(grown + threads->count, 0, (count - threads->count) * sizeof *grown);
    threads->threads = grown;
    threads->count = count;
    return true;
}

/* Whether any of its threads has run since the last look: else none need be read. */
static bool has_run(struct vti_cpu_threads *threads)
{
    struct timespec now;
    uint64_t cpu_ns;

    if (clock_gettime(threads->clock, &now))
        return true;
    cpu_ns = (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
    if (cpu_ns == threads->cpu_ns)
        return false;
    threads->cpu_ns = cpu_ns;
    return true;
}

static void look_at_process(struct vti_cpu_feed *feed, struct vti_target *process, uint64_t now_ns)
{
    struct vti_cpu_threads *threads = threads_of(feed, process);
    bool is_running;

    if (!threads || !grow(threads, process->stream_count))
        return;
    is_running = has_run(threads);
    for (uint32_t i = 0; i < process->stream_count; i++) {
        const struct vti_stream *stream = &process->streams[i];
        struct thread *thread = &threads->threads[i];

        if (!stream->is_used)
            continue;
        if (!thread->is_used)
            *thread = (struct thread){
                .is_used = true, .track = stream->track, .since = stream->fact.start, .fd = -1};
        if (is_running && !thread->is_gone)
            look_at(threads, thread, process, vti_arena_slot(process->arena, i));
        write_if_due(feed, thread, now_ns);
    }
}

static uint64_t own_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

void vti_cpu_feed_tick(struct vti_cpu_feed *feed, struct vti_target *processes, uint64_t now_ns,
                       bool at_once)
{
    uint64_t begin_ns;
    uint64_t pause_ns;

    if (!feed || (!at_once && now_ns < feed->due_ns))
        return;
    begin_ns = own_cpu_ns();
    for (struct vti_target *p = processes; p; p = p->next)
        if (p->is_announced && !p->is_over)
            look_at_process(feed, p, now_ns);
    pause_ns = REST_FACTOR * (own_cpu_ns() - begin_ns);
    feed->random = feed->random * 6364136223846793005u + 1442695040888963407u;
    if (pause_ns < PAUSE_NS + (feed->random >> 33) % VARIES_NS)
        pause_ns = PAUSE_NS + (feed->random >> 33) % VARIES_NS;
    feed->due_ns = now_ns + pause_ns;
}
