/*
 * find.c - the processes of the machine that belong to a tree and are not watched yet.
 *
 * The kernel tells the number that it gave to a process last. If that is what it was there is nothing to find; if it has
 * gone up a little the numbers in between are tried; else all processes of the machine are, but not often: those that
 * have come and gone meanwhile are in the numbers of who waited for them. Of a process that was there before us the kernel
 * lists the children: to go through all of a machine with thousands would take longer than all the rest of a start.
 */
#include "watch/find.h"

#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUMBERS_MOST ((pid_t)VTI_LOOKED_BITS / 2)
#define SEARCHES_MOST 8
#define CHILDREN_BYTES 8192 /* the kernel gives up to 4096 at a time */
#define LISTS_MOST 5
#define THREADS_MOST 256u
#define SEARCH_INTERVAL_NS 1000000000u
#define SESSION_VARIABLE "VENTURI_SESSION"

void vti_family_find_ancestors(struct vti_family *family)
{
    struct vti_proc_kin kin = {.parent = getpid()};

    family->ancestors[family->ancestor_count++] = 1;
    while (family->ancestor_count < VTI_ANCESTORS_MOST &&
           vti_proc_kin_of(family->source, kin.parent, &kin) && kin.parent > 1)
        family->ancestors[family->ancestor_count++] = kin.parent;
}

/* Of our group in our time. Who gets orphans is in another session; a shell of our own may have started it itself. */
static bool is_of_our_group(const struct vti_family *family, const struct vti_proc_kin *kin)
{
    struct vti_proc_kin parent;

    return family->group && kin->group == family->group &&
           kin->start_clock >= family->begin_clock &&
           vti_proc_kin_of(family->source, kin->parent, &parent) && parent.session != kin->session;
}

static bool is_orphan_of_ours(const struct vti_family *family, pid_t pid,
                              const struct vti_proc_kin *kin)
{
    for (unsigned i = 0; i < family->ancestor_count; i++)
        if (family->ancestors[i] == kin->parent)
            return family->session ? vti_proc_has_variable(family->source, pid, SESSION_VARIABLE,
                                                           family->session)
                                   : is_of_our_group(family, kin);
    return false;
}

/* Most numbers belong to nobody any more, or to a thread: the clock of a process tells that at once. True if it is known
 * whose it is. */
static bool consider(struct vti_family *family, pid_t pid)
{
    struct vti_proc_kin kin;
    uint64_t ns;

    if (vti_family_find(family, pid))
        return true;
    if ((family->source->cpu_ns && !family->source->cpu_ns(pid, &ns)) ||
        !vti_proc_kin_of(family->source, pid, &kin))
        return false;
    if (pid != getpid() &&
        (vti_family_find(family, kin.parent) || is_orphan_of_ours(family, pid, &kin)))
        vti_family_add(family, pid);
    return true;
}

/* Numbers in the order that they were given, from two rounds ago on: a process gets its number a little before it can be
 * seen. Those of others that were seen the last time are left: on a busy machine they would cost most. */
static void consider_numbers(struct vti_family *family, pid_t last_pid)
{
    uint64_t *before = family->looked[family->looked_at];
    uint64_t *now = family->looked[!family->looked_at];

    memset(now, 0, sizeof *family->looked);
    for (pid_t pid = family->pid_before + 1; pid <= last_pid; pid++) {
        unsigned at = (unsigned)pid % VTI_LOOKED_BITS;

        if (!(before[at / 64] >> at % 64 & 1) && consider(family, pid))
            now[at / 64] |= 1ull << at % 64;
    }
    family->looked_at = !family->looked_at;
}

/* All of a file, which comes in pieces; -1 if it is not there, or longer. */
static ssize_t read_all(const char *path, char text[CHILDREN_BYTES])
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = 0;
    ssize_t got = fd < 0 ? -1 : 1;

    while (got > 0) {
        got = read(fd, text + len, (size_t)(CHILDREN_BYTES - 1 - len));
        len += got > 0 ? got : 0;
    }
    if (fd >= 0)
        close(fd);
    text[len] = 0;
    return got < 0 || len == CHILDREN_BYTES - 1 ? -1 : len;
}

/* The children of a thread; false if that does not tell all. One that ends while they are listed may hide another: the same
 * twice is right. */
static bool list_children(const char *path, char text[CHILDREN_BYTES])
{
    char again[CHILDREN_BYTES];
    ssize_t len = read_all(path, text);

    for (int left = LISTS_MOST; left && len >= 0; left--) {
        if (read_all(path, again) == len && !memcmp(again, text, (size_t)len))
            return true;
        len = read_all(path, text);
    }
    return false;
}

static bool consider_children(struct vti_family *family, pid_t pid, const char *thread)
{
    char text[CHILDREN_BYTES];
    char path[512];
    char *end;

    snprintf(path, sizeof path, "%s/%ld/task/%s/children", family->source->root, (long)pid, thread);
    if (!list_children(path, text))
        return false;
    for (char *at = text;; at = end) {
        long child = strtol(at, &end, 10);

        if (end == at)
            return true;
        consider(family, (pid_t)child);
    }
}

/* False if the kernel does not list them all, or they are of so many threads that all processes are asked sooner. */
static bool search_children(struct vti_family *family, pid_t pid)
{
    char path[512];
    bool has_all = false;
    unsigned left = THREADS_MOST;
    struct dirent *entry;
    DIR *folder;

    snprintf(path, sizeof path, "%s/%ld/task", family->source->root, (long)pid);
    folder = opendir(path);
    while (folder && (entry = readdir(folder)))
        if (isdigit((unsigned char)entry->d_name[0])) {
            has_all = left-- && consider_children(family, pid, entry->d_name);
            if (!has_all)
                break;
        }
    if (folder)
        closedir(folder);
    return has_all;
}

/* All below those that are watched; those that are found come first, and are asked in their turn. */
static bool search_below(struct vti_family *family)
{
    uint32_t before;
    int left = SEARCHES_MOST;

    do {
        before = family->number;
        for (const struct vti_watched *w = family->watched; w; w = w->next)
            if (!search_children(family, w->pid))
                return false;
    } while (family->number != before && --left);
    return true;
}

static void search_once(struct vti_family *family)
{
    DIR *folder = opendir(family->source->root);
    struct dirent *entry;

    while (folder && (entry = readdir(folder)))
        if (isdigit((unsigned char)entry->d_name[0]))
            consider(family, (pid_t)strtol(entry->d_name, NULL, 10));
    if (folder)
        closedir(folder);
}

/* Again as long as there was one: its children may have come before it. */
static void search_all(struct vti_family *family)
{
    uint32_t before;
    int left = SEARCHES_MOST;

    do {
        before = family->number;
        search_once(family);
    } while (family->number != before && --left);
}

/* Orphans with a session in their environment are nobody's children. */
static void search(struct vti_family *family, uint64_t now_ns)
{
    bool is_all = family->is_search_due || family->session;

    if (!(family->is_search_due || family->is_below_due) ||
        now_ns < family->searched_ns + SEARCH_INTERVAL_NS)
        return;
    family->is_search_due = family->is_below_due = false; /* who is found may have children, too */
    family->searched_ns = now_ns;
    if (is_all || !search_below(family))
        search_all(family);
}

void vti_family_find_new(struct vti_family *family, pid_t last_pid, uint64_t now_ns)
{
    bool is_quiet = last_pid && last_pid == family->last_pid && last_pid == family->pid_before;
    bool is_small = last_pid && last_pid >= family->pid_before &&
                    last_pid - family->pid_before <= NUMBERS_MOST;

    if (family->watched) {
        if (is_small)
            consider_numbers(family, last_pid);
        family->is_search_due |= !is_quiet && !is_small;
        search(family, now_ns);
    }
    family->pid_before = family->last_pid ? family->last_pid : last_pid;
    family->last_pid = last_pid;
}
