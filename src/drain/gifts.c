/* gifts.c - what a measured process hands over: checked, bounded, written at once or kept for its end. */
#include "drain/gifts.h"

#include "base/error.h"
#include "drain/target.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <venturi/line.h>

static unsigned kept_count;

/* Only memory: a file on a file system of the program's own could keep us waiting for ever. */
static int measure(int fd, uint64_t *bytes)
{
    struct stat st;

    if (fcntl(fd, F_GET_SEALS) < 0 || fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size < 0)
        return VTI_E_USAGE;
    *bytes = (uint64_t)st.st_size;
    return 0;
}

/* Descriptors are also what new processes need: a quarter of them is left. */
static bool may_keep(int fd)
{
    struct rlimit limit;

    if (kept_count >= VTI_GIFTS_MAX || getrlimit(RLIMIT_NOFILE, &limit))
        return false;
    return (rlim_t)fd < limit.rlim_cur - limit.rlim_cur / 4;
}

static int keep(struct vti_target *process, uint32_t kind, const char *name, int fd, uint64_t bytes)
{
    size_t len = strlen(name);
    struct vti_gift *gift;

    if (bytes > VTI_GIFT_BYTES_MAX || !may_keep(fd))
        return VTI_E_LIMIT;
    gift = malloc(sizeof *gift + len + 1);
    if (!gift)
        return VTI_E_NOMEM;
    *gift = (struct vti_gift){process->gifts, kind, fd, bytes};
    memcpy(gift->name, name, len + 1);
    process->gifts = gift;
    kept_count++;
    return 0;
}

int vti_gifts_take(struct vti_target *process, struct vti_sources *sources, uint32_t kind,
                   const char *name, int fd)
{
    uint64_t bytes = 0;
    int code = measure(fd, &bytes);

    if (!code && kind == VT_GIFT_COVERAGE) {
        code = keep(process, kind, name, fd, bytes);
        if (!code)
            return 0;
    } else if (!code) {
        code = kind == VT_GIFT_SOURCE ? vti_sources_take(sources, process, name, fd, bytes)
                                      : VTI_E_USAGE;
    }
    close(fd);
    return code;
}

void vti_gifts_free(struct vti_target *process)
{
    while (process->gifts) {
        struct vti_gift *gift = process->gifts;

        process->gifts = gift->next;
        close(gift->fd);
        free(gift);
        kept_count--;
    }
}
