/*
 * target.c - what is to be followed: a file, a folder of recordings, a spool, a process, a cluster.
 *
 * Of a process the recording is looked for that it, or one that started it, writes. Folders are looked through again while they are
 * followed; what is no recording in them is stepped over.
 */
#include "base/error.h"
#include "base/written.h"
#include "live/arrivals.h"
#include "live/state.h"
#include "live/tick.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* 0 if it is none. */
static pid_t pid_of(const char *text)
{
    char *end;
    long number = strtol(text, &end, 10);

    return *end || number <= 0 || number > INT_MAX ? 0 : (pid_t)number;
}

#define PARENTS_MOST 32

/* ---- the recording of a process ---------------------------------------------------------------- */

struct written {
    char path[PATH_MAX];
};

static bool is_recording(const char *path, const void *arg)
{
    struct written *written = (struct written *)arg;
    uint8_t head[VTI_FILE_HEADER_BYTES];
    struct vti_file_header header;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    bool is_one = fd >= 0 && read(fd, head, sizeof head) == (ssize_t)sizeof head &&
                  !vti_file_header_parse(head, sizeof head, &header);

    if (fd >= 0)
        close(fd);
    if (is_one)
        snprintf(written->path, sizeof written->path, "%s", path);
    return is_one;
}

/* Whether it is a recording of that process, which goes on. */
static bool records_pid(const char *path, pid_t pid)
{
    struct vt_process_info process;
    vt_recording *recording;
    bool is_found = false;

    if (vt_recording_open(&recording, path))
        return false;
    for (uint32_t i = 0; !is_found && vt_recording_process(recording, i, &process); i++)
        is_found = process.pid == (uint32_t)pid && process.how == VT_END_UNKNOWN;
    vt_recording_close(recording);
    return is_found;
}

/* One that started its own drainer is no child of it: whoever writes a recording is asked. */
static void find_by_drainers(pid_t pid, struct written *written)
{
    struct dirent *entry;
    bool is_found = false;
    DIR *folder = opendir("/proc");

    while (folder && !is_found && (entry = readdir(folder)))
        is_found = isdigit((unsigned char)entry->d_name[0]) &&
                   vti_written_each(pid_of(entry->d_name), is_recording, written) &&
                   records_pid(written->path, pid);
    if (folder)
        closedir(folder);
    if (!is_found)
        written->path[0] = 0;
}

static int open_process(struct vti_live *live, pid_t pid)
{
    struct vti_proc_source proc;
    struct vti_proc_kin kin;
    struct written written = {""};
    pid_t at = pid;

    vti_proc_source_init(&proc);
    if (!vti_proc_kin_of(&proc, pid, &kin))
        return vti_fail(VTI_E_NOT_FOUND, "%d: there is no such process", (int)pid);
    for (unsigned i = 0; i < PARENTS_MOST && at > 1 && !written.path[0]; i++) {
        vti_written_each(at, is_recording, &written);
        at = vti_proc_kin_of(&proc, at, &kin) ? kin.parent : 0;
    }
    if (!written.path[0])
        find_by_drainers(pid, &written);
    if (!written.path[0]) {
        live->kind = VTI_LIVE_PROCESS;
        return vti_live_outside_open(live, pid);
    }
    free(live->path);
    live->path = strdup(written.path);
    live->kind = VTI_LIVE_FILE;
    live->is_of_process = true;
    return live->path ? 0 : vti_fail(VTI_E_NOMEM, "out of memory");
}

/* ---- folders ----------------------------------------------------------------------------------- */

/* As docs/spool.md has them: 20261116T230506.123456Z-1a2b3c4d5e6f-000001.vt */
static bool is_spool_name(const char *name)
{
    static const char pattern[] = "00000000T000000.000000Z-xxxxxxxxxxxx-";
    size_t i;

    for (i = 0; pattern[i]; i++)
        if (pattern[i] == '0'   ? !isdigit((unsigned char)name[i])
            : pattern[i] == 'x' ? !isxdigit((unsigned char)name[i])
                                : name[i] != pattern[i])
            return false;
    return isdigit((unsigned char)name[i]);
}

static bool is_recording_name(const char *name)
{
    size_t len = strlen(name);

    return len > 3 && name[0] != '.' && !strcmp(name + len - 3, ".vt");
}

static int is_recording_entry(const struct dirent *entry)
{
    return is_recording_name(entry->d_name);
}

/* The number of a spool's file, which counts from 1; 0: it is none. */
static unsigned long number_in_run(const char *path)
{
    const char *name = strrchr(path, '/');
    const char *dash = strrchr(name ? name + 1 : path, '-');

    return is_spool_name(name ? name + 1 : path) ? strtoul(dash + 1, NULL, 10) : 0;
}

/* Whether what the run wrote before this file was never read: it was shipped and removed, or gave way, before we came. */
static bool lacks_before(const struct vti_live *live, const struct vti_source *source)
{
    unsigned long number = number_in_run(source->path);

    for (size_t i = 0; i < live->source_count; i++)
        if (vti_source_is_same_run(live->sources[i], source) &&
            number_in_run(live->sources[i]->path) + 1 == number)
            return false;
    return number > 1;
}

/* Its sums stay, its memory goes. */
static void retire(struct vti_live *live)
{
    size_t open = 0;
    size_t kept = 0;

    for (size_t i = live->source_count; i-- > 0;) {
        struct vti_source *source = live->sources[i];

        open += source->recording != NULL;
        if (open > VTI_LIVE_OPEN_MOST && source->is_done && source->recording)
            vti_source_rest(source);
    }
    if (live->source_count < VTI_LIVE_SOURCES_MOST)
        return;
    for (size_t i = 0; i < live->source_count; i++) {
        struct vti_source *source = live->sources[i];

        if (!source->recording && live->source_count - i > VTI_LIVE_SOURCES_MOST / 2) {
            live->gone_lost_events += source->lost_events;
            live->gone_damage += source->damage;
            vti_source_close(source);
        } else {
            live->sources[kept++] = source;
        }
    }
    live->source_count = kept;
}

/* Whether one more may be read now: each takes memory and a descriptor until it is summed up. */
static bool has_room(const struct vti_live *live)
{
    size_t reading = 0;

    for (size_t i = 0; i < live->source_count; i++)
        reading += !live->sources[i]->is_caught_up;
    return reading < VTI_LIVE_READ_MOST && live->source_count < VTI_LIVE_SOURCES_MOST;
}

static bool is_gone(const char *path)
{
    struct stat about;

    return stat(path, &about) && errno == ENOENT;
}

static int add_file(struct vti_live *live, const char *name)
{
    char path[PATH_MAX];
    struct vti_source *source = NULL;
    int is_new;

    if ((size_t)snprintf(path, sizeof path, "%s/%s", live->path, name) >= sizeof path ||
        vti_map_find(live->seen, name, strlen(name)) >= 0)
        return 0;
    if (is_spool_name(name))
        live->kind = VTI_LIVE_SPOOL;
    if (!has_room(live)) {
        live->has_waiting = true;
        return 0;
    }
    if (vti_grow(&live->sources, live->source_count, &live->source_room, sizeof *live->sources))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    /* One that cannot be opened may just have been begun. */
    if (vti_source_open(&source, live, path) && vti_live_is_young(path))
        return 0;
    if (source) {
        live->is_partial |= lacks_before(live, source);
        live->sources[live->source_count++] = source;
    }
    if (vti_map_add(live->seen, name, strlen(name), &is_new) < 0)
        return vti_fail(VTI_E_NOMEM, "out of memory");
    live->missed += !source && is_gone(path);
    return source != NULL;
}

/* As above; one that cannot be opened yet is remembered, so that it is missed when it is gone by then. */
static int add_or_await(struct vti_live *live, const char *name)
{
    int added = add_file(live, name);

    if (added || vti_map_find(live->seen, name, strlen(name)) >= 0)
        return added;
    if (vti_grow(&live->awaited, live->awaited_count, &live->awaited_room, sizeof *live->awaited) ||
        !(live->awaited[live->awaited_count] = strdup(name)))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    live->awaited_count++;
    return 0;
}

static int add_awaited(struct vti_live *live)
{
    size_t kept = 0;
    int added = 0;

    for (size_t i = 0; i < live->awaited_count; i++) {
        char *name = live->awaited[i];
        int code = added < 0 ? 0 : add_file(live, name);

        added = code < 0 ? code : added + code;
        if (vti_map_find(live->seen, name, strlen(name)) >= 0)
            free(name);
        else
            live->awaited[kept++] = name;
    }
    live->awaited_count = kept;
    return added;
}

static int add_arrived(struct vti_live *live)
{
    const char *name;
    int added = 0;

    while (added >= 0 && live->arrivals && (name = vti_arrivals_next(live->arrivals))) {
        int code = is_recording_name(name) ? add_or_await(live, name) : 0;

        added = code < 0 ? code : added + code;
    }
    return added;
}

int vti_live_arrivals_fd(const struct vti_live *live)
{
    return live->arrivals ? vti_arrivals_fd(live->arrivals) : -1;
}

int vti_live_take_arrivals(struct vti_live *live)
{
    int added = add_arrived(live);

    return added < 0 ? added : 0;
}

void vti_live_folder_fini(struct vti_live *live)
{
    vti_arrivals_close(live->arrivals);
    for (size_t i = 0; i < live->awaited_count; i++)
        free(live->awaited[i]);
    free(live->awaited);
}

int vti_live_look_at_folder(struct vti_live *live)
{
    struct dirent **names = NULL;
    bool is_first = !live->folder_looked_ns;
    int count;
    int added;

    if (!is_first && live->now_ns - live->folder_looked_ns < VTI_LIVE_FOLDER_LOOK_NS &&
        !live->has_waiting)
        return 0;
    live->folder_looked_ns = live->now_ns;
    if (!live->seen && vti_map_create(&live->seen))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    if (is_first && !live->arrivals)
        live->arrivals = vti_arrivals_open(live->path);
    count = scandir(live->path, &names, is_recording_entry, alphasort);
    if (count < 0)
        return vti_fail_errno(VTI_E_OPEN, "%s: cannot look into it", live->path);
    live->has_waiting = false;
    added = add_awaited(live);
    for (int i = 0; i < count; i++) {
        int code = added < 0  ? added
                   : is_first ? add_or_await(live, names[i]->d_name)
                              : add_file(live, names[i]->d_name);

        added = code < 0 ? code : added + code;
        free(names[i]);
    }
    free(names);
    retire(live);
    return added;
}

/* ---- all of them --------------------------------------------------------------------------------- */

static bool is_number(const char *text)
{
    size_t len = strlen(text);

    return len > 0 && len < 10 && strspn(text, "0123456789") == len;
}

int vti_live_find_target(struct vti_live *live)
{
    struct vti_source *source;
    struct stat about;
    int code = 0;

    if (!strncmp(live->target, "tcp://", 6) || !strncmp(live->target, "tls://", 6)) {
        live->kind = VTI_LIVE_DASK;
        return vti_live_dask_open(live);
    }
    if (stat(live->target, &about)) {
        if (!is_number(live->target))
            return vti_fail_errno(VTI_E_OPEN, "%s: cannot open it", live->target);
        code = open_process(live, pid_of(live->target));
        if (code || live->kind == VTI_LIVE_PROCESS)
            return code;
    } else if (S_ISDIR(about.st_mode)) {
        live->kind = VTI_LIVE_FOLDER;
        code = vti_live_look_at_folder(live);
        return code < 0 ? code : 0;
    }
    live->kind = VTI_LIVE_FILE;
    if (vti_grow(&live->sources, live->source_count, &live->source_room, sizeof *live->sources))
        return vti_fail(VTI_E_NOMEM, "out of memory");
    code = vti_source_open(&source, live, live->path);
    if (!code)
        live->sources[live->source_count++] = source;
    return code;
}
