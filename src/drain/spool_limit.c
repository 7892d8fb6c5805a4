/*
 * spool_limit.c - the oldest files of a spool give way to new ones.
 *
 * Several drainers may look through one folder; one at a time, and who does not get the lock leaves it to the other.
 * What grows and what somebody reads is locked, and is left alone.
 */
#include "drain/spool.h"

#include "format/layout.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILES_MOST 65536u /* that are looked at: the oldest of them go first all the same */
#define MADE_OLD_S 60     /* after which a file that never got its name is somebody's who is gone */

struct entry {
    char name[VTI_SPOOL_NAME];
    uint64_t bytes;
};

static int compare(const void *left, const void *right)
{
    return strcmp(((const struct entry *)left)->name, ((const struct entry *)right)->name);
}

/* A descriptor that holds the lock, or -1. */
static int lock_file(const struct vti_spool *spool, const char *name)
{
    int fd = openat(spool->folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB)) {
        close(fd);
        fd = -1;
    }
    return fd;
}

/* What a drainer left that was killed before it could name it. */
static void sweep_made(const struct vti_spool *spool, const char *name)
{
    char plain[VTI_SPOOL_NAME + 8];
    size_t len = strlen(name);
    struct stat status;
    int fd;

    if (name[0] != '.' || len < 6 || len >= sizeof plain || strcmp(name + len - 4, ".new"))
        return;
    memcpy(plain, name + 1, len - 5);
    plain[len - 5] = 0;
    if (!vti_spool_is_name(plain) || fstatat(spool->folder, name, &status, AT_SYMLINK_NOFOLLOW) ||
        time(NULL) < status.st_mtime + MADE_OLD_S)
        return;
    fd = lock_file(spool, name);
    if (fd < 0)
        return;
    unlinkat(spool->folder, name, 0);
    close(fd);
}

/* All recordings of the folder, in order; NULL if there are none. */
static struct entry *list(const struct vti_spool *spool, size_t *count)
{
    int fd = openat(spool->folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *folder = fd < 0 ? NULL : fdopendir(fd);
    struct entry *entries = NULL;
    size_t room = 0;
    struct dirent *at;
    struct stat status;

    *count = 0;
    while (folder && *count < FILES_MOST && (at = readdir(folder))) {
        struct entry *grown;

        sweep_made(spool, at->d_name);
        if (!vti_spool_is_name(at->d_name) ||
            fstatat(spool->folder, at->d_name, &status, AT_SYMLINK_NOFOLLOW) ||
            !S_ISREG(status.st_mode))
            continue;
        if (*count == room) {
            room = room ? 2 * room : 64;
            grown = realloc(entries, room * sizeof *entries);
            if (!grown)
                break;
            entries = grown;
        }
        memcpy(entries[*count].name, at->d_name, strlen(at->d_name) + 1);
        entries[(*count)++].bytes = (uint64_t)status.st_size;
    }
    if (folder)
        closedir(folder);
    else if (fd >= 0)
        close(fd);
    if (*count)
        qsort(entries, *count, sizeof *entries, compare);
    return entries;
}

static bool has_trailer(const struct vti_spool *spool, const struct entry *entry)
{
    int fd = openat(spool->folder, entry->name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    uint8_t bytes[VTI_TRAILER_BYTES];
    struct vti_trailer trailer;
    bool is_there = fd >= 0 && entry->bytes > sizeof bytes &&
                    pread(fd, bytes, sizeof bytes, (off_t)(entry->bytes - sizeof bytes)) ==
                        sizeof bytes &&
                    vti_trailer_parse(bytes, &trailer);

    if (fd >= 0)
        close(fd);
    return is_there;
}

/* What it may become: one that grows will be full. */
static uint64_t weigh(const struct vti_spool *spool, const struct entry *entry)
{
    int fd;

    if (entry->bytes >= spool->file_bytes || has_trailer(spool, entry))
        return entry->bytes;
    fd = lock_file(spool, entry->name);
    if (fd < 0)
        return spool->file_bytes;
    close(fd);
    return entry->bytes;
}

static void forget(struct vti_spool *spool, const struct entry *entry, uint64_t *sum)
{
    struct vti_spool_sum lost = {.files = 1, .bytes = entry->bytes};
    int fd = lock_file(spool, entry->name);
    char recording[33];

    if (fd < 0)
        return;
    vti_spool_count(spool, entry->name, &lost, recording);
    if (vti_spool_note_loss(spool, entry->name, recording, &lost) &&
        !unlinkat(spool->folder, entry->name, 0)) {
        *sum -= entry->bytes < *sum ? entry->bytes : *sum;
        spool->lost.files++;
        spool->lost.bytes += lost.bytes;
        spool->lost.events += lost.events;
        spool->lost.steps += lost.steps;
        spool->lost.tasks += lost.tasks;
    }
    close(fd);
}

void vti_spool_make_room(struct vti_spool *spool)
{
    int lock = openat(spool->folder, ".lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    uint64_t sum = spool->file_bytes;
    struct entry *entries = NULL;
    size_t count = 0;

    if (lock < 0)
        return;
    if (!flock(lock, LOCK_EX | LOCK_NB))
        entries = list(spool, &count);
    for (size_t i = 0; i < count; i++)
        sum += weigh(spool, &entries[i]);
    for (size_t i = 0; i < count && sum > spool->limit; i++)
        forget(spool, &entries[i], &sum);
    free(entries);
    close(lock);
}
