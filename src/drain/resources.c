/*
 * resources.c - the collector of CPU, memory and I/O of all processes of a recording, from outside.
 *
 * Runs in the drainer's loop and touches no measured process. Readings gather into a block a second, so that little is
 * missing if the drainer is killed; a flight recorder keeps the blocks of its time.
 */
#include "drain/resources.h"

#include "drain/clock.h"
#include "drain/energy.h"
#include "format/resources.h"
#include "watch/family.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BLOCK_NS 1000000000u
#define BLOCK_BYTES (256u << 10)
#define COMMAND_BYTES 4096
#define KEPT_LEAST 8    /* below, descriptors are so few that they are left to others */
#define REST_FACTOR 20u /* with thousands of processes: at most a twentieth of our time */
#define SECOND_NS 1000000000u

/* A block that a flight recorder still keeps. */
struct kept {
    struct kept *next;
    uint64_t taken_ns, ticks;
    uint32_t count;
    struct vti_buf entries; /* owned */
};

struct vti_watch {
    struct vti_watch_options options;
    struct vti_proc_source source;
    struct vti_family family;
    struct vti_machine machine;
    struct vti_energy_feed *energy; /* owned, or NULL */
    uint64_t interval_ns, due_ns;
    uint32_t rounds;
    struct vti_cpu_time told; /* of the tree, as it was last said */
    struct vti_buf entries;   /* of the block to come … */
    uint32_t count;
    uint64_t block_ns; /* … and since when it is being gathered */
    uint64_t ticks;    /* of the last reading in it, 0: none */
    struct kept *first, **end;
};

struct vti_watch *vti_watch_create(const struct vti_watch_options *options)
{
    struct vti_watch *watch = options->hz ? calloc(1, sizeof *watch) : NULL;

    if (!watch)
        return NULL;
    watch->options = *options;
    watch->end = &watch->first;
    watch->interval_ns = SECOND_NS / options->hz;
    watch->energy = options->has_energy ? vti_energy_feed_create(options->recorder) : NULL;
    if (options->source)
        watch->source = *options->source;
    else
        vti_proc_source_init(&watch->source);
    vti_family_init(&watch->family, &watch->source, options->session);
    vti_machine_init(&watch->machine, &watch->source, watch->family.kept_most > KEPT_LEAST);
    vti_machine_take(&watch->machine, false);
    vti_family_round(&watch->family, watch->machine.last_pid, 0); /* what comes after is new */
    return watch;
}

static void pop_kept(struct vti_watch *watch)
{
    struct kept *kept = watch->first;

    watch->first = kept->next;
    if (!watch->first)
        watch->end = &watch->first;
    vti_buf_fini(&kept->entries);
    free(kept);
}

void vti_watch_free(struct vti_watch *watch)
{
    if (!watch)
        return;
    while (watch->first)
        pop_kept(watch);
    vti_energy_feed_free(watch->energy);
    vti_family_fini(&watch->family);
    vti_machine_fini(&watch->machine);
    vti_buf_fini(&watch->entries);
    free(watch);
}

struct vti_energy_feed *vti_watch_energy(const struct vti_watch *watch)
{
    return watch ? watch->energy : NULL;
}

/* ---- blocks -------------------------------------------------------------------------------------- */

static void write_block(struct vti_watch *watch, const struct vti_buf *entries, uint32_t count,
                        uint64_t ticks)
{
    if (count && !entries->failed)
        vti_recorder_owned(watch->options.recorder, VTI_RESOURCES, 0, entries, count, ticks);
}

static void keep_block(struct vti_watch *watch, uint64_t now_ns)
{
    struct kept *kept = calloc(1, sizeof *kept);

    if (kept) {
        *kept = (struct kept){.taken_ns = now_ns,
                              .ticks = watch->ticks,
                              .count = watch->count,
                              .entries = watch->entries};
        watch->entries = (struct vti_buf){0};
        *watch->end = kept;
        watch->end = &kept->next;
    }
    while (watch->first && now_ns > watch->first->taken_ns + watch->options.ring_ns)
        pop_kept(watch);
}

static void end_block(struct vti_watch *watch, uint64_t now_ns)
{
    if (watch->count && watch->options.ring_ns)
        keep_block(watch, now_ns);
    else
        write_block(watch, &watch->entries, watch->count, watch->ticks);
    vti_energy_feed_cut(watch->energy);
    vti_buf_clear(&watch->entries);
    watch->count = 0;
    watch->ticks = 0;
    watch->block_ns = now_ns;
}

static void add_entry(struct vti_watch *watch, const struct vti_resource_fact *fact)
{
    vti_resource_write(&watch->entries, fact);
    watch->count++;
}

/* ---- processes ----------------------------------------------------------------------------------- */

/* When it began, as the clock of the recording has it; to 10 ms. */
static uint64_t start_ticks(const struct vti_watch *watch, const struct vti_watched *watched,
                            uint64_t now_ticks)
{
    uint64_t hz = (uint64_t)watch->source.clock_hz;
    struct timespec now;
    double age_ns;
    double ticks;

    if (!watched->now.has_stat)
        return 0;
    clock_gettime(CLOCK_BOOTTIME, &now);
    age_ns = (double)now.tv_sec * 1e9 + (double)now.tv_nsec -
             (double)watched->now.start_clock * 1e9 / (double)hz;
    ticks = age_ns > 0 ? age_ns * vti_recorder_ticks_per_ns(watch->options.recorder) : 0;
    return ticks < (double)now_ticks ? now_ticks - (uint64_t)ticks : 1;
}

/* A process has the command of its parent until it has executed its own: asked again in the second round. */
static void read_command(struct vti_watch *watch, struct vti_watched *watched)
{
    char text[COMMAND_BYTES];
    size_t len;

    if (watched->is_told && watched->rounds != 1)
        return;
    len = vti_proc_command(&watch->source, watched->pid, text, sizeof text);
    if (!len || (len == watched->command_len && !memcmp(text, watched->command, len)))
        return;
    free(watched->command);
    watched->command = malloc(len);
    watched->command_len = watched->command ? len : 0;
    if (watched->command)
        memcpy(watched->command, text, len);
    watched->is_told = false;
}

static void tell(struct vti_watch *watch, struct vti_watched *watched, uint64_t now_ticks)
{
    struct vti_resource_fact fact = {.type = VTI_RESOURCE_PROCESS,
                                     .number = watched->number,
                                     .process_plus_one = watched->process_plus_one,
                                     .parent = watched->parent ? watched->parent->number : 0,
                                     .pid = (uint32_t)watched->pid,
                                     .start = start_ticks(watch, watched, now_ticks),
                                     .end = watched->is_gone ? now_ticks : 0,
                                     .name = vti_bytes_of(watched->now.name),
                                     .command = {watched->command, watched->command_len}};

    add_entry(watch, &fact);
    watched->is_told = true;
}

/* ---- readings ------------------------------------------------------------------------------------ */

static void set(struct vti_resource_fact *fact, bool is_known, enum vti_resource which,
                uint64_t value)
{
    if (!is_known)
        return;
    fact->known |= 1u << which;
    fact->values[which] = value;
}

static void add_reading(struct vti_watch *watch, struct vti_resource_fact *fact, uint64_t ticks)
{
    fact->type = VTI_RESOURCE_READING;
    fact->ticks = ticks - watch->ticks;
    watch->ticks = ticks;
    add_entry(watch, fact);
}

static void read_process(struct vti_watch *watch, struct vti_watched *watched, uint64_t ticks)
{
    const struct vti_proc_reading *now = &watched->now;
    struct vti_resource_fact fact = {.number = watched->number};

    set(&fact, now->has_cpu, VTI_RESOURCE_CPU_NS, now->cpu.all_ns);
    set(&fact, now->has_stat, VTI_RESOURCE_USER_NS, now->cpu.user_ns);
    set(&fact, now->has_stat, VTI_RESOURCE_MEMORY_BYTES, now->memory_bytes);
    set(&fact, now->has_stat, VTI_RESOURCE_PEAK_BYTES, watched->peak_bytes);
    set(&fact, now->has_stat, VTI_RESOURCE_THREADS, now->threads);
    for (unsigned i = 0; i < VTI_IO_COUNT; i++)
        set(&fact, now->has_io, (enum vti_resource)(VTI_RESOURCE_READ_BYTES + i),
            vti_watched_io(watched, i));
    add_reading(watch, &fact, ticks);
    watched->is_changed = false;
}

/* User time is the kernel's share of all, which changes, in steps of 10 ms: neither it nor the rest of all is told to have gone back. */
static void tell_cpu(struct vti_watch *watch, struct vti_cpu_time now)
{
    struct vti_cpu_time *told = &watch->told;
    uint64_t more_ns = now.all_ns > told->all_ns ? now.all_ns - told->all_ns : 0;

    told->all_ns += more_ns;
    if (now.user_ns > told->user_ns)
        told->user_ns += now.user_ns - told->user_ns < more_ns ? now.user_ns - told->user_ns
                                                               : more_ns;
}

static void read_tree(struct vti_watch *watch, uint64_t ticks)
{
    const struct vti_machine *machine = &watch->machine;
    struct vti_resource_fact fact = {0};
    struct vti_family_total total;
    bool is_first = !watch->family.number; /* all are zero before the first process */

    vti_family_total(&watch->family, &total);
    set(&fact, total.has_cpu || is_first, VTI_RESOURCE_CPU_NS, total.cpu.all_ns);
    tell_cpu(watch, total.cpu);
    set(&fact, total.has_cpu || is_first, VTI_RESOURCE_USER_NS, watch->told.user_ns);
    set(&fact, total.has_stat, VTI_RESOURCE_MEMORY_BYTES, total.memory_bytes);
    set(&fact, total.peak_bytes, VTI_RESOURCE_PEAK_BYTES, total.peak_bytes);
    set(&fact, total.has_stat, VTI_RESOURCE_THREADS, total.threads);
    for (unsigned i = 0; i < VTI_IO_COUNT; i++)
        set(&fact, total.has_io || is_first, (enum vti_resource)(VTI_RESOURCE_READ_BYTES + i),
            total.io[i]);
    set(&fact, true, VTI_RESOURCE_PROCESSES, total.processes);
    set(&fact, machine->has_busy, VTI_RESOURCE_MACHINE_NS, machine->busy_ns);
    set(&fact, machine->has_available, VTI_RESOURCE_AVAILABLE_BYTES, machine->available_bytes);
    add_reading(watch, &fact, ticks);
}

/* The most memory is asked for once a second, and not of all processes at once: it takes 10 us. */
static void read_peak(struct vti_watch *watch, struct vti_watched *watched)
{
    uint64_t bytes;

    if ((watch->rounds + watched->number) % watch->options.hz)
        return;
    bytes = vti_proc_peak(&watch->source, watched->pid);
    if (bytes > watched->peak_bytes) {
        watched->peak_bytes = bytes;
        watched->is_changed = true;
    }
}

static void take_readings(struct vti_watch *watch, uint64_t now_ns)
{
    uint64_t ticks;

    vti_machine_take(&watch->machine, watch->rounds % watch->options.hz == 0);
    vti_family_round(&watch->family, watch->machine.last_pid, now_ns);
    ticks = vti_recorder_ticks(watch->options.recorder);
    for (struct vti_watched *w = watch->family.watched; w; w = w->next) {
        read_peak(watch, w);
        read_command(watch, w);
        if (!w->is_told)
            tell(watch, w, ticks);
        if (w->is_changed)
            read_process(watch, w, ticks);
    }
    for (struct vti_watched *w = watch->family.ended; w; w = w->next)
        tell(watch, w, ticks);
    vti_energy_feed_take(watch->energy, ticks);
    read_tree(watch, ticks);
    watch->rounds++;
}

static uint64_t own_cpu_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

void vti_watch_tick(struct vti_watch *watch, uint64_t now_ns, bool at_once)
{
    uint64_t begin_ns;
    uint64_t pause_ns;

    if (!watch || (!at_once && now_ns < watch->due_ns))
        return;
    begin_ns = own_cpu_ns();
    take_readings(watch, now_ns);
    pause_ns = REST_FACTOR * (own_cpu_ns() - begin_ns);
    watch->due_ns += watch->interval_ns;
    if (watch->due_ns < now_ns + pause_ns)
        watch->due_ns = now_ns + pause_ns;
    if (watch->due_ns <= now_ns)
        watch->due_ns = now_ns + watch->interval_ns;
    if (at_once || now_ns >= watch->block_ns + BLOCK_NS || watch->entries.len > BLOCK_BYTES)
        end_block(watch, now_ns);
}

void vti_watch_add(struct vti_watch *watch, pid_t pid, uint32_t process_plus_one)
{
    struct vti_watched *watched;

    if (!watch)
        return;
    if (!watch->rounds)
        vti_watch_tick(watch, vti_clock_now_ns(), true); /* where all sums begin */
    watched = vti_family_add(&watch->family, pid);
    if (watched && process_plus_one && watched->process_plus_one != process_plus_one) {
        watched->process_plus_one = process_plus_one;
        watched->is_told = false;
    }
}

void vti_watch_waited(struct vti_watch *watch, pid_t pid, const struct rusage *usage)
{
    struct vti_watched *watched = watch ? vti_family_find(&watch->family, pid) : NULL;
    uint64_t user = (uint64_t)usage->ru_utime.tv_sec * SECOND_NS +
                    (uint64_t)usage->ru_utime.tv_usec * 1000u;
    uint64_t system = (uint64_t)usage->ru_stime.tv_sec * SECOND_NS +
                      (uint64_t)usage->ru_stime.tv_usec * 1000u;
    uint64_t peak = (uint64_t)usage->ru_maxrss * 1024u;

    if (!watched)
        return;
    watched->has_waited = true;
    watched->waited = (struct vti_cpu_time){user + system, user};
    if (peak > watch->family.peak_bytes)
        watch->family.peak_bytes = peak;
}

void vti_watch_enter_file(struct vti_watch *watch)
{
    if (!watch)
        return;
    for (struct vti_watched *w = watch->family.watched; w; w = w->next) {
        w->is_told = false;
        w->is_changed = true;
    }
    vti_energy_feed_again(watch->energy);
    if (watch->rounds)
        vti_watch_tick(watch, vti_clock_now_ns(), true); /* from where this file counts */
}

void vti_watch_close(struct vti_watch *watch)
{
    uint64_t now_ns = vti_clock_now_ns();
    uint64_t ticks;

    if (!watch || !watch->rounds)
        return;
    vti_watch_tick(watch, now_ns, true);
    vti_energy_feed_close(watch->energy);
    while (watch->first) {
        write_block(watch, &watch->first->entries, watch->first->count, watch->first->ticks);
        pop_kept(watch);
    }
    /* Those that go on: what a flight recorder said of them may be gone. */
    ticks = vti_recorder_ticks(watch->options.recorder);
    for (struct vti_watched *w = watch->family.watched; w; w = w->next)
        tell(watch, w, ticks);
    write_block(watch, &watch->entries, watch->count, ticks);
    vti_buf_clear(&watch->entries);
    watch->count = 0;
}
