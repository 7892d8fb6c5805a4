/* path.c - names of source files: one file should have one name, however the compiler was called. */
#include "symbols/function.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

/* Takes out "/./", "//" and "/name/..". */
static void shorten(char *path)
{
    char *to = path;
    const char *from = path;

    while (*from) {
        const char *name = from + strspn(from, "/");
        size_t len = strcspn(name, "/");

        from = name + len;
        if (len == 1 && name[0] == '.')
            continue;
        if (len == 2 && !memcmp(name, "..", 2)) {
            while (to > path && *--to != '/')
                ;
            continue;
        }
        if (!len)
            break;
        *to++ = '/';
        memmove(to, name, len);
        to += len;
    }
    *to = 0;
}

/* Where a link to a folder is on the way, a name without ".." may be another file's. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    bool has_a = !stat(a, &of_a), has_b = !stat(b, &of_b);

    return has_a == has_b && (!has_a || (of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino));
}

void vti_symbols_join(char *to, size_t room, const char *folder, const char *file)
{
    char shorter[VTI_SYMBOLS_TEXT];

    if (file[0] == '/' || !folder[0])
        snprintf(to, room, "%s", file);
    else
        snprintf(to, room, "%s/%s", folder, file);
    if (to[0] != '/' || strlen(to) >= sizeof shorter)
        return;
    snprintf(shorter, sizeof shorter, "%s", to);
    shorten(shorter);
    if (strcmp(shorter, to) && is_same_file(shorter, to))
        snprintf(to, room, "%s", shorter);
}
