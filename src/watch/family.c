/*
 * family.c - the processes of a tree: who belongs to it, and what all of them have used together.
 *
 * Children are read before their parents: one that has gone was waited for before its parent is read, so that the
 * parent's numbers have it. A process that was waited for between the two readings is counted in both for one round.
 */
#include "watch/family.h"

#include "watch/find.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define KEPT_MOST 256u
#define SLACK_CLOCK 2u /* the kernel cuts off parts of its steps, and we might have been slow */

static uint64_t clock_now(const struct vti_proc_source *source)
{
    struct timespec now;

    clock_gettime(CLOCK_BOOTTIME, &now);
    return ((uint64_t)now.tv_sec * 1000u + (uint64_t)now.tv_nsec / 1000000u) *
           (uint64_t)source->clock_hz / 1000u;
}

void vti_family_init(struct vti_family *family, const struct vti_proc_source *source,
                     const char *session)
{
    struct rlimit files = {0, 0};
    uint64_t now = clock_now(source);

    *family = (struct vti_family){.source = source, .session = session};
    getrlimit(RLIMIT_NOFILE, &files);
    family->kept_most = files.rlim_cur / 8 < KEPT_MOST ? (uint32_t)(files.rlim_cur / 8) : KEPT_MOST;
    family->begin_clock = now > SLACK_CLOCK ? now - SLACK_CLOCK : 0;
    vti_family_find_ancestors(family);
}

static void free_watched(struct vti_watched *watched)
{
    vti_proc_files_close(&watched->files);
    free(watched->command);
    free(watched);
}

static void free_list(struct vti_watched **list)
{
    while (*list) {
        struct vti_watched *watched = *list;

        *list = watched->next;
        free_watched(watched);
    }
}

void vti_family_fini(struct vti_family *family)
{
    free_list(&family->watched);
    free_list(&family->ended);
}

struct vti_watched *vti_family_find(const struct vti_family *family, pid_t pid)
{
    struct vti_watched *watched = family->watched;

    while (watched && watched->pid != pid)
        watched = watched->next;
    return watched;
}

/* ---- sums ---------------------------------------------------------------------------------------- */

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static void add_io(uint64_t *to, const uint64_t *io)
{
    for (unsigned i = 0; i < VTI_IO_COUNT; i++)
        to[i] += io[i];
}

static void add_cpu(struct vti_cpu_time *to, struct vti_cpu_time time)
{
    to->all_ns += time.all_ns;
    to->user_ns += time.user_ns;
}

/* By itself and below, of what has ended there: the kernel's sum, or what we saw if nobody waited for them. */
static struct vti_cpu_time used(const struct vti_watched *watched)
{
    struct vti_cpu_time time = watched->now.cpu;
    struct vti_cpu_time below = watched->now.reaped;

    if (watched->has_waited && watched->waited.all_ns >= time.all_ns) {
        below.all_ns = watched->waited.all_ns - time.all_ns;
        below.user_ns = watched->waited.user_ns > time.user_ns
                            ? watched->waited.user_ns - time.user_ns
                            : 0;
    }
    time.all_ns += larger(below.all_ns, watched->gone.all_ns);
    time.user_ns += larger(below.user_ns, watched->gone.user_ns);
    return time;
}

uint64_t vti_watched_io(const struct vti_watched *watched, unsigned which)
{
    uint64_t all = watched->now.io[which];

    return all > watched->gone_io[which] ? all - watched->gone_io[which] : 0;
}

/*
 * One that ends goes from our own number for it to that of its parent, which the kernel rounds down to ticks, user and system apart: what is
 * missing for that is not taken back.
 */
static uint64_t keep(const struct vti_family *family, uint64_t told_ns, uint64_t now_ns)
{
    uint64_t rounding_ns = 2 * 1000000000ull / (uint64_t)family->source->clock_hz;

    return now_ns < told_ns && told_ns - now_ns <= rounding_ns ? told_ns : now_ns;
}

void vti_family_total(struct vti_family *family, struct vti_family_total *total)
{
    *total = (struct vti_family_total){.cpu = family->gone,
                                       .peak_bytes = family->peak_bytes,
                                       .has_cpu = family->had_cpu,
                                       .has_io = family->had_io};
    memcpy(total->io, family->gone_io, sizeof total->io);
    for (const struct vti_watched *w = family->watched; w; w = w->next) {
        add_cpu(&total->cpu, used(w));
        add_io(total->io, w->now.io);
        total->memory_bytes += w->now.memory_bytes;
        total->threads += w->now.state == 'Z' ? 0 : w->now.threads;
        total->processes += w->now.state != 'Z';
        total->peak_bytes = larger(total->peak_bytes, w->peak_bytes);
        total->has_cpu |= w->now.has_cpu;
        total->has_stat |= w->now.has_stat;
        total->has_io |= w->now.has_io;
    }
    total->cpu.all_ns = keep(family, family->told.all_ns, total->cpu.all_ns);
    total->cpu.user_ns = keep(family, family->told.user_ns, total->cpu.user_ns);
    family->told = total->cpu;
}

/* ---- processes that come ------------------------------------------------------------------------- */

/* What it used before our time is taken off. */
static void take_off(struct vti_family *family, const struct vti_watched *watched)
{
    struct vti_cpu_time before = used(watched);

    family->gone.all_ns -= before.all_ns; /* may wrap, and does so back with the sum */
    family->gone.user_ns -= before.user_ns;
    for (unsigned i = 0; i < VTI_IO_COUNT; i++)
        family->gone_io[i] -= watched->now.io[i];
}

struct vti_watched *vti_family_add(struct vti_family *family, pid_t pid)
{
    struct vti_watched *watched = vti_family_find(family, pid);

    if (watched || family->count >= VTI_WATCHED_MOST)
        return watched;
    watched = calloc(1, sizeof *watched);
    if (!watched)
        return NULL;
    watched->files = (struct vti_proc_files){-1, -1};
    watched->is_kept = family->count < family->kept_most;
    if (!vti_proc_take(family->source, pid, &watched->files, watched->is_kept, &watched->now)) {
        free_watched(watched);
        return NULL;
    }
    watched->pid = pid;
    watched->parent = vti_family_find(family, watched->now.parent);
    watched->number = ++family->number;
    watched->is_changed = true;
    watched->peak_bytes = watched->now.memory_bytes;
    watched->next = family->watched;
    family->watched = watched;
    family->count++;
    memset(family->looked, 0, sizeof family->looked); /* its children were others' until now */
    if (watched->now.has_stat && watched->now.start_clock < family->begin_clock) {
        if (!family->has_past)
            take_off(family, watched);
        family->is_below_due = true; /* it may have children already */
    }
    return watched;
}

/* ---- processes that go --------------------------------------------------------------------------- */

/* What is known of it passes to its parent, who may have it from the kernel too; without one it stays as it is. */
static void pass_on(struct vti_family *family, struct vti_watched *watched)
{
    struct vti_watched *parent = watched->parent;
    uint64_t *io = parent ? parent->leaving_io : family->gone_io;

    add_cpu(parent ? &parent->gone : &family->gone, used(watched));
    add_io(io, watched->now.io);
    add_io(io, watched->leaving_io);
    family->had_cpu |= watched->now.has_cpu;
    family->had_io |= watched->now.has_io;
    family->peak_bytes = larger(family->peak_bytes, watched->peak_bytes);
    for (struct vti_watched *w = family->watched; w; w = w->next)
        if (w->parent == watched)
            w->parent = NULL;
}

static void sweep(struct vti_family *family)
{
    struct vti_watched **link = &family->watched;

    while (*link) {
        struct vti_watched *watched = *link;

        if (!watched->is_gone) {
            link = &watched->next;
            continue;
        }
        *link = watched->next;
        family->count--;
        pass_on(family, watched);
        vti_proc_files_close(&watched->files);
        watched->next = family->ended;
        family->ended = watched;
    }
}

/*
 * Whether the bytes of those that ended are in the numbers of their parent, which tell it from nothing else: they have
 * grown by as much. The one before last is the reading that was made before any of them can have been waited for.
 */
static void settle_io(struct vti_family *family, struct vti_watched *watched)
{
    bool has_all = watched->now.has_io;

    for (unsigned i = 0; i < VTI_IO_COUNT; i++)
        has_all &= watched->now.io[i] - watched->io_before[1][i] >= watched->leaving_io[i];
    add_io(has_all ? watched->gone_io : family->gone_io, watched->leaving_io);
    memset(watched->leaving_io, 0, sizeof watched->leaving_io);
}

/* ---- rounds -------------------------------------------------------------------------------------- */

static bool is_same_process(const struct vti_watched *watched, const struct vti_proc_reading *next)
{
    if (next->has_stat && watched->now.has_stat)
        return next->start_clock == watched->now.start_clock;
    return !next->has_cpu || next->cpu.all_ns >= watched->now.cpu.all_ns;
}

static bool has_changed(const struct vti_proc_reading *a, const struct vti_proc_reading *b)
{
    return a->cpu.all_ns != b->cpu.all_ns || a->memory_bytes != b->memory_bytes ||
           a->threads != b->threads || a->has_io != b->has_io || memcmp(a->io, b->io, sizeof a->io);
}

/* What cannot be read any more stays what it was. */
static void carry_over(struct vti_proc_reading *to, const struct vti_proc_reading *from)
{
    if (!to->has_io && from->has_io) {
        to->has_io = true;
        memcpy(to->io, from->io, sizeof to->io);
    }
    if (!to->has_stat && from->has_stat) {
        struct vti_proc_reading known = *from;

        known.cpu.all_ns = larger(to->cpu.all_ns, from->cpu.all_ns);
        *to = known;
    }
}

static void read_one(struct vti_family *family, struct vti_watched *watched)
{
    struct vti_proc_reading next;

    if (!vti_proc_take(family->source, watched->pid, &watched->files, watched->is_kept, &next) ||
        !is_same_process(watched, &next)) {
        watched->is_gone = true;
        return;
    }
    carry_over(&next, &watched->now);
    memcpy(watched->io_before[1], watched->io_before[0], sizeof watched->io_before[1]);
    memcpy(watched->io_before[0], watched->now.io, sizeof watched->io_before[0]);
    watched->is_changed |= has_changed(&next, &watched->now);
    watched->is_told &= !strcmp(next.name, watched->now.name);
    if (next.parent != watched->now.parent)
        watched->parent = vti_family_find(family, next.parent);
    watched->now = next;
    watched->peak_bytes = larger(watched->peak_bytes, next.memory_bytes);
    watched->rounds++;
}

static void reverse(struct vti_family *family)
{
    struct vti_watched *turned = NULL;

    while (family->watched) {
        struct vti_watched *first = family->watched;

        family->watched = first->next;
        first->next = turned;
        turned = first;
    }
    family->watched = turned;
}

/* Parents are read before their children: one that is waited for in between counts as it was last seen. The other way
 * round it would count twice, and the sum go back in the next round. */
void vti_family_round(struct vti_family *family, pid_t last_pid, uint64_t now_ns)
{
    free_list(&family->ended);
    vti_family_find_new(family, last_pid, now_ns);
    reverse(family);
    for (struct vti_watched *w = family->watched; w; w = w->next)
        read_one(family, w);
    reverse(family);
    sweep(family);
    for (struct vti_watched *w = family->watched; w; w = w->next)
        settle_io(family, w);
}
