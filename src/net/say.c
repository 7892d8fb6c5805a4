/*
 * say.c - writes to standard streams, which belong to the program and may be pipes or terminals that nobody reads.
 *
 * It must neither wait nor change how the program's own writes behave: whether they wait is a flag of the open file, which is shared with all
 * who have it. So each of our writes opens the pipe or the terminal once more.
 */
#include "net/say.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define LINE_MOST 2048

bool vti_say_once(int fd, const char *bytes, size_t count)
{
    ssize_t done;

    do
        done = write(fd, bytes, count);
    while (done < 0 && errno == EINTR);
    if (done >= 0 && (size_t)done < count)
        errno = ENOSPC;
    return done >= 0 && (size_t)done == count;
}

/* Without /proc, or where it may not be opened again. A pipe that can be written to takes PIPE_BUF bytes; only whoever else writes at
 * this very moment can make us wait. */
static bool write_if_ready(int fd, const char *bytes, size_t count)
{
    struct pollfd ready = {.fd = fd, .events = POLLOUT};

    for (size_t at = 0; at < count;) {
        size_t part = count - at < PIPE_BUF ? count - at : PIPE_BUF;

        if (poll(&ready, 1, 0) <= 0) {
            errno = EAGAIN;
            return false;
        }
        if (!vti_say_once(fd, bytes + at, part))
            return false;
        at += part;
    }
    return true;
}

static bool write_without_waiting(int fd, const char *bytes, size_t count)
{
    char path[48];
    struct stat st;
    bool is_written;
    int error;
    int own;

    if (fstat(fd, &st))
        return false;
    if (S_ISREG(st.st_mode))
        return vti_say_once(fd, bytes, count);
    if (S_ISSOCK(st.st_mode))
        return send(fd, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL) == (ssize_t)count;
    snprintf(path, sizeof path, "/proc/thread-self/fd/%d", fd);
    own = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (own < 0)
        return write_if_ready(fd, bytes, count);
    is_written = vti_say_once(own, bytes, count);
    error = errno;
    close(own);
    errno = error;
    return is_written;
}

/* A pipe whose reader is gone must not end the service. */
bool vti_say_bytes(int fd, const char *bytes, size_t count)
{
    static const struct timespec at_once;
    sigset_t pipe_signal;
    sigset_t before;
    sigset_t pending;
    bool was_pending;
    bool is_written;
    int error;

    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    was_pending = sigismember(&pending, SIGPIPE) == 1;
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    is_written = write_without_waiting(fd, bytes, count);
    error = errno;
    if (!is_written && error == EPIPE && !was_pending)
        while (sigtimedwait(&pipe_signal, NULL, &at_once) < 0 && errno == EINTR)
            ;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    errno = error;
    return is_written;
}

void vti_say_harmless(char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char byte = (unsigned char)text[i];

        if (byte < ' ' || byte == 0x7f)
            text[i] = '?';
        else if (byte == 0xc2 && i + 1 < len && (text[i + 1] & 0xe0) == 0x80)
            text[i] = text[i + 1] = '?'; /* U+0080 to U+009F */
    }
}

void vti_say(const char *format, ...)
{
    char line[LINE_MOST] = "venturi: ";
    size_t len = strlen(line);
    int saved_errno = errno;
    va_list args;

    va_start(args, format);
    vsnprintf(line + len, sizeof line - len - 1, format, args);
    va_end(args);
    len = strlen(line);
    vti_say_harmless(line, len);
    line[len++] = '\n';
    vti_say_bytes(STDERR_FILENO, line, len);
    errno = saved_errno;
}
