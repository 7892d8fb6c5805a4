/*
 * depth.c COUNT [limit] - so many spans in one another, begun by hand and then as scopes; with `limit` the
 * program's address space may not grow, so that no more of them can be kept in mind.
 */
#include "program.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>
#include <venturi/span.h>

static rlim_t address_space(void)
{
    FILE *file = fopen("/proc/self/statm", "re");
    unsigned long pages = 0;

    if (!file || fscanf(file, "%lu", &pages) != 1)
        exit(3);
    fclose(file);
    return pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void limit_address_space(int on)
{
    struct rlimit limit;

    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = on ? address_space() : limit.rlim_max;
    if (setrlimit(RLIMIT_AS, &limit))
        exit(3);
}

static void by_hand(long count)
{
    for (long i = 0; i < count; i++)
        VT_START("by hand");
    for (long i = 0; i < count; i++)
        VT_STOP();
}

/* Without recursion: the stack could not grow either. */
static void as_scopes(struct vt_scope *scopes, long count)
{
    static struct vt_site site = VT_SITE("scope", "", 0);

    for (long i = 0; i < count; i++)
        vt_scope_open(&scopes[i], &site, __builtin_frame_address(0));
    for (long i = count - 1; i >= 0; i--)
        vt_scope_leave(&scopes[i]);
}

int main(int argc, char **argv)
{
    long count = number(argc, argv, 1, 1000);
    struct vt_scope *scopes = calloc((size_t)count, sizeof *scopes);

    {
        VT_SPAN("first");
    }
    if (argc > 2)
        limit_address_space(1);
    by_hand(count);
    as_scopes(scopes, count);
    if (argc > 2)
        limit_address_space(0);
    {
        VT_SPAN("last");
    }
    free(scopes);
    say("spans", 2 * count + 2, (char *)0);
    return 0;
}
