/* arrivals.c - files that appear in a folder: an inotify descriptor, read a buffer at a time. */
#include "live/arrivals.h"

#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>

#define BYTES 16384

struct vti_arrivals {
    int fd; /* owned */
    size_t at, len;
    _Alignas(struct inotify_event) char events[BYTES];
};

struct vti_arrivals *vti_arrivals_open(const char *folder)
{
    struct vti_arrivals *arrivals = calloc(1, sizeof *arrivals);

    if (!arrivals)
        return NULL;
    arrivals->fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
    if (arrivals->fd >= 0 &&
        inotify_add_watch(arrivals->fd, folder, IN_CREATE | IN_MOVED_TO | IN_ONLYDIR) >= 0)
        return arrivals;
    vti_arrivals_close(arrivals);
    return NULL;
}

void vti_arrivals_close(struct vti_arrivals *arrivals)
{
    if (arrivals && arrivals->fd >= 0)
        close(arrivals->fd);
    free(arrivals);
}

int vti_arrivals_fd(const struct vti_arrivals *arrivals)
{
    return arrivals->fd;
}

const char *vti_arrivals_next(struct vti_arrivals *arrivals)
{
    for (;;) {
        const struct inotify_event *event;
        ssize_t got;

        if (arrivals->at >= arrivals->len) {
            got = read(arrivals->fd, arrivals->events, sizeof arrivals->events);
            if (got <= 0)
                return NULL;
            arrivals->at = 0;
            arrivals->len = (size_t)got;
        }
        event = (const struct inotify_event *)(arrivals->events + arrivals->at);
        arrivals->at += sizeof *event + event->len;
        if (event->len)
            return event->name;
    }
}
