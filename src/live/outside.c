/* outside.c - a process that nobody records, and those that it started: what the kernel says of them. */
#include "base/error.h"
#include "live/state.h"
#include "live/tick.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define COMMAND_BYTES 1024
#define SECOND_NS 1000000000

static int64_t boot_unix_ns(void)
{
    struct timespec up;

    clock_gettime(CLOCK_BOOTTIME, &up);
    return vti_tick_unix() - ((int64_t)up.tv_sec * SECOND_NS + up.tv_nsec);
}

/* When it was started; 0: unknown. */
static int64_t start_of(const struct vti_live *live, const struct vti_watched *watched)
{
    long ticks_a_second = sysconf(_SC_CLK_TCK);

    if (!watched->now.has_stat || ticks_a_second <= 0)
        return 0;
    return live->boot_unix_ns +
           (int64_t)(watched->now.start_clock * (SECOND_NS / (uint64_t)ticks_a_second));
}

int vti_live_outside_open(struct vti_live *live, pid_t pid)
{
    struct vti_watched *watched;

    vti_proc_source_init(&live->proc);
    vti_machine_init(&live->machine, &live->proc, true);
    vti_family_init(&live->family, &live->proc, NULL);
    live->has_family = true;
    live->pid = pid;
    live->family.kept_most = 64;
    live->family.has_past = true;
    watched = vti_family_add(&live->family, pid);
    if (!watched)
        return vti_fail(VTI_E_NOT_FOUND, "%d: there is no such process, or it cannot be read",
                        (int)pid);
    live->boot_unix_ns = boot_unix_ns();
    live->start_unix_ns = start_of(live, watched);
    if (!live->start_unix_ns)
        live->start_unix_ns = vti_tick_unix();
    return 0;
}

void vti_live_outside_close(struct vti_live *live)
{
    if (!live->has_family)
        return;
    vti_family_fini(&live->family);
    vti_machine_fini(&live->machine);
    live->has_family = false;
}

int vti_live_outside_refresh(struct vti_live *live)
{
    struct vti_family_total total = {0};
    struct vti_source *outside = live->outside;
    uint64_t values[VTI_RESOURCE_COUNT] = {0};
    uint32_t known = 0;

    if (!outside)
        outside = live->outside = calloc(1, sizeof *outside);
    if (!outside)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    vti_machine_take(&live->machine, true);
    vti_family_round(&live->family, live->machine.last_pid, (uint64_t)live->now_ns);
    vti_family_total(&live->family, &total);
    outside->is_growing = total.processes > 0;
    if (!total.processes)
        return 0;
    live->last_unix_ns = live->now_unix_ns;
    if (total.has_cpu)
        known |= 1u << VTI_RESOURCE_CPU_NS | 1u << VTI_RESOURCE_USER_NS;
    if (total.has_stat)
        known |= 1u << VTI_RESOURCE_MEMORY_BYTES | 1u << VTI_RESOURCE_THREADS;
    if (total.has_io)
        known |= 0xfu << VTI_RESOURCE_READ_BYTES;
    known |= 1u << VTI_RESOURCE_PROCESSES;
    if (live->machine.has_busy)
        known |= 1u << VTI_RESOURCE_MACHINE_NS;
    if (live->machine.has_available)
        known |= 1u << VTI_RESOURCE_AVAILABLE_BYTES;
    values[VTI_RESOURCE_CPU_NS] = total.cpu.all_ns;
    values[VTI_RESOURCE_USER_NS] = total.cpu.user_ns;
    values[VTI_RESOURCE_MEMORY_BYTES] = total.memory_bytes;
    values[VTI_RESOURCE_THREADS] = total.threads;
    for (unsigned i = 0; i < VTI_IO_COUNT; i++)
        values[VTI_RESOURCE_READ_BYTES + i] = total.io[i];
    values[VTI_RESOURCE_PROCESSES] = total.processes;
    values[VTI_RESOURCE_MACHINE_NS] = live->machine.busy_ns;
    values[VTI_RESOURCE_AVAILABLE_BYTES] = live->machine.available_bytes;
    vti_readings_add(&outside->total, live->now_ns, known, values);
    return 1;
}

/* Readings of each process are kept beside it, by its number. */
static struct vti_readings *readings_of(struct vti_source *outside, uint32_t number)
{
    for (size_t i = 0; i < outside->watched_count; i++)
        if (outside->watched[i].number == number)
            return &outside->watched[i].readings;
    if (outside->watched_count >= 4096 ||
        vti_grow(&outside->watched, outside->watched_count, &outside->watched_room,
                 sizeof *outside->watched))
        return NULL;
    outside->watched[outside->watched_count] = (struct vti_watched_process){.number = number};
    return &outside->watched[outside->watched_count++].readings;
}

static void show_one(struct vti_live *live, const struct vti_watched *watched, bool is_running)
{
    struct vti_live_process *process = vti_live_list_add(&live->processes, sizeof *process);
    struct vti_readings *readings = readings_of(live->outside, watched->number);
    uint64_t values[VTI_RESOURCE_COUNT] = {0};
    char command[COMMAND_BYTES];
    char host[HOST_NAME_MAX + 1] = "";
    uint32_t known = 0;

    if (!process || !readings)
        return;
    if (watched->now.has_cpu)
        known |= 1u << VTI_RESOURCE_CPU_NS | 1u << VTI_RESOURCE_USER_NS;
    if (watched->now.has_stat)
        known |= 1u << VTI_RESOURCE_MEMORY_BYTES | 1u << VTI_RESOURCE_THREADS;
    if (watched->now.has_io)
        known |= 0xfu << VTI_RESOURCE_READ_BYTES;
    values[VTI_RESOURCE_CPU_NS] = watched->now.cpu.all_ns;
    values[VTI_RESOURCE_USER_NS] = watched->now.cpu.user_ns;
    values[VTI_RESOURCE_MEMORY_BYTES] = watched->now.memory_bytes;
    values[VTI_RESOURCE_THREADS] = watched->now.threads;
    for (unsigned i = 0; i < VTI_IO_COUNT && watched->now.has_io; i++)
        values[VTI_RESOURCE_READ_BYTES + i] = vti_watched_io(watched, i);
    vti_readings_add(readings, live->now_ns, known, values);
    gethostname(host, sizeof host - 1);
    process->recording = process->id = VTI_LIVE_NONE;
    process->pid = (uint32_t)watched->pid;
    process->parent_pid = (uint32_t)watched->now.parent;
    process->name = vti_names_text(&live->names, watched->now.name);
    process->command = vti_names_add(
        &live->names, command,
        vti_proc_command(&live->proc, watched->pid, command, sizeof command));
    process->host = vti_names_text(&live->names, host);
    process->is_running = is_running;
    process->start_unix_ns = start_of(live, watched);
    vti_readings_usage(readings, readings, is_running, &process->usage);
}

int vti_live_outside_show(struct vti_live *live)
{
    for (const struct vti_watched *at = live->family.watched; at; at = at->next)
        show_one(live, at, !at->is_gone);
    return 0;
}
