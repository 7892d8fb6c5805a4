/*
 * metrics_files.c - descriptors and address space of a program that runs on this machine: what no recording holds.
 *
 * Asked of /proc at each scrape. A number there may be another process by now, or one of another container's: only one that is of this
 * host and is not younger than the recording says is believed, and if one of the program's is not, there are no numbers at all. A part
 * would look like a drop.
 */
#include "live/metrics_impl.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PROCESSES_MOST 64
#define YOUNGER_S                                                                                  \
    2 /* the kernel tells when it was started in whole seconds, and a process records a moment later */

struct files {
    double open, most, virtual_bytes;
};

/* The first line of a file that begins with `name`, what follows it; false if there is none. */
static bool find_line(const char *path, const char *name, char *to, size_t room)
{
    FILE *file = fopen(path, "re");
    size_t len = strlen(name);
    bool is_found = false;

    while (file && !is_found && fgets(to, (int)room, file))
        is_found = !strncmp(to, name, len);
    if (file)
        fclose(file);
    if (is_found)
        memmove(to, to + len, strlen(to + len) + 1);
    return is_found;
}

static double boot_unix_s(void)
{
    char line[256];

    return find_line("/proc/stat", "btime ", line, sizeof line) ? strtod(line, NULL) : NAN;
}

/* When it was started, and the size of its address space. */
static bool read_stat(uint32_t pid, double *start_s, double *virtual_bytes)
{
    unsigned long long start, size;
    char path[32], text[1024], *after;
    FILE *file;
    size_t len;

    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    file = fopen(path, "re");
    len = file ? fread(text, 1, sizeof text - 1, file) : 0;
    if (file)
        fclose(file);
    text[len] = 0;
    after = strrchr(text, ')'); /* its name may hold anything */
    if (!after || sscanf(after + 1,
                         " %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d "
                         "%*d %llu %llu",
                         &start, &size) != 2)
        return false;
    *start_s = (double)start / (double)sysconf(_SC_CLK_TCK);
    *virtual_bytes = (double)size;
    return true;
}

static bool count_open(uint32_t pid, double *count)
{
    char path[32];
    DIR *folder;

    snprintf(path, sizeof path, "/proc/%u/fd", pid);
    folder = opendir(path);
    if (!folder)
        return false;
    for (struct dirent *entry; (entry = readdir(folder));)
        *count += entry->d_name[0] != '.';
    closedir(folder);
    return true;
}

static bool add_process(struct files *files, const struct vti_live_process *process, double boot_s)
{
    double start_s, virtual_bytes;
    char path[32], line[256];

    if (!read_stat(process->pid, &start_s, &virtual_bytes) ||
        !(boot_s + start_s <= (double)process->start_unix_ns / 1e9 + YOUNGER_S) ||
        !count_open(process->pid, &files->open))
        return false;
    snprintf(path, sizeof path, "/proc/%u/limits", process->pid);
    files->most += find_line(path, "Max open files", line, sizeof line) ? strtod(line, NULL) : NAN;
    files->virtual_bytes += virtual_bytes;
    return true;
}

/* False: not all of the program is here, or nothing of it runs. */
static bool add_all(struct files *files, const struct vti_live *live)
{
    size_t count, running = 0;
    const struct vti_live_process *processes = vti_live_processes(live, &count);
    double boot_s = boot_unix_s();
    char here[256] = "";

    gethostname(here, sizeof here - 1);
    for (size_t i = 0; i < count; i++) {
        if (!processes[i].is_running)
            continue;
        if (strcmp(processes[i].host, here) || ++running > PROCESSES_MOST ||
            !add_process(files, &processes[i], boot_s))
            return false;
    }
    return running > 0;
}

void vti_metrics_files(struct vti_metrics_out *metrics, const struct vti_live *live)
{
    struct files files = {0};

    if (!add_all(&files, live))
        return;
    vti_metrics_gauge(metrics, "process_open_fds", NULL,
                      "File descriptors of the program, all its processes together.", files.open);
    vti_metrics_gauge(metrics, "process_max_fds", NULL,
                      "File descriptors that its processes may have, all together.",
                      files.most > 0 ? files.most : NAN);
    vti_metrics_gauge(metrics, "process_virtual_memory_bytes", "bytes",
                      "Address space of the program, all its processes together.",
                      files.virtual_bytes);
}
