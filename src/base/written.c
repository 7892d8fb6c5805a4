/*
 * written.c - who has a file open for writing, as /proc tells it.
 *
 * Only what we may look into is seen: without rights that is what runs under our own user.
 */
#include "base/written.h"

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

/* Whether the descriptor was opened for writing. */
static bool is_for_writing(pid_t pid, const char *fd)
{
    char path[64 + NAME_MAX];
    char line[256];
    bool is_found = false;
    FILE *file;

    snprintf(path, sizeof path, "/proc/%d/fdinfo/%s", (int)pid, fd);
    file = fopen(path, "re");
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, "flags:", 6))
            is_found = (strtoul(line + 6, NULL, 8) & O_ACCMODE) != O_RDONLY;
    if (file)
        fclose(file);
    return is_found;
}

bool vti_written_each(pid_t pid, bool (*each)(const char *path, const void *arg), const void *arg)
{
    char name[64 + NAME_MAX];
    char path[PATH_MAX];
    struct dirent *entry;
    bool is_found = false;
    ssize_t len;
    DIR *folder;

    snprintf(name, sizeof name, "/proc/%d/fd", (int)pid);
    folder = opendir(name);
    while (folder && !is_found && (entry = readdir(folder))) {
        snprintf(name, sizeof name, "/proc/%d/fd/%s", (int)pid, entry->d_name);
        len = entry->d_name[0] == '.' ? 0 : readlink(name, path, sizeof path - 1);
        if (len <= 0 || path[0] != '/')
            continue;
        path[len] = 0;
        is_found = is_for_writing(pid, entry->d_name) && each(path, arg);
    }
    if (folder)
        closedir(folder);
    return is_found;
}

static bool is_that_file(const char *path, const void *arg)
{
    const struct stat *wanted = arg;
    struct stat about;

    return !stat(path, &about) && about.st_dev == wanted->st_dev && about.st_ino == wanted->st_ino;
}

bool vti_written_by(pid_t pid, const char *path)
{
    struct stat about;

    return !stat(path, &about) && vti_written_each(pid, is_that_file, &about);
}

/* A process of that user which keeps its descriptors from us. */
static bool is_hidden(pid_t pid, uid_t user)
{
    char name[64];
    struct stat about;

    snprintf(name, sizeof name, "/proc/%d", (int)pid);
    if (stat(name, &about) || about.st_uid != user)
        return false;
    snprintf(name, sizeof name, "/proc/%d/fd", (int)pid);
    return access(name, R_OK) && errno == EACCES;
}

pid_t vti_written_by_whom(const char *path, bool *is_sure)
{
    struct dirent *entry;
    struct stat about;
    pid_t found = 0;
    DIR *folder;

    *is_sure = false;
    if (stat(path, &about))
        return 0;
    folder = opendir("/proc");
    *is_sure = folder != NULL;
    while (folder && !found && (entry = readdir(folder))) {
        pid_t pid = isdigit((unsigned char)entry->d_name[0])
                        ? (pid_t)strtol(entry->d_name, NULL, 10)
                        : 0;

        if (pid > 0 && vti_written_each(pid, is_that_file, &about))
            found = pid;
        else if (pid > 0 && is_hidden(pid, about.st_uid))
            *is_sure = false;
    }
    if (folder)
        closedir(folder);
    return found;
}
