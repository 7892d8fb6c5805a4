/*
 * logging_config.h - what Python's logging.config.fileConfig makes of a file, as far as one logger goes: the handlers that its
 * lines reach, its own and those of the loggers above it.
 */
#ifndef VENTURI_NET_LOGGING_CONFIG_H
#define VENTURI_NET_LOGGING_CONFIG_H

#include "base/buf.h"
#include "net/ini.h"

#include <stdint.h>

#define VTI_LOG_HANDLERS_MOST 16
#define VTI_LOG_PATH_ROOM 1024

enum vti_log_kind {
    VTI_LOG_FILE,     /* FileHandler */
    VTI_LOG_WATCHED,  /* handlers.WatchedFileHandler: opened anew when somebody moved it */
    VTI_LOG_ROTATING, /* handlers.RotatingFileHandler */
    VTI_LOG_STDOUT,   /* StreamHandler */
    VTI_LOG_STDERR,
};

struct vti_log_spec {
    enum vti_log_kind kind;
    char path[VTI_LOG_PATH_ROOM];
    bool truncates;     /* mode "w" */
    int64_t bytes_most; /* of VTI_LOG_ROTATING; 0: never rotated */
    int64_t backups;
    const char *format; /* borrowed from the file, as `date` */
    const char *date;   /* NULL or "": Python's own form */
};

struct vti_logging {
    struct vti_log_spec specs[VTI_LOG_HANDLERS_MOST];
    size_t count;
};

/* Handlers that take lines of `logger` at level INFO; none if it is not enabled for that. 0, or a negative code and a message.
 * `name` is the file's, for messages. What is left out because only Python can do it has a line in `notes`. */
int vti_logging_load(struct vti_logging *logging, const struct vti_ini *ini, const char *name,
                     const char *logger, struct vti_buf *notes);

#endif
