/* log_file.h - where lines of a log go: a file, perhaps one that is rotated, or a standard stream. */
#ifndef VENTURI_NET_LOG_FILE_H
#define VENTURI_NET_LOG_FILE_H

#include "net/logging_config.h"

#include <pthread.h>

struct vti_log_file {
    enum vti_log_kind kind;
    int fd;          /* the same one as long as it is open, whatever file is behind it */
    bool is_regular; /* a file of our own: never waits long */
    int64_t bytes_most;
    int64_t backups;
    char path[VTI_LOG_PATH_ROOM];
    pthread_mutex_t rotating;
};

/* 0, or a negative code and a message. */
int vti_log_file_open(struct vti_log_file *file, const struct vti_log_spec *spec);
void vti_log_file_close(struct vti_log_file *file);

/* One write(2) of the whole line. False, with errno, if it did not get there; it does not wait and is not tried again. May be
 * called by several threads at once, and in a child that was forked meanwhile. */
bool vti_log_file_write(struct vti_log_file *file, const char *line, size_t len);

#endif
