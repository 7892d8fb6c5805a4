/*
 * store_session.c - a session for the store that a `connection_string` names.
 *
 * The service never talks to it: it records into a folder that is the same at every start, so that what is left over is sent; the drainer
 * starts venturi-ship for it. The URL, which may hold a password, comes to the drainer by a descriptor; VENTURI_SHIP says by which.
 */
#include "net/store_session.h"

#include "base/error.h"
#include "base/hash.h"
#include "base/secret.h"
#include "net/say.h"

#include <venturi/session.h>

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define ALREADY_RECORDING -6 /* session.h */

bool vti_store_is_known(const char *connection_string)
{
    static const char *const schemes[] = {
        "redis://",    "redissentinel://", "elasticsearch://", "elasticsearch+", "opensearch://",
        "opensearch+", "otlp://",          "otlps://",         "kafka://",       "file://"};

    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (!strncmp(connection_string, schemes[i], strlen(schemes[i])))
            return true;
    return false;
}

/* A folder of this user alone, one for each store. */
static bool name_folder(char *to, size_t room, const char *connection_string)
{
    const char *named = getenv("VENTURI_SHIP_SPOOL");
    struct stat status;
    char own[64];

    if (named && *named)
        return (size_t)snprintf(to, room, "%s", named) < room;
    snprintf(own, sizeof own, "/var/tmp/venturi-%lu", (unsigned long)geteuid());
    mkdir(own, 0700);
    if (lstat(own, &status) || !S_ISDIR(status.st_mode) || status.st_uid != geteuid() ||
        status.st_mode & 022) {
        vti_say("connection_string: %s is not a folder of this user alone: name another one in "
                "VENTURI_SHIP_SPOOL",
                own);
        return false;
    }
    return (size_t)snprintf(
               to, room, "%s/%016llx", own,
               (unsigned long long)vti_hash(connection_string, strlen(connection_string))) < room;
}

bool vti_store_session_start(const char *connection_string)
{
    struct vt_session_options options = {.size = sizeof options};
    char folder[PATH_MAX], word[VTI_SECRET_MOST + 16];
    int code, fd;

    if (!name_folder(folder, sizeof folder, connection_string))
        return false;
    fd = vti_secret_send(connection_string, word, sizeof word);
    if (fd < 0) {
        vti_say("connection_string: %s", vti_error_message(fd));
        return false;
    }
    options.spool = folder;
    setenv("VENTURI_SHIP", word, 1);
    code = vt_session_start(&options);
    unsetenv("VENTURI_SHIP");
    close(fd);
    if (code == ALREADY_RECORDING)
        vti_say("connection_string: the program is recorded already, its spans go there (venturi "
                "run --ship)");
    else if (code)
        vti_say("connection_string: spans cannot be recorded: %s", vt_session_error());
    return code == 0;
}

void vti_store_session_stop(void)
{
    vt_session_stop();
}
