/* names.c - texts that stay where they are as long as the state lives. */
#include "live/names.h"

#include "base/hash.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

#define BYTES_MOST (64u << 20)

static char *copy_of(const char *text, size_t len)
{
    char *copy = malloc(len + 1);

    for (size_t i = 0; copy && i < len; i++)
        copy[i] = text[i] ? text[i] : ' '; /* texts of a program may hold anything */
    if (copy)
        copy[len] = 0;
    return copy;
}

const char *vti_names_add(struct vti_names *names, const char *text, size_t len)
{
    int is_new = 0;
    int64_t at;

    if (!len || (!names->map && vti_map_create(&names->map)))
        return "";
    at = vti_map_find(names->map, text, len);
    if (at >= 0)
        return names->texts[at];
    if (names->bytes + len > BYTES_MOST ||
        vti_grow(&names->texts, names->count, &names->room, sizeof *names->texts))
        return "";
    at = vti_map_add(names->map, text, len, &is_new);
    if (at < 0 || (size_t)at != names->count)
        return "";
    names->texts[at] = copy_of(text, len);
    if (!names->texts[at])
        names->texts[at] = calloc(1, 1);
    names->count++;
    names->bytes += len;
    return names->texts[at] ? names->texts[at] : "";
}

const char *vti_names_text(struct vti_names *names, const char *text)
{
    return text ? vti_names_add(names, text, strlen(text)) : "";
}

void vti_names_fini(struct vti_names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->texts[i]);
    free(names->texts);
    vti_map_free(names->map);
    memset(names, 0, sizeof *names);
}
