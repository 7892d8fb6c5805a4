/*
 * replaced.c - a recording that has given its name to another one: a second `run -o` of the same name, a copy, a link that leads elsewhere.
 *
 * Nothing of what was summed up is of the new one, so that all begins anew, as if it had been opened now. The same recording in another
 * file, as rsync makes one each time it is asked, is not another one.
 */
#include "base/error.h"
#include "live/state.h"
#include "live/tick.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define YOUNG_S 10

bool vti_live_is_young(const char *path)
{
    struct stat about;

    return !stat(path, &about) && vti_tick_unix() / 1000000000 - about.st_mtim.tv_sec < YOUNG_S;
}

static bool is_same_look(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino && a->st_size == b->st_size &&
           a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Looks at the file of that name, if it is not as it was. What is not there any more was not replaced: what was read of it stays. */
static void look_at(struct vti_source *source, const char *path)
{
    uint8_t head[VTI_FILE_HEADER_BYTES];
    struct stat about;
    ssize_t got;
    int fd;

    if (stat(path, &about) || is_same_look(&about, &source->about))
        return;
    fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0)
        return;
    source->about = about;
    got = pread(fd, head, sizeof head, 0);
    close(fd);
    source->is_replaced = got != (ssize_t)sizeof head || memcmp(head, source->head, sizeof head);
    source->is_cut_off = !source->is_replaced && (uint64_t)about.st_size < source->file_bytes;
}

/* The name that was given may be a link, which leads elsewhere by now; of a process the file is all there is. */
static const char *name_of(const struct vti_live *live, const struct vti_source *source)
{
    return live->kind == VTI_LIVE_FILE && !live->is_of_process ? live->target : source->path;
}

bool vti_live_is_replaced(struct vti_live *live)
{
    bool is_any = false;

    for (size_t i = 0; i < live->source_count; i++) {
        look_at(live->sources[i], name_of(live, live->sources[i]));
        is_any |= live->sources[i]->is_replaced;
    }
    return is_any;
}

/* What is the watcher's own, and no part of what is watched. */
static void keep_own(struct vti_live *live, const struct vti_live *before)
{
    live->is_of_process = before->is_of_process;
    live->replaced = before->replaced + 1;
    live->refreshes = before->refreshes;
    live->own_cpu_ns = before->own_cpu_ns;
    live->own_cpu_rate = before->own_cpu_rate;
    live->beat = before->beat;
}

static void become(struct vti_live *live, struct vti_live *fresh)
{
    struct vti_live before = *live;
    char *target = fresh->target;

    keep_own(fresh, live);
    fresh->target = before.target;
    before.target = target;
    *live = *fresh;
    *fresh = before;
    for (size_t i = 0; i < live->source_count; i++)
        live->sources[i]->live = live;
    vti_live_close(fresh);
}

/* 1, 0 (it cannot be read: all stays as it was) or VTI_E_NOMEM. */
static int begin_anew(struct vti_live *live)
{
    const char *path = live->is_of_process ? live->path : live->target;
    const struct vti_live_options options = {.stream_max = live->stream_max};
    struct vti_live *fresh;
    int code = vti_live_open(&fresh, path, &options);

    if (code == VTI_E_NOMEM)
        return code;
    if (code && !vti_live_is_young(path)) /* else its first bytes may be on their way */
        snprintf(live->notice, sizeof live->notice,
                 "replaced by what cannot be read; this is what was there before (%s)",
                 vti_error_message(code));
    if (code)
        return 0;
    become(live, fresh);
    return 1;
}

/* Files of a spool have names that no other ever has. */
static bool is_time_to_look(const struct vti_live *live)
{
    return live->kind == VTI_LIVE_FILE ||
           (live->kind == VTI_LIVE_FOLDER &&
            live->now_ns - live->folder_looked_ns >= VTI_LIVE_FOLDER_LOOK_NS);
}

int vti_live_follow_name(struct vti_live *live)
{
    bool had_notice = live->notice[0];
    int code;

    if (!is_time_to_look(live))
        return 0;
    live->notice[0] = 0;
    code = vti_live_is_replaced(live) ? begin_anew(live) : 0;
    if (!code && live->kind == VTI_LIVE_FILE && live->source_count && live->sources[0]->is_cut_off)
        snprintf(live->notice, sizeof live->notice,
                 "the file has become shorter; this is what was there before");
    return code ? code : had_notice != (live->notice[0] != 0);
}
