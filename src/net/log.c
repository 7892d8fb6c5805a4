/*
 * log.c - listens to trace points and hands their lines to the handlers of the log. Called on the threads of a service, inside of its
 * trace points: a line that cannot be written is counted, the first one said; nothing waits, nothing fails.
 */
#include "net/log.h"

#include "base/error.h"
#include "net/log_file.h"
#include "net/log_format.h"
#include "net/log_lines.h"
#include "net/say.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CLOSE_SECONDS 1 /* how long the end waits for those that write */

struct handler {
    struct vti_log_file file;
    const char *format;
    const char *date;
};

struct log {
    struct vti_ini ini; /* formats point into it */
    struct handler handlers[VTI_LOG_HANDLERS_MOST];
    size_t count;
    char logger[128];
};

static struct log *current; /* guarded by `lock` */
static pthread_rwlock_t lock = PTHREAD_RWLOCK_INITIALIZER;
static uint64_t lost;

uint64_t vti_log_lost(void)
{
    return __atomic_load_n(&lost, __ATOMIC_RELAXED);
}

static void lose(const char *path, int error)
{
    char why[128];

    if (!__atomic_fetch_add(&lost, 1, __ATOMIC_RELAXED))
        vti_say("%s: a line cannot be written: %s; further ones are only counted",
                *path ? path : "standard stream", strerror_r(error, why, sizeof why));
}

static void write_lines(struct log *log, const struct vt_trace_news *news)
{
    char message[VTI_LOG_LINE_MOST];
    char line[2 * VTI_LOG_LINE_MOST];
    struct vti_log_record record = {log->logger, message, news->realtime_ns};

    vti_log_line(message, news);
    for (size_t i = 0; i < log->count; i++) {
        struct handler *handler = &log->handlers[i];
        size_t len = vti_log_format(line, sizeof line - 1, handler->format, handler->date, &record);

        line[len++] = '\n';
        if (!vti_log_file_write(&handler->file, line, len))
            lose(handler->file.path, errno);
    }
}

/* Only the end takes the lock for itself; who meets it there has nowhere to write to. */
static void hear(const struct vt_trace_news *news, void *arg)
{
    int error = errno;

    (void)arg;
    if (!pthread_rwlock_tryrdlock(&lock)) {
        if (current)
            write_lines(current, news);
        pthread_rwlock_unlock(&lock);
    }
    errno = error;
}

static void free_log(struct log *log)
{
    for (size_t i = 0; i < log->count; i++)
        vti_log_file_close(&log->handlers[i].file);
    vti_ini_close(&log->ini);
    free(log);
}

static int open_files(struct log *log, const char *path, const char *logger)
{
    struct vti_logging *logging = malloc(sizeof *logging);
    struct vti_buf notes = {0};
    int code;

    if (!logging)
        return vti_fail(VTI_E_NOMEM, "%s", path);
    code = vti_logging_load(logging, &log->ini, path, logger, &notes);
    if (notes.len)
        vti_say_bytes(STDERR_FILENO, (const char *)notes.data, notes.len);
    vti_buf_fini(&notes);
    for (size_t i = 0; !code && i < logging->count; i++) {
        struct handler *handler = &log->handlers[i];

        code = vti_log_file_open(&handler->file, &logging->specs[i]);
        handler->format = logging->specs[i].format;
        handler->date = logging->specs[i].date;
        log->count += !code;
    }
    free(logging);
    return code;
}

int vti_log_open(const char *path, const char *logger, bool *is_open)
{
    struct log *log = calloc(1, sizeof *log);
    int code;

    *is_open = false;
    if (!log)
        return vti_fail(VTI_E_NOMEM, "%s", path);
    snprintf(log->logger, sizeof log->logger, "%s", logger);
    code = vti_ini_read(&log->ini, path);
    if (!code)
        code = open_files(log, path, logger);
    pthread_rwlock_wrlock(&lock);
    if (!code && log->count && current)
        code = vti_fail(VTI_E_EXISTS, "%s: this process has a log of trace points already", path);
    if (!code && log->count) {
        current = log;
        *is_open = true;
    }
    pthread_rwlock_unlock(&lock);
    if (*is_open)
        vt_trace_listen(hear, NULL);
    else
        free_log(log);
    return code;
}

void vti_log_close(void)
{
    struct timespec end;
    struct log *log;

    vt_trace_listen(NULL, NULL);
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += CLOSE_SECONDS;
    if (pthread_rwlock_timedwrlock(&lock, &end))
        return; /* somebody is inside for good, perhaps from before a fork: files stay open */
    log = current;
    current = NULL;
    pthread_rwlock_unlock(&lock);
    if (log)
        free_log(log);
}
