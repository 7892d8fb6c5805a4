/* beside.c - files that were built or installed together with the running program. */
#include "base/beside.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool find_one(const char *folder, const char *place, char *to, size_t room)
{
    char pattern[PATH_MAX];
    glob_t matches = {0};
    bool is_found = false;

    if (snprintf(pattern, sizeof pattern, "%s/%s", folder, place) < (int)sizeof pattern &&
        glob(pattern, 0, NULL, &matches) == 0 && matches.gl_pathc) {
        char *file = realpath(matches.gl_pathv[0], NULL);

        is_found = file && snprintf(to, room, "%s", file) < (int)room;
        free(file);
    }
    globfree(&matches);
    return is_found;
}

bool vti_beside_find(const char *const *places, size_t count, char *to, size_t room)
{
    char self[PATH_MAX];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    char *slash = len > 0 ? memrchr(self, '/', (size_t)len) : NULL;

    if (!slash)
        return false;
    *slash = 0;
    for (size_t i = 0; i < count; i++)
        if (find_one(self, places[i], to, room))
            return true;
    return false;
}
