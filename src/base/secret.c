/* secret.c - words of a command line that not everybody may read. */
#include "base/secret.h"

#include "base/error.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PREFIX "fd:"
#define FIRST_FD 10

void vti_secret_hide(char *argument)
{
    if (argument)
        memset(argument, '*', strlen(argument));
}

/* From behind :// to the last '@', wherever that is: a password with a slash in it is wrong, and secret all the same. */
static size_t find_login(const char *argument, const char **begin)
{
    const char *at;

    *begin = strstr(argument, "://");
    if (!*begin)
        return 0;
    *begin += 3;
    at = strrchr(*begin, '@');
    return at ? (size_t)(at - *begin) : 0;
}

bool vti_secret_hide_login(char *argument)
{
    const char *begin;
    size_t len = find_login(argument, &begin);

    if (len)
        memset(argument + (begin - argument), '*', len);
    return len > 0;
}

void vti_secret_hide_logins(int argc, char **argv)
{
    for (int i = 0; i < argc; i++)
        vti_secret_hide_login(argv[i]);
}

char *vti_secret_take_url(char *argument)
{
    char *copy = strdup(argument);

    vti_secret_hide_login(argument);
    return copy;
}

const char *vti_secret_show_url(char *to, size_t room, const char *url)
{
    const char *host = strstr(url, "://");
    size_t scheme = host ? (size_t)(host - url) + 3 : 0;
    const char *at = strrchr(url + scheme, '@');
    const char *from = at ? at + 1 : url + scheme;

    snprintf(to, room, "%.*s%.*s", (int)(scheme < 32 ? scheme : 32), url, (int)strcspn(from, "?"),
             from);
    return to;
}

/* ---- to a program that is started ------------------------------------------------------------ */

/* Beyond those that who starts the program, or the program itself, may give a meaning of their own. */
static int make_inherited(void)
{
    int low = memfd_create("venturi", MFD_CLOEXEC);
    int fd = low < 0 ? -1 : fcntl(low, F_DUPFD, FIRST_FD);

    if (low >= 0)
        close(low);
    return fd;
}

int vti_secret_send(const char *text, char *word, size_t room)
{
    size_t len = strlen(text);
    int fd, used;

    if (len > VTI_SECRET_MOST)
        return vti_fail(VTI_E_LIMIT, "a URL has more than %u bytes", VTI_SECRET_MOST);
    fd = make_inherited();
    if (fd < 0 || pwrite(fd, text, len, 0) != (ssize_t)len) {
        int code = vti_fail_errno(VTI_E_SYSTEM, "memfd: cannot write");

        if (fd >= 0)
            close(fd);
        return code;
    }
    used = snprintf(word, room, PREFIX "%d:%s", fd, text);
    if (used < 0 || (size_t)used >= room) {
        explicit_bzero(word, room);
        close(fd);
        return vti_fail(VTI_E_LIMIT, "a URL is too long");
    }
    vti_secret_hide_login(word);
    return fd;
}

char *vti_secret_receive(const char *word)
{
    char *text, *end;
    ssize_t got;
    long fd;

    if (strncmp(word, PREFIX, strlen(PREFIX)))
        return strdup(word);
    fd = strtol(word + strlen(PREFIX), &end, 10);
    if (end == word + strlen(PREFIX) || *end != ':' || fd < 3 || fd > 1 << 20)
        return strdup(word);
    text = calloc(1, VTI_SECRET_MOST + 1);
    got = text ? pread((int)fd, text, VTI_SECRET_MOST, 0) : -1;
    close((int)fd);
    if (got < 0) {
        free(text);
        return NULL;
    }
    return text;
}
